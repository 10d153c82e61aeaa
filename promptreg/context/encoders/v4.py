"""The format of DeepSeek V4: results are blocks of a user turn, neighbouring user messages are one turn.

What the design notes lack, and what is done about it: the wording of the tools block and of the two efforts is not
reproduced, texts of the same 222, 79 and 92 tokens stand in for it. Tools are attached to a leading system message.
A developer's message is rendered as the system's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import calls_of, reasoning_text
from promptreg.context.encoders import marks
from promptreg.context.encoders.dsml import calls_block
from promptreg.context.encoders.model import Effort, fixed_wording, role_of, schema_of, text_of, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message

_CALLS: Final = "tool_calls"
_TOOLS: Final = (fixed_wording(204, ends="\n\n"), fixed_wording(19, ends=".\n"))
_EFFORTS: Final[dict[str, str]] = {
    "low": "",
    "high": fixed_wording(80, ends=".\n\n").removeprefix("\n\n"),
    "max": fixed_wording(93, ends=".\n\n").removeprefix("\n\n"),
}


@dataclass(slots=True)
class _Turn:
    """What the format makes of one or more neighbouring messages."""

    role: str
    message: Message | None = None
    blocks: list[tuple[Message, str]] = field(default_factory=list)
    """Of a user turn: each message with its text."""


class DeepseekV4:
    """V4 by its own encoder; the model has no chat template.

    Args:
        thinking: whether the model is asked to think; vLLM's default is yes.
        effort: what is put before everything else when it thinks; vLLM's default is `high`.
    """

    def __init__(self, *, thinking: bool = True, effort: Effort = "high") -> None:
        self._thinking = thinking
        self._opening = _EFFORTS[effort] if thinking else ""
        self.name = f"V4 encoder, thinking, effort {effort}" if thinking else "V4 encoder, chat"

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The prompt.

        With tools all reasoning is rendered, without them only that behind the last user turn. A result without a call
        becomes a user's text and a missing result goes unseen, as in the model's own encoder.
        """
        turns = _turns(messages)
        last_user = max((place for place, turn in enumerate(turns) if turn.role == "user"), default=-1)
        block = _tools_block(tools) if tools else ""
        pieces = [marks.BEGIN, self._opening if turns or tools else ""]
        if tools and not (turns and turns[0].role == "system"):
            pieces.append(block)
        for place, turn in enumerate(turns):
            keeps = self._thinking and (bool(tools) or place >= last_user)
            if turn.role == "user":
                pieces += [marks.USER, "\n\n".join(text for _, text in turn.blocks)]
                if place + 1 == len(turns) or turns[place + 1].role == "assistant":
                    pieces += [marks.ASSISTANT, marks.THINK if keeps else marks.THOUGHT]
            elif turn.message is not None and turn.role == "assistant":
                pieces.append(self._assistant(turn.message, keeps=keeps))
            elif turn.message is not None:
                pieces += [text_of(turn.message), block if place == 0 else ""]
        return "".join(pieces)

    def alone(self, message: Message) -> str:
        """The message with its marks; results as a user turn; reasoning where the message calls tools."""
        role = role_of(message)
        if role == "system":
            return text_of(message)
        if role == "assistant":
            return self._assistant(message, keeps=self._thinking and bool(calls_of(message)))
        return marks.USER + _block(message) + marks.ASSISTANT + marks.THOUGHT

    def _assistant(self, message: Message, *, keeps: bool) -> str:
        reasoning = reasoning_text(message) + marks.THOUGHT if keeps else ""
        return reasoning + text_of(message) + calls_block(message, _CALLS, strict=False) + marks.END


def _turns(messages: Sequence[Message]) -> list[_Turn]:
    """User messages and results that follow each other become one turn, results in the order of their calls."""
    turns: list[_Turn] = []
    order: dict[Json, int] = {}
    for message in messages:
        role = role_of(message)
        if role in ("system", "assistant"):
            turns.append(_Turn(role, message))
        elif turns and turns[-1].role == "user":
            turns[-1].blocks.append((message, _block(message)))
        else:
            turns.append(_Turn("user", blocks=[(message, _block(message))]))
    for turn in turns:
        if turn.message is not None and turn.message.get("tool_calls"):
            order = _call_order(turn.message)
        elif turn.role == "user":
            turn.blocks = _sorted_results(turn.blocks, order)
    return turns


def _call_order(message: Message) -> dict[Json, int]:
    calls = message.get("tool_calls")
    if not isinstance(calls, (list, tuple)):
        return {}
    ids = [call.get("id") if isinstance(call, Mapping) else None for call in calls]
    return {name: place for place, name in enumerate(ids) if isinstance(name, str) and name}


def _sorted_results(blocks: list[tuple[Message, str]], order: dict[Json, int]) -> list[tuple[Message, str]]:
    """Results change places among themselves; the user's own texts stay where they are."""
    results = [block for block in blocks if block[0].get("role") == "tool"]
    if len(results) < 2 or not order:
        return blocks
    results.sort(key=lambda block: order.get(_call_id(block[0]), 0))
    following = iter(results)
    return [next(following) if message.get("role") == "tool" else (message, text) for message, text in blocks]


def _call_id(message: Message) -> str:
    name = message.get("tool_call_id")
    return name if isinstance(name, str) else ""


def _block(message: Message) -> str:
    if message.get("role") != "tool":
        return text_of(message)
    text = text_of(message, joint="\n\n")
    return f"<tool_result>{text}</tool_result>"


def _tools_block(tools: Sequence[JsonObject]) -> str:
    return _TOOLS[0] + "\n".join(to_json(schema_of(tool)) for tool in tools) + _TOOLS[1]

"""The format of DeepSeek V3.2: system texts where they stand, calls in DSML, results matched to calls by position.

What the design notes lack, and what is done about it: the wording of the tools block is not reproduced, a text of the
same 247 tokens stands in for it. Tools are attached to a leading system message. A developer's message is rendered as
the system's. Whether the released vocabulary has `｜DSML｜` as one token is open; it is counted as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import calls_of, reasoning_text
from promptreg.context.encoders import marks
from promptreg.context.encoders.dsml import calls_block
from promptreg.context.encoders.model import fixed_wording, has_calls, role_of, schema_of, text_of, to_json
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Message

_CALLS: Final = "function_calls"
_TOOLS: Final = (fixed_wording(244, ends=">\n"), "\n</functions>\n")


class DeepseekV32:
    """V3.2 by its own encoder; the model has no chat template.

    Args:
        thinking: whether the model is asked to think, off by default.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._thinking = thinking
        self.name = "V3.2 encoder, thinking" if thinking else "V3.2 encoder"

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The prompt. Reasoning is rendered only behind the last user message.

        Raises:
            EncodingError: a result without a call; arguments that are no JSON object; in thinking mode an answer behind
                the last user message that has neither reasoning nor calls.
        """
        roles = [role_of(message) for message in messages]
        last_user = max((place for place, role in enumerate(roles) if role == "user"), default=-1)
        pieces = [marks.BEGIN]
        if tools and roles[:1] != ["system"]:
            pieces.append(_tools_block(tools))
        calls = results = 0
        for place, (role, message) in enumerate(zip(roles, messages, strict=True)):
            if role == "tool":
                results += 1
                pieces.append(self._result(message, results, calls, thinks=place >= last_user))
                continue
            calls, results = len(calls_of(message)) if has_calls(message) else 0, 0
            if role == "system":
                pieces.append(text_of(message))
                pieces += [_tools_block(tools)] if tools and place == 0 else []
            elif role == "user":
                pieces.append(self._user(message, thinks=place == last_user))
            else:
                pieces.append(self._assistant(message, thinks=place > last_user))
        return "".join(pieces)

    def alone(self, message: Message) -> str:
        """The message with its marks; a result with the frame around all results; reasoning as in the last turn."""
        role = role_of(message)
        if role == "system":
            return text_of(message)
        if role == "tool":
            return self._result(message, 1, 1, thinks=False)
        if role == "user":
            return self._user(message, thinks=False)
        return self._assistant(message, thinks=has_calls(message))

    def _user(self, message: Message, *, thinks: bool) -> str:
        return marks.USER + text_of(message) + marks.ASSISTANT + self._cue(thinks=thinks)

    def _cue(self, *, thinks: bool) -> str:
        return marks.THINK if thinks and self._thinking else marks.THOUGHT

    def _assistant(self, message: Message, *, thinks: bool) -> str:
        reasoning = ""
        if thinks and self._thinking:
            if not (reasoning_text(message) or has_calls(message)):
                raise EncodingError(
                    "V3.2 in thinking mode refuses an answer behind the last user message that has neither "
                    "`reasoning_content` nor `tool_calls`. Send the reasoning along, or end with a user message."
                )
            reasoning = reasoning_text(message) + marks.THOUGHT
        return reasoning + text_of(message) + calls_block(message, _CALLS, strict=True) + marks.END

    def _result(self, message: Message, number: int, calls: int, *, thinks: bool) -> str:
        if number > calls:
            raise EncodingError(
                "V3.2 refuses a tool's result without a call of its own before it: results are matched to the calls by "
                "their position. Leave the result out, or keep the call with it."
            )
        text = f"\n<result>{text_of(message)}</result>"
        if number == 1:
            text = "\n\n<function_results>" + text
        if (
            number == calls
        ):  # with fewer results than calls neither the end nor the cue is written: the model's own rule
            text += "\n</function_results>\n\n" + self._cue(thinks=thinks)
        return text


def _tools_block(tools: Sequence[JsonObject]) -> str:
    schemas = "\n".join(to_json(schema_of(tool)) for tool in tools)
    return _TOOLS[0] + schemas + _TOOLS[1]

"""The formats of DeepSeek V3 and R1, and of V3.1: system texts first, calls and results between marks of their own.

What the design notes lack, and what is done about it: the wording of the tools block is not reproduced, a text of the
same length stands in for it (V3: 103 tokens around the schemas, V3.1: 102, both measured on the templates among vLLM's
examples; the models' own templates render no tools). Arguments are rendered as they were written. Newer revisions of R1
add `<think>` to the cue; that is the option `thinking`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import calls_of
from promptreg.context.encoders import marks
from promptreg.context.encoders.model import (
    arguments_text,
    fixed_wording,
    has_calls,
    name_text,
    role_of,
    text_of,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Message

_V3_TOOLS: Final = (fixed_wording(42, ends="\n"), fixed_wording(61, ends="\n"))
_V31_TOOLS: Final = (fixed_wording(12, ends=":\n"), fixed_wording(90, ends="\n"))


class DeepseekV3:
    """V3, V3-0324 and R1: the cue follows every user message at once, and nothing follows a tool's result.

    Args:
        thinking: whether the cue opens the reasoning with `<think>` and a line end, as newer revisions of R1 do.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._cue = marks.ASSISTANT + (f"{marks.THINK}\n" if thinking else "")
        self.name = "V3 encoder, thinking" if thinking else "V3 encoder"

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The prompt. Reasoning of earlier answers is never rendered, whatever place it has in a message."""
        pieces = [marks.BEGIN, _system_texts(messages)]
        if tools:
            pieces += [_V3_TOOLS[0], "\n".join(map(to_json, tools)), _V3_TOOLS[1]]
        asked = pending = framed = False  # last is a user's · results are open · the frame of results was opened
        for place, message in enumerate(messages):
            role = role_of(message)
            if role == "user":
                pieces.append(self._user(message, last=place == len(messages) - 1))
                asked, pending = True, False
            elif role == "assistant":
                pieces += [marks.OUTPUTS_END if pending else "", self._assistant(message)]
                asked = pending = False
                framed = framed and not has_calls(message)
            elif role == "tool":
                pieces += ["\n" if framed else marks.OUTPUTS, _result(message)]
                asked, pending, framed = False, True, True
        if pending:
            pieces.append(marks.OUTPUTS_END)
        elif not asked:
            pieces.append(self._cue)
        return "".join(pieces)

    def alone(self, message: Message) -> str:
        """The message with its marks; a result with the marks around all results."""
        role = role_of(message)
        if role == "system":
            return "\n\n" + text_of(message)
        if role == "tool":
            return f"{marks.OUTPUTS}{_result(message)}{marks.OUTPUTS_END}"
        return self._user(message, last=False) if role == "user" else self._assistant(message)

    def _user(self, message: Message, *, last: bool) -> str:
        return marks.USER + text_of(message) + (self._cue if last else marks.ASSISTANT)

    def _assistant(self, message: Message) -> str:
        text = _answer(message)
        if has_calls(message):
            calls = "\n".join(
                f"{marks.CALL}function{marks.CALL_SEPARATOR}{name_text(call)}\n```json\n{arguments_text(call)}\n```"
                f"{marks.CALL_END}"
                for call in calls_of(message)
            )
            text += marks.CALLS + calls + marks.CALLS_END
        return text + marks.END


class DeepseekV31:
    """V3.1: the cue comes with the answer, with `<think>` or `</think>` behind it; results stand without a frame.

    Args:
        thinking: the template's switch of that name, off by default.
    """

    def __init__(self, *, thinking: bool = False) -> None:
        self._thinking = thinking
        self.name = "V3.1 encoder, thinking" if thinking else "V3.1 encoder"

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The prompt. Reasoning of earlier answers is never rendered."""
        pieces = [marks.BEGIN, _system_texts(messages)]
        if tools:
            pieces += [_V31_TOOLS[0], *map(to_json, tools), _V31_TOOLS[1]]
        asked = False
        for message in messages:
            role = role_of(message)
            if role == "user":
                pieces.append(marks.USER + text_of(message))
                asked = True
            elif role == "assistant":
                pieces += [marks.ASSISTANT, marks.THOUGHT] if asked else []
                pieces.append(self._assistant(message))
                asked = False
            elif role == "tool":
                pieces.append(_result(message))
                asked = False
        if asked:
            pieces += [marks.ASSISTANT, marks.THINK if self._thinking else marks.THOUGHT]
        return "".join(pieces)

    def alone(self, message: Message) -> str:
        """The message with its marks; a user message with the cue that follows it."""
        role = role_of(message)
        if role == "system":
            return "\n\n" + text_of(message)
        if role == "tool":
            return _result(message)
        if role == "user":
            return marks.USER + text_of(message) + marks.ASSISTANT + marks.THOUGHT
        return self._assistant(message)

    def _assistant(self, message: Message) -> str:
        text = _answer(message)
        if has_calls(message):
            calls = "".join(
                f"{marks.CALL}{name_text(call)}{marks.CALL_SEPARATOR}{arguments_text(call)}{marks.CALL_END}"
                for call in calls_of(message)
            )
            text += marks.CALLS + calls + marks.CALLS_END
        return text + marks.END


def _system_texts(messages: Sequence[Message]) -> str:
    """All system texts of the conversation, wherever they stand."""
    return "\n\n".join(text_of(message) for message in messages if role_of(message) == "system")


def _answer(message: Message) -> str:
    """An answer without the reasoning that it may still have in its text."""
    text = text_of(message)
    return text.rpartition(marks.THOUGHT)[2]


def _result(message: Message) -> str:
    return marks.OUTPUT + text_of(message) + marks.OUTPUT_END

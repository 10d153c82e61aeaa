"""What a prompt has before anybody said anything: the mark of its beginning, and what its format puts there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.groups import is_system
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message

_QUESTION: Final[Message] = {"role": "user", "content": ""}


@dataclass(frozen=True, slots=True)
class Opening:
    """The parts of a prompt that do not depend on what is asked, in tokens of one counter."""

    preamble: int
    """What no message and no tool brings: the mark of the beginning, V4's text for the effort, and the like."""
    system: int
    """System messages."""
    tools: int


def opening_of(messages: Sequence[Message], tools: Sequence[JsonObject], counter: Counter) -> Opening:
    """Take the opening of a prompt apart.

    Args:
        messages: of the prompt; only the system messages among them matter.
        tools: of the request.
        counter: counts.

    Raises:
        EncodingError: the format has no place for system messages followed by a question.
    """
    systems = [message for message in messages if is_system(message)]
    bare = [*systems, _QUESTION]
    whole, question = counter.prompt(bare), counter.message(_QUESTION)
    by_themselves = sum(map(counter.message, systems))
    preamble, system = whole - by_themselves - question, by_themselves
    if systems and (alone := _without_system(counter)) is not None and alone - question - preamble <= len(systems):
        # What a system message has by itself may be a token more than what it adds, for the gap before it. Where the
        # difference is larger, the format has an instruction of its own which those of the conversation replace.
        preamble, system = alone - question, whole - alone
    with_tools = counter.prompt(bare, tools=tools) - whole if tools else 0
    return Opening(max(0, preamble), max(0, system), max(0, with_tools))


def _without_system(counter: Counter) -> int | None:
    try:
        return counter.prompt([_QUESTION])
    except EncodingError:  # a template that wants a system message
        return None

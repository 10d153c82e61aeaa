"""Which message of a conversation it is that a prompt format has no place for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message

_HARMLESS: Final[Message] = {"role": "user", "content": "?"}


def refused_message(
    messages: Sequence[Message], counter: Counter, error: Exception, tools: Sequence[JsonObject] = ()
) -> int | None:
    """The place of the first message with which a conversation is refused in the words of `error`.

    Found by halving: with it every longer beginning is refused, without it none. None where that does not hold, such as
    for a template that refuses everything, or where the error is none of a prompt format.

    Args:
        messages: of the conversation.
        counter: that refused it.
        error: what it raised.
        tools: of the request.
    """
    if not isinstance(error, EncodingError) or not messages:
        return None
    said = str(error)

    def refused(some: Sequence[Message]) -> bool:
        try:
            counter.prompt(some, tools=tools)
        except EncodingError as other:
            return str(other) == said
        return False

    low, high = 0, len(messages)
    if not refused(messages) or refused([_HARMLESS]):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refused(messages[:middle]) else (middle, high)
    return high - 1


def with_message(
    messages: Sequence[Message], counter: Counter, error: Exception, tools: Sequence[JsonObject] = ()
) -> str:
    """The words of an error, with the place of the message that they are about where it is known."""
    place = refused_message(messages, counter, error, tools)
    return str(error) if place is None else f"Message {place}: {error}"

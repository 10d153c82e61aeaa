"""When in a conversation its model is called: what stands after the last call is in no prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.context.groups import is_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.context.count.counting import Message


def calls_of_conversation(messages: Sequence[Message]) -> tuple[int, ...]:
    """How many messages were there each time that the model was called: before each answer, and now."""
    places: list[int] = []
    asked = False
    for place, message in enumerate(messages):
        if message.get("role") == "assistant" and asked:
            places.append(place)
        asked = asked or _asks(message)
    if messages and _asks(messages[-1]):
        places.append(len(messages))
    return tuple(places)


def sent_at_last(messages: Sequence[Message]) -> int:
    """How many messages the last call is about, all of them where there is no call; later ones are in no prompt."""
    places = calls_of_conversation(messages)
    return places[-1] if places else len(messages)


def _asks(message: Message) -> bool:
    return message.get("role") == "user" or is_result(message)

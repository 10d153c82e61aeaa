"""A user's own function, `module:callable`: messages and a budget in, the messages to send out."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from promptreg.context.adapters.base import Item
from promptreg.context.count.counting import message_key
from promptreg.context.failure import BrokenPromiseError

if TYPE_CHECKING:
    from promptreg.context.adapters.base import Room
    from promptreg.context.count.counting import Message

Call: TypeAlias = "Callable[[list[Message], int], Sequence[Message]]"


@dataclass(frozen=True, slots=True)
class FunctionShortener:
    """See the module. It gets copies; a message that comes back is known by being the same object, or equal."""

    call: Call
    remembers: bool = False
    summarises: bool = False

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        handed: list[Message] = [copy.deepcopy(dict(item.message)) for item in items]
        places = {id(message): place for place, message in enumerate(handed)}
        before = [message_key(item.message) for item in items]
        chosen: list[Item] = []
        left = len(items)
        # From the end, each as late as can be, as `invariants` finds messages again.
        for message in reversed(list(self.call(handed, room.budget))):
            place = places.get(id(message))
            if place is None:
                key = message_key(message)
                place = next((place for place in range(left - 1, -1, -1) if before[place] == key), None)
            if place is None or place >= left:
                chosen.append(Item(message, None))
                continue
            left = place
            item = items[place]
            chosen.append(item if message_key(message) == before[place] else Item(message, item.origin))
        return tuple(reversed(chosen))


def checked(function: Callable[..., Any]) -> Call:
    """The function, with an error where what it returns is no list of messages. It may be asynchronous."""

    def call(messages: list[Message], budget: int) -> Sequence[Message]:
        try:
            returned = function(messages, budget)
            if inspect.iscoroutine(returned):
                import asyncio  # noqa: PLC0415 - only for asynchronous functions

                returned = asyncio.run(returned)
        except SystemExit as error:
            raise BrokenPromiseError(
                f"it ended the program with {error.code}", f"它以 {error.code} 结束了程序"
            ) from None
        if not isinstance(returned, Sequence) or isinstance(returned, (str, bytes)):
            kind = type(returned).__name__
            raise BrokenPromiseError(
                f"it returned {kind}, not a list of messages", f"它返回的是 {kind}，而不是消息列表"
            )
        for message in returned:
            if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
                kind = type(message).__name__
                raise BrokenPromiseError(
                    f"it returned a list with {kind} that is no message with a `role`",
                    f"它返回的列表中有 {kind}，不是带 `role` 的消息",
                )
        return returned

    return call

"""What an adapter makes of a library: messages with their places in, messages with their places out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from promptreg.context.groups import is_system
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message


@dataclass(frozen=True, slots=True)
class Item:
    """A message, and which message of the conversation it is."""

    message: Message
    """The one that was handed in, where nothing changed it."""
    origin: int | None
    """Its place in the conversation; None for one that the library put in."""


@dataclass(frozen=True, slots=True)
class Room:
    """What a prompt may have, counted as everything else is."""

    budget: int
    counter: Counter
    tools: tuple[JsonObject, ...] = ()

    def total(self, messages: Sequence[Message]) -> int:
        """Tokens of a whole prompt.

        Libraries also count pieces, and lists from back to front, that no prompt format has a place for: those are
        sums of single messages.
        """
        try:
            return self.counter.prompt(messages, tools=self.tools)
        except EncodingError:
            sizes = [self.counter.message(message) for message in messages]
            return sum(sizes) + sum(self.text(json.dumps(tool, ensure_ascii=False)) for tool in self.tools)

    def count(self, messages: Sequence[Message]) -> int:
        """What messages add to a prompt that has the tools and nothing else.

        The tools are part of both prompts: with them a format may keep reasoning that it leaves out without.
        """
        return self.total(messages) - self.total(())

    def left(self, messages: Sequence[Message]) -> int:
        """What `count` of other messages may be beside these; below 1 where there is no room."""
        return self.budget - self.total(messages)

    def text(self, text: str) -> int:
        """Tokens of a text inside a message."""
        with_text, without = ({"role": "user", "content": content} for content in (text, ""))
        return self.counter.message(with_text) - self.counter.message(without)


class Shortener(Protocol):
    """A library's way to make a conversation shorter, with the options that it was given. A frozen value."""

    @property
    def remembers(self) -> bool:
        """Whether what it returns takes the place of the history, so that the next call goes on from there."""
        ...

    @property
    def summarises(self) -> bool:
        """Whether messages that it puts in stand for those that are gone."""
        ...

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """What the library makes of the messages. It may raise whatever the library raises; nothing is changed."""
        ...


def prefix_of(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """The application's system messages at the beginning, and the rest. A summary as a system message is none."""
    count = 0
    while count < len(items) and items[count].origin is not None and is_system(items[count].message):
        count += 1
    return tuple(items[:count]), tuple(items[count:])


def copied(value: object) -> Any:
    """A copy of a JSON value, down to its leaves. Lone surrogates, which libraries refuse, are question marks in it."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {copied(key): copied(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [copied(inner) for inner in value]
    return value


def returned(item: Item, content: object, before: object) -> Item:
    """The item as it came back: itself where its content is what it was, else a copy with what is left of it."""
    if content == before:
        return item
    return Item({**item.message, "content": content}, item.origin)  # type: ignore[dict-item]  # JSON: text or parts

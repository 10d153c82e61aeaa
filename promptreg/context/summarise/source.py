"""What is summarised, and within which room."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from promptreg.context.count.counting import calls_of, content_text, images_in
from promptreg.text.counted import counted
from promptreg.text.script import script_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from promptreg.context.count.counting import Message
    from promptreg.context.strategies.base import Request

Written: TypeAlias = "Generator[Request, Any, str]"
"""A summariser that needs answers: it yields requests and returns the summary."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What one message says."""

    index: int
    """Its place in the conversation."""
    role: str
    text: str
    """Content and calls. Reasoning is not summarised: it is how an answer came about, and the answer is there."""

    @property
    def paragraph(self) -> str:
        """Who says it, and what."""
        return f"{self.role}: {self.text}"


@dataclass(frozen=True, slots=True)
class Source:
    """The messages that leave, and the summary of those that left before."""

    passages: tuple[Passage, ...]
    previous: str = ""

    @property
    def text(self) -> str:
        """All of it, a paragraph for each message."""
        paragraphs = (passage.paragraph for passage in self.passages)
        return "\n".join((self.previous, *paragraphs) if self.previous else paragraphs)

    @property
    def language(self) -> Literal["en", "zh"]:
        """The language for headings: Chinese where a third of the letters are Chinese."""
        counts = script_counts(self.text[:20_000])
        return "zh" if 3 * counts.get("Han", 0) > sum(counts.values()) else "en"


@dataclass(frozen=True, slots=True)
class Room:
    """How long a summary may be."""

    limit: int
    """Tokens."""
    size: Callable[[str], int]
    """Tokens of a text."""


class Summariser(Protocol):
    """Writes what stands for the messages that leave. A frozen value."""

    @property
    def name(self) -> str:
        """How ledgers and reports call it."""
        ...

    def summarise(self, source: Source, room: Room) -> str | Written:
        """The summary of all of the source. What it cannot read it must not leave out silently: it raises instead.

        Called only with a source that says something. Any error leads to the extractive summary.
        """
        ...


def passage_of(index: int, message: Message) -> Passage | None:
    """What a message says, or None where it says nothing."""
    content = message.get("content")
    lines = [content_text(content).strip()]
    lines += [f"({counted(images, 'image or file', 'images or files')})"] if (images := images_in(content)) else []
    lines += [f"{_plain(call.get('name'))}({_plain(call.get('arguments'))})" for call in calls_of(message)]
    text = "\n".join(line for line in lines if line)
    return Passage(index, str(message.get("role", "")), text) if text else None


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

"""What several rules need to know about a text, worked out at most once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from promptreg.text.normalise import is_blank
from promptreg.text.script import language_of, language_of_letters, script_counts, without_code

if TYPE_CHECKING:
    from promptreg.canonical import Json

_ASCII_BLANKS: Final = b"\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f "
_WIDE_BLANK: Final = re.compile("[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
"""What `str.split` takes for a blank, beyond ASCII."""


_LONGEST_KEPT: Final = 20_000
"""Characters of the longest text that is kept with what is known about it."""


class Text:
    """A text and what is known about it."""

    def __init__(self, text: str) -> None:
        self.raw = text

    def __bool__(self) -> bool:
        return bool(self.raw)

    @cached_property
    def blank(self) -> bool:
        """Whether there is nothing to see."""
        return is_blank(self.raw)

    @cached_property
    def prose(self) -> str:
        """The text outside fenced and inline code."""
        return without_code(self.raw)

    @cached_property
    def visible(self) -> int:
        """Characters outside code that are no blanks."""
        narrow = self.prose.encode("ascii", "ignore")
        blanks = len(narrow) - len(narrow.translate(None, _ASCII_BLANKS))
        if len(narrow) < len(self.prose):
            blanks += len(_WIDE_BLANK.findall(self.prose))
        return len(self.prose) - blanks

    @cached_property
    def code(self) -> str:
        """The lines inside fenced code, joined."""
        return fenced_lines(self.raw)

    @cached_property
    def letters(self) -> Mapping[str, int]:
        """Letters outside code by Unicode script."""
        return script_counts(self.prose)

    @cached_property
    def language(self) -> str | None:
        """The language most of the text is in; None without letters outside code."""
        prose = self.prose
        if "`" in prose or "~~~" in prose or "://" in prose or "www." in prose or "@" in prose:
            return language_of(self.raw)
        return language_of_letters(prose, self.letters)


def text_view(text: str) -> Text:
    """A text and what is known about it; the same object for equal texts, as far as they were seen lately.

    The answers of one case are often equal, and are looked at one after the other. Long ones are not kept.
    """
    return _text_view(text) if len(text) <= _LONGEST_KEPT else Text(text)


@lru_cache(maxsize=64)
def _text_view(text: str) -> Text:
    return Text(text)


def fenced_lines(text: str) -> str:
    """The lines inside code fences of a text, without the fences. A fence that is never closed runs to the end."""
    if "```" not in text and "~~~" not in text:
        return ""
    inside: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = line.strip()
        if fence:
            if mark.startswith(fence) and not mark.strip(fence[0]):
                fence = ""
            else:
                inside.append(line)
        elif mark.startswith(("```", "~~~")):
            rest = mark.lstrip(mark[0])
            if mark[0] not in rest:
                fence = mark[: len(mark) - len(rest)]
    return "\n".join(inside)


def text_of_content(content: Json) -> str:
    """The text of a message's content: text, or a list of parts of which those with text count."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def texts_of_messages(messages: Json) -> list[tuple[str, str]]:
    """Role and text of every message of a request, as far as they can be read."""
    found: list[tuple[str, str]] = []
    if isinstance(messages, Sequence) and not isinstance(messages, str):
        for message in messages:
            if isinstance(message, Mapping):
                role = message.get("role")
                found.append((role if isinstance(role, str) else "", text_of_content(message.get("content"))))
    return found

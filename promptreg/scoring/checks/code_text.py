"""What of an answer is code: all of it, or what stands in its code fences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection

_OPENING: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`]{0,40})([^`]*)$")


@dataclass(frozen=True, slots=True)
class Fence:
    """One code fence."""

    language: str
    """In lower case; "" where none is named."""
    code: str
    closed: bool


def fences(text: str) -> list[Fence]:
    """The code fences of a text in order. One that is never closed takes the rest. Linear in the text."""
    if "```" not in text and "~~~" not in text:
        return []
    made: list[Fence] = []
    mark = language = ""
    inside: list[str] = []
    for line in text.splitlines():
        if mark:
            stripped = line.strip()
            if stripped.startswith(mark) and not stripped.strip(mark[0]):
                made.append(Fence(language, "\n".join(inside), closed=True))
                mark, inside = "", []
            else:
                inside.append(line)
            continue
        opening = _OPENING.match(line) if "```" in line or "~~~" in line else None
        if opening:
            mark, language = opening[1], opening[2].lower()
    if mark:
        made.append(Fence(language, "\n".join(inside), closed=False))
    return made


def fenced_code(text: str, languages: Collection[str]) -> list[str]:
    """The code in the closed fences of these languages; where none names one of them, in those without a language."""
    closed = [fence for fence in fences(text) if fence.closed]
    named = [fence.code for fence in closed if fence.language in languages]
    return named or [fence.code for fence in closed if not fence.language]

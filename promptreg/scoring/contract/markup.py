"""Markdown shapes of a text: code fences, tables and lists. One pass over the lines, without recursion."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 200_000
"""Characters that are read; the shape of a runaway answer shows in its beginning."""

MOST: Final = 64
"""Fences, tables, and columns of a table that are kept; those after them are left out."""

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\s`{]{0,40})")
_BULLET: Final = re.compile(r"[ \t\u3000]{0,16}[-*+•·●▪][ \t\u3000]+\S")
_NUMBERED: Final = re.compile(
    r"[ \t\u3000]{0,16}(?:[0-9]{1,3}[.)](?=[ \t])|[0-9]{1,3}[、．](?![0-9])|[（(][0-9]{1,3}[)）]"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳])[ \t\u3000]*\S",
)
_UNESCAPED_BAR: Final = re.compile(r"(?<!\\)\|")
_DELIMITER: Final = frozenset("|:- \t")


@dataclass(frozen=True, slots=True)
class Markup:
    """What shapes a text has."""

    fences: tuple[str, ...] = ()
    """Languages of the code fences in the order of the text, in lower case; "" where none is named."""
    whole: str | None = None
    """What stands inside the fence when the whole text is one fence, else None."""
    tables: tuple[tuple[str, ...], ...] = ()
    """Columns of the tables outside code."""
    bullets: int = 0
    """Lines outside code that are items of a bulleted list."""
    numbers: int = 0
    """The same of a numbered list."""


def read_markup(text: str) -> Markup:
    """The shapes of a text. A fence that is never closed takes the rest of it."""
    text = text[:LONGEST].strip()
    # Not `splitlines`: it also cuts at characters that stand inside JSON texts.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fences: list[str] = []
    tables: list[tuple[str, ...]] = []
    bullets = numbers = 0
    fence, closed_at, previous = "", -1, ""
    for index, line in enumerate(lines):
        mark = _FENCE.match(line) if "`" in line or "~" in line else None
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip() and not mark[2]:
                fence, closed_at = "", index
            continue
        if mark and not (mark[1][0] == "`" and "`" in line[mark.end() :]):
            fence = mark[1]
            fences.append(mark[2].lower())
            previous = ""
            continue
        bullets += _BULLET.match(line) is not None
        numbers += _NUMBERED.match(line) is not None
        columns = _columns(previous, line)
        if columns:
            tables.append(columns)
        previous = line
    whole = len(fences) == 1 and closed_at == len(lines) - 1 and _FENCE.match(lines[0]) is not None
    inside = "\n".join(lines[1:-1]) if whole else None
    return Markup(tuple(fences[:MOST]), inside, tuple(tables[:MOST]), bullets, numbers)


def _columns(header: str, delimiter: str) -> tuple[str, ...]:
    """The column names when the second line delimits a table's head, else ()."""
    if "|" not in header or "-" not in delimiter or "|" not in delimiter or not _DELIMITER.issuperset(delimiter):
        return ()
    rules, names = _cells(delimiter), _cells(header)
    if len(rules) != len(names) or not all(rule.strip(":").strip("-") == "" and "-" in rule for rule in rules):
        return ()
    return tuple(names[:MOST])


def _cells(line: str) -> list[str]:
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip() for cell in _UNESCAPED_BAR.split(line)]

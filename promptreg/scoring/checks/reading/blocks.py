"""The blocks of a text: headings, lists, tables, code fences and quotations.

Headings, tables and quotations are found by markdown-it-py, blocks only; lists line by line (`list_items`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from promptreg.scoring.checks.reading.code_text import Fence, fences
from promptreg.scoring.checks.reading.list_items import lists_of

LONGEST: Final = 100_000
"""Characters; checks leave a longer answer unscored."""


@dataclass(frozen=True, slots=True)
class Table:
    """A Markdown table: the names of its columns and how many rows it has below them."""

    columns: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """The blocks of a text."""

    headings: tuple[str, ...]
    tables: tuple[Table, ...]
    fences: tuple[Fence, ...]
    quotes: int
    lists: int

    def count(self, part: str) -> int:
        """How many blocks of a kind there are."""
        return {
            "heading": len(self.headings),
            "list": self.lists,
            "table": len(self.tables),
            "code": len(self.fences),
            "quote": self.quotes,
        }[part]


# The checks of one case ask about the same answers one after the other.
@lru_cache(maxsize=32)
def blocks_of(content: str) -> Blocks:
    """The blocks of a text of at most `LONGEST` characters."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - a fifth of a second, for suites with these checks only

    # Blocks only: what stands inside them is never parsed, which is where Markdown can be made slow.
    reader = MarkdownIt("commonmark").enable("table")
    reader.core.ruler.enableOnly(["normalize", "block"])
    reader.block.ruler.disable("reference")
    headings: list[str] = []
    tables: list[Table] = []
    columns: list[str] = []
    quotes = rows = 0
    where = ""
    for token in reader.parse(content):
        if token.type in ("heading_open", "th_open"):
            where = token.type
        elif token.type == "inline" and where:
            (headings if where == "heading_open" else columns).append(token.content.strip().strip("*_` "))
            where = ""
        elif token.type == "blockquote_open":
            quotes += 1
        elif token.type == "tr_open":
            rows += 1
        elif token.type == "table_close":
            tables.append(Table(tuple(columns), rows - 1))
            rows, columns = 0, []
    return Blocks(tuple(headings), tuple(tables), tuple(fences(content)), quotes, lists_of(content).blocks)

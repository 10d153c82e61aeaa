"""Tables without lines, as all commands on contexts print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from promptreg.text.sentence import Language, Sentence


def table_of(columns: Sequence[Sentence], language: Language) -> Table:
    """An empty table with these heads: the first column holds names, the others numbers."""
    from rich.table import Table  # noqa: PLC0415 - rich costs 40 ms, which `--help` must not pay

    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column.text(language), justify="right" if place else "left", overflow="fold")
    return table

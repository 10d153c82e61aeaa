"""Tables of the context-test page: rows in groups, one for each window, and cells that carry a colour and a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.report.context.bilingual import both, name
from promptreg.report.embed import escaped
from promptreg.text.counted import grouped as grouped_words
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.context.trial.grid_report import Column, ContextReport
    from promptreg.context.trial.grid_rows import Pooled

NONE: Final = "—"
STRATEGY: Final = Sentence("strategy", "策略")
MARK: Final = (
    '<svg class="best" viewBox="0 0 16 16" aria-hidden="true">'
    '<polygon class="point on-front" points="8,2 14,8 8,14 2,8"/></svg>'
)
"""The mark of strategies that none beats in recall and cache hits together."""
_LEVELS: Final = 10
_SEEN_AT_ONCE: Final = 4
"""Columns that a telephone shows."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: finished HTML and its classes."""

    inside: str
    classes: str = "number"


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under a heading; the first cell of each is its header."""

    title: str
    """HTML."""
    rows: Sequence[tuple[str, Sequence[Cell]]]


def strategy_name(report: ContextReport, one: Pooled, *, front: bool = False) -> str:
    """Its number and its name, with a mark where none is better in recall and hits together."""
    told = Sentence("none is better in both", "两项上无出其右者")
    mark = f'{MARK}<span class="unseen">{both(told)}</span>' if front else ""
    return f'<span class="number-of">{number_of(report, one.strategy)}</span>&nbsp;{escaped(name(one.strategy))}{mark}'


def number_of(report: ContextReport, strategy: str) -> int:
    """Which of those compared it is, from 1; plots name it by that. 0: none of them."""
    return report.names.index(strategy) + 1 if strategy in report.names else 0


def grouped(columns: Sequence[Sentence], groups: Iterable[Group], kind: str = "") -> str:
    """A table with a body for each group. All columns but the first are numbers, unless their cells say otherwise."""
    head = "".join(f'<th scope="col" class="number">{both(column)}</th>' for column in columns[1:])
    bodies = []
    for group in groups:
        rows = "".join(
            f'<tr><th scope="row">{header}</th>'
            + "".join(f'<td class="{cell.classes}">{cell.inside}</td>' for cell in cells)
            + "</tr>\n"
            for header, cells in group.rows
        )
        title = f'<tr class="group"><th scope="rowgroup" colspan="{len(columns)}"><div>{group.title}</div></th></tr>\n'
        bodies.append(f"<tbody>\n{title}{rows}</tbody>\n")
    marks = f' class="{kind}"' if kind else ""
    first = f'<thead><tr><th scope="col">{both(columns[0])}</th>{head}</tr></thead>'
    aside = Sentence(
        f"{len(columns)} columns; swipe or scroll sideways to see all.", f"共 {len(columns)} 列，左右滑动可看到全部。"
    )
    hint = f'<p class="sideways" aria-hidden="true">↔ {both(aside)}</p>\n' if len(columns) > _SEEN_AT_ONCE else ""
    return f'{hint}<div class="scroll" tabindex="0"><table{marks}>\n{first}\n{"".join(bodies)}</table></div>\n'


def window_title(column: Column) -> str:
    """The heading of a window's rows: its size, whose it is, and what prompts and the cache get of it."""
    whose = "" if column.deployment is None else f" · {name(column.deployment)}"
    title = Sentence(f"Window {column.budget.window:,}{whose}", f"窗口 {column.budget.window:,}{whose}")
    tokens, unit = column.budget.tokens, column.granularity
    more = Sentence(
        f"{grouped_words(tokens, 'token')} for the prompt, cache unit {unit:,}",
        f"提示词 {tokens:,} token，缓存粒度 {unit:,}",
    )
    return f"{both(title)}<small>{both(more)}</small>"


def level(share: float) -> str:
    """The class that colours a share of 0 to 1; only 1 has the last one, so that nothing lost looks like it."""
    return f"h{_LEVELS if share >= 1 else min(_LEVELS - 1, int(share * _LEVELS))}"


def share(value: float | None, digits: int = 0) -> Cell:
    """A share without a colour."""
    return Cell(NONE if value is None else f"{value:.{digits}%}")


def heat(value: float | None, title: str = "") -> Cell:
    """A share with its colour."""
    if value is None:
        return Cell(NONE)
    shown = f"{value:.0%}" if not title else f'<span title="{escaped(title)}">{value:.0%}</span>'
    return Cell(shown, f"number heat {level(value)}")


def count(value: int | None) -> Cell:
    """A whole number."""
    return Cell(NONE if value is None else f"{value:,}")

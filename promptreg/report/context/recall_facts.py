"""The parts of the context-test page on facts: what is left by depth, kind and role, and what must be left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.context.lint import ROLE_NAMES
from promptreg.report.context.bilingual import both, name, table
from promptreg.report.context.recall_plot import HeatRow, heat_map, scale_of_colours
from promptreg.report.context.recall_table import (
    NONE,
    STRATEGY,
    Cell,
    Group,
    grouped,
    heat,
    number_of,
    strategy_name,
    window_title,
)
from promptreg.report.embed import escaped
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.context.trial.grid_report import ContextReport
    from promptreg.context.trial.grid_rows import Pooled
    from promptreg.context.trial.known import KnownFact
    from promptreg.context.trial.retention import Retained

_MOST_DEPTHS: Final = 8
"""With more depths than this they are put together by tenths."""


def fact_sections(report: ContextReport) -> Iterator[str]:
    """All of them."""
    yield from _heat(report)
    yield from _kinds(report)
    yield from _expected(report)


def _depths(report: ContextReport) -> list[float]:
    """The depths of all facts, by tenths where they are many."""
    depths = sorted({depth for one in report.results for depth in one.by_depth})
    return depths if len(depths) <= _MOST_DEPTHS else sorted({round(depth, 1) for depth in depths})


def _by_depth(one: Pooled, depths: Sequence[float]) -> list[Retained | None]:
    """Facts at each of these depths, and those of system messages."""

    def depth_of(fact: KnownFact) -> float | None:
        if fact.depth is None:
            return None
        return min(depths, key=lambda depth: abs(depth - (fact.depth or 0.0)))

    found = one.by(depth_of)
    return [*(found.get(depth) for depth in depths), one.by_role.get("system")]


def _heat(report: ContextReport) -> Iterator[str]:
    depths = _depths(report)
    heads = [
        *(Sentence(f"{depth:.0%}", f"{depth:.0%}") for depth in depths),
        Sentence("system", "系统"),
    ]
    title = Sentence("What is left at the end, by depth and window", "最终保留：按深度与窗口")
    note = Sentence(
        "Share of the facts that the last prompt has, in percent. Rows are windows, columns how far into the "
        "conversation a fact was said: 0% the first turn, 100% the newest. The newest user message is in every prompt, "
        "so facts of 100% are lost only where tool results of the newest turn were shortened or nothing could be sent.",
        "最后提示词中保留的事实占比（%）；行为窗口，列为事实在对话中的深度：0% 为首轮，100% 为最新一轮。"
        "最新的用户消息始终保留，因此 100% 处只会在缩短最新一轮的工具结果或未能发送时丢失。",
    )
    yield f'<section><h2>{both(title)}</h2>\n<p class="hint">{both(note)}</p>\n'
    ends = (Sentence("all lost", "全部丢失"), Sentence("all kept", "全部保留"))
    yield f'<p class="legend scale-of">{both(ends[0])}{scale_of_colours()}{both(ends[1])}</p>\n'
    yield '<div class="figures many">\n'
    for strategy in report.names:
        rows = [
            HeatRow(f"{column.budget.window:,}", _by_depth(one, depths))
            for column in report.columns
            for one in report.of(column)
            if one.strategy == strategy
        ]
        if rows:
            shown = name(strategy)
            picture = heat_map(heads, rows, Sentence(f"{shown}: facts kept by depth", f"{shown}：按深度保留的事实"))
            caption = f'<span class="number-of">{number_of(report, strategy)}</span> {escaped(shown)}'
            yield f'<figure><figcaption>{caption}</figcaption><div class="plot">{picture}</div></figure>\n'
    yield "</div>\n"
    groups = [
        Group(
            window_title(column),
            [
                (strategy_name(report, one), [_kept(cell) for cell in (*_by_depth(one, depths), one.retained)])
                for one in report.of(column)
            ],
        )
        for column in report.columns
    ]
    columns = [Sentence("kept of said, by depth", "保留数/事实数，按深度"), *heads, Sentence("all", "全部")]
    yield f"{grouped(columns, groups)}</section>\n"


def _kept(found: Retained | None) -> Cell:
    return Cell(NONE if found is None or not found.total else f"{found.kept}/{found.total}")


def _kinds(report: ContextReport) -> Iterator[str]:
    kinds = sorted({kind for one in report.results for kind in one.by_kind})
    roles = sorted({role for one in report.results for role in one.by_role})
    if not kinds:
        return
    groups = [
        Group(
            window_title(column),
            [
                (
                    strategy_name(report, one),
                    [_recall(one.by_kind.get(kind)) for kind in kinds]
                    + [_recall(one.by_role.get(role)) for role in roles],
                )
                for one in report.of(column)
            ],
        )
        for column in report.columns
    ]
    title = Sentence("What is left at the end, by kind and role", "最终保留：按类型与角色")
    said = {role: _said_by(preview(role, 12)) for role in roles}
    columns = [STRATEGY, *(kind.label for kind in kinds), *said.values()]
    yield f"<section><h2>{both(title)}</h2>\n{grouped(columns, groups)}</section>\n"


def _said_by(role: str) -> Sentence:
    return Sentence(f"said by {role}", f"{ROLE_NAMES[role]}所说" if role in ROLE_NAMES else f"{role} 所说")


def _recall(found: Retained | None) -> Cell:
    if found is None or found.recall is None:
        return Cell(NONE)
    return heat(found.recall, f"{found.kept}/{found.total}")


def _expected(report: ContextReport) -> Iterator[str]:
    """Recall as it follows from which messages are left, beside recall as it was measured."""
    rows = []
    for column in report.columns:
        for one in report.of(column):
            pairs = [
                (row.expected, recall)
                for row in one.rows
                if row.expected is not None and (recall := row.retained.recall) is not None
            ]
            if pairs:
                expected, measured = (sum(values) / len(pairs) for values in zip(*pairs, strict=True))
                apart = max(abs(first - second) for first, second in pairs)
                cells = (f"{len(pairs)}", f"{expected:.1%}", f"{measured:.1%}", f"{apart * 100:.1f}")
                rows.append((strategy_name(report, one), f"{column.budget.window:,}", *cells))
    if not rows:
        return
    title = Sentence("Expected and measured", "推算与实测")
    note = Sentence(
        "Where messages are only dropped, recall at the end follows from which ones are left. Both must agree for "
        "planted facts; facts that came with a conversation may be said more than once, so more of them may be found. "
        "Summaries and shortened messages have no such arithmetic and are not listed.",
        "仅移除消息时，最终保留率可由保留的消息推算。植入的事实两者须一致；对话自带的事实可能说过多次，实测可能更高。"
        "摘要与截短的消息无法这样推算，未列出。",
    )
    columns = (
        STRATEGY, Sentence("window", "窗口"), Sentence("runs", "运行"), Sentence("expected", "推算"),
        Sentence("measured", "实测"), Sentence("largest difference, points", "最大差（百分点）"),
    )  # fmt: skip
    yield f'<section><h2>{both(title)}</h2>\n<p class="hint">{both(note)}</p>\n'
    yield f"{table(columns, rows, range(1, 6))}</section>\n"

"""The window-change report in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.cli.console import console
from promptreg.context.change_words import (
    FATES,
    fixed_rows,
    grew_most,
    headline,
    hopeless,
    loss_columns,
    loss_notes,
    loss_rows,
)
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from promptreg.context.change import WindowReport
    from promptreg.text.sentence import Language

MOST_SHOWN = 20
"""Conversations that are listed without `-v`."""


def print_window(report: WindowReport, language: Language, html: Path | None, *, quiet: bool, verbose: bool) -> None:
    """Print the report, what it means first."""
    out = console()
    out.print(safe_for_terminal(headline(report).text(language)), style="bold")
    if not quiet:
        _sides(out, report, language)
        _fixed(out, report, language)
        if report.affected:
            _sessions(out, report, language, most=None if verbose else MOST_SHOWN)
            _endings(out, report, language)
            _losses(out, report, language)
    for remark in report.remarks:
        out.print(safe_for_terminal(remark.text(language)))
    for skipped in report.skipped[:MOST_SHOWN]:
        told = Sentence(
            f"Left out: {skipped.conversation_id}: {skipped.why}", f"未计入：{skipped.conversation_id}：{skipped.why}"
        )
        out.print(safe_for_terminal(told.text(language)), style="yellow")
    if (more := len(report.skipped) - MOST_SHOWN) > 0:
        out.print(Sentence(f"and {more} more left out", f"另有 {more} 段未计入").text(language), style="yellow")
    if html is not None:
        out.print({"en": f"Written to {html}.", "zh": f"已写入 {html}。"}[language])


def _table(title: Sentence, columns: Sequence[Sentence], language: Language, numbers: Sequence[int] = ()) -> Table:
    from rich.table import Table  # noqa: PLC0415 - rich costs 40 ms, which `--help` must not pay

    table = Table(box=None, pad_edge=False, title=title.text(language), title_justify="left", title_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column.text(language), justify="right" if place in numbers else "left", overflow="fold")
    return table


def _sides(out: Console, report: WindowReport, language: Language) -> None:
    columns = (
        Sentence("", ""),
        Sentence("deployment", "部署"),
        Sentence("window", "窗口"),
        Sentence("reserve", "预留"),
        Sentence("margin", "余量"),
        Sentence("prompt", "提示词上限"),
        Sentence("server", "服务端"),
        Sentence("counter", "计数器"),
    )
    table = _table(Sentence("Windows", "窗口"), columns, language, (2, 3, 4, 5))
    for role, side in ((Sentence("source", "源部署"), report.source), (Sentence("target", "目标部署"), report.target)):
        budget = side.budget
        numbers = (f"{value:,}" for value in (budget.window, budget.reserve, budget.margin, budget.tokens))
        name = "—" if side.name in ("source", "target") and not side.server else preview(side.name, 30)
        table.add_row(role.text(language), name, *numbers, side.server or "—", safe_for_terminal(side.counter))
    out.print()
    out.print(table)


def _fixed(out: Console, report: WindowReport, language: Language) -> None:
    session = report.heaviest
    if session is None:
        return
    budget = report.target.budget
    name = preview(session.conversation_id, 40)
    title = Sentence(
        f"Before any history, on the target (largest: {name})", f"历史之前，目标部署上的固定部分（最大者：{name}）"
    )
    columns = (Sentence("part", "部分"), Sentence("tokens", "token"), Sentence("of the window", "占窗口"))
    table = _table(title, columns, language, (1, 2))
    for _, label, tokens in fixed_rows(report):
        table.add_row(label.text(language), f"{tokens:,}", f"{tokens / budget.window:.1%}")
    out.print()
    out.print(table)
    told = hopeless(report)
    if told is not None:
        out.print(told.text(language), style="bold red")


def _sessions(out: Console, report: WindowReport, language: Language, *, most: int | None) -> None:
    columns = (
        Sentence("conversation", "对话"),
        Sentence("turns", "轮次"),
        Sentence("longest", "最长提示词"),
        Sentence("source: first over", "源部署：首次超出"),
        Sentence("target: first over", "目标部署：首次超出"),
        Sentence("grew most", "增长最多"),
    )
    table = _table(Sentence("Conversations that do not fit", "放不下的对话"), columns, language, (1, 2, 3, 4))
    ordered = sorted(report.affected, key=lambda session: -session.longest.target)
    for session in ordered[:most]:
        table.add_row(
            preview(session.conversation_id, 40),
            str(session.turn_count),
            f"{session.longest.target:,}",
            *("—" if turn is None else str(turn.number) for turn in (session.source_overflow, session.target_overflow)),
            "—" if session.grew is None else session.grew.label.text(language),
        )
    out.print()
    out.print(table)
    if most is not None and len(ordered) > most:
        more = Sentence(f"and {len(ordered) - most} more; -v lists all", f"另有 {len(ordered) - most} 段，-v 列出全部")
        out.print(more.text(language), style="dim")
    if (grew := grew_most(report)) is not None:
        out.print(grew.text(language))


def _endings(out: Console, report: WindowReport, language: Language) -> None:
    title = Sentence("What the target does with these prompts as they are", "目标部署如何处理未缩短的提示词")
    columns = (
        Sentence("outcome", "结果"),
        Sentence("status", "状态码"),
        Sentence("turns", "轮次"),
        Sentence("conversations", "对话"),
        Sentence("example", "示例"),
    )
    table = _table(title, columns, language, (1, 2, 3))
    for ending in report.endings:
        table.add_row(
            FATES[ending.fate].text(language),
            "—" if ending.status is None else str(ending.status),
            str(ending.turns),
            str(ending.sessions),
            ending.sentence.text(language),
        )
    out.print()
    out.print(table)
    for warning in dict.fromkeys(ending.warning for ending in report.endings if ending.warning is not None):
        out.print(f"! {warning.text(language)}", style="yellow")


def _losses(out: Console, report: WindowReport, language: Language) -> None:
    title = Sentence("What each strategy would lose, at the longest prompt", "各策略在最长提示词处的损失")
    columns = loss_columns(report)
    table = _table(title, columns, language, range(1, len(columns)))
    for strategy, *cells in loss_rows(report):
        table.add_row(safe_for_terminal(strategy), *cells)
    out.print()
    out.print(table)
    for note in loss_notes(report):
        out.print(safe_for_terminal(note.text(language)), style="yellow")

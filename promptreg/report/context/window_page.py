"""The window-change report as one HTML page that needs no network: static, in both languages, with SVG and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
from promptreg.context.window import Part
from promptreg.report.context.bilingual import both, name, page, table, warnings, write
from promptreg.report.context.window_plot import MOST_LINES, diamond, key, stack, turns_plot
from promptreg.report.embed import escaped
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.context.change import SideView, WindowReport
    from promptreg.context.window import Session
    from promptreg.report.context.bilingual import Shown

MOST_ROWS: Final = 2000
"""Conversations in the table, the longest; the rest are only counted."""


def write_window_page(report: WindowReport, path: Path, language: Shown = "auto") -> None:
    """Write the page, all or nothing.

    Args:
        report: what to show.
        path: the file; its folder is made when it is missing.
        language: which language is shown first; `auto` is the browser's.

    Raises:
        OutputError: the file cannot be written.
    """
    write(window_page(report, language), path)


def window_page(report: WindowReport, language: Shown = "auto") -> str:
    """The page as text."""
    title = Sentence(
        f"Window change: {report.source.name} → {report.target.name}",
        f"窗口变化：{report.source.name} → {report.target.name}",
    )
    return page(title, _body(report), language)


def _body(report: WindowReport) -> Iterator[str]:
    yield f"<h1>{both(headline(report))}</h1>\n"
    yield warnings(_told(report))
    if report.sessions:
        yield from _plot(report)
        yield from _fixed(report)
    if report.affected:
        yield from _endings(report)
        yield from _losses(report)
        yield from _parts(report)
    yield from _windows(report)
    if report.sessions:
        yield from _table_of_sessions(report)
    yield from _left_out(report)


def _told(report: WindowReport) -> Iterator[Sentence]:
    yield from filter(None, (hopeless(report),))
    yield from (ending.warning for ending in report.endings if ending.warning is not None)
    yield from report.remarks


def _plot(report: WindowReport) -> Iterator[str]:
    yield f"<section><h2>{both(Sentence('Tokens of the prompt, turn by turn', '各轮提示词的 token 数'))}</h2>\n"
    yield turns_plot(report)
    first = f'<svg viewBox="0 0 16 16" aria-hidden="true">{diamond(8, 8, 6)}</polygon></svg>'
    ring = '<svg viewBox="0 0 16 16" aria-hidden="true"><circle class="first source" cx="8" cy="8" r="5"/></svg>'
    yield '<ul class="legend plot">'
    yield f"<li>{first}{both(Sentence('first turn that does not fit the target', '目标部署上首个放不下的轮次'))}</li>"
    yield f"<li>{ring}{both(Sentence('the same on the source', '源部署上首个放不下的轮次'))}</li></ul>\n"
    more = len(report.sessions) - MOST_LINES
    note = Sentence(
        "Each line is a conversation, counted for the target. The lines across are what each window leaves for the "
        "prompt."
        + (
            f" The {MOST_LINES} longest are drawn; {more} more {'is' if more == 1 else 'are'} in the table."
            if more > 0
            else ""
        ),
        "每条线是一段对话，按目标部署计数；横线是各窗口留给提示词的上限。"
        + (f"仅画出最长的 {MOST_LINES} 段，其余 {more} 段见表格。" if more > 0 else ""),
    )
    yield f'<p class="hint">{both(note)}</p></section>\n'


def _fixed(report: WindowReport) -> Iterator[str]:
    session, rows = report.heaviest, fixed_rows(report)
    if session is None:
        return
    title = Sentence("The target's window before any history", "目标部署的窗口，不含历史")
    yield f"<section><h2>{both(title)}</h2>\n"
    shown = name(session.conversation_id)
    largest = Sentence(
        f"Every prompt has this; shown for {shown}, whose fixed part is the largest.",
        f"每个提示词都包含这些；此处为固定部分最大的 {shown}。",
    )
    yield f'<p class="hint">{both(largest)}</p>\n'
    yield stack(rows, title)
    yield f'<ul class="legend plot">{"".join(key(part, words) for part, words, tokens in rows if tokens > 0)}</ul>\n'
    window = report.target.budget.window
    columns = (Sentence("part", "部分"), Sentence("tokens", "token"), Sentence("of the window", "占窗口"))
    yield table(columns, [(both(words), f"{tokens:,}", f"{tokens / window:.1%}") for _, words, tokens in rows], (1, 2))
    yield "</section>\n"


def _endings(report: WindowReport) -> Iterator[str]:
    title = Sentence("What the target does with these prompts as they are", "目标部署如何处理未缩短的提示词")
    columns = (
        Sentence("outcome", "结果"), Sentence("status", "状态码"), Sentence("turns", "轮次"),
        Sentence("conversations", "对话"), Sentence("example", "示例"),
    )  # fmt: skip
    rows = [
        (
            both(FATES[ending.fate]),
            "—" if ending.status is None else str(ending.status),
            f"{ending.turns:,}",
            f"{ending.sessions:,}",
            both(ending.sentence),
        )
        for ending in report.endings
    ]
    yield f"<section><h2>{both(title)}</h2>\n{table(columns, rows, (1, 2, 3), wide=4)}</section>\n"


def _losses(report: WindowReport) -> Iterator[str]:
    title = Sentence("What each strategy would lose", "各策略的损失")
    note = Sentence(
        "Each conversation that does not fit, at its longest prompt. Values are the numbers, dates, names and codes "
        "that the prompt states.",
        "对每段放不下的对话，取其最长的提示词。数值与名称指提示词中的数字、日期、名称与编号。",
    )
    columns = loss_columns(report)
    rows = [(escaped(strategy), *cells) for strategy, *cells in loss_rows(report)]
    yield f'<section><h2>{both(title)}</h2>\n<p class="hint">{both(note)}</p>\n'
    yield table(columns, rows, range(1, len(columns)))
    if told := list(loss_notes(report)):
        yield f'<ul class="notes">\n{"".join(f"<li>{both(note)}</li>" for note in told)}</ul>\n'
    yield "</section>\n"


def _parts(report: WindowReport) -> Iterator[str]:
    title = Sentence("What grew until it no longer fitted", "放不下之前，增长的是什么")
    yield f"<section><h2>{both(title)}</h2>\n"
    if (grew := grew_most(report)) is not None:
        yield f'<p class="hint">{both(grew)}</p>\n'
    sums = [(part.value, part.label, sum(session.later.get(part, 0) for session in report.affected)) for part in Part]
    yield stack(sums, title)
    yield f'<ul class="legend plot">{"".join(key(part, words) for part, words, tokens in sums if tokens > 0)}</ul>\n'
    yield "</section>\n"


def _windows(report: WindowReport) -> Iterator[str]:
    columns = (
        Sentence("", ""), Sentence("deployment", "部署"), Sentence("window", "窗口"), Sentence("reserve", "预留"),
        Sentence("margin", "余量"), Sentence("prompt", "提示词上限"), Sentence("server", "服务端"),
        Sentence("counter", "计数器"),
    )  # fmt: skip
    roles = (Sentence("source", "源部署"), Sentence("target", "目标部署"))
    rows = [_side(words, side) for words, side in zip(roles, (report.source, report.target), strict=True)]
    yield f"<section><h2>{both(Sentence('Windows', '窗口'))}</h2>\n"
    yield f"{table(columns, rows, (2, 3, 4, 5), wide=7)}</section>\n"


def _side(role: Sentence, side: SideView) -> tuple[str, ...]:
    budget = side.budget
    numbers = (f"{value:,}" for value in (budget.window, budget.reserve, budget.margin, budget.tokens))
    return (both(role), escaped(name(side.name)), *numbers, escaped(side.server or "—"), escaped(side.counter))


def _table_of_sessions(report: WindowReport) -> Iterator[str]:
    ordered = sorted(report.sessions, key=lambda session: -session.longest.target)
    parts = [part for part in Part if any(session.later.get(part) for session in report.sessions)]
    columns = (
        Sentence("conversation", "对话"), Sentence("turns", "轮次"), Sentence("longest prompt", "最长提示词"),
        Sentence("source: first over", "源部署：首次超出"), Sentence("target: first over", "目标部署：首次超出"),
        *(part.label for part in parts), Sentence("grew most", "增长最多"),
    )  # fmt: skip
    note = Sentence(
        "Parts are those of the first prompt that does not fit the target, or of the last one.",
        "各部分取自目标部署上首个放不下的提示词；都放得下时取最后一个。",
    )
    more = len(ordered) - MOST_ROWS
    if more > 0:
        note = Sentence(
            f"{note.en} {counted(more, 'shorter one')} {'is' if more == 1 else 'are'} left out.",
            f"{note.zh}另有 {more} 段较短的未列出。",
        )
    yield f'<section><h2>{both(Sentence("Conversations", "对话"))}</h2>\n<p class="hint">{both(note)}</p>\n'
    yield table(columns, [_session(session, parts) for session in ordered[:MOST_ROWS]], range(1, 5 + len(parts)))
    yield "</section>\n"


def _session(session: Session, parts: Sequence[Part]) -> tuple[str, ...]:
    overs = (session.source_overflow, session.target_overflow)
    return (
        escaped(name(session.conversation_id)),
        str(session.turn_count),
        f"{session.longest.target:,}",
        *("—" if turn is None else str(turn.number) for turn in overs),
        *(f"{session.later.get(part, 0):,}" for part in parts),
        "—" if session.grew is None else both(session.grew.label),
    )


def _left_out(report: WindowReport) -> Iterator[str]:
    if report.skipped:
        title = Sentence(f"Left out ({len(report.skipped)})", f"未计入的对话（{len(report.skipped)}）")
        yield f'<section><h2>{both(title)}</h2>\n<ul class="notes">\n'
        for each in report.skipped[:MOST_ROWS]:
            yield f"<li>{escaped(name(each.conversation_id))}: {escaped(each.why)}</li>\n"
        yield "</ul></section>\n"

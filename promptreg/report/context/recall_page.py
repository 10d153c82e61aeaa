"""The report of `promptreg context test` as one HTML page that needs no network: static, in both languages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from promptreg.context.trial.grid_costs import break_even, causes, refused, summary_cost
from promptreg.context.trial.grid_report import BREAKS, FRONT, FRONT_OF_VALID
from promptreg.context.trial.invariants import Invariant
from promptreg.context.trial.prefix import Cause
from promptreg.context.trial.retention import Fate
from promptreg.report.context.bilingual import both, name, page, table, warnings, write
from promptreg.report.context.recall_facts import fact_sections
from promptreg.report.context.recall_plot import Point, trade_off
from promptreg.report.context.recall_probes import probe_section
from promptreg.report.context.recall_table import (
    MARK,
    NONE,
    STRATEGY,
    Cell,
    Group,
    count,
    grouped,
    heat,
    number_of,
    strategy_name,
    window_title,
)
from promptreg.report.embed import escaped
from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.canonical import Json
    from promptreg.context.trial.grid_report import Broken, Column, ContextReport
    from promptreg.context.trial.grid_rows import Pooled, Row
    from promptreg.report.context.bilingual import Shown

MOST_ROWS: Final = 2000
"""Conversations in a table; the rest are only counted."""
_MOST_MESSAGES: Final = 12
"""Of a counter-example, its last ones."""
_MESSAGE: Final = 360
"""Columns of a message of a counter-example."""


def write_recall_page(report: ContextReport, path: Path, language: Shown = "auto") -> None:
    """Write the page, all or nothing.

    Args:
        report: what to show.
        path: the file; its folder is made when it is missing.
        language: which language is shown first; `auto` is the browser's.

    Raises:
        OutputError: the file cannot be written.
    """
    write(recall_page(report, language), path)


def recall_page(report: ContextReport, language: Shown = "auto") -> str:
    """The page as text."""
    title = Sentence("Context test: what strategies keep", "上下文测试：各策略保留了什么")
    return page(title, _body(report), language, "recall.css")


def _body(report: ContextReport) -> Iterator[str]:
    yield f'<h1 class="{"bad" if report.broken else "fine"}">{both(report.headline)}</h1>\n'
    yield f'<p class="tested">{both(report.counted)} {both(report.known)}</p>\n'
    yield from _controls(report)
    yield warnings(_told(report))
    if report.results:
        yield from _summary(report)
        yield from _broken(report)
        if report.facts:
            yield from _trade_offs(report)
            yield from fact_sections(report)
        yield from _causes(report)
        yield from probe_section(report.probes, report.columns)
        yield from _conversations(report)
    yield from _left_out(report)


def _told(report: ContextReport) -> Iterator[Sentence]:
    if not report.controls.hold:
        yield report.controls.sentence
    if report.conversations == 0:
        yield Sentence("No conversation could be tested.", "没有可以测试的对话。")
    yield from report.guessed


def _controls(report: ContextReport) -> Iterator[str]:
    """What must come out as known, each with what came out."""
    controls = report.controls
    if not report.facts:
        return
    found = controls.found / controls.facts if controls.facts else None
    unsaid = controls.unsaid_found / controls.unsaid if controls.unsaid else 0.0
    shown = [
        (
            controls.found == controls.facts,
            NONE if found is None else f"{found:.0%}",
            Sentence(
                f"whole conversations have {controls.found} of {counted(controls.facts, 'fact')} (must be 100%)",
                f"完整对话含 {controls.facts} 个事实中的 {controls.found} 个（须为 100%）",
            ),
        ),
        (
            not controls.unsaid_found,
            f"{unsaid:.2g}%" if 0 < unsaid < 0.01 else f"{unsaid:.0%}",
            Sentence(
                f"facts never said were found {controls.unsaid_found} of {counted(controls.unsaid, 'time')} "
                "(must be 0%)",
                f"从未说过的事实在 {controls.unsaid} 次查找中被找到 {controls.unsaid_found} 次（须为 0%）",
            ),
        ),
    ]
    if controls.compared:
        shown.append(
            (
                not controls.differ,
                f"{controls.compared - controls.differ}/{controls.compared}",
                Sentence(
                    "runs have the recall that follows from which messages are left",
                    "次运行的保留率与按保留的消息推算的一致",
                ),
            )
        )
    yield '<ul class="controls-read" aria-label="controls · 对照">'
    for right, value, words in shown:
        kind, sign = ("right", "✓") if right else ("wrong", "✗")
        yield f'<li class="{kind}"><b><span aria-hidden="true">{sign}</span> {value}</b> {both(words)}</li>'
    yield "</ul>\n"


def _summary(report: ContextReport) -> Iterator[str]:
    paid = any(summary_cost(one).calls for one in report.results)
    columns = [
        STRATEGY, Sentence("recall", "保留率"), *(fate.word for fate in Fate), Sentence("violated", "违反"),
        Sentence("cache hits", "缓存命中"), Sentence("prompt tokens", "提示词 token"),
        Sentence("to prefill", "需预填充"), Sentence("breaks, main cause", "断开，主因"),
        Sentence("re-anchors", "重新锚定"),
    ]  # fmt: skip
    if paid:
        columns.append(Sentence("summaries: read + written", "摘要：读入 + 写出"))
        columns.append(Sentence("paid back after … prompts", "抵回所需提示词数"))
    groups = [
        Group(window_title(column), [_summary_row(report, column, one, paid=paid) for one in report.of(column)])
        for column in report.columns
    ]
    title = Sentence("Strategies and windows", "各策略与窗口")
    yield f'<section class="outcome"><h2 class="unseen">{both(title)}</h2>\n{grouped(columns, groups, "summary")}'
    notes = [
        Sentence(
            "Recall: mean share of the facts said so far in shortened prompts. The five columns after it count all "
            "facts in the last prompts. Tokens and hits: from the first shortened prompt on.",
            "保留率：缩短后的提示词中，此前所说事实的平均占比。其后五列为最后提示词中全部事实的计数。"
            "token 与命中：自首个缩短的提示词起。",
        ),
        FRONT if all(one.valid for one in report.results) else FRONT_OF_VALID,
    ]
    yield f'<p class="hint">{both(notes[0])} {both(BREAKS)} {MARK} {both(notes[1])}</p>\n<ul class="notes">'
    if report.summarised is not None:
        yield f'<li class="hint">{both(report.summarised)}</li>'
    for column in report.columns:
        window = Sentence(f"{column.budget.window:,}: ", f"{column.budget.window:,}：")
        yield f'<li class="hint">{both(window)}{both(column.sentence)}</li>'
    yield "</ul></section>\n"


def _summary_row(report: ContextReport, column: Column, one: Pooled, *, paid: bool) -> tuple[str, list[Cell]]:
    steady, counts = one.reused(column.granularity), one.retained.counts
    sent = bool(steady.prompts)
    broken = " ".join(both(finding.invariant.label) for finding in one.findings)
    cells = [
        heat(one.recall),
        *(Cell(f"{counts[fate]:,}" if report.facts else NONE, _fate_class(fate, counts[fate])) for fate in Fate),
        Cell(f"✗ {broken}", "number wrong") if broken else Cell(NONE),
        _hits(column, steady.hit_ratio),
        count(steady.prompt_tokens if sent else None),
        count(steady.prefill_tokens if sent else None),
        _breaks(one, column),
        count(steady.reanchors if sent else None),
    ]
    if paid:
        cost, even = summary_cost(one), break_even(one)
        cells += [
            Cell(f"{cost.calls}× {cost.input_tokens:,} + {cost.output_tokens:,}" if cost.calls else NONE),
            Cell(NONE if even is None else f"{even:.1f}"),
        ]
    return strategy_name(report, one, front=one.strategy in report.front(column)), cells


def _fate_class(fate: Fate, found: int) -> str:
    wrong = fate in (Fate.STALE, Fate.CONTRADICTED) and found
    return "number worse" if wrong else "number"


def _hits(column: Column, ratio: float | None) -> Cell:
    if ratio is None:
        return Cell(NONE)
    if not column.possible:
        return Cell(both(Sentence("0% possible", "只能为 0%")), "number impossible")
    return Cell(f"{ratio:.1%}")


def _breaks(one: Pooled, column: Column) -> Cell:
    """How many prompts did not continue the one before, and why most of them."""
    steady, found = one.reused(column.granularity), causes(one, column.granularity)
    if not steady.prompts:
        return Cell(NONE)
    main = f" · {both(next(iter(found)).word)}" if found else ""
    return Cell(f"{steady.breaks:,}{main}", "number main-cause")


def _broken(report: ContextReport) -> Iterator[str]:
    if not report.broken:
        return
    title = Sentence("Violated invariants", "违反的不变量")
    if any(each.finding.invariant is Invariant.RENDERED for each in report.broken):
        title = Sentence("What is wrong with prompts", "提示词的问题")
    yield f"<section><h2>{both(title)}</h2>\n"
    for each in report.broken:
        windows = [f"{window:,}" for window in each.windows]
        many = "Window" if len(each.windows) == 1 else "Windows"
        told = Sentence(f"{many}: {' and '.join(windows)}.", f"窗口：{'、'.join(windows)}。")
        head = f"<b>✗ {both(each.finding.invariant.label)}</b> {both(each.sentence)} {both(told)}"
        yield f'<article class="broken"><p>{head}</p>\n'
        yield from _example(each)
        yield "</article>\n"
    yield "</section>\n"


def _example(broken: Broken) -> Iterator[str]:
    messages = broken.finding.example.messages
    shown = messages[-_MOST_MESSAGES:]
    if (more := len(messages) - len(shown)) > 0:
        verb = "is" if more == 1 else "are"
        told = Sentence(f"{counted(more, 'message')} before these {verb} left out.", f"此前的 {more} 条消息未列出。")
        yield f'<p class="hint">{both(told)}</p>\n'
    yield f'<ol class="example" start="{len(messages) - len(shown)}">\n'
    for message in shown:
        role = preview(str(message.get("role", "")), 12)
        said = {key: value for key, value in message.items() if key != "role"}
        plain = said.get("content")
        text = plain if set(said) == {"content"} and isinstance(plain, str) else _as_json(said)
        yield f"<li><b>{escaped(role)}</b> <code>{escaped(preview(text, _MESSAGE))}</code></li>\n"
    yield "</ol>\n"


def _as_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _trade_offs(report: ContextReport) -> Iterator[str]:
    yield f"<section><h2>{both(Sentence('Recall against cache hits', '保留率与缓存命中'))}</h2>\n"
    note = Sentence(
        "Up and to the right is better. Beyond the stepped line, through the filled marks, no strategy comes.",
        "越靠右上越好。阶梯线经过实心标记，没有策略能越过它。",
    )
    if not all(one.valid for one in report.results):
        as_is = Sentence(
            "A cross is a strategy whose prompts should not be sent, which is left out of that: a prompt over its "
            "budget keeps more.",
            "叉号表示提示词不应发送的策略，不参与比较：超出预算的提示词自然保留得更多。",
        )
        note = Sentence(f"{note.en} {as_is.en}", f"{note.zh}{as_is.zh}")
    yield f'<p class="hint">{both(note)}</p>\n<div class="figures two">\n'
    for column in report.columns:
        yield f"<figure><figcaption>{window_title(column)}</figcaption>\n{_trade_off(report, column)}</figure>\n"
    yield "</div></section>\n"


def _trade_off(report: ContextReport, column: Column) -> str:
    front = report.front(column)
    points = [
        Point(number_of(report, one.strategy), one.strategy, ratio, recall, one.strategy in front, one.valid)
        for one in report.of(column)
        if (ratio := one.hit_ratio(column.granularity)) is not None and (recall := one.recall) is not None
    ]
    if not points:
        nothing = Sentence("There is no prompt to compare.", "没有可比较的提示词。")
        fit = Sentence("All conversations fit: nothing had to be shortened.", "所有对话都放得下，无需缩短。")
        return _told_instead(nothing if any(map(refused, report.of(column))) else fit)
    title = Sentence(
        f"Recall against cache hits in a window of {column.budget.window:,} tokens",
        f"窗口 {column.budget.window:,} 下的保留率与缓存命中",
    )
    picture = trade_off(points, title) if column.possible else _told_instead(column.sentence)
    rows = [
        (
            f'<span class="number-of">{point.number}</span> {escaped(name(point.name))}',
            f"{point.recall:.1%}",
            _hits(column, point.hits).inside,
            _place_of(point),
        )
        for point in points
    ]
    columns = (STRATEGY, Sentence("recall", "保留率"), Sentence("cache hits", "缓存命中"), Sentence("front", "前沿"))
    return picture + table(columns, rows, (1, 2))


def _place_of(point: Point) -> str:
    if point.front:
        return f"{MARK}{both(Sentence('none better', '最优'))}"
    return NONE if point.valid else both(Sentence("violates an invariant", "违反不变量"))


def _told_instead(sentence: Sentence) -> str:
    return f'<p class="instead">{both(sentence)}</p>\n'


def _causes(report: ContextReport) -> Iterator[str]:
    """Why prompts did not continue the ones before, and calls for which nothing was sent."""
    known = [cause for cause in Cause if any(cause in causes(one, 1) for one in report.results)]
    silent = any(map(refused, report.results))
    if not known and not silent:
        return
    columns = [
        STRATEGY,
        *(cause.sentence for cause in known),
        *([Sentence("nothing sent", "未发送")] if silent else []),
    ]

    def cells(one: Pooled, column: Column) -> list[Cell]:
        found = causes(one, column.granularity)
        told = [count(found.get(cause)) for cause in known]
        return [*told, *([count(refused(one) or None)] if silent else [])]

    groups = [
        Group(window_title(column), [(strategy_name(report, one), cells(one, column)) for one in report.of(column)])
        for column in report.columns
    ]
    title = Sentence("Why a prompt did not continue the one before", "提示词未能接续前一个的原因")
    note = Sentence("Prompts from the first shortened one on.", "自首个缩短的提示词起的提示词数。")
    yield f'<section><h2>{both(title)}</h2>\n<p class="hint">{both(note)}</p>\n'
    yield f"{grouped(columns, groups, 'breaks')}</section>\n"


def _conversations(report: ContextReport) -> Iterator[str]:
    """What was tested."""
    seen: dict[str, list[Row]] = {}
    for one in report.results:
        for row in one.rows:
            seen.setdefault(row.conversation, []).append(row)
    rows = [
        (
            escaped(name(conversation)),
            f"{max(len(row.calls) + row.refused for row in runs):,}",
            f"{max((whole for row in runs for whole in row.whole), default=0):,}",
            f"{len(runs[0].facts):,}",
            _mean([recall for row in runs if (recall := row.retained.recall) is not None]),
        )
        for conversation, runs in list(seen.items())[:MOST_ROWS]
    ]
    columns = (
        Sentence("conversation", "对话"), Sentence("calls", "调用"),
        Sentence("longest whole prompt, tokens", "最长完整提示词 token"), Sentence("facts", "事实"),
        Sentence("kept at the end, mean of all runs", "最终保留（各次运行平均）"),
    )  # fmt: skip
    yield f"<section><h2>{both(Sentence('Conversations', '对话'))}</h2>\n{table(columns, rows, range(1, 5))}"
    if (more := len(seen) - MOST_ROWS) > 0:
        yield f'<p class="hint">{both(Sentence(f"{more} more are not listed.", f"另有 {more} 段未列出。"))}</p>\n'
    yield "</section>\n"


def _mean(values: Sequence[float]) -> str:
    return f"{sum(values) / len(values):.0%}" if values else NONE


def _left_out(report: ContextReport) -> Iterator[str]:
    if report.left:
        title = Sentence(f"Left out ({len(report.left)})", f"未计入的对话（{len(report.left)}）")
        yield f'<section><h2>{both(title)}</h2>\n<ul class="notes">\n'
        for each in report.left[:MOST_ROWS]:
            yield f"<li>{escaped(name(each.conversation))}: {escaped(each.why)}</li>\n"
        yield "</ul></section>\n"

"""The report of `promptreg context test` in the terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from promptreg.cli.console import console
from promptreg.cli.context.probe_tables import print_probes
from promptreg.cli.context.tables import table_of
from promptreg.context.trial.grid_costs import causes, cost_sentence, refused
from promptreg.context.trial.grid_report import BREAKS, FRONT, FRONT_OF_VALID
from promptreg.context.trial.retention import Fate
from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from promptreg.context.trial.grid_report import Broken, Column, ContextReport
    from promptreg.context.trial.grid_rows import Pooled
    from promptreg.text.sentence import Language

_MOST_SHOWN = 20
"""Conversations that are listed as left out."""
_MOST_MESSAGES = 6
"""Of an example, without `-v`; its last ones."""
_COLUMNS = 110
"""Of a message of an example, without `-v`."""
_NONE = "—"


def print_test(report: ContextReport, language: Language, *, quiet: bool, verbose: bool) -> None:
    """Print the report, what it means first."""
    out = console()
    style = "bold red" if report.broken else "bold"
    out.print(safe_for_terminal(report.headline.text(language)), style=style)
    if not quiet:
        for sentence in (report.counted, report.known):
            out.print(safe_for_terminal(sentence.text(language)))
        if report.facts:
            out.print(report.controls.sentence.text(language), style=None if report.controls.hold else "yellow")
        for column in report.columns:
            if report.of(column):
                _window(out, report, column, language)
    if report.summarised is not None:
        out.print()
        out.print(safe_for_terminal(report.summarised.text(language)))
    if report.probes is not None:
        print_probes(out, report.probes, language, quiet=quiet)
    for broken in report.broken:
        _broken(out, broken, language, verbose=verbose)
    for sentence in report.guessed:
        out.print(safe_for_terminal(sentence.text(language)))
    _left_out(out, report, language)


def _left_out(out: Console, report: ContextReport, language: Language) -> None:
    for left in report.left[:_MOST_SHOWN]:
        told = Sentence(f"Left out: {left.conversation}: {left.why}", f"未计入：{left.conversation}：{left.why}")
        out.print(safe_for_terminal(told.text(language)), style="yellow")
    if (more := len(report.left) - _MOST_SHOWN) > 0:
        out.print(Sentence(f"and {more} more left out", f"另有 {more} 段未计入").text(language), style="yellow")


def _window(out: Console, report: ContextReport, column: Column, language: Language) -> None:
    results = report.of(column)
    name = "" if column.deployment is None else f" ({column.deployment})"
    title = Sentence(f"Window {column.budget.window:,}{name}", f"窗口 {column.budget.window:,}{name}")
    out.print()
    out.print(safe_for_terminal(title.text(language)), style="bold")
    out.print(column.sentence.text(language))
    if not any(one.reused(1).prompts or one.findings or refused(one) for one in results):
        told = Sentence("All conversations fit: nothing had to be shortened.", "所有对话都放得下，无需缩短。")
        out.print(told.text(language))
        return
    _main(out, report, column, results, language)
    if report.facts:
        _facts(out, results, language)
        _depths(out, results, language)
    _reasons(out, column, results, language)


def _main(out: Console, report: ContextReport, column: Column, results: Sequence[Pooled], language: Language) -> None:
    columns = (
        Sentence("strategy", "策略"),
        Sentence("recall", "保留率"),
        Sentence("prompt tokens", "提示词 token"),
        Sentence("to prefill", "需预填充"),
        Sentence("cache hits", "缓存命中"),
        Sentence("breaks", "断开"),
        Sentence("re-anchors", "重新锚定"),
        Sentence("violated", "违反"),
    )
    table = table_of(columns, language)
    front = report.front(column)
    for one in results:
        steady = one.reused(column.granularity)
        name = safe_for_terminal(one.strategy) + (" *" if one.strategy in front else "")
        table.add_row(
            name,
            _share(one.recall),
            *([f"{steady.prompt_tokens:,}", f"{steady.prefill_tokens:,}"] if steady.prompts else [_NONE, _NONE]),
            _hits(steady.hit_ratio),
            *([str(steady.breaks), str(steady.reanchors)] if steady.prompts else [_NONE, _NONE]),
            " ".join(finding.invariant.label.text(language) for finding in one.findings) or _NONE,
        )
    out.print(table)
    told = Sentence(
        "Recall: mean share of the facts said so far in shortened prompts. Tokens and hits: from the first of them on.",
        "保留率：缩短后的提示词中，此前所说事实的平均占比。token 与命中：自首个缩短的提示词起。",
    )
    out.print(told.text(language), style="dim")
    if any(one.reused(column.granularity).breaks for one in results):
        out.print(BREAKS.text(language), style="dim")
    if front:
        told = FRONT if all(one.valid for one in results) else FRONT_OF_VALID
        told = Sentence(f"* {told.en}", f"* {told.zh}")
        out.print(told.text(language), style="dim")


def _facts(out: Console, results: Sequence[Pooled], language: Language) -> None:
    """What became of the facts in the last prompts."""
    table = table_of(
        (Sentence("facts in the last prompts", "最后提示词中的事实"), *(fate.word for fate in Fate)), language
    )
    for one in results:
        counts = one.retained.counts
        table.add_row(safe_for_terminal(one.strategy), *(str(counts[fate]) for fate in Fate))
    out.print()
    out.print(table)


def _depths(out: Console, results: Sequence[Pooled], language: Language) -> None:
    depths = sorted({depth for one in results for depth in one.by_depth})
    in_system = any("system" in one.by_role for one in results)
    columns = [
        Sentence("kept there, by depth", "其中按深度保留"),
        *(Sentence(f"{depth:.0%}", f"{depth:.0%}") for depth in depths),
        *([Sentence("system", "系统消息")] if in_system else []),
    ]
    if len(columns) == 1 or len(depths) > _MOST_SHOWN:
        return
    table = table_of(columns, language)
    for one in results:
        by_depth, by_role = one.by_depth, one.by_role
        cells = [_share(by_depth[depth].recall) if depth in by_depth else _NONE for depth in depths]
        if in_system:
            cells.append(_share(by_role["system"].recall) if "system" in by_role else _NONE)
        table.add_row(safe_for_terminal(one.strategy), *cells)
    out.print()
    out.print(table)


def _reasons(out: Console, column: Column, results: Sequence[Pooled], language: Language) -> None:
    """Why prefixes broke, what summaries cost, and what did not fit."""
    out.print()
    joint = "；" if language == "zh" else "; "
    for one in results:
        found = causes(one, column.granularity)
        why = joint.join(f"{cause.sentence.text(language)} ({count})" for cause, count in found.items())
        if why:
            total = sum(found.values())
            told = Sentence(
                f"{one.strategy}, {counted(total, 'break')}: {why}.", f"{one.strategy}，断开 {total} 次：{why}。"
            )
            out.print(safe_for_terminal(told.text(language)))
        if (count := refused(one)) > 0:
            told = Sentence(
                f"{one.strategy}: nothing was sent for {counted(count, 'call')}.",
                f"{one.strategy}：{count} 次调用未能发送。",
            )
            out.print(safe_for_terminal(told.text(language)), style="yellow")
        if (cost := cost_sentence(one)) is not None:
            out.print(safe_for_terminal(cost.text(language)))


def _broken(out: Console, broken: Broken, language: Language, *, verbose: bool) -> None:
    out.print()
    out.print(safe_for_terminal(broken.sentence.text(language)), style="red")
    messages = broken.finding.example.messages
    shown = messages if verbose else messages[-_MOST_MESSAGES:]
    if len(shown) < len(messages):
        told = Sentence(f"the last {len(shown)} of them; -v shows all", f"仅列最后 {len(shown)} 条，-v 列出全部")
        out.print("  " + told.text(language), style="dim")
    for message in shown:
        text = json.dumps(message, ensure_ascii=False, default=str)
        out.print("  " + (safe_for_terminal(text) if verbose else preview(text, _COLUMNS)))


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"


def _hits(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1%}"

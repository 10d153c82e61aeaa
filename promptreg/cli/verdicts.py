"""How a comparison is told on the terminal: the verdict, the worst cases, what to do next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from promptreg.cli.causes import cause_lines
from promptreg.cli.console import STYLES, console, reader_language
from promptreg.cli.words import counted
from promptreg.errors import ExitCode
from promptreg.text.preview import preview
from promptreg.text.terminal import safe_for_terminal
from promptreg.workflow.views.report import fault_notes, plan_notes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rich.console import Console

    from promptreg.config import Config
    from promptreg.text.sentence import Language
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.workflow.compared import Compared

WORST_SHOWN = 10
"""Cases listed per suite without `-v`; the report shows all."""

SUITES_NAMED = 5
"""Suites named in one sentence."""

FAULTY_SHOWN = 5
"""Cases named beside a kind of fault."""

_QUIET_VERDICTS = frozenset({"pass", "changed"})
_MORE = {"en": "… and {count} more; the report shows them all", "zh": "……另有 {count} 个，报告中全部列出"}
_REPORT = {"en": "Report: {path}", "zh": "报告：{path}"}
_FAULT = {
    "en": "{title}: {cases} ({names}); {target} of {target_calls} target calls, {source} of {source_calls} of "
    "the source",
    "zh": "{title}：{cases}（{names}）；目标部署 {target_calls} 次调用中 {target} 次，源部署 {source_calls} 次中"
    " {source} 次",
}
_FAULT_NEW = {
    "en": "{title}: {cases} ({names}); {target} of {target_calls} target calls, none of {source_calls} of the source",
    "zh": "{title}：{cases}（{names}）；目标部署 {target_calls} 次调用中 {target} 次，"
    "源部署 {source_calls} 次中从未出现",
}
_FAULT_UNKNOWN = {
    "en": "{title}: {cases} ({names}); {target} of {target_calls} target calls, the source's calls are not known",
    "zh": "{title}：{cases}（{names}）；目标部署 {target_calls} 次调用中 {target} 次，源部署的调用未知",
}
_FAULT_TOGETHER = {
    "en": "{title}: {cases} ({names}); only the calls of a case side by side show it",
    "zh": "{title}：{cases}（{names}）；只有并看同一用例的多次调用才能发现",
}
_DECIDE = {
    "en": "Decide: `promptreg review` takes the cases one by one, worst first.",
    "zh": "决定：`promptreg review` 从最严重的开始逐个处理。",
}
_RUN = {"en": "Run: {run}", "zh": "运行：{run}"}
_WRITTEN = {"en": "{verdict}  Run {run}, judged again: {suites}.", "zh": "{verdict}  运行 {run} 已重新判定：{suites}。"}
_WARNING = {"en": "Warning: {text}", "zh": "警告：{text}"}


def print_comparison(
    result: Compared, config: Config, *, quiet: bool, verbose: bool, out: Console | None = None
) -> None:
    """Print verdicts for people, to standard output or `out`; `--json` is for machines."""
    language = reader_language(config.language)
    out = out or console()
    for suite in result.comparison.suites:
        _print_suite(out, suite, language, quiet=quiet, everything=verbose)
    if quiet:
        return
    for said in result.contexts:
        out.print(safe_for_terminal(said.text(language)))
    for warning in result.comparison.warnings:
        out.print(_WARNING[language].format(text=safe_for_terminal(warning.text(language))), style="yellow")
    out.print(_RUN[language].format(run=result.comparison.run_id))
    for path in (result.report, *(output.path for output in result.beside)):
        out.print(_REPORT[language].format(path=_shown(path)))
    if result.comparison.exit_code is ExitCode.DRIFT:
        out.print(_DECIDE[language])


def print_written(result: Compared, config: Config) -> None:
    """Print where a report was written, and what it says in one sentence: the rest is in it."""
    language, out, comparison = reader_language(config.language), console(), result.comparison
    named = " · ".join(
        safe_for_terminal(f"{suite.suite} {suite.verdict.value}") for suite in comparison.suites[:SUITES_NAMED]
    )
    more = ", …" if len(comparison.suites) > SUITES_NAMED else ""
    out.print(_WRITTEN[language].format(verdict=comparison.verdict.value, run=comparison.run_id, suites=named + more))
    for warning in comparison.warnings:
        out.print(_WARNING[language].format(text=safe_for_terminal(warning.text(language))), style="yellow")
    out.print(_REPORT[language].format(path=_shown(result.report)))


def _print_suite(out: Console, suite: SuiteJudgement, language: Language, *, quiet: bool, everything: bool) -> None:
    from rich.text import Text  # noqa: PLC0415 - rich loads when there is something to print

    out.print(
        Text.assemble(
            (suite.verdict.value, STYLES[suite.verdict.value]),
            f"  {safe_for_terminal(suite.suite)}: {safe_for_terminal(suite.sentence.text(language))}",
        )
    )
    if quiet:
        return
    out.print(counts_line(suite, language))
    if everything:
        for note in plan_notes(suite):
            out.print("  " + safe_for_terminal(note.text(language)))
    for line in cause_lines(suite.clusters, language, everything=everything):
        out.print(line)
    shown = [case for case in suite.cases if everything or _is_told(case)]
    for case in shown if everything else shown[:WORST_SHOWN]:
        out.print(_case_line(case, language))
    left = len(shown) - WORST_SHOWN
    if left > 0 and not everything:
        out.print("  " + _MORE[language].format(count=left))
    for kind, cases in _faults_by_kind(suite):
        out.print(_fault_line(kind, cases, language))
    for note in fault_notes(suite):
        out.print("  " + safe_for_terminal(note.text(language)))


def _is_told(case: CaseJudgement) -> bool:
    """Whether a case is listed: all that count, and those whose golden was approved although it is wrong."""
    return case.verdict.value not in _QUIET_VERDICTS or (case.approved is not None and bool(case.approved.despite))


def counts_line(suite: SuiteJudgement, language: Language) -> str:
    """How many cases have which verdict."""
    counts = ", ".join(f"{number} {verdict.value}" for verdict, number in suite.counts().items())
    return f"  {_cases(len(suite.cases), language)}: {counts}"


def _faults_by_kind(suite: SuiteJudgement) -> list[tuple[str, list[CaseJudgement]]]:
    """The kinds of faults of a suite with their cases: errors before warnings, then the most cases first."""
    cases: dict[str, list[CaseJudgement]] = {}
    severities: dict[str, str] = {}
    for case in suite.cases:
        for fault in case.faults:
            kind = fault.finding.kind
            cases.setdefault(kind, []).append(case)
            severities[kind] = min(severities.get(kind, "W"), fault.finding.severity.value)
    return sorted(cases.items(), key=lambda entry: (severities[entry[0]], -len(entry[1]), entry[0]))


def _fault_line(kind: str, cases: Sequence[CaseJudgement], language: Language) -> object:
    from rich.text import Text  # noqa: PLC0415 - see above

    faults = [fault for case in cases for fault in case.faults if fault.finding.kind == kind]
    names = ", ".join(preview(case.case_id, 40) for case in cases[:FAULTY_SHOWN])
    worst = min(fault.finding.severity.value for fault in faults)
    # Seen only when calls are held side by side: there is no number of calls that show it.
    if all(fault.together for fault in faults):
        template = _FAULT_TOGETHER
    elif not any(fault.source_calls for fault in faults):
        template = _FAULT_UNKNOWN
    else:
        template = _FAULT if any(fault.source for fault in faults) else _FAULT_NEW
    return Text.assemble(
        (f"  {kind} {worst}".ljust(10), "red" if worst == "E" else "yellow"),
        " "
        + template[language].format(
            title=faults[0].title.text(language),
            cases=_cases(len(cases), language),
            names=names + (", …" if len(cases) > FAULTY_SHOWN else ""),
            target=sum(fault.target for fault in faults),
            target_calls=sum(fault.target_calls for fault in faults),
            source=sum(fault.source for fault in faults),
            source_calls=sum(fault.source_calls for fault in faults),
        ),
    )


def _cases(number: int, language: Language) -> str:
    return counted(number, "case") if language == "en" else f"{number} 个用例"


def _case_line(case: CaseJudgement, language: Language) -> object:
    from rich.text import Text  # noqa: PLC0415 - see above

    verdict = case.verdict.value
    return Text.assemble(
        ("  " + verdict.ljust(8), STYLES[verdict]),
        f" {preview(case.case_id, 40)}: {safe_for_terminal(case.sentence.text(language))}",
    )


def _shown(path: Path) -> str:
    """The path as the user would type it from here, where that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive on Windows
        return str(path)
    return relative if not relative.startswith("..") else str(path)

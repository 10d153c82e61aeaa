"""How two runs side by side are told on the terminal."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.cli.console import STYLES
from promptreg.report.catalogue import catalogues
from promptreg.text.preview import preview
from promptreg.text.terminal import safe_for_terminal
from promptreg.verdict.change import Change
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.running.runs import local_time
from promptreg.workflow.views.run_diff import answers_change
from promptreg.workflow.views.run_diff_words import TITLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console
    from rich.table import Table

    from promptreg.store.store import Store
    from promptreg.text.sentence import Language
    from promptreg.workflow.views.run_diff_model import CaseDiff, DiffedRun, RunDiff

CASES_SHOWN: Final = 10
"""Cases of each kind without `-v`."""

_NAME_COLUMNS: Final = 40
_VALUE_COLUMNS: Final = 80

_WORDS: Final[Mapping[Language, Mapping[str, str]]] = MappingProxyType(
    {
        "en": {
            "run": "{letter}  {verdict:<12}  {run} on {deployment}, {at}, {passes}",
            "passes": "{passes} passes",
            "table": "Verdicts, of A down, of B across:",
            "settings": "Changed between the runs (A → B):",
            "same": "Nothing that is known of the deployments and their settings changed between the runs.",
            "more": "… and {count} more; -v shows them all",
            "none": "–",
            "case": "{name}: {old} → {new}. {sentence}",
            "answers": "answers: {answers}",
            "golden_moved": "another golden",
            "asked_otherwise": "another request",
            "checked_otherwise": "other checks",
            "run.source": "judged against",
            "run.select": "selection",
            "deployment.name": "deployment",
        },
        "zh": {
            "run": "{letter}  {verdict:<12}  {deployment} 上的 {run}，{at}，{passes}",
            "passes": "{passes} 遍",
            "table": "判定（行为 A，列为 B）：",
            "settings": "两次运行之间的变化（A → B）：",
            "same": "就已知的部署与设置而言，两次运行之间没有变化。",
            "more": "……另有 {count} 个；-v 全部列出",
            "none": "–",
            "case": "{name}：{old} → {new}。{sentence}",
            "answers": "回答：{answers}",
            "golden_moved": "基准输出不同",
            "asked_otherwise": "请求不同",
            "checked_otherwise": "检查项不同",
            "run.source": "判定依据",
            "run.select": "选择条件",
            "deployment.name": "部署",
        },
    }
)

_STYLES: Final[Mapping[Change, str]] = MappingProxyType(
    {
        Change.NEWLY_FAILING: "bold red",
        Change.STILL_FAILING: "yellow",
        Change.FIXED: "green",
        Change.APPROVED: "dim",
        Change.UNPROVEN: "yellow",
        Change.WAIVED: "dim",
        Change.NEW: "blue",
        Change.GONE: "blue",
    }
)


def print_diff(out: Console, store: Store, diff: RunDiff, language: Language, *, everything: bool, quiet: bool) -> None:
    """Print what changed: the sentence, both runs, verdicts, cases by kind, settings.

    Args:
        out: where to.
        store: open; the answers of the listed cases are read from it.
        diff: what to print.
        language: of the reader.
        everything: every case, not only the first of each kind.
        quiet: the sentence only, after what both were judged with otherwise.
    """
    words = _WORDS[language]
    for note in diff.judged_otherwise:
        out.print(safe_for_terminal(note.text(language)), style="yellow")
    out.print(diff.sentence.text(language), style="bold red" if diff.exit_code else "bold green")
    if quiet:
        return
    for letter, side in (("A", diff.old), ("B", diff.new)):
        out.print(safe_for_terminal(_run_line(letter, side, words)))
    for note in diff.notes:
        out.print(safe_for_terminal(note.text(language)), style="yellow")
    out.print(words["table"])
    out.print(_verdicts(diff, words))
    for change in Change:
        cases = diff.of(change)
        if change is Change.SAME or not cases:
            continue
        out.print(f"{TITLES[change].text(language)} ({len(cases)})", style=_STYLES[change])
        for case in cases if everything else cases[:CASES_SHOWN]:
            for line in _case_lines(store, diff, case, language):
                out.print(line)
        if len(cases) > CASES_SHOWN and not everything:
            out.print("  " + words["more"].format(count=len(cases) - CASES_SHOWN))
    _print_settings(out, diff, language)


def _run_line(letter: str, side: DiffedRun, words: Mapping[str, str]) -> str:
    record = side.record
    return words["run"].format(
        letter=letter,
        verdict=record.verdict or "",
        run=record.run_id,
        deployment=record.deployment,
        at=local_time(record.started_at),
        passes=words["passes"].format(passes=side.passes),
    )


def _verdicts(diff: RunDiff, words: Mapping[str, str]) -> Table:
    """How many cases went from which verdict to which."""
    from rich.table import Table  # noqa: PLC0415 - rich loads when there is something to print

    counts = diff.verdicts()
    order: list[str | None] = [*CaseVerdict, None]
    rows = [verdict for verdict in order if any(old == verdict for old, _ in counts)]
    columns = [verdict for verdict in order if any(new == verdict for _, new in counts)]
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column or words["none"], justify="right", style=STYLES.get(column or ""))
    for row in rows:
        table.add_row(f"  {row or words['none']}", *(str(counts[row, column] or "·") for column in columns))
    return table


def _case_lines(store: Store, diff: RunDiff, case: CaseDiff, language: Language) -> Iterator[str]:
    words = _WORDS[language]
    shown = case.new or case.old
    old, new = case.verdicts
    said = "" if shown is None else shown.sentence_zh if language == "zh" else shown.sentence
    line = words["case"].format(
        name=preview(case.key, _NAME_COLUMNS),
        old=old or words["none"],
        new=new or words["none"],
        sentence=safe_for_terminal(said),
    )
    marks = [words[name] for name in ("golden_moved", "asked_otherwise", "checked_otherwise") if getattr(case, name)]
    yield f"  {line}" + (f" [{'; '.join(marks)}]" if marks else "")
    answers = answers_change(store, diff, case)
    if answers is not None:
        yield "    " + safe_for_terminal(words["answers"].format(answers=answers.text(language)))


def _print_settings(out: Console, diff: RunDiff, language: Language) -> None:
    words, names = _WORDS[language], catalogues()[language]
    if not diff.settings:
        out.print(words["same"])
        return
    out.print(words["settings"])
    for each in diff.settings:
        values = (words["none"] if value is None else preview(value, _VALUE_COLUMNS) for value in (each.old, each.new))
        name = words.get(f"{each.group}.{each.name}") or names.get(f"setting.{each.name}", each.name)
        out.print(f"  {preview(name, _NAME_COLUMNS)}: {' → '.join(values)}")

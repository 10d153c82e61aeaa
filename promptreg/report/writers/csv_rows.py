"""One row per case for spreadsheets and data frames. No cell is a formula; what loses nothing is `jsonl.py`."""

from __future__ import annotations

import csv
import math
import unicodedata
from typing import TYPE_CHECKING, Final

from promptreg.report.index import preview_of, worst_first
from promptreg.report.new_file import new_file
from promptreg.report.output import (
    Written,
    change_in_words,
    changes_of,
    check_in_words,
    lacks_in_words,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from promptreg.report.payload import AnswerGroup, CaseView, Payload, SampleView
    from promptreg.text.sentence import Language

MOST_EXCEL: Final = 32_000
"""Longest cell with `excel`, characters: Excel takes 32 767 and spreads what is longer over other cells."""

COLUMNS: Final = (
    "suite", "case_id", "verdict", "severity", "p_value", "noise_multiple", "distance", "sentence", "changes", "causes",
    "worse_checks", "breaches", "faults", "tags", "source_calls", "source_failed", "target_calls", "target_failed",
    "source_answers", "target_answers", "request", "golden", "candidate", "decision", "reviewer", "reason",
    "expires_on", "golden_sha256", "candidate_sha256", "run_id",
    "was", "since", "approved_by", "approved_on", "approved_run", "approved_reason", "approved_despite",
)  # fmt: skip
"""The columns, in order. The table grows by new columns at its end only. The candidate is the
commonest answer of the target that the source did not give; the golden is the one that is nearest to it."""

_NEUTRAL: Final = "'"
_STARTS: Final = frozenset("=+-@")
_LINE_STARTS: Final = frozenset("\t\r\n")
_BYTE_ORDER_MARK: Final = "\ufeff"


def write_csv(payload: Payload, path: Path, language: Language, *, excel: bool = False) -> Written:
    """Writes one row per case to `path`, all or nothing: comma-separated, all texts in quotes, worst first.

    A text that a spreadsheet would run begins with an apostrophe; numbers are as they are. Terminal escapes and control
    characters are gone.

    Args:
        payload: what to show. Its cases are read once, one at a time.
        path: the file to write; its folder is made when it is missing.
        language: of the sentences; the names of the columns and the verdicts are the same in both.
        excel: begin with the byte order mark without which Excel garbles Chinese, and cut texts that it cannot hold.

    Raises:
        OutputError: the file cannot be written.
    """
    most = MOST_EXCEL if excel else None
    rows = sorted(
        ((worst_first(case), _cells(_row(payload, case, language), most)) for case in payload.cases),
        key=lambda row: row[0],
    )
    with new_file(path) as out:
        if excel:
            out.write(_BYTE_ORDER_MARK)
        writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
        writer.writerow(COLUMNS)
        writer.writerows(cells for _, cells in rows)
    return Written(path, path.stat().st_size, len(rows), 0)


def safe_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, whatever invisible or full-width characters it begins with."""
    for char in text:
        if char in _LINE_STARTS:
            return _NEUTRAL + text
        if char.isspace() or unicodedata.category(char) in ("Cf", "Cc", "Mn"):
            continue
        # Full-width and small signs count as the sign itself.
        return _NEUTRAL + text if unicodedata.normalize("NFKC", char)[:1] in _STARTS else text
    return text


def _cells(row: Mapping[str, str | float | None], most: int | None) -> list[str | float]:
    return [_cell(row[name], most) for name in COLUMNS]


def _cell(value: str | float | None, most: int | None) -> str | float:
    if isinstance(value, str):
        text = safe_cell(plain(value))
        return text if most is None or len(text) <= most else text[: most - 1] + "…"
    # What is not known is empty. An infinite noise multiple is known: the source has no noise.
    return "" if value is None or math.isnan(value) or value == -math.inf else value


def _row(payload: Payload, case: CaseView, language: Language) -> dict[str, str | float | None]:
    golden, candidate, distance = _telling_pair(case)
    decision = case.decision
    return {
        "suite": case.suite,
        "case_id": case.case_id,
        "verdict": case.verdict,
        "severity": case.severity,
        "p_value": case.p_value,
        "noise_multiple": case.noise_multiple,
        "distance": distance,
        "sentence": case.sentence.text(language),
        "changes": _lines(map(change_in_words, changes_of(case))),
        "causes": _lines(_cause(payload, number, language) for number in case.causes),
        "worse_checks": _lines(check_in_words(check.label, language) for check in case.checks if check.worse),
        "breaches": _lines(breach.text(language) for breach in case.breaches),
        "faults": ", ".join(sorted({fault.kind for fault in case.faults})),
        "tags": ", ".join(case.tags),
        "source_calls": len(case.source_samples),
        "source_failed": _failed(case.source_samples),
        "target_calls": len(case.target_samples),
        "target_failed": _failed(case.target_samples),
        "source_answers": len(case.golden),
        "target_answers": len(case.candidate),
        "request": preview_of(case),
        "golden": _shown(golden),
        "candidate": _shown(candidate),
        "decision": None if decision is None else decision.decision,
        "reviewer": None if decision is None else decision.reviewer,
        "reason": None if decision is None else decision.reason,
        "expires_on": None if decision is None else decision.expires_on,
        "golden_sha256": case.golden_sha256,
        "candidate_sha256": case.candidate_sha256,
        "run_id": payload.run_id,
        "was": case.was,
        "since": case.since,
        **_approved(case, language),
    }


def _approved(case: CaseView, language: Language) -> dict[str, str | None]:
    """Whose answers the golden holds, where they are a target's."""
    approval = case.approval
    return {
        "approved_by": None if approval is None else approval.reviewer,
        "approved_on": None if approval is None else approval.day,
        "approved_run": None if approval is None else approval.run_id,
        "approved_reason": None if approval is None else approval.reason,
        "approved_despite": None if approval is None else lacks_in_words(approval.despite, language),
    }


def _telling_pair(case: CaseView) -> tuple[AnswerGroup | None, AnswerGroup | None, float | None]:
    """The commonest target answer that the source did not give, else the commonest; its nearest golden; how far.

    Answers that show what the case fails by go before the others.
    """
    ranked = [(_differs(group), place in case.telling, len(group.passes)) for place, group in enumerate(case.candidate)]
    candidate = case.candidate[ranked.index(max(ranked))] if ranked else None
    if candidate is None or not candidate.diffs or candidate.diffs[0].golden >= len(case.golden):
        return (case.golden[0] if case.golden else None), candidate, None
    return case.golden[candidate.diffs[0].golden], candidate, candidate.diffs[0].distance


def _differs(group: AnswerGroup) -> bool:
    return any(each.kind != "equal" for diff in group.diffs[:1] for part in diff.parts for each in part.operations)


def _shown(group: AnswerGroup | None) -> str | None:
    """The answer as text: its content, and a line for each tool call."""
    if group is None:
        return None
    return _lines(filter(None, (group.content, *(f"{call.name} {call.arguments}" for call in group.tool_calls))))


def _cause(payload: Payload, number: int, language: Language) -> str:
    known = 0 < number <= len(payload.causes)
    return payload.causes[number - 1].title.text(language) if known else str(number)


def _failed(samples: Sequence[SampleView]) -> int:
    return sum(sample.group is None for sample in samples)


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(texts)

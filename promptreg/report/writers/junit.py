"""JUnit XML as CI systems read it: one test case per case, and one per suite for the verdict over all its cases.

`fail` and `drift` are failures, `error` is an error; `waived`, `new` and `missing` are skipped, with the reason; `pass`
and `changed` pass. A suite's own verdict is a test case too: a drift that no single case shows would otherwise pass.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET  # only writes, never reads
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from promptreg.report.catalogue import catalogues
from promptreg.report.index import worst_first
from promptreg.report.new_file import new_file
from promptreg.report.output import (
    Written,
    approval_in_words,
    change_in_words,
    changes_of,
    check_in_words,
    decision_in_words,
    plain,
    without_answers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.report.payload import CaseView, Payload, SuiteView
    from promptreg.text.sentence import Language

VERDICT_CASE: Final = "[verdict]"
"""Name of the test case that stands for a suite's own verdict."""

_MOST_BODY: Final = 8_000
_MOST_MESSAGE: Final = 2_000
"""Longest message, characters: CI systems show it on one line."""

_OUTCOMES: Final[Mapping[str, str]] = {
    "fail": "failure",
    "drift": "failure",
    "error": "error",
    "waived": "skipped",
    "new": "skipped",
    "missing": "skipped",
    "REGRESSION": "failure",
    "DRIFT": "failure",
    "ERROR": "error",
    "INCONCLUSIVE": "skipped",
}
"""By verdict of a case or a suite; all others pass."""

_COUNTED: Final = (("failure", "failures"), ("error", "errors"), ("skipped", "skipped"))
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(payload: Payload, path: Path, language: Language) -> Written:
    """Writes the test results to `path`, all or nothing. Characters that XML does not have become U+FFFD.

    Args:
        payload: what to show. Its cases are read once, one at a time.
        path: the file to write; its folder is made when it is missing.
        language: of the sentences; names and verdicts are the same in both.

    Raises:
        OutputError: the file cannot be written.
    """
    cases: dict[str, list[CaseView]] = {suite.name: [] for suite in payload.suites}
    for case in payload.cases:
        cases.setdefault(case.suite, []).append(without_answers(case))
    known = {suite.name: suite for suite in payload.suites}
    root = ET.Element("testsuites", name=_text(payload.title))
    totals: Counter[str] = Counter()
    for name, listed in cases.items():
        totals += _suite(root, payload, known.get(name), name, sorted(listed, key=worst_first), language)
    _count(root, totals)
    ET.indent(root)
    with new_file(path) as out:
        out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        out.write(ET.tostring(root, encoding="unicode"))
        out.write("\n")
    number = sum(map(len, cases.values()))
    return Written(path, path.stat().st_size, number, number)


def _suite(
    root: ET.Element,
    payload: Payload,
    suite: SuiteView | None,
    name: str,
    cases: Sequence[CaseView],
    language: Language,
) -> Counter[str]:
    """Adds one suite; how many test cases it has with which outcome."""
    element = ET.SubElement(root, "testsuite", name=_text(name), timestamp=_time(payload.created_at))
    properties = ET.SubElement(element, "properties")
    for key, value in _properties(payload, suite):
        ET.SubElement(properties, "property", name=key, value=_text(value))
    totals: Counter[str] = Counter()
    if suite is not None:
        totals["tests"] += 1
        test = ET.SubElement(element, "testcase", classname=_text(name), name=VERDICT_CASE, time="0")
        notes = [note.text(language) for note in suite.notes]
        _outcome(test, suite.verdict, suite.sentence.text(language), notes, totals)
    for case in cases:
        totals["tests"] += 1
        test = ET.SubElement(
            element, "testcase", classname=_text(name), name=_text(case.case_id), time=f"{_seconds(case):.3f}"
        )
        if case.approval is not None:
            # Of a passing case too: a golden that is not the source's own is never taken for one.
            told = ET.SubElement(test, "properties")
            approved = _brief(_text(approval_in_words(case.approval, language)), _MOST_MESSAGE)
            ET.SubElement(told, "property", name="approved", value=approved)
        _outcome(test, case.verdict, case.sentence.text(language), _reasons(case, language), totals)
    _count(element, totals)
    return totals


def _outcome(test: ET.Element, verdict: str, sentence: str, reasons: Sequence[str], totals: Counter[str]) -> None:
    tag = _OUTCOMES.get(verdict)
    if tag is None:
        return
    totals[tag] += 1
    message = f"{verdict}: {' '.join(_text(sentence).split())}"
    element = ET.SubElement(test, tag, message=_brief(message, _MOST_MESSAGE), type=verdict)
    element.text = _brief("\n".join(map(_text, (sentence, *reasons))), _MOST_BODY)


def _count(element: ET.Element, totals: Counter[str]) -> None:
    element.set("tests", str(totals["tests"]))
    for tag, name in _COUNTED:
        element.set(name, str(totals[tag]))


def _properties(payload: Payload, suite: SuiteView | None) -> Iterator[tuple[str, str]]:
    yield "run_id", payload.run_id
    yield "source", payload.source.name
    yield "target", payload.target.name
    yield "promptreg_version", payload.version
    if suite is not None:
        yield "verdict", suite.verdict
        if suite.p_value is not None:
            yield "p_value", f"{suite.p_value:.6g}"


def _reasons(case: CaseView, language: Language) -> list[str]:
    """What stands below the sentence: worse checks, breaches, faults, the short changes, the decision."""
    words = catalogues()[language]
    lines = [
        f"{check_in_words(check.label, language)}: {words['side.source']} {check.source_passed}/{check.source_total}, "
        f"{words['side.target']} {check.target_passed}/{check.target_total}"
        + (f". {check.sentence.text(language)}" if check.sentence is not None else "")
        for check in case.checks
        if check.worse
    ]
    lines += [breach.text(language) for breach in case.breaches]
    lines += [f"{fault.kind} {fault.severity}: {fault.sentence.text(language)}" for fault in case.faults]
    lines += map(change_in_words, changes_of(case))
    if (decision := case.decision) is not None:
        lines.append(decision_in_words(decision, language))
    return lines


def _seconds(case: CaseView) -> float:
    """How long the target's calls took, one after the other; not-a-number and infinity count nothing."""
    durations = (attempt.duration_s for sample in case.target_samples for attempt in sample.attempts)
    return sum(duration for duration in durations if 0 <= duration < float("inf"))


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def _text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", plain(text))


def _brief(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"

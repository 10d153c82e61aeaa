"""What a comparison warns of: what its parts were recorded under, and what is not known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.judging.unknown_faults import unknown_warning
from promptreg.workflow.judging.unscored import unscored_warning
from promptreg.workflow.judging.varied import recorded_otherwise
from promptreg.workflow.load import load_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.baseline.model import FaultRules
    from promptreg.store.runs import RunRecord
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.judging.judge_calls import Judges
    from promptreg.workflow.load import SuiteLoad


def large_report(size_bytes: int) -> Sentence:
    """What to say of a report that browsers open slowly."""
    size = f"{size_bytes / 1_000_000:.0f} MB"
    return Sentence(
        f"The report is {size}, which browsers open slowly. `promptreg report RUN --details changed` leaves out what "
        "passed.",
        f"报告有 {size}，浏览器打开较慢。`promptreg report RUN --details changed` 会省略通过的用例。",
    )


def comparison_warnings(
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
    judges: Judges,
    rules: FaultRules,
    loads: Sequence[SuiteLoad],
) -> tuple[Sentence, ...]:
    """What a reader of a comparison must know beside the verdicts, each once.

    Args:
        record: the target's run.
        judged: its suites.
        judges: those who were asked.
        rules: of faults, as they are now.
        loads: under which the suites were measured.
    """
    told = [load_warning(loads)]
    told += [unknown_warning(suite.pairing.baseline.header, suite.untold, len(suite.pairs), rules) for suite in judged]
    told += [Sentence(text, text) for text in _in_english(record, judged, judges)]
    return tuple(dict.fromkeys(sentence for sentence in told if sentence is not None))


def _in_english(record: RunRecord, judged: tuple[JudgedSuite, ...], judges: Judges) -> list[str]:
    pairings = [suite.pairing for suite in judged]
    found = [f"Source: {text}" for pairing in pairings for text in pairing.baseline.header.warnings]
    found += [f"Target: {text}" for text in record.warnings]
    for suite in judged:
        unscored = unscored_warning(suite.pairing.suite.name, suite.scores.values())
        if unscored is not None:
            again = f" `promptreg compare --run {record.run_id}` asks those again whose call failed."
            found.append(unscored + (again if judges.failed else ""))
    for pairing in pairings:
        if pairing.varied_otherwise:
            found.append(recorded_otherwise(pairing.suite, pairing.varied_otherwise))
        if pairing.unasked:
            shown = ", ".join(pairing.unasked[:5]) + (", …" if len(pairing.unasked) > 5 else "")
            they, them = ("it is", "it") if len(pairing.unasked) == 1 else ("they are", "them")
            found.append(
                f"Suite {pairing.suite.name}: run {record.run_id} did not ask "
                f"{counted(len(pairing.unasked), 'recorded case')} as {they} now ({shown}), so {they} not compared. "
                f"Compare again without --run to ask {them}."
            )
    return found

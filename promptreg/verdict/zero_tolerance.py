"""Serving faults as part of a case's verdict: which of them fail it at once, and which only must not pass unsaid.

A fault of severity E of one of the kinds below, in any call of the target, in a case whose source is known never to
show the kind, fails the case: no test, one call is enough. Such text is never an answer: a model of the same weights
does not write it by chance. Whether it can happen twice is the server's matter, and the release should not find out.

Any other fault of severity E that the target shows and the source does not is named in the case's sentence, and the
case is not called a pass. Whether it is *more* than chance is for the regression test, where its rule allows one (see
`CaseEvidence.tested`). Warnings and notes change no verdict.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.case import ordered
from promptreg.scoring.faults.model import Severity
from promptreg.text.sentence import Sentence
from promptreg.verdict.evidence import FREE_OF
from promptreg.verdict.verdicts import CaseVerdict, severity
from promptreg.verdict.words import case_sentences as sentences
from promptreg.verdict.words import fault_sentences

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from promptreg.scoring.faults.case import CaseFault, CaseFaults, FaultPasses
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import CaseJudgement, CheckOutcome

ZERO_TOLERANCE: Final = frozenset(
    {"F01", "F33", "F36", "F37", "F47", *(f"F{number}" for number in range(15, 21))},
)
"""Damaged text, text of another request, a prompt that was cut in silence, tool calls that cannot be run."""

FAULT: Final = "fault"
"""Name of the material effect that such faults are."""

_EFFECT: Final = 6.0
"""Places such a case above those whose checks failed by a test: −log10 p of a check is below 4 in the usual plan."""


def with_faults(judgement: CaseJudgement, case: CaseEvidence) -> CaseJudgement:
    """The judgement of a case with what its faults change.

    Args:
        judgement: by all tests; also of a case that could not be compared because samples are missing.
        case: its evidence.
    """
    faults = case.faults
    proven = {outcome.check.removeprefix(FREE_OF) for outcome in judgement.checks if outcome.worse}
    judgement = replace(judgement, faults=_told(faults, proven))
    fatal = intolerable(faults)
    others = tuple(fault for fault in unexplained(faults) if fault.kind not in proven)
    if fatal:
        said = fault_sentences.case_not_tolerated(fatal, faults)
        # What a test found is said as well; that none found anything would only contradict.
        tested = _told_beside(judgement, {fault.kind for fault in fatal})
        if tested is not None:
            said = _joined(said, tested)
        share = sum(fatal[0].target) / len(fatal[0].target)
        return replace(
            judgement,
            verdict=CaseVerdict.FAIL,
            sentence=said,
            severity=severity(CaseVerdict.FAIL, _EFFECT * (1 + share)),
            not_tolerated=tuple(fault.kind for fault in fatal),
        )
    if not others or judgement.verdict is CaseVerdict.ERROR:
        return judgement
    alone = judgement.verdict in {CaseVerdict.PASS, CaseVerdict.CHANGED}
    said = fault_sentences.case_has_faults(others, faults, alone=alone)
    if judgement.verdict is CaseVerdict.PASS:
        known = fault_sentences.texts_known(case.source_passes, case.target_passes)
        share = sum(others[0].target) / len(others[0].target)
        return replace(
            judgement,
            verdict=CaseVerdict.CHANGED,
            sentence=_joined(said, known),
            severity=severity(CaseVerdict.CHANGED, share),
        )
    if judgement.verdict is CaseVerdict.CHANGED:
        return replace(judgement, sentence=_joined(said, judgement.sentence))
    return replace(judgement, sentence=_joined(judgement.sentence, said))


def _told(faults: CaseFaults, proven: Container[str]) -> tuple[CaseFault, ...]:
    """What the target shows, with what the regression test proved: the lists must not say less than the verdict."""
    told = {fault.finding.kind: fault for fault in faults.told}
    for fault in faults.blind_told:
        kind = fault.finding.kind
        if kind in proven and (kind not in told or told[kind].target < fault.target):
            told[kind] = fault
    return ordered(tuple(told.values()))


def _told_beside(judgement: CaseJudgement, kinds: Container[str]) -> Sentence | None:
    """What the tests found beside kinds that are told already; None when that is nothing."""
    if judgement.verdict in {CaseVerdict.PASS, CaseVerdict.CHANGED}:
        return None
    if judgement.verdict is not CaseVerdict.FAIL:
        return judgement.sentence
    left = [check for check in worst_first(judgement.checks) if check.check.removeprefix(FREE_OF) not in kinds]
    return told_of_checks(left) if left else None


def worst_first(checks: Iterable[CheckOutcome]) -> list[CheckOutcome]:
    """The checks, and freedoms from a fault, that the regression test found worse."""
    return sorted((check for check in checks if check.worse), key=lambda check: (check.p_value, check.check))


def told_of_checks(worse: Sequence[CheckOutcome]) -> Sentence:
    """Verdict `fail` by the regression test, told of the check that got worst.

    Args:
        worse: at least one, the worst first.
    """
    surprise = sentences.chance_of_failures(worse[0].p_value or 1.0)
    if worse[0].check.startswith(FREE_OF):
        return fault_sentences.case_fails(worse, surprise)
    return sentences.case_fails(worse, surprise)


def _joined(first: Sentence, second: Sentence) -> Sentence:
    return Sentence(f"{first.en} {second.en}", f"{first.zh}{second.zh}")


def intolerable(faults: CaseFaults) -> tuple[FaultPasses, ...]:
    """The faults that fail a case at once, those in the most calls first."""
    return _most_first([one for one in faults.passes if _grave(one) and _not_tolerated(one)])


def unexplained(faults: CaseFaults) -> tuple[FaultPasses, ...]:
    """The other faults of severity E that the source is not known to show, those in the most calls first."""
    return _most_first(
        [one for one in faults.passes if _grave(one) and True not in one.source and not _not_tolerated(one)]
    )


def _not_tolerated(fault: FaultPasses) -> bool:
    # A source of which nothing is known may show it as well; a refusal is seen by everybody.
    return fault.kind in ZERO_TOLERANCE and fault.never_on_source and fault.silent


def _grave(fault: FaultPasses) -> bool:
    return fault.severity is Severity.ERROR and any(fault.target)


def _most_first(faults: list[FaultPasses]) -> tuple[FaultPasses, ...]:
    return tuple(sorted(faults, key=lambda fault: (-sum(fault.target) / len(fault.target), fault.kind)))


def unproven_fault(judgement: CaseJudgement) -> bool:
    """Whether a case is `changed` and shows a fault of severity E that its source does not."""
    return judgement.verdict is CaseVerdict.CHANGED and any(
        fault.finding.severity is Severity.ERROR and not fault.source for fault in judgement.faults
    )

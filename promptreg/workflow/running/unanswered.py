"""Why calls have no answer: the cause, what most of them said, and whether the same request can ever get one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.deployment.exchange import FailureKind
from promptreg.deployment.overflow import read_overflow
from promptreg.deployment.reading import ReadProblemKind
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.consequences import ERROR
from promptreg.verdict.causes.words import words_of
from promptreg.verdict.verdicts import SuiteVerdict
from promptreg.verdict.words import case_sentences
from promptreg.verdict.words.suite_sentences import why_failed
from promptreg.workflow.context.sent import NEVER_ASKED
from promptreg.workflow.running.staying import stays

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import ReadProblem
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.running.stored import ReadSample

Cause = tuple[str, ...]

_READ: Final = {
    ReadProblemKind.NOT_JSON: "unreadable",
    ReadProblemKind.NO_CHOICES: "unreadable",
    ReadProblemKind.ERROR_IN_STREAM: "stream",
    ReadProblemKind.STREAM_CUT: "stream",
}
_FAILED: Final = {FailureKind.TLS: "tls", FailureKind.TOO_LARGE: "too_large", FailureKind.CALL: "call"}


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Why most of the calls of a case that got no answer got none."""

    cause: Cause
    calls: int
    message: str
    """What one of them said."""
    attempts: int
    """At most, of these calls; 0 for a case that was not asked, since the run was given up over others."""
    stays: bool
    """True when the same request can get no answer from the deployment as it is."""
    too_long: bool = False
    """True when the server refused it for the length of its prompt."""

    @property
    def sentence(self) -> Sentence:
        """What happened, and what to do."""
        step = case_sentences.TOO_LONG if self.too_long else words_of(self.cause).next_step
        if not self.attempts:
            return case_sentences.given_up(self.message, step)
        return case_sentences.calls_failed(self.message, self.attempts, step)


def unanswered(samples: Collection[ReadSample]) -> Unanswered | None:
    """The most frequent reason among the samples of a case; None when every one of them has an answer."""
    failed = [
        (sample, problem, _cause(sample, problem))
        for sample in samples
        if (problem := sample.reading.problem) is not None
    ]
    if not failed:
        return None
    counts = Counter(cause for _, _, cause in failed)
    cause, calls = min(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    of_cause = [(sample, problem) for sample, problem, each in failed if each == cause]
    return Unanswered(
        cause,
        calls,
        of_cause[0][1].message,
        max(len(sample.stored.attempts) for sample, _ in of_cause),
        all(stays(sample.stored.attempts[-1], problem) for sample, problem in of_cause),
        all(_too_long(sample.stored.attempts[-1]) for sample, _ in of_cause),
    )


def with_reasons(suite: JudgedSuite, errors: Mapping[str, Unanswered | None]) -> SuiteJudgement:
    """The judgement of a suite whose cases without an answer say why there is none, and whether asking again helps.

    Args:
        suite: as it was judged.
        errors: why each case with the verdict `error` lacks answers; None where no call of it failed.
    """
    cases = tuple(
        _with_reason(case, suite, errors[case.case_id]) if case.case_id in errors else case
        for case in suite.judgement.cases
    )
    judgement = replace(suite.judgement, cases=cases)
    if judgement.verdict is not SuiteVerdict.ERROR:
        return judgement
    staying = sum(why is not None and why.stays for why in errors.values())
    said, how_on = judgement.sentence, why_failed(len(errors), staying)
    return replace(judgement, sentence=Sentence(f"{said.en} {how_on.en}", f"{said.zh}{how_on.zh}"))


def _with_reason(judgement: CaseJudgement, suite: JudgedSuite, why: Unanswered | None) -> CaseJudgement:
    target = next(
        (suite.pairing.target.of(case) for case in suite.pairing.suite.cases if case.case_id == judgement.case_id), None
    )
    if target is not None and (target.problem is not None or target.refused is not None):
        return judgement  # it says so already
    if why is None and not _lacks_target(judgement, suite):
        return judgement
    more = case_sentences.never_called() if why is None else why.sentence
    said = judgement.sentence
    return replace(judgement, sentence=Sentence(f"{said.en} {more.en}", f"{said.zh}{more.zh}"))


def _lacks_target(judgement: CaseJudgement, suite: JudgedSuite) -> bool:
    pair = suite.pairs.get(judgement.case_id)
    return pair is not None and any(answer is None for answer in pair.target)


def _too_long(last: Exchange) -> bool:
    overflow = None if last.failure is not None else read_overflow(last.status, last.body)
    return overflow is not None and overflow.what != "answer"


def _cause(sample: ReadSample, problem: ReadProblem) -> Cause:
    if problem.kind is ReadProblemKind.HTTP_STATUS and problem.status is not None:
        return ERROR, "status", str(problem.status)
    failure = sample.stored.attempts[-1].failure
    if failure is None:
        return ERROR, _READ.get(problem.kind, "connection")
    if failure.kind in NEVER_ASKED:
        return ERROR, failure.kind.value
    return ERROR, "timeout" if "timeout" in failure.kind.value else _FAILED.get(failure.kind, "connection")

"""The cases of a comparison by cause, with what only the stored calls know: moved reasoning, kinds of errors."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.deployment.reading import ReadProblemKind
from promptreg.scoring.contract.moved import moved_places
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.consequences import CONTEXT, ERROR, MOVED
from promptreg.verdict.model import CaseVerdict, Sign
from promptreg.workflow.context.said import cut_apart
from promptreg.workflow.context.sent import NEVER_ASKED
from promptreg.workflow.stored import CaseSamples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.deployment.reading import ReadProblem
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.workflow.judge import JudgedCase, JudgedSuite
    from promptreg.workflow.stored import ReadSample

_KINDS = {
    ReadProblemKind.NOT_JSON: "unreadable",
    ReadProblemKind.NO_CHOICES: "unreadable",
    ReadProblemKind.ERROR_IN_STREAM: "stream",
    ReadProblemKind.STREAM_CUT: "stream",
}


_ANSWERED_OTHERWISE = frozenset({CaseVerdict.CHANGED, CaseVerdict.DRIFT, CaseVerdict.FAIL})


def with_clusters(store: Store, record: RunRecord, judged: Iterable[JudgedSuite]) -> tuple[JudgedSuite, ...]:
    """The judged suites, their cases grouped by cause. Faults must be known before."""
    judged = tuple(judged)
    errors: dict[tuple[str, str], tuple[Sign, ...] | None] = {}
    for suite in judged:
        samples = CaseSamples(store, record.run_id, suite.judgement.suite)
        for case in sorted(suite.judgement.cases, key=lambda case: case.case_id):
            if case.verdict is CaseVerdict.ERROR:
                of_case = samples.of(case.case_id)
                errors[suite.judgement.suite, case.case_id] = _errors(of_case) if of_case else None
    # A run that was given up, since every call was refused, has cases that were never asked: for the same reason.
    known = {sign.cause for signs in errors.values() for sign in signs or ()}
    given_up = tuple(Sign(cause, 0) for cause in known) if len(known) == 1 and record.state == "failed" else ()
    return tuple(_with_clusters(suite, errors, given_up) for suite in judged)


def _with_clusters(
    suite: JudgedSuite, errors: Mapping[tuple[str, str], tuple[Sign, ...] | None], given_up: tuple[Sign, ...]
) -> JudgedSuite:
    name = suite.judgement.suite
    more = {judged.case.case_id: (*_moved(judged), *_shortened(judged, suite)) for judged in suite.cases()}
    for (of_suite, case_id), signs in errors.items():
        if of_suite == name:
            more[case_id] = given_up if signs is None else signs
    cases = tuple(replace(case, signs=(*case.signs, *more.get(case.case_id, ()))) for case in suite.judgement.cases)
    return replace(suite, judgement=replace(suite.judgement, cases=cases, clusters=clusters_of(cases)))


def _moved(judged: JudgedCase) -> tuple[Sign, ...]:
    """That the reasoning stands in another place, which no text shows."""
    source = [answer for answer in judged.source if answer is not None]
    target = [answer for answer in judged.target if answer is not None]
    places = moved_places([*source, *target], len(source))
    return tuple(Sign((MOVED, place), count) for place, count in sorted(places.items()))


def _shortened(judged: JudgedCase, suite: JudgedSuite) -> tuple[Sign, ...]:
    """That the target was sent less than the source, where it answered otherwise."""
    source, target = suite.pairing.source.of(judged.case), suite.pairing.target.of(judged.case)
    answers = sum(answer is not None for answer in judged.target)
    if source is None or target is None or not answers or judged.judgement.verdict not in _ANSWERED_OTHERWISE:
        return ()
    return (Sign((CONTEXT,), answers),) if cut_apart(source, target) else ()


def _errors(samples: Mapping[int, ReadSample]) -> tuple[Sign, ...]:
    """Why most of the calls without an answer have none; nothing when the target answered every call."""
    kinds = Counter(
        _kind(sample, sample.reading.problem) for sample in samples.values() if sample.reading.problem is not None
    )
    return tuple(Sign((ERROR, *kind), count) for kind, count in sorted(kinds.items(), key=_often)[:1])


def _often(kind: tuple[tuple[str, ...], int]) -> tuple[int, tuple[str, ...]]:
    return -kind[1], kind[0]


def _kind(sample: ReadSample, problem: ReadProblem) -> tuple[str, ...]:
    if problem.kind is ReadProblemKind.HTTP_STATUS and problem.status is not None:
        return "status", str(problem.status)
    failure = sample.stored.attempts[-1].failure
    if failure is not None and failure.kind in NEVER_ASKED:
        return (failure.kind.value,)
    if failure is not None:
        return ("timeout",) if "timeout" in failure.kind.value else ("connection",)
    return (_KINDS.get(problem.kind, "connection"),)

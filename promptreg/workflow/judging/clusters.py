"""The cases of a comparison by cause, with what only the stored calls know: moved reasoning, kinds of errors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.scoring.contract.moved import moved_places
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.consequences import CONTEXT, MOVED
from promptreg.verdict.model import Sign
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.context.said import cut_apart
from promptreg.workflow.running.stored import CaseSamples
from promptreg.workflow.running.unanswered import unanswered, with_reasons

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.workflow.judging.judge import JudgedCase, JudgedSuite
    from promptreg.workflow.running.unanswered import Unanswered

_ANSWERED_OTHERWISE = frozenset({CaseVerdict.CHANGED, CaseVerdict.DRIFT, CaseVerdict.FAIL})


def with_clusters(store: Store, record: RunRecord, judged: Iterable[JudgedSuite]) -> tuple[JudgedSuite, ...]:
    """The judged suites, their cases grouped by cause. Faults must be known before."""
    judged = tuple(judged)
    errors: dict[tuple[str, str], Unanswered | None] = {}
    asked: set[tuple[str, str]] = set()
    for suite in judged:
        samples = CaseSamples(store, record.run_id, suite.judgement.suite)
        for case in sorted(suite.judgement.cases, key=lambda case: case.case_id):
            if case.verdict is CaseVerdict.ERROR:
                of_case = samples.of(case.case_id)
                errors[suite.judgement.suite, case.case_id] = unanswered(of_case.values())
                asked |= {(suite.judgement.suite, case.case_id)} if of_case else set()
    # A run that was given up, since every call was refused, has cases that were never asked: for the same reason.
    known = {why.cause: why for why in errors.values() if why is not None}
    given_up = next(iter(known.values())) if len(known) == 1 and record.state == "failed" else None
    if given_up is not None:
        never = replace(given_up, calls=0, attempts=0)
        errors = {key: why if why is not None or key in asked else never for key, why in errors.items()}
    return tuple(_with_clusters(suite, errors) for suite in judged)


def _with_clusters(suite: JudgedSuite, errors: Mapping[tuple[str, str], Unanswered | None]) -> JudgedSuite:
    name = suite.judgement.suite
    more = {judged.case.case_id: (*_moved(judged), *_shortened(judged, suite)) for judged in suite.cases()}
    of_suite = {case_id: why for (of, case_id), why in errors.items() if of == name}
    for case_id, why in of_suite.items():
        more[case_id] = () if why is None else (Sign(why.cause, why.calls),)
    told = with_reasons(suite, of_suite)
    cases = tuple(replace(case, signs=(*case.signs, *more.get(case.case_id, ()))) for case in told.cases)
    return replace(suite, judgement=replace(told, cases=cases, clusters=clusters_of(cases)))


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

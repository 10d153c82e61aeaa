"""Serving faults in the stored calls of a comparison: the target's, beside the source's where the store knows them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.deployment.request import request_body
from promptreg.scoring.contract.moved import moved_reasoning
from promptreg.scoring.faults.case import case_faults
from promptreg.scoring.faults.golden import Golden
from promptreg.scoring.faults.observe import observe_exchange
from promptreg.workflow.stored import CaseSamples

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.answer.model import Answer
    from promptreg.canonical import JsonObject
    from promptreg.config.model import Config, Deployment
    from promptreg.scoring.faults.case import CaseFault
    from promptreg.scoring.faults.model import Observation
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.suite.model import Case
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.judge import JudgedCase, JudgedSuite
    from promptreg.workflow.stored import ReadSample


def with_faults(
    config: Config, store: Store, record: RunRecord, judged: Iterable[JudgedSuite]
) -> tuple[JudgedSuite, ...]:
    """The judged suites, each case with the faults of its target calls, and whether its reasoning moved."""
    source_runs = {run.run_id for run in store.runs()}
    return tuple(_with_faults(config, store, record, suite, source_runs) for suite in judged)


def _with_faults(
    config: Config, store: Store, record: RunRecord, suite: JudgedSuite, source_runs: set[str]
) -> JudgedSuite:
    header, name = suite.pairing.baseline.header, suite.judgement.suite
    target = CaseSamples(store, record.run_id, name)
    source = CaseSamples(store, header.run_id, name) if header.run_id in source_runs else None
    sides = (config.deployments.get(header.deployment), config.deployments.get(record.deployment))
    found: dict[str, tuple[CaseFault, ...]] = {}
    moved: dict[str, tuple[Sentence, ...]] = {}
    for judged in sorted(suite.cases(), key=lambda judged: judged.case.case_id):
        case_id = judged.case.case_id
        recorded = {} if source is None else source.of(case_id)
        passes = suite.judgement.facts.target_passes
        taken = {index: sample for index, sample in target.of(case_id).items() if index < passes}
        sources = _observed(judged.case, recorded, sides[0], header.server, None)
        golden = Golden.of(sources) if sources else _golden_of(judged)
        found[case_id] = case_faults(sources, _observed(judged.case, taken, sides[1], record.server, golden))
        moved[case_id] = _moved(judged)
    cases = tuple(
        replace(
            case,
            faults=found.get(case.case_id, ()),
            breaches=(*case.breaches, *moved.get(case.case_id, ())),
        )
        for case in suite.judgement.cases
    )
    return replace(suite, judgement=replace(suite.judgement, cases=cases))


def _moved(judged: JudgedCase) -> tuple[Sentence, ...]:
    """That the reasoning stands in another place, where it does: a fact of its own, which no text shows."""
    source = [answer for answer in judged.source if answer is not None]
    target = [answer for answer in judged.target if answer is not None]
    sentence = moved_reasoning([*source, *target], len(source))
    return () if sentence is None else (sentence,)


def _observed(
    case: Case,
    samples: Mapping[int, ReadSample],
    deployment: Deployment | None,
    server: str | None,
    golden: Golden | None,
) -> list[Observation]:
    request = _request(case, deployment)
    return [
        observe_exchange(sample.stored.attempts[-1], request, golden=golden, server=server, reading=sample.reading)
        for _, sample in sorted(samples.items())
    ]


def _request(case: Case, deployment: Deployment | None) -> JsonObject:
    """The request as sent; without the deployment's own defaults where the project no longer has it."""
    if deployment is None:
        return {"messages": list(case.request.messages), **case.request.params}
    return request_body(case.request, deployment)


def _golden_of(judged: JudgedCase) -> Golden:
    """What the baseline alone tells of the source's calls."""
    answers: tuple[Answer, ...] = tuple(answer for answer in judged.source if answer is not None)
    finish_reasons = frozenset(answer.finish_reason for answer in answers if answer.finish_reason is not None)
    return Golden(
        contents=tuple(answer.content for answer in answers),
        reasonings=tuple(answer.reasoning for answer in answers) if answers else None,
        answers=answers,
        finish_reasons=finish_reasons or None,
    )

"""From judged cases to what the report shows of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg.deployment.request import request_body
from promptreg.report.answers import answer_groups, paired_groups, spread_view
from promptreg.report.payload import (
    AnswerGroup,
    ApprovalView,
    AttemptView,
    CaseView,
    ChannelView,
    CheckView,
    FaultView,
    SampleView,
)
from promptreg.store.store import Store
from promptreg.text.counted import counted, part_in_chinese
from promptreg.text.sentence import Sentence
from promptreg.verdict.approvals import told_lack
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.verdict.words.case_sentences import both_noises
from promptreg.workflow.context.view import context_view
from promptreg.workflow.judging.faults import READ_TOGETHER
from promptreg.workflow.large import spread_of
from promptreg.workflow.private import redaction_of
from promptreg.workflow.running.stored import CaseSamples, told, told_samples
from promptreg.workflow.views.telling import telling_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.baseline.model import Approval, Baseline
    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.scoring.faults.case import CaseFault
    from promptreg.scoring.rates import CheckRate
    from promptreg.store.runs import RunRecord
    from promptreg.suite.model import Request
    from promptreg.verdict.model import CaseJudgement, CheckOutcome
    from promptreg.workflow.judging.judge import JudgedCase, JudgedSuite
    from promptreg.workflow.running.stored import Told, ToldSample


def case_views(config: Config, store: Store, record: RunRecord, judged: tuple[JudgedSuite, ...]) -> Iterator[CaseView]:
    """What the report shows of each case, made a few at a time; missing ones last of their suite."""
    store.flush()
    for suite in judged:
        viewing = _Viewing(config, store.path, record, suite)
        cases = sorted(suite.cases(), key=lambda judged_case: judged_case.case.case_id)
        parts = [cases[start : start + READ_TOGETHER] for start in range(0, len(cases), READ_TOGETHER)]
        samples = sum(len(case.source) + len(case.target) for case in cases)
        for views in spread_of(config, samples)(viewing, parts):
            yield from views
        missing = frozenset(suite.pairing.missing)
        for judgement in suite.judgement.cases:
            if judgement.case_id in missing:
                yield _missing_view(judgement, suite.pairing.baseline)


@dataclass(frozen=True, slots=True)
class _Viewing:
    """Makes what the report shows of some cases. Opens the store by itself, for it may run in another process."""

    config: Config
    path: Path
    record: RunRecord
    suite: JudgedSuite

    def __call__(self, cases: Sequence[JudgedCase]) -> list[CaseView]:
        """The cases, in their order."""
        suite, deployments, header = self.suite, self.config.deployments, self.suite.pairing.baseline.header
        params = (
            partial(_params, deployment=deployments.get(header.deployment)),
            partial(_params, deployment=deployments.get(self.record.deployment)),
        )
        redaction = redaction_of(self.config)
        views = []
        with Store.open(self.path, create=False) as store:
            for case in cases:
                samples = self._not_read(store, case.case.case_id) if case.told is None else told_samples(case.told)
                view = _case_view(case, *samples, params)
                messages = tuple({key: redaction.json(part) for key, part in said.items()} for said in view.messages)
                shortened = context_view(suite.pairing, case.case, redaction)
                if case.judgement.verdict is CaseVerdict.NEW:
                    view = _with_recorded(view, suite.pairing.baseline)
                views.append(replace(view, messages=messages, context=shortened))
        return views

    def _not_read(self, store: Store, case_id: str) -> tuple[Told, Told]:
        """How the calls of a case went that was not compared: the target may have been asked all the same."""
        asked = CaseSamples(store, self.record.run_id, self.suite.judgement.suite, case_id)
        return {}, told(asked.of(case_id))


def _case_view(
    judged: JudgedCase,
    source: Told,
    target: Told,
    params: tuple[Callable[[Request], JsonObject], Callable[[Request], JsonObject]],
) -> CaseView:
    judgement, case = judged.judgement, judged.case
    groups = paired_groups(judged.source, judged.target)
    ratios = [effect.ratio for effect in judgement.channels.values() if effect.ratio is not None]
    return CaseView(
        suite=case.suite,
        case_id=case.case_id,
        verdict=judgement.verdict.value,
        severity=judgement.severity,
        sentence=judgement.sentence,
        p_value=judgement.p_value,
        noise_multiple=max(ratios, default=None),
        tags=case.tags,
        channels=tuple(_channel_views(judged)),
        checks=tuple(_check_views(judged)),
        breaches=judgement.breaches,
        faults=tuple(_fault_view(fault) for fault in judgement.faults),
        golden=groups.golden,
        candidate=groups.candidate,
        telling=telling_groups(judged, groups.candidate),
        source_samples=_sample_views(judged.source, source, groups.golden, judged.source_variants),
        target_samples=_sample_views(judged.target, target, groups.candidate, {}),
        messages=case.request.messages,
        approval=_approval_view(judgement.approved),
        lacks=tuple(map(told_lack, judgement.lacks)),
        source_params=params[0](case.request),
        target_params=params[1](case.request),
    )


def _with_recorded(view: CaseView, baseline: Baseline) -> CaseView:
    """What is shown of a case that was not compared, with what the baseline holds of it, for whatever request."""
    golden = baseline.goldens.get(view.case_id)
    if golden is None:
        return view
    answers = golden.by_pass(baseline.header.passes)
    groups = answer_groups(answers)
    samples = _sample_views(answers, {}, groups, golden.variants)
    return replace(view, golden=groups, source_samples=samples, approval=_approval_view(golden.approved))


def _missing_view(judgement: CaseJudgement, baseline: Baseline) -> CaseView:
    """A golden whose case the suite no longer has: what was recorded, so that somebody can decide to remove it."""
    view = CaseView(
        suite=baseline.header.suite,
        case_id=judgement.case_id,
        verdict=judgement.verdict.value,
        severity=judgement.severity,
        sentence=judgement.sentence,
    )
    return _with_recorded(view, baseline)


def _approval_view(approval: Approval | None) -> ApprovalView | None:
    if approval is None:
        return None
    return ApprovalView(
        reviewer=approval.reviewer,
        day=approval.decided_at[:10],
        deployment=approval.deployment,
        run_id=approval.run_id,
        reason=approval.reason,
        despite=tuple(map(told_lack, approval.despite)),
    )


def _channel_views(judged: JudgedCase) -> Iterator[ChannelView]:
    distances = judged.scores.distances if judged.scores is not None else {}
    for name, effect in judged.judgement.channels.items():
        matrix = distances.get(name)
        yield ChannelView(
            name=name,
            z=effect.z,
            ratio=effect.ratio,
            sentence=both_noises(effect),
            spread=None if matrix is None else spread_view(matrix, len(judged.source)),
        )


def _check_views(judged: JudgedCase) -> Iterator[CheckView]:
    rates = judged.scores.checks if judged.scores is not None else ()
    outcomes = judged.judgement.checks
    # The same checks in the same order, then freedom from faults; a case that was not compared has none of either.
    same = [rate.check for rate in rates] == [outcome.check for outcome in outcomes[: len(rates)]]
    known = [*rates] if same else []
    for outcome, rate in zip(outcomes, [*known, *[None] * (len(outcomes) - len(known))], strict=True):
        yield _check_view(outcome, rate)


def _check_view(outcome: CheckOutcome, rate: CheckRate | None) -> CheckView:
    sentence = outcome.sentence
    if rate is not None and sentence is not None:
        sentence = Sentence(
            f"{rate.rule.en} {sentence.en}{rate.example.en}", f"{rate.rule.zh}{sentence.zh}{rate.example.zh}"
        )
    return CheckView(
        label=outcome.check,
        source_passed=outcome.source_passed,
        source_total=outcome.source_total,
        target_passed=outcome.target_passed,
        target_total=outcome.target_total,
        worse=outcome.worse,
        sentence=sentence,
    )


def _fault_view(fault: CaseFault) -> FaultView:
    finding = fault.finding
    here = part_in_chinese(fault.target, fault.target_calls, "次调用", "次")
    source_en = source_zh = ""
    if fault.source_calls:
        times = f"有 {fault.source} 次" if fault.source else "从未出现"
        source_en = f", in {fault.source or 'none'} of {fault.source_calls} on the source"
        source_zh = f"，源部署 {fault.source_calls} 次中{times}"
    return FaultView(
        kind=finding.kind,
        severity=finding.severity.value,
        sentence=Sentence(
            f"{fault.title.en}: in {fault.target} of {counted(fault.target_calls, 'call')} here{source_en}. "
            f"{fault.sees.en} {fault.next_step.en}",
            f"{fault.title.zh}：这里{here}出现{source_zh}。{fault.sees.zh}{fault.next_step.zh}",
        ),
        where=finding.where,
        evidence=finding.evidence,
        suspects=fault.suspects,
    )


def _sample_views(
    answers: Sequence[Answer | None],
    samples: Told,
    groups: Sequence[AnswerGroup],
    variants: Mapping[int, str],
) -> tuple[SampleView, ...]:
    """Every pass of one side: how its call went, where the store knows it, and how its prompt was varied."""
    group_of = {pass_index: index for index, group in enumerate(groups) for pass_index in group.passes}
    indices = sorted({*range(len(answers)), *samples})
    return tuple(_sample_view(index, samples.get(index), group_of.get(index), variants.get(index)) for index in indices)


def _sample_view(pass_index: int, sample: ToldSample | None, group: int | None, variant: str | None) -> SampleView:
    if sample is None:
        return SampleView(pass_index, group, variant=variant)
    return SampleView(
        pass_index=pass_index,
        group=group,
        attempts=tuple(
            AttemptView(duration_s=attempt.duration_s, status=attempt.status, problem=attempt.problem)
            for attempt in sample.attempts
        ),
        first_token_s=sample.first_token_s,
        in_flight=sample.in_flight,
        usage=sample.usage,
        notes=sample.notes,
        variant=variant or sample.variant,
    )


def _params(request: Request, deployment: Deployment | None) -> JsonObject:
    """The rest of the request as it is sent to a deployment; the suite's own part when the deployment is unknown."""
    if deployment is None:
        return request.params
    return {name: value for name, value in request_body(request, deployment).items() if name != "messages"}

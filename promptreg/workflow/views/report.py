"""From a judged comparison to what the report shows."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg import __version__
from promptreg.deployment.request import request_body
from promptreg.report.answers import answer_groups, paired_groups, spread_view
from promptreg.report.payload import (
    AnswerGroup,
    ApprovalView,
    AttemptView,
    CaseView,
    ChannelView,
    CheckView,
    DecisionView,
    FaultView,
    Payload,
    SampleView,
    SuiteView,
)
from promptreg.store.store import Store
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.approvals import told_lack
from promptreg.verdict.model import CaseVerdict
from promptreg.verdict.words import fault_sentences
from promptreg.verdict.words.case_sentences import both_noises
from promptreg.verdict.words.evidence_words import evidence_in_words
from promptreg.workflow.context.view import context_view
from promptreg.workflow.criteria_words import criteria_notes
from promptreg.workflow.judging.faults import READ_TOGETHER
from promptreg.workflow.large import spread_of
from promptreg.workflow.private import redaction_of
from promptreg.workflow.review.shown import report_id
from promptreg.workflow.review.waiting import decided_cases
from promptreg.workflow.running.stored import CaseSamples, told, told_samples
from promptreg.workflow.views.causes import cause_views, with_causes
from promptreg.workflow.views.deployments import source_view, target_view
from promptreg.workflow.views.headline import headline, next_steps, overall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.baseline.model import Approval, Baseline
    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.scoring.faults.case import CaseFault
    from promptreg.scoring.rates import CheckRate
    from promptreg.store.reviews import ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.suite.model import Request
    from promptreg.verdict.model import CaseJudgement, CheckOutcome, Facts, PowerOutcome, SuiteJudgement
    from promptreg.workflow.comparison import Comparison
    from promptreg.workflow.judging.judge import JudgedCase, JudgedSuite
    from promptreg.workflow.review.waiting import ReviewedCase
    from promptreg.workflow.running.stored import Told, ToldSample
    from promptreg.workflow.views.history import History

_SEEN = 0.8
"""Share of plantings from which the report calls a fault one that the comparison finds."""


def report_payload(
    config: Config,
    store: Store,
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
    comparison: Comparison,
    history: History,
) -> Payload:
    """Everything the report shows. Cases are made one at a time while the report is written."""
    header = judged[0].pairing.baseline.header
    shown = store.shown(record.run_id)
    source = config.deployments.get(header.deployment)
    return Payload(
        title=f"{header.deployment} → {record.deployment}",
        run_id=record.run_id,
        created_at=time.time(),
        verdict=comparison.verdict.value,
        headline=headline(comparison, header.deployment, record.deployment),
        sentence=overall(comparison),
        source=source_view(
            header,
            None if source is None else source.base_url,
            [load.source for load in comparison.loads if load.source is not None],
        ),
        target=target_view(
            record,
            _passes_taken(store, record, judged),
            [load.target for load in comparison.loads if load.target is not None],
        ),
        suites=tuple(_suite_view(suite) for suite in judged),
        causes=cause_views(suite.judgement for suite in judged),
        cases=with_causes(
            map(
                partial(_with_decision, decided=decided_cases(config, store, record, shown)),
                history.told(_case_views(config, store, record, judged)),
            ),
            [suite.judgement for suite in judged],
        ),
        warnings=comparison.warnings,
        next_steps=next_steps(comparison),
        language=config.language,
        version=__version__,
        history=history.views(),
        against=None if history.against is None else history.against.view,
        since=history.since,
        since_notes=_judged_otherwise(store, record, shown, history),
        report_id=report_id(record.run_id, shown),
    )


def _judged_otherwise(
    store: Store, record: RunRecord, shown: Iterable[ShownCase], history: History
) -> tuple[Sentence, ...]:
    """What the run that this one is held against was judged with otherwise."""
    if history.against is None:
        return ()
    held = history.against.view.run_id
    sides = [{(case.suite, case.case_id): case for case in cases} for cases in (store.shown(held), shown)]
    return tuple(criteria_notes(sides[0], sides[1], (store.criteria(held), store.criteria(record.run_id)), held))


def _passes_taken(store: Store, record: RunRecord, judged: tuple[JudgedSuite, ...]) -> list[int]:
    """Of each suite; the plan may have more."""
    taken = store.passes_begun(record.run_id)
    return [taken.get(suite.judgement.suite, 0) for suite in judged]


def _with_decision(view: CaseView, decided: Mapping[tuple[str, str], ReviewedCase]) -> CaseView:
    """The case with what a decision on it is bound to, and the last one made."""
    case = decided.get((view.suite, view.case_id))
    if case is None:
        return view
    decision = None
    if case.decision is not None:
        decision = DecisionView(case.decision, case.reviewer or "", case.reason, case.expires_on)
    shown = case.shown
    return replace(view, golden_sha256=shown.golden_sha256, candidate_sha256=shown.candidate_sha256, decision=decision)


def _suite_view(suite: JudgedSuite) -> SuiteView:
    judgement = suite.judgement
    return SuiteView(
        name=judgement.suite,
        verdict=judgement.verdict.value,
        sentence=judgement.sentence,
        p_value=judgement.p_value,
        source_passes=judgement.facts.source_passes or None,
        target_passes=judgement.facts.target_passes or None,
        notes=(*fault_notes(judgement), *_power_notes(judgement.power), *plan_notes(judgement)),
    )


def _power_notes(outcomes: Sequence[PowerOutcome]) -> tuple[Sentence, ...]:
    """What the self-test says the comparison can see: what it often misses fault by fault, the rest in one sentence."""
    if not outcomes:
        return ()
    missed = [outcome for outcome in outcomes if outcome.power < _SEEN]
    seen = [outcome for outcome in outcomes if outcome.power >= _SEEN]
    notes = [
        Sentence(f"Self-test: {outcome.sentence.en}.", f"自检：{outcome.sentence.zh}。")
        for outcome in sorted(missed, key=lambda outcome: outcome.power)
    ]
    if seen:
        least = min(outcome.power for outcome in seen)
        others = counted(len(seen), "other planted fault" if missed else "planted fault")
        notes.append(
            Sentence(
                f"Self-test: {others} would have been found in these very answers, each at least {least:.0%} of the "
                "time.",
                f"自检：{'另外 ' if missed else ''}{len(seen)} 种植入这批回答的故障都能被发现，"
                f"每种的发现率至少 {least:.0%}。",
            )
        )
    return tuple(notes)


def plan_notes(judgement: SuiteJudgement) -> tuple[Sentence, ...]:
    """How the verdict was reached, for a reader who wants to know or to repeat it."""
    facts = judgement.facts
    if not facts.compared:
        return ()
    budget = facts.drift_budget + facts.regression_budget
    method = Sentence("", "")
    if facts.clustered:
        method = Sentence(
            " Some cases share a cluster, so the lists hold under any dependence (Benjamini and Yekutieli).",
            "部分用例属于同一聚类，因此清单按任意相依的规则（Benjamini–Yekutieli）给出。",
        )
    kind = ("all", "全部") if facts.exact else ("a random sample of", "随机抽取的")
    return (
        Sentence(
            f"False alarms of a whole comparison, if nothing had changed: {facts.drift_budget:.1%} for drift and "
            f"{facts.regression_budget:.1%} for regression, {budget:.1%} in all.{_share(facts).en}",
            f"没有任何变化时，整个比较的误报率：漂移 {facts.drift_budget:.1%}，退化 {facts.regression_budget:.1%}，"
            f"合计 {budget:.1%}。{_share(facts).zh}",
        ),
        Sentence(
            f"{counted(facts.compared, 'case')}, {counted(facts.source_passes, 'source pass')} against "
            f"{counted(facts.target_passes, 'target pass')}; "
            f"{kind[0]} {facts.labellings} ways to call passes “target” were counted (seed {facts.seed})."
            f"{method.en}",
            f"{facts.compared} 个用例，源部署 {facts.source_passes} 遍、目标部署 {facts.target_passes} 遍；"
            f"统计了{kind[1]} {facts.labellings} 种“目标”标记方式（随机种子 {facts.seed}）。{method.zh}",
        ),
    )


def fault_notes(judgement: SuiteJudgement) -> tuple[Sentence, ...]:
    """Faults that only all cases together show, and how rare those must be that were not seen."""
    found = tuple(fault_sentences.of_suite(finding) for finding in judgement.faults)
    if not judgement.fault_calls:
        return found
    seen = bool(judgement.faults) or any(case.faults for case in judgement.cases)
    return (*found, fault_sentences.not_seen(judgement.fault_calls, others=seen))


def _share(facts: Facts) -> Sentence:
    """What one of several looks may spend of the budget."""
    if len(facts.looks) < 2:
        return Sentence("", "")
    listed = ", ".join(map(str, facts.looks))
    return Sentence(
        f" It is shared by the looks after {listed} target passes; the one that was decisive may spend "
        f"{facts.alpha:.1%} and {facts.regression_alpha:.1%}.",
        f"由目标部署 {listed} 遍之后的各次判断分担；起决定作用的一次可用 {facts.alpha:.1%} 和 "
        f"{facts.regression_alpha:.1%}。",
    )


def _case_views(config: Config, store: Store, record: RunRecord, judged: tuple[JudgedSuite, ...]) -> Iterator[CaseView]:
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
                    view = _with_earlier_golden(view, suite.pairing.baseline)
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
        source_samples=_sample_views(judged.source, source, groups.golden, judged.source_variants),
        target_samples=_sample_views(judged.target, target, groups.candidate, {}),
        messages=case.request.messages,
        approval=_approval_view(judgement.approved),
        lacks=tuple(map(told_lack, judgement.lacks)),
        source_params=params[0](case.request),
        target_params=params[1](case.request),
    )


def _with_earlier_golden(view: CaseView, baseline: Baseline) -> CaseView:
    """A case that is new because its request changed, beside what was recorded for the earlier request."""
    golden = baseline.goldens.get(view.case_id)
    if golden is None:
        return view
    answers = golden.by_pass(baseline.header.passes)
    groups = answer_groups(answers)
    samples = _sample_views(answers, {}, groups, golden.variants)
    return replace(view, golden=groups, source_samples=samples, approval=_approval_view(golden.approved))


def _missing_view(judgement: CaseJudgement, baseline: Baseline) -> CaseView:
    """A golden whose case the suite no longer has: what was recorded, so that somebody can decide to remove it."""
    header, golden = baseline.header, baseline.goldens[judgement.case_id]
    answers = golden.by_pass(header.passes)
    groups = answer_groups(answers)
    return CaseView(
        suite=header.suite,
        case_id=judgement.case_id,
        verdict=judgement.verdict.value,
        severity=judgement.severity,
        sentence=judgement.sentence,
        golden=groups,
        source_samples=_sample_views(answers, {}, groups, golden.variants),
        approval=_approval_view(golden.approved),
    )


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
            f"{fault.title.zh}：这里 {fault.target_calls} 次调用中有 {fault.target} 次{source_zh}。{fault.sees.zh}"
            f"{fault.next_step.zh}",
        ),
        where=finding.where,
        evidence=evidence_in_words(finding),
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

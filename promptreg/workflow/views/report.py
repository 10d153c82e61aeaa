"""From a judged comparison to what the report shows."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg import __version__
from promptreg.report.payload import (
    CaseView,
    DecisionView,
    Payload,
    SuiteView,
)
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.words import fault_sentences
from promptreg.workflow.criteria_words import criteria_notes
from promptreg.workflow.review.shown import report_id
from promptreg.workflow.review.waiting import decided_cases
from promptreg.workflow.views.cases import case_views
from promptreg.workflow.views.causes import cause_views, with_causes
from promptreg.workflow.views.deployments import source_view, target_view
from promptreg.workflow.views.headline import headline, next_steps, overall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.config import Config
    from promptreg.store.reviews import ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.verdict.model import Facts, PowerOutcome, SuiteJudgement
    from promptreg.workflow.comparison import Comparison
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.review.waiting import ReviewedCase
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
                history.told(case_views(config, store, record, judged)),
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

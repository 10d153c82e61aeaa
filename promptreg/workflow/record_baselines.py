"""What `record` writes after its calls: the baseline of each suite, and what the recording says of itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from promptreg.baseline.model import Baseline, Golden, Header, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.write import write_baseline
from promptreg.errors import ConfigError, EndpointError
from promptreg.text.sentence import Sentence
from promptreg.verdict.recording import not_exchangeable
from promptreg.workflow.baselines.merge import added_to, merge_warnings
from promptreg.workflow.baselines.recording_check import RecordingChecker
from promptreg.workflow.baselines.stored_goldens import stored_goldens
from promptreg.workflow.context.contexts import summary_of
from promptreg.workflow.judging.call_faults import present_rules, told_by
from promptreg.workflow.load import recorded_load
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.recording import RecordedSuite, Recording
from promptreg.workflow.running.collect import request_defaults
from promptreg.workflow.running.runs import failed_calls, failure_summary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.config import Config
    from promptreg.store.store import Store
    from promptreg.suite.model import Suite
    from promptreg.verdict.recording import RecordingJudgement
    from promptreg.workflow.judging.judge_calls import Judges
    from promptreg.workflow.record import Plan
    from promptreg.workflow.running.collect import Collected, Order


def write_baselines(
    config: Config, store: Store, plan: Plan, collected: Collected, judges: Judges, *, self_test: bool
) -> Recording:
    """Write the baseline of every suite that was recorded, each held against itself.

    Args:
        config: the project.
        store: holds the samples.
        plan: what was to be recorded.
        collected: the run that took it.
        judges: asked what checks have to ask.
        self_test: see `RecordOptions`.
    """
    checker = RecordingChecker(config, store, judges, self_test=self_test)
    record, order = store.run(collected.run_id), plan.order
    rules = present_rules(load_extensions(config.root))
    written: list[RecordedSuite] = []
    warnings = list(collected.warnings)
    for suite in plan.suites:
        cases = [case for case in order.cases if case.suite == suite.name]
        if not cases:
            continue
        taken, earlier = stored_goldens(config, store, record, suite.name), plan.earlier.get(suite.name)
        earlier = None if earlier is None else told_by(earlier, rules)
        goldens = {}
        for case in cases:
            golden = taken.get(case.case_id) or golden_of(case.case_id, case.request.sha256, {})
            goldens[case.case_id] = added_to(golden, case, earlier) if order.held else golden
        failed = sum(len(golden.failed_passes) for golden in goldens.values())
        path: Path | None = None
        judgement = None
        if any(golden.answers for golden in goldens.values()):
            path = baseline_path(config.root / config.paths.baselines, suite.name, order.deployment.name)
            baseline = _baseline(order, collected, suite, goldens, earlier)
            recorded = sum(len(golden.tried) for golden in baseline.goldens.values())
            counts = store.in_flight(collected.run_id, suite.name)
            load = recorded_load(counts, recorded, None if earlier is None else earlier.header)
            baseline = replace(baseline, header=replace(baseline.header, fault_rules=rules, in_flight=load))
            try:
                judgement = checker.check(suite, baseline)
            except (ConfigError, EndpointError) as error:
                # What was recorded is worth more than what can be said of it.
                warnings.append(
                    Sentence(
                        f"Suite {suite.name}: the recording was not checked against itself: {error}",
                        f"测试集 {suite.name}：录制没有与自身核对：{error}",
                    )
                )
            else:
                baseline = _with_judgement(baseline, judgement, earlier)
                warnings += [
                    Sentence(f"Suite {suite.name}: {said.en}", f"测试集 {suite.name}：{said.zh}")
                    for said in _warnings_of(judgement)
                ]
                warnings += [] if checker.unscored is None else [checker.unscored]
            write_baseline(path, baseline)
        written.append(RecordedSuite(suite.name, path, len(cases), failed, judgement))
    troubled = failed_calls(store, record)
    return Recording(
        run_id=collected.run_id,
        deployment=order.deployment.name,
        passes=order.passes,
        answered=record.answered,
        failed=record.failed,
        suites=tuple(written),
        warnings=tuple(warnings),
        failures=failure_summary(record, troubled),
        contexts=summary_of(order.contexts, order.cases),
        stays=all(call.stays for call in troubled),
    )


def _warnings_of(judgement: RecordingJudgement | None) -> tuple[Sentence, ...]:
    return (not_exchangeable(judgement),) if judgement is not None and judgement.exchangeable is False else ()


def _with_judgement(baseline: Baseline, judgement: RecordingJudgement | None, earlier: Baseline | None) -> Baseline:
    """The baseline whose header says whether its passes can be exchanged.

    A part that was not exchangeable stays so until the whole suite is recorded again.
    """
    found = None if judgement is None else judgement.exchangeable
    if earlier is not None and earlier.header.exchangeable is False:
        found = False
    warnings = dict.fromkeys((*baseline.header.warnings, *_warnings_of(judgement)))
    return replace(baseline, header=replace(baseline.header, exchangeable=found, warnings=tuple(warnings)))


def _baseline(
    order: Order, collected: Collected, suite: Suite, goldens: Mapping[str, Golden], earlier: Baseline | None
) -> Baseline:
    others = {} if earlier is None else {key: old for key, old in earlier.goldens.items() if key not in goldens}
    kept = len(others) + (len(goldens) if order.held else 0)
    added = merge_warnings(goldens, kept, earlier, collected.fingerprint)
    deployment = order.deployment
    header = Header(
        suite=suite.name,
        deployment=deployment.name,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        run_id=collected.run_id,
        model=deployment.model,
        passes=max(order.passes, earlier.header.passes if earlier is not None and kept else 1),
        server=deployment.server,
        fingerprint=collected.fingerprint.to_json(),
        request_defaults=request_defaults(deployment),
        warnings=tuple(dict.fromkeys((*collected.warnings, *added))),
        provenance=deployment.provenance,
    )
    return Baseline(header, {**others, **goldens})

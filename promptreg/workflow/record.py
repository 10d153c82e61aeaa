"""`record`: passes on the source deployment, written down as the baseline of each suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from promptreg.baseline.model import Baseline, Golden, Header, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.write import write_baseline
from promptreg.errors import ConfigError, EndpointError, ExitCode, UsageError
from promptreg.store.store import Store
from promptreg.text.sentence import Sentence
from promptreg.verdict.model import rounded
from promptreg.verdict.recording import not_exchangeable
from promptreg.workflow.baselines.merge import (
    added_to,
    earlier_baselines,
    held_passes,
    merge_warnings,
    replaced_approvals,
)
from promptreg.workflow.baselines.recording_check import RecordingChecker
from promptreg.workflow.baselines.stored_goldens import stored_goldens
from promptreg.workflow.context.case_contexts import CaseFitter, summary_of
from promptreg.workflow.engine import LOCAL
from promptreg.workflow.judging.call_faults import present_rules, told_by
from promptreg.workflow.judging.judge_calls import Judges, calls_at_most
from promptreg.workflow.load import recorded_load
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.project import project_suites
from promptreg.workflow.running.collect import (
    Collected,
    OnProgress,
    Order,
    collect,
    finish,
    request_defaults,
)
from promptreg.workflow.running.estimate import Estimate, estimate
from promptreg.workflow.running.resume import left_of, run_to_continue
from promptreg.workflow.running.runs import failed_calls, failure_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.suite.model import Suite
    from promptreg.verdict.recording import RecordingJudgement

RECORDING_SCHEMA = "promptreg.recording/1"


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What `promptreg record` can be told. None means: as the configuration says."""

    suites: tuple[Path, ...] = ()
    """Suite files or folders; none for the project's own."""
    deployment: str | None = None
    passes: int | None = None
    select: str | None = None
    resume: bool = False
    top_up: bool = False
    """Take only the samples that the baselines lack."""
    self_test: bool = False
    """Plant faults into the second half of the passes, to say what would be found at least."""


@dataclass(frozen=True, slots=True)
class RecordedSuite:
    """One suite's part of a recording."""

    suite: str
    baseline: Path | None
    """The file written; None when no case of the suite was answered at all."""
    cases: int
    failed_calls: int
    judgement: RecordingJudgement | None = None
    """The baseline held against itself; None when it has one pass or could not be checked."""

    def to_json(self, root: Path) -> JsonObject:
        """The suite's entry in `record --json`."""
        judged = self.judgement
        return {
            "suite": self.suite,
            "baseline": None if self.baseline is None else self.baseline.relative_to(root).as_posix(),
            "cases": self.cases,
            "failed_calls": self.failed_calls,
            "exchangeable": None if judged is None else judged.exchangeable,
            "exchangeable_p_value": None if judged is None else rounded(judged.p_value),
            "unstable": [] if judged is None else [case.to_json() for case in judged.unstable],
            "self_test_lower_bound": [] if judged is None else [outcome.to_json() for outcome in judged.power],
        }


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished `record`."""

    run_id: str
    deployment: str
    passes: int
    answered: int
    """Samples stored with an answer, those of an earlier start of a resumed run included."""
    failed: int
    suites: tuple[RecordedSuite, ...]
    warnings: tuple[Sentence, ...]
    failures: str | None = None
    """How many calls got no answer and what most of them said; None when none failed."""
    contexts: tuple[Sentence, ...] = ()
    """What was shortened for the deployment's window; empty when no case has a `context`."""
    stays: bool = False
    """True when all calls that failed would fail again."""

    @property
    def exit_code(self) -> ExitCode:
        """FAILURE when a call got no answer after all its attempts."""
        return ExitCode.FAILURE if self.failed else ExitCode.EQUIVALENT

    def to_json(self, root: Path) -> JsonObject:
        """The object of `record --json`; paths relative to the project's folder."""
        return {
            "schema": RECORDING_SCHEMA,
            "run_id": self.run_id,
            "exit_code": int(self.exit_code),
            "deployment": self.deployment,
            "passes": self.passes,
            "answered": self.answered,
            "failed": self.failed,
            "warnings": [warning.en for warning in self.warnings],
            "warnings_zh": [warning.zh for warning in self.warnings],
            "suites": [suite.to_json(root) for suite in self.suites],
            "contexts": [{"sentence": said.en, "sentence_zh": said.zh} for said in self.contexts],
        }


def record(
    config: Config,
    options: RecordOptions,
    *,
    on_progress: OnProgress = lambda _: None,
    on_notice: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Record goldens on a deployment and write the baselines.

    Args:
        config: the project.
        options: what was asked for.
        on_progress: called as samples arrive.
        on_notice: called with sentences that a user should see before the calls begin.

    Raises:
        PromptregError: see `promptreg.errors`; samples stored before stay, and `resume` goes on from them.
        KeyboardInterrupt: after Ctrl-C; the run can be resumed.
    """
    plan = _plan(config, options)
    order = plan.order
    if not order.held and (replaced := replaced_approvals(config, order.cases, order.deployment.name)):
        on_notice(replaced)
    with Store.open(config.root / config.paths.store, redaction=redaction_of(config)) as store:
        resumed = run_to_continue(store, order, resume=options.resume, on_notice=on_notice)
        judges = Judges(config, store, on_progress=on_progress)
        judges.check_keys([case for suite in plan.suites for case in suite.cases])
        collected = collect(config, store, order, resumed=resumed, engine=LOCAL, on_progress=on_progress)
        checker = RecordingChecker(config, store, judges, self_test=options.self_test)
        recording = _write(config, store, plan, collected, checker)
        finish(store, collected)
        return recording


def plan_record(config: Config, options: RecordOptions) -> Estimate:
    """What `record --dry-run` prints: calls, tokens and time. Nothing is sent."""
    plan = _plan(config, options)
    order, cases = plan.order, [case for suite in plan.suites for case in suite.cases]
    # A recording of one pass is not checked against itself, so nothing in it is judged.
    judged = order.passes if order.passes > 1 else 0
    calls = calls_at_most(config, cases, judged)
    return estimate(left_of(config, order, resume=options.resume), judge_calls=calls)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be recorded, and what is there already."""

    suites: tuple[Suite, ...]
    """With the requests that are sent."""
    order: Order
    earlier: Mapping[str, Baseline]
    """By suite, the baselines that the recording adds to; empty when it replaces them."""


def _plan(config: Config, options: RecordOptions) -> _Plan:
    deployment = config.deployment(options.deployment) if options.deployment is not None else config.role("source")
    passes = config.plan.record_passes if options.passes is None else options.passes
    if passes < 1:
        raise UsageError(f"--passes must be at least 1, got {passes}.")
    suites = project_suites(config, options.suites, options.select)
    contexts = CaseFitter(config).fit(deployment, suites)
    suites = tuple(map(contexts.suite, suites))
    said: dict[str, Json] = {"select": options.select}
    whole = options.select is None and not options.top_up
    earlier = {} if whole else earlier_baselines(config, suites, deployment, request_defaults(deployment))
    cases = tuple(case for suite in suites for case in suite.cases)
    order = Order("record", deployment, cases, passes, config.plan.seed, said, contexts=contexts)
    if options.top_up:
        order = replace(order, held=held_passes(suites, earlier, passes))
        asked = {(call.case.suite, call.case.case_id) for call in order.calls()}
        if not asked:
            raise UsageError(f"There is nothing to top up: every case has answers in all {passes} passes.")
        said["calls"] = len(order.calls())
        order = replace(order, cases=tuple(case for case in cases if (case.suite, case.case_id) in asked))
    return _Plan(suites, replace(order, contexts=contexts.only(order.cases)), earlier)


def _write(config: Config, store: Store, plan: _Plan, collected: Collected, checker: RecordingChecker) -> Recording:
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

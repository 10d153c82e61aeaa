"""`record`: passes on the source deployment, written down as the baseline of each suite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptreg.errors import UsageError
from promptreg.store.store import Store
from promptreg.workflow.baselines.merge import (
    earlier_baselines,
    held_passes,
    replaced_approvals,
)
from promptreg.workflow.context.contexts import contexts_of
from promptreg.workflow.engine import LOCAL
from promptreg.workflow.judging.judge_calls import Judges, calls_at_most
from promptreg.workflow.private import redaction_of
from promptreg.workflow.project import project_suites
from promptreg.workflow.running.collect import (
    OnProgress,
    Order,
    collect,
    finish,
    request_defaults,
)
from promptreg.workflow.running.estimate import Estimate, estimate
from promptreg.workflow.running.resume import left_of, run_to_continue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from promptreg.baseline.model import Baseline
    from promptreg.canonical import Json
    from promptreg.config import Config
    from promptreg.suite.model import Suite
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.recording import Recording


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


def record(
    config: Config,
    options: RecordOptions,
    *,
    on_progress: OnProgress = lambda _: None,
    on_notice: Callable[[Sentence], None] = lambda _: None,
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
        collected = collect(
            config,
            store,
            order,
            resumed=resumed,
            engine=LOCAL,
            on_progress=on_progress,
            meanwhile=(_load_baselines,),
        )
        # Not loaded before the calls: none should wait for it.
        from promptreg.workflow.record_baselines import write_baselines  # noqa: PLC0415 - see above

        recording = write_baselines(config, store, plan, collected, judges, self_test=options.self_test)
        finish(store, collected)
        return recording


def _load_baselines() -> None:
    import promptreg.workflow.record_baselines  # noqa: F401, PLC0415 - see `record`


def plan_record(config: Config, options: RecordOptions) -> Estimate:
    """What `record --dry-run` prints: calls, tokens and time. Nothing is sent."""
    plan = _plan(config, options)
    order, cases = plan.order, [case for suite in plan.suites for case in suite.cases]
    # A recording of one pass is not checked against itself, so nothing in it is judged.
    judged = order.passes if order.passes > 1 else 0
    calls = calls_at_most(config, cases, judged)
    return estimate(left_of(config, order, resume=options.resume), judge_calls=calls)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be recorded, and what is there already."""

    suites: tuple[Suite, ...]
    """With the requests that are sent."""
    order: Order
    earlier: Mapping[str, Baseline]
    """By suite, the baselines that the recording adds to; empty when it replaces them."""


def _plan(config: Config, options: RecordOptions) -> Plan:
    deployment = config.deployment(options.deployment) if options.deployment is not None else config.role("source")
    passes = config.plan.record_passes if options.passes is None else options.passes
    if passes < 1:
        raise UsageError(f"--passes must be at least 1, got {passes}.")
    suites = project_suites(config, options.suites, options.select)
    (contexts,) = contexts_of(config, suites, [deployment.name])
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
    return Plan(suites, replace(order, contexts=contexts.only(order.cases)), earlier)

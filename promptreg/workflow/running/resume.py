"""Which stored run `--resume` goes on with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.canonical import canonical_json
from promptreg.errors import UsageError
from promptreg.store.store import Store
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import SuiteVerdict
from promptreg.workflow.running.collect import Order, request_defaults
from promptreg.workflow.running.runs import failed_calls, planned_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.canonical import Json
    from promptreg.config import Config
    from promptreg.store.runs import RunRecord, RunState

UNFINISHED: tuple[RunState, ...] = ("running", "interrupted", "failed")
"""States of a run that `--resume` continues. A killed run still says "running"."""


def run_to_continue(
    store: Store, order: Order, *, resume: bool, on_notice: Callable[[Sentence], None]
) -> RunRecord | None:
    """The run that `--resume` goes on with; None for a new run.

    Of the runs that ask the very same (kind, deployment, model, request defaults, passes, seed, cases and requests),
    the newest decides: once it took all its samples there is nothing to go on with.

    Args:
        store: open.
        order: what is to be taken now.
        resume: whether the user asked for it. If not, an unfinished run is only pointed at.
        on_notice: called with a sentence about an unfinished run that is left alone.

    Raises:
        UsageError: the user asked for it and there is no such run; says how the newest unfinished one differs.
    """
    runs = [run for run in store.runs() if run.kind == order.kind and run.deployment == order.deployment.name]
    fitting = next((run for run in runs if _difference(store, order, run) is None), None)
    if fitting is not None and fitting.state in UNFINISHED:
        if not resume and not _decided(fitting) and not _would_fail_again(store, fitting):
            run_id, held, planned = fitting.run_id, fitting.answered, planned_calls(fitting)
            on_notice(
                Sentence(
                    f"Run {run_id} stopped at {held} of {planned} samples; this is a new run. To go on with the old "
                    "one instead, stop now and use --resume.",
                    f"运行 {run_id} 停在 {planned} 个采样中的第 {held} 个；现在开始的是新的运行。若要继续原来的运行，"
                    "请立即中止并使用 --resume。",
                )
            )
        return fitting if resume else None
    if resume:
        raise UsageError(
            f"There is nothing to resume: {_why_none(store, order, fitting, runs)} Leave --resume out to start a new "
            "run."
        )
    return None


def _decided(run: RunRecord) -> bool:
    """Whether a run found something at a look: it has no more to take, though single calls of it may have failed."""
    return run.state == "failed" and run.verdict in {SuiteVerdict.DRIFT, SuiteVerdict.REGRESSION}


def _would_fail_again(store: Store, run: RunRecord) -> bool:
    """Whether all that a run lacks are calls that would fail again, so that going on with it would change nothing."""
    failed = failed_calls(store, run) if run.answered + run.failed == planned_calls(run) else ()
    return bool(failed) and all(call.stays for call in failed)


def left_of(config: Config, order: Order, *, resume: bool) -> Order:
    """What `--resume` would still take of an order: for a dry run. Without `--resume`, the whole order.

    Raises:
        UsageError: there is nothing to resume.
        StoreError: there is no store, or it cannot be read.
    """
    if not resume:
        return order
    with Store.open(config.root / config.paths.store, create=False) as store:
        run = run_to_continue(store, order, resume=True, on_notice=lambda _: None)
        held = frozenset() if run is None else store.answered(run.run_id)
    return replace(order, held=order.held | held)


def _why_none(store: Store, order: Order, fitting: RunRecord | None, runs: Sequence[RunRecord]) -> str:
    if fitting is not None:
        again = f" `promptreg compare --run {fitting.run_id}` judges it again." if order.kind == "compare" else ""
        return f"run {fitting.run_id} took all its samples.{again}"
    for run in runs:
        if run.state in UNFINISHED:
            return _difference(store, order, run) or ""
    return f"no unfinished run of `{order.kind}` on {order.deployment.name!r} is stored."


def _listed(looks: Json) -> str:
    return ",".join(str(look) for look in looks) if isinstance(looks, list) else "all"


def _difference(store: Store, order: Order, record: RunRecord) -> str | None:
    """How a stored run differs from the order, None when it would ask the very same."""
    deployment = order.deployment
    planned = (
        (record.passes, order.passes, f"{record.passes} passes, not {order.passes}"),
        (
            record.options.get("looks"),
            order.options.get("looks"),
            f"looks after {_listed(record.options.get('looks'))} passes, not {_listed(order.options.get('looks'))}",
        ),
        (record.seed, order.seed, f"seed {record.seed}, not {order.seed}"),
        (record.model, deployment.model, f"the model {record.model!r}, not {deployment.model!r}"),
        (
            canonical_json(record.request_defaults),
            canonical_json(request_defaults(deployment)),
            f"other request defaults than deployment {deployment.name!r} has now",
        ),
        (
            record.options.get("source"),
            order.options.get("source"),
            f"the baseline of {record.options.get('source')!r}, not of {order.options.get('source')!r}",
        ),
    )
    if record.options.get("calls") != order.options.get("calls"):
        return f"run {record.run_id} was to take other passes than a baseline lacks now."
    for was, now, words in planned:
        if was != now:
            return f"run {record.run_id} was planned with {words}."
    wanted = {(case.suite, case.case_id, case.request.sha256, case.noise) for case in order.cases}
    stored = {(case.suite, case.case_id, case.request_sha256, case.noise) for case in store.cases(record.run_id)}
    if {case[:3] for case in wanted} == {case[:3] for case in stored} and wanted != stored:
        return f"run {record.run_id} varied the prompts of other cases than the suites ask for now (`noise`)."
    if wanted != stored:
        return f"run {record.run_id} holds other cases or requests than the suites have now."
    return None

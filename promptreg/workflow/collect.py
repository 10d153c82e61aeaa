"""Takes passes on one deployment into the store: the part that `record` and `compare` share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from promptreg.config import Config, Deployment, secrets_of
from promptreg.deployment.client import Client
from promptreg.deployment.fingerprint import Fingerprint, differences, take_fingerprint
from promptreg.deployment.request import request_body
from promptreg.errors import PromptregError, StoreError, UsageError
from promptreg.replay.engine import ReplayResult, replay
from promptreg.replay.plan import plan_passes
from promptreg.replay.progress import Progress
from promptreg.store.runs import RunKind, RunRecord, RunSpec, RunState

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject
    from promptreg.replay.sample import Sample
    from promptreg.store.store import Store
    from promptreg.suite.model import Case

UNFINISHED: tuple[RunState, ...] = ("running", "interrupted", "failed")
"""States of a run that `--resume` continues. A killed run still says "running"."""

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Order:
    """Which samples are wanted."""

    kind: RunKind
    deployment: Deployment
    cases: tuple[Case, ...]
    passes: int
    seed: int
    options: JsonObject


@dataclass(frozen=True, slots=True)
class Collected:
    """A run that has taken all its passes."""

    run_id: str
    result: ReplayResult
    fingerprint: Fingerprint
    """Of the deployment before the first call."""
    warnings: tuple[str, ...]


def collect(
    config: Config,
    store: Store,
    order: Order,
    *,
    resumed: RunRecord | None,
    on_progress: OnProgress,
) -> Collected:
    """Take every sample of the order that is not stored yet.

    Args:
        config: the project; deployments' functions are imported from its folder.
        store: open for writing.
        order: what to take.
        resumed: an earlier run of the same order to go on with, or None for a new run.
        on_progress: called as samples arrive.

    Raises:
        ConfigError: a key's environment variable is not set; nothing was sent.
        EndpointError: the deployment cannot be used. Samples taken before stay, and the run can be resumed.
        StoreError: the store cannot be written; nothing already stored is lost.
        KeyboardInterrupt: after Ctrl-C, once the run is marked as interrupted.
    """
    secrets = secrets_of(order.deployment)
    client = Client(order.deployment, secrets, root=config.root)
    run = _Run(store, order, resumed)
    try:
        collected = asyncio.run(_collect(run, client, on_progress))
    except (KeyboardInterrupt, asyncio.CancelledError):
        run.end("interrupted")
        raise KeyboardInterrupt from None
    except PromptregError:
        # The error on its way is the cause. A store that cannot be written leaves the run as "running", which
        # `--resume` continues just as well.
        with suppress(StoreError):
            run.end("failed")
        raise
    run.end("failed" if collected.result.failed else "done")
    store.update_run(collected.run_id, warnings=collected.warnings)
    return collected


def run_to_continue(store: Store, order: Order, *, resume: bool, on_notice: Callable[[str], None]) -> RunRecord | None:
    """The run that `--resume` goes on with; None for a new run.

    A run fits when it is of the same kind on the same deployment, did not end well, has the same number of passes and
    the same seed, and holds exactly the cases of the order with the same requests.

    Args:
        store: open.
        order: what is to be taken now.
        resume: whether the user asked for it. If not, an unfinished run is only pointed at.
        on_notice: called with a sentence about an unfinished run that is left alone.

    Raises:
        UsageError: the user asked for it and there is no such run; says how the newest one differs.
    """
    record = store.latest_run(order.kind, order.deployment.name, states=UNFINISHED)
    difference = _no_fit(store, order, record)
    if resume and difference is not None:
        raise UsageError(f"There is nothing to resume: {difference} Leave --resume out to start a new run.")
    if not resume and record is not None and difference is None:
        on_notice(
            f"Run {record.run_id} stopped at {record.answered} of {record.cases * record.passes} samples; this is a "
            "new run. To go on with the old one instead, stop now and use --resume."
        )
    return record if resume else None


def _no_fit(store: Store, order: Order, record: RunRecord | None) -> str | None:
    if record is None:
        return f"no unfinished run of `{order.kind}` on {order.deployment.name!r} is stored."
    if record.passes != order.passes:
        return f"run {record.run_id} was planned with {record.passes} passes, not {order.passes}."
    if record.seed != order.seed:
        return f"run {record.run_id} was planned with seed {record.seed}, not {order.seed}."
    wanted = {(case.suite, case.case_id, case.request.sha256) for case in order.cases}
    stored = {(case.suite, case.case_id, case.request_sha256) for case in store.cases(record.run_id)}
    if wanted != stored:
        return f"run {record.run_id} holds other cases or requests than the suites have now."
    return None


class _Run:
    """The run that samples are stored under.

    It begins when the deployment has answered for the first time, so that a wrong address leaves no empty run behind.
    """

    def __init__(self, store: Store, order: Order, resumed: RunRecord | None) -> None:
        self.store = store
        self.order = order
        self._run_id = resumed.run_id if resumed is not None else None

    def begin(self, fingerprint: Fingerprint) -> str:
        if self._run_id is None:
            self._run_id = self.store.start_run(_spec(self.order))
        self.store.update_run(self._run_id, state="running", fingerprint_before=fingerprint.to_json())
        return self._run_id

    def end(self, state: RunState) -> None:
        if self._run_id is not None:
            self.store.update_run(self._run_id, state=state, ended_at=time.time())


async def _collect(run: _Run, client: Client, on_progress: OnProgress) -> Collected:
    store, order = run.store, run.order
    echoes = _Echoes()

    def keep(sample: Sample) -> None:
        store.add_sample(run_id, sample)
        echoes.see(sample)

    async with client:
        before = await take_fingerprint(client)
        run_id = run.begin(before)
        done = store.answered(run_id)
        calls = [call for call in plan_passes(order.cases, range(order.passes), order.seed) if call.key not in done]
        result = await replay(
            calls,
            client,
            body_of=partial(request_body, deployment=order.deployment),
            concurrency=order.deployment.concurrency,
            on_sample=keep,
            on_progress=on_progress,
        )
        after = await take_fingerprint(client)
    store.update_run(run_id, fingerprint_after=echoes.added_to(after).to_json())
    warnings = [*client.warnings, *differences(before, after), *echoes.warnings(order.deployment)]
    return Collected(run_id, result, echoes.added_to(before), tuple(warnings))


class _Echoes:
    """What answers say about the server that gave them: more than one value means that it changed during the run."""

    def __init__(self) -> None:
        self._models: set[str] = set()
        self._fingerprints: set[str] = set()

    def see(self, sample: Sample) -> None:
        if sample.reading.model:
            self._models.add(sample.reading.model)
        if sample.reading.system_fingerprint:
            self._fingerprints.add(sample.reading.system_fingerprint)

    def added_to(self, fingerprint: Fingerprint) -> Fingerprint:
        return fingerprint.with_echoes(self._models, self._fingerprints)

    def warnings(self, deployment: Deployment) -> list[str]:
        found = []
        if len(self._models) > 1:
            found.append(f"Answers named several models: {', '.join(sorted(self._models))}.")
        elif self._models and deployment.model not in self._models:
            found.append(f"Answers named the model {next(iter(self._models))!r}, not {deployment.model!r}.")
        if len(self._fingerprints) > 1:
            found.append(f"system_fingerprint changed during the run: {', '.join(sorted(self._fingerprints))}.")
        return found


def _spec(order: Order) -> RunSpec:
    deployment = order.deployment
    return RunSpec(
        kind=order.kind,
        deployment=deployment.name,
        model=deployment.model,
        passes=order.passes,
        seed=order.seed,
        suites=tuple(dict.fromkeys(case.suite for case in order.cases)),
        cases=order.cases,
        server=deployment.server,
        base_url=deployment.base_url,
        provenance=deployment.provenance,
        request_defaults=request_defaults(deployment),
        options=order.options,
    )


def request_defaults(deployment: Deployment) -> JsonObject:
    """What the deployment adds to every request, `extra_body` included."""
    extra: JsonObject = {"extra_body": deployment.extra_body} if deployment.extra_body else {}
    return {**deployment.request, **extra}

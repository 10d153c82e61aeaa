"""Takes passes on one deployment into the store: the part that `record` and `compare` share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg.config import Config, Deployment, secrets_of
from promptreg.deployment.client import Client
from promptreg.deployment.fingerprint import Fingerprint, differences, take_fingerprint
from promptreg.deployment.reader import read_exchange
from promptreg.errors import EndpointError, PromptregError, RefusedError, StoreError
from promptreg.replay.plan import plan_passes
from promptreg.replay.progress import Progress
from promptreg.replay.tally import ReplayResult
from promptreg.store.runs import RunKind, RunRecord, RunSpec, RunState
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.contexts import NO_CONTEXTS, Contexts
from promptreg.workflow.context.sent import Cuts, context_warnings, is_unsent, proved, unsent_sample
from promptreg.workflow.private import redaction_of
from promptreg.workflow.running.meanwhile import Meanwhile, Steps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.deployment.reading import Reading
    from promptreg.replay.perturb import Side
    from promptreg.replay.sample import Call, Sample
    from promptreg.store.store import Store
    from promptreg.suite.model import Case
    from promptreg.workflow.engine import Engine

_LOG = logging.getLogger("promptreg.workflow")

OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of an order: some of its passes, for some of its suites."""

    passes: range
    suites: frozenset[str]


@dataclass(frozen=True, slots=True)
class Order:
    """Which samples are wanted."""

    kind: RunKind
    deployment: Deployment
    cases: tuple[Case, ...]
    passes: int
    seed: int
    options: JsonObject
    held: frozenset[tuple[str, str, int]] = frozenset()
    """Samples that a baseline has already, as (suite, case id, pass); they are not taken."""

    stretch: Stretch | None = None
    """The part to take now; None for all of it."""

    contexts: Contexts = NO_CONTEXTS
    """How the cases under a context were fitted; the requests of `cases` are the fitted ones."""

    def calls(self) -> tuple[Call, ...]:
        """Every call that is wanted, in the order in which they are sent."""
        stretch = self.stretch or Stretch(range(self.passes), frozenset(case.suite for case in self.cases))
        # The whole plan is made and then narrowed: a pass has one order, whatever part of it is taken.
        side: Side = "source" if self.kind == "record" else "target"
        plan = plan_passes(self.cases, stretch.passes, self.seed, side)
        return tuple(call for call in plan if call.case.suite in stretch.suites and call.key not in self.held)


@dataclass(frozen=True, slots=True)
class Collected:
    """A run that has taken all its passes."""

    run_id: str
    result: ReplayResult
    fingerprint: Fingerprint
    """Of the deployment before the first call."""
    warnings: tuple[Sentence, ...]


def collect(
    config: Config,
    store: Store,
    order: Order,
    *,
    resumed: RunRecord | None,
    engine: Engine,
    on_progress: OnProgress,
    meanwhile: Steps = (),
) -> Collected:
    """Take every sample of the order that is not stored yet. The caller ends the run with `finish`.

    Args:
        config: the project; deployments' functions are imported from its folder.
        store: open for writing.
        order: what to take.
        resumed: an earlier run of the same order to go on with, or None for a new run.
        engine: where the calls are made.
        on_progress: called as samples arrive.
        meanwhile: what to load while calls are waited for; all of it is done when the samples are there, unless no
            call was made.

    Raises:
        ConfigError: a key's environment variable is not set; nothing was sent.
        EndpointError: the deployment cannot be used. Samples taken before stay, and the run can be resumed.
        StoreError: the store cannot be written; nothing already stored is lost.
        KeyboardInterrupt: after Ctrl-C, once the run is marked as interrupted.
    """
    secrets = secrets_of(order.deployment)
    client = Client(
        order.deployment,
        secrets,
        root=config.root,
        keep_sent=bool(order.contexts.cases),
        redaction=redaction_of(config),
    )
    run = _Run(store, order, resumed)
    try:
        with Meanwhile(meanwhile) as loading:
            collected = asyncio.run(_collect(run, client, engine, loading.begun_by(on_progress)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        run.end("interrupted")
        raise KeyboardInterrupt from None
    except PromptregError as error:
        if isinstance(error, RefusedError):
            error.run_id = run.run_id
        # The error on its way is the cause. A store that cannot be written leaves the run as "running", which
        # `--resume` continues just as well.
        with suppress(StoreError):
            run.end("failed")
        raise
    store.update_run(collected.run_id, warnings=collected.warnings)
    return collected


def check_reachable(config: Config, deployment: Deployment) -> None:
    """Asks a deployment for its models, as a run does first; of a function, whether it can be imported.

    Raises:
        ConfigError: a key's environment variable is not set, or the function is not found.
        EndpointError: the deployment cannot be used.
    """

    async def ask(client: Client) -> None:
        async with client:
            await take_fingerprint(client)

    asyncio.run(ask(Client(deployment, secrets_of(deployment), root=config.root)))


def finish(store: Store, collected: Collected) -> None:
    """Mark a run as ended. Until then `--resume` goes on with it, even when only the file made from it is missing."""
    state: RunState = "failed" if collected.result.failed else "done"
    store.update_run(collected.run_id, state=state, ended_at=time.time())


class _Run:
    """The run that samples are stored under.

    It begins when the deployment has answered for the first time, so that a wrong address leaves no empty run behind.
    """

    def __init__(self, store: Store, order: Order, resumed: RunRecord | None) -> None:
        self.store = store
        self.order = order
        self.resumed = resumed
        self.earlier_warnings = resumed.warnings if resumed is not None else ()
        self._run_id = resumed.run_id if resumed is not None else None

    @property
    def run_id(self) -> str | None:
        """None as long as the deployment has not answered."""
        return self._run_id

    def calls_left(self) -> list[Call]:
        """The planned calls that have no answer yet, in the order of the plan."""
        done = frozenset() if self._run_id is None else self.store.answered(self._run_id)
        return [call for call in self.order.calls() if call.key not in done]

    def begin(self, now: Fingerprint) -> tuple[str, Fingerprint]:
        """The run's id, and the fingerprint at its first start: a resumed run is held against that one."""
        if self._run_id is None:
            self._run_id = self.store.start_run(_spec(self.order))
        first = self.first if self.resumed is not None else now
        self.store.update_run(self._run_id, state="running", fingerprint_before=first.to_json())
        return self._run_id, first

    @property
    def first(self) -> Fingerprint:
        """What the deployment said at the first start of a resumed run; empty for a new run."""
        return Fingerprint.from_json((self.resumed.fingerprint_before if self.resumed is not None else None) or {})

    def end(self, state: RunState) -> None:
        if self._run_id is not None:
            self.store.update_run(self._run_id, state=state, ended_at=time.time())


async def _collect(run: _Run, client: Client, engine: Engine, on_progress: OnProgress) -> Collected:
    store, order = run.store, run.order
    echoes, cuts = _Echoes(), Cuts(order.contexts, order.deployment.server)

    def keep(sample: Sample) -> None:
        store.add_sample(run_id, sample)
        echoes.see(sample.reading)
        cuts.see(sample.call.key[:2], sample.reading, sample.attempts[-1])
        if len(sample.attempts) > 1:
            _LOG.info("%s", _told(sample))

    calls = run.calls_left()
    told = _look_back(run, echoes, cuts)
    if run.resumed is not None and not calls:
        said = [*echoes.warnings(order.deployment), *cuts.warnings()]
        return _complete(run.resumed, echoes.added_to(run.first), said)
    async with client:
        now = await take_fingerprint(client)
        run_id, before = run.begin(now)
        calls, unsent = _apart(calls, order.contexts)
        for sample in unsent:
            if sample.call.key not in told:
                keep(sample)
        result = await engine.replay(
            calls,
            client,
            on_sample=keep,
            on_progress=on_progress,
            examine=partial(_examined, order.contexts),
        )
        result = replace(result, failed=result.failed + len(unsent))
        after, problem = await _fingerprint_after(client)
    warnings = [*run.earlier_warnings, *client.warnings, *differences(before, now)]
    if after is not None:
        store.update_run(run_id, fingerprint_after=echoes.added_to(after).to_json())
        warnings += differences(now, after)
    elif problem is not None:
        warnings.append(problem)
    warnings += [*echoes.warnings(order.deployment), *cuts.warnings(), *_overload(order.deployment, result)]
    warnings += context_warnings(order.contexts, now.max_model_len)
    return Collected(run_id, result, echoes.added_to(before), tuple(dict.fromkeys(warnings)))


def _look_back(run: _Run, echoes: _Echoes, cuts: Cuts) -> frozenset[tuple[str, str, int]]:
    """Read what a resumed run holds; the calls of which it says already that they cannot be made."""
    told = []
    for stored in () if run.resumed is None else run.store.samples(run.resumed.run_id):
        reading = read_exchange(stored.attempts[-1])
        echoes.see(reading)
        cuts.see((stored.suite, stored.case_id), reading, stored.attempts[-1])
        if is_unsent(stored.attempts[-1]):
            told.append((stored.suite, stored.case_id, stored.pass_index))
    return frozenset(told)


def _apart(calls: Sequence[Call], contexts: Contexts) -> tuple[list[Call], list[Sample]]:
    """The calls to make, and the samples of those that cannot be made: nothing is sent whole that should be cut."""
    left: list[Call] = []
    unsent: list[Sample] = []
    for call in calls:
        fitted = contexts.of(call.case)
        if fitted is None or fitted.problem is None:
            left.append(call)
        else:
            unsent.append(unsent_sample(call, fitted.problem))
    return left, unsent


def _examined(contexts: Contexts, sample: Sample) -> Sample:
    """The sample, proven where its case has a context."""
    if contexts.of(sample.call.case) is not None:
        return proved(sample)
    if any(attempt.sent is not None for attempt in sample.attempts):
        return replace(sample, attempts=tuple(replace(attempt, sent=None) for attempt in sample.attempts))
    return sample


def _complete(record: RunRecord, fingerprint: Fingerprint, warnings: list[Sentence]) -> Collected:
    """A resumed run that lacks no sample: nobody needs to be asked, so the deployment may be gone by now."""
    return Collected(
        record.run_id, ReplayResult(0, 0, 0, 0.0), fingerprint, tuple(dict.fromkeys((*record.warnings, *warnings)))
    )


async def _fingerprint_after(client: Client) -> tuple[Fingerprint | None, Sentence | None]:
    """The fingerprint after the last call, or a warning: a deployment that is gone by then takes no sample back."""
    try:
        return await take_fingerprint(client), None
    except EndpointError as error:
        return None, Sentence(
            f"Whether the deployment changed during the run is not known: {error}",
            f"运行期间部署是否有变化无从得知：{error}",
        )


def _overload(deployment: Deployment, result: ReplayResult) -> list[Sentence]:
    if result.lowest_limit is None or result.lowest_limit == deployment.concurrency:
        return []
    told = Sentence(
        f"Deployment `{deployment.name}` was overloaded (status 429 or 503, or a late first byte): at times only "
        f"{result.lowest_limit} of {counted(deployment.concurrency, 'call')} were made at once. Answers under another "
        "load may differ; a lower `concurrency` gives an even one.",
        f"部署 `{deployment.name}` 曾经过载（状态码 429 或 503，或首字节过迟）：{deployment.concurrency} 个调用中"
        f"有时只同时发出 {result.lowest_limit} 个。不同负载下的回答可能不同；调低 `concurrency` 可使负载均匀。",
    )
    return [told]


def _told(sample: Sample) -> str:
    call, tries = sample.call, len(sample.attempts)
    problem = read_exchange(sample.attempts[0]).problem
    why = "" if problem is None else f"; the first said: {problem.message}"
    return f"{call.case.suite}/{call.case.case_id}, pass {call.pass_index + 1}: {tries} attempts{why}"


class _Echoes:
    """What answers say about the server that gave them: more than one value means that it changed during the run."""

    def __init__(self) -> None:
        self._models: set[str] = set()
        self._fingerprints: set[str] = set()

    def see(self, reading: Reading) -> None:
        if reading.model:
            self._models.add(reading.model)
        if reading.system_fingerprint:
            self._fingerprints.add(reading.system_fingerprint)

    def added_to(self, fingerprint: Fingerprint) -> Fingerprint:
        return fingerprint.with_echoes(self._models, self._fingerprints)

    def warnings(self, deployment: Deployment) -> list[Sentence]:
        found = []
        if len(self._models) > 1:
            names = ", ".join(sorted(self._models))
            found.append(Sentence(f"Answers named several models: {names}.", f"回答中出现了多个模型名：{names}。"))
        elif self._models and deployment.model not in self._models:
            name = next(iter(self._models))
            found.append(
                Sentence(
                    f"Answers named the model {name!r}, not {deployment.model!r}.",
                    f"回答中的模型名是 {name!r}，而不是 {deployment.model!r}。",
                )
            )
        if len(self._fingerprints) > 1:
            seen = ", ".join(sorted(self._fingerprints))
            found.append(
                Sentence(
                    f"system_fingerprint changed during the run: {seen}.",
                    f"system_fingerprint 在运行期间有变化：{seen}。",
                )
            )
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
        contexts=order.contexts.stored(),
    )


def request_defaults(deployment: Deployment) -> JsonObject:
    """What the deployment adds to every request, `extra_body` included."""
    extra: JsonObject = {"extra_body": deployment.extra_body} if deployment.extra_body else {}
    return {**deployment.request, **extra}

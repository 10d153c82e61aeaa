"""What strategies keep of conversations, what they cost, and what they break: the grid as one report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.adapters.contestant import Theirs
from promptreg.context.adapters.function import FunctionShortener, checked
from promptreg.context.adapters.strategy import Adapted
from promptreg.context.culprit import with_message
from promptreg.context.named import strategy_from
from promptreg.context.trial.calls import calls_of_conversation, sent_at_last
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.grid import Function, Ours, run_grid
from promptreg.context.trial.grid_report import Column, ContextReport, Controls, Left
from promptreg.context.trial.grid_rows import pooled
from promptreg.context.trial.known import Kind
from promptreg.context.trial.misplaced import misplaced_facts
from promptreg.context.trial.planting import plant
from promptreg.context.trial.retention import FactReader, retained
from promptreg.deployment.targets.target import target_of
from promptreg.deployment.tokenize import counter_for, counts_on_server
from promptreg.errors import EncodingError, UsageError
from promptreg.text.counted import counted
from promptreg.workflow.context.configured import configured_counter
from promptreg.workflow.context.fit import given_by
from promptreg.workflow.context.function import user_function
from promptreg.workflow.context.sides import Wanted, guesses, side_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.context.conversations import Recording
    from promptreg.context.count.counters import Chosen
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.trial.grid import Contestant, Sent
    from promptreg.context.trial.grid_rows import Row
    from promptreg.text.sentence import Sentence
    from promptreg.workflow.context.probe import Probing
    from promptreg.workflow.context.probe_plan import Plan
    from promptreg.workflow.context.servers import Servers
    from promptreg.workflow.context.summariser import SummaryModel

DEFAULT_STRATEGIES: Final = (
    "sliding-window",
    "hysteresis",
    "hysteresis:target=0.5",
    "first-and-last",
    "prune-results+hysteresis",
    "summary-on-cut",
)
"""What is tried where nothing is named."""
BESIDE_A_FUNCTION: Final = ("hysteresis",)
"""What a user's own function is compared with where no strategy is named."""
DEFAULT_WINDOWS: Final = (32_768, 8192)
"""Where neither the command nor the configuration tells a window."""
DEFAULT_GRANULARITY: Final = 16
"""Tokens of vLLM's blocks, where no deployment tells its own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a test is asked for."""

    strategies: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    """Functions of the user's own, `module:callable`."""
    windows: tuple[int, ...] = ()
    deployment: str | None = None
    reserve: int | None = None
    counter: str | None = None
    encoder: str | None = None
    granularity: int | None = None
    seed: int = 1
    plant: bool = True
    """Whether facts are put into conversations that bring none."""
    pinned: tuple[int, ...] = ()
    """Places of messages that stay in every conversation that has them, from 0; negative ones from its end."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """The windows, what counts in all of them, and what was guessed about that."""

    columns: tuple[Column, ...]
    chosen: Chosen
    guessed: tuple[Sentence, ...]
    asks: Counter
    """Counts as the deployment that is asked does; the same as everywhere where none is."""
    alike: bool
    """Whether the two counts are comparable."""


def corpus(count: int, seed: int, turns: int) -> tuple[Recording, ...]:
    """Conversations from a seed, with tools, reasoning, Chinese and English."""
    return generate(count, seed, Shape(turns=turns))


def context_test(
    recordings: Sequence[Recording],
    asked: Asked,
    config: Config | None = None,
    *,
    root: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    probing: Probing | None = None,
    servers: Servers | None = None,
    model: SummaryModel | None = None,
) -> ContextReport:
    """Send every conversation call by call through every strategy, in every window.

    Args:
        recordings: the conversations.
        asked: what is tried.
        config: the project; None outside of one.
        root: where modules of functions are looked for; None: the project's folder, else the current one.
        progress: told how many runs are done, of how many.
        probing: a deployment that is asked about the facts afterwards; None: none is.
        servers: asked to count where a deployment's `tokenizer` is its server; None where nothing may be sent.
        model: writes the summaries; None: they are extracts.

    Raises:
        UsageError: a strategy, counter or window that cannot be used.
        ConfigError: a function or deployment that does not exist.
        EndpointError: the deployment that is asked is gone, or answers nothing.
        KeyboardInterrupt: after Ctrl-C.
    """
    scene = _scene(asked, config, servers, None if probing is None else probing.deployment)
    counter = scene.chosen.counter
    ready, left = _ready(recordings, asked, scene)
    pinned = _pinned(asked, ready)
    contestants = _contestants(asked, scene, config, root, pinned, model)
    budgets = [column.budget for column in scene.columns]
    each = len(contestants) * len(scene.columns)
    rows: list[Row] = []
    tested: list[Recording] = []
    for number, recording in enumerate(ready):
        here = 0

        def told(done: int, _: int, before: int = number * each) -> None:
            nonlocal here
            here = done
            if progress is not None:
                progress(before + done, len(ready) * each)

        try:
            found = list(run_grid([recording], contestants, budgets, counter, pinned=pinned, progress=told))
        except KeyboardInterrupt as interrupt:
            # Where it stood tells of a function that never returns.
            name = contestants[min(here // len(budgets), len(contestants) - 1)].name
            raise KeyboardInterrupt(
                str(interrupt)
                or f"Interrupted after {number * each + here} of {counted(len(ready) * each, 'run')}, while `{name}` "
                f"shortened `{recording.conversation_id}`. A test stores nothing."
            ) from None
        except EncodingError as error:
            left.append(Left(recording.conversation_id, str(error)))
            continue
        rows += found
        tested.append(recording)
    before = {recording.conversation_id: recording for recording in recordings}
    planted = [recording for recording in tested if not before[recording.conversation_id].facts and recording.facts]
    added = sum(
        counter.prompt(recording.messages, tools=recording.tools)
        - counter.prompt(before[recording.conversation_id].messages, tools=recording.tools)
        for recording in planted
    )
    # Asked before what the summaries took is read, since prompts with questions may want some, too.
    asks = probing if tested else None
    probes = None if asks is None else asks.run(_plan(asks, tested, contestants, scene, asked.seed))
    return ContextReport(
        counter=counter.name,
        columns=scene.columns,
        results=tuple(pooled(rows)),
        conversations=len(tested),
        messages=sum(len(recording.messages) for recording in tested),
        facts=sum(len(recording.facts) for recording in tested),
        planted=sum(len(recording.facts) for recording in planted),
        planted_tokens=added,
        controls=_controls(tested, rows, {recording.conversation_id for recording in planted}),
        left=tuple(left),
        guessed=(*scene.guessed, *misplaced_facts((before[one.conversation_id] for one in tested), FactReader())),
        seed=asked.seed,
        names=tuple(contestant.name for contestant in contestants),
        summariser=None if model is None else model.use,
        probes=probes,
    )


def planned_probes(
    recordings: Sequence[Recording],
    asked: Asked,
    config: Config | None,
    probing: Probing,
    *,
    root: Path | None = None,
    servers: Servers | None = None,
) -> Plan:
    """What `context_test` would ask a deployment, with extracts for summaries. No model is called, nothing is tested.

    Raises:
        UsageError: as `context_test`.
        ConfigError: as `context_test`.
    """
    scene = _scene(asked, config, servers, probing.deployment)
    ready, _ = _ready(recordings, asked, scene)
    contestants = _contestants(asked, scene, config, root, _pinned(asked, ready))
    return _plan(probing, ready, contestants, scene, asked.seed)


def _plan(
    probing: Probing, recordings: Sequence[Recording], contestants: Sequence[Contestant], scene: _Scene, seed: int
) -> Plan:
    budgets = [column.budget for column in scene.columns]
    other = None if scene.alike else scene.chosen.counter.name
    try:
        return probing.plan(recordings, contestants, budgets, scene.asks, seed, shortened_by=other)
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(
            str(interrupt)
            or f"Interrupted before `{probing.deployment.name}` was asked anything. A test stores nothing."
        ) from None


def _scene(asked: Asked, config: Config | None, servers: Servers | None, asks: Deployment | None) -> _Scene:
    wanted = Wanted(asked.deployment, None, asked.reserve, asked.counter, asked.encoder)
    if asked.windows:
        sides = [
            side_of(replace(wanted, window=window), config, "window", servers)
            for window in dict.fromkeys(asked.windows)
        ]
    elif asked.deployment is not None:
        sides = [side_of(wanted, config, "window", servers)]
    elif names := _roles(config):
        # One counter for all, or the windows could not be compared: that of the deployment where prompts go to.
        sides = [side_of(replace(wanted, deployment=name, counter="messages"), config, name) for name in names[:-1]]
        sides.append(side_of(replace(wanted, deployment=names[-1]), config, names[-1], servers))
    else:
        sides = [side_of(replace(wanted, window=window), config, "window") for window in DEFAULT_WINDOWS]
    columns: dict[int, Column] = {}
    for side in sides:
        unit = None if side.target is None else side.target.cache_unit
        known = asked.granularity or unit
        name = side.name if side.target is not None else None
        columns[side.budget.window] = Column(side.budget, known or DEFAULT_GRANULARITY, name, known is None)
    last = sides[-1]
    if asks is None:
        return _Scene(tuple(columns.values()), last.chosen, guesses([last]), last.chosen.counter, alike=True)
    named = asked.counter is not None or asked.encoder is not None
    if not named and last.target is not None and last.name == asks.name:
        own = last.chosen
    else:
        own = counter_for(asks) if config is None else configured_counter(config, asks, servers)
    # Windows that belong to no deployment are counted as the one that is asked counts.
    chosen = own if not named and last.target is None else last.chosen
    guessed = dict.fromkeys(one.guessed for one in (chosen, own) if one.guessed is not None)
    same = own is chosen or (own.counter.name == chosen.counter.name and not counts_on_server(asks))
    return _Scene(tuple(columns.values()), chosen, tuple(guessed), own.counter, alike=same)


def _roles(config: Config | None) -> list[str]:
    """Source and target of the configuration, those whose windows are known."""
    if config is None:
        return []
    names = dict.fromkeys(name for name in (config.roles.source, config.roles.target) if name is not None)
    return [name for name in names if target_of(config.deployment(name)).window is not None]


def _pinned(asked: Asked, recordings: Sequence[Recording]) -> Callable[[Message], bool] | None:
    """Whether a message is one of the pinned ones; None where none is.

    Raises:
        UsageError: no conversation has a message at one of the places.
    """
    if not asked.pinned:
        return None
    kept: dict[int, Message] = {}
    missing = dict.fromkeys(asked.pinned)
    for recording in recordings:
        messages = recording.messages
        for place in asked.pinned:
            if -len(messages) <= place < len(messages):
                kept[id(messages[place])] = messages[place]  # two messages may say the same; only this one stays
                missing.pop(place, None)
    if missing and recordings:
        longest = max(len(recording.messages) for recording in recordings)
        raise UsageError(
            f"--pin {next(iter(missing))} names no message: the longest conversation has {longest} messages, from 0."
        )
    return lambda message: id(message) in kept


def _contestants(
    asked: Asked,
    scene: _Scene,
    config: Config | None,
    root: Path | None,
    pinned: Callable[[Message], bool] | None,
    model: SummaryModel | None = None,
) -> list[Contestant]:
    names = asked.strategies or (BESIDE_A_FUNCTION if asked.functions else DEFAULT_STRATEGIES)
    given = given_by(config, root, model)
    counter, spent = scene.chosen.counter, None if model is None else model.spent
    ours = partial(Ours, counter=counter, pinned=pinned or (), spent=spent)
    found = [_contestant(name, strategy_from(name, given), counter, ours) for name in dict.fromkeys(names)]
    folder = root if root is not None or config is None else config.root
    found += [Function(name, checked(user_function(name, folder))) for name in dict.fromkeys(asked.functions)]
    return found


def _contestant(name: str, strategy: Strategy, counter: Counter, ours: Callable[[Strategy], Ours]) -> Contestant:
    """Strategies of this package under the rules of `fit`; libraries and functions as they are."""
    if not isinstance(strategy, Adapted):
        return _Called(name, ours(strategy))
    if isinstance(strategy.shortener, FunctionShortener):
        return Function(name, strategy.shortener.call)
    return _Called(name, Theirs(strategy, counter))


@dataclass(frozen=True, slots=True)
class _Called:
    """A strategy under the name that the user wrote: two with other options stay two."""

    name: str
    strategy: Ours | Theirs

    def send(self, messages: Sequence[Message], budget: int, tools: Sequence[JsonObject], state: Any) -> Sent:
        """See `Contestant`."""
        return self.strategy.send(messages, budget, tools, state)


def _ready(recordings: Sequence[Recording], asked: Asked, scene: _Scene) -> tuple[list[Recording], list[Left]]:
    """Conversations with facts in them; those that cannot be tested are left out, with the reason."""
    ready: list[Recording] = []
    left: list[Left] = []
    for recording in recordings:
        places = calls_of_conversation(recording.messages)
        if not places:
            left.append(Left(recording.conversation_id, "It has no user message, so the model is never called."))
            continue
        try:
            scene.chosen.counter.prompt(recording.messages[: places[-1]], tools=recording.tools)
        except EncodingError as error:
            sent = recording.messages[: places[-1]]
            left.append(
                Left(recording.conversation_id, with_message(sent, scene.chosen.counter, error, recording.tools))
            )
        else:
            planted = plant(recording, asked.seed) if asked.plant and not recording.facts else recording
            ready.append(_sent_facts(planted))
    return ready, left


def _sent_facts(recording: Recording) -> Recording:
    """Without the facts that are only said after the last call: no prompt can have them, whatever the strategy."""
    end = sent_at_last(recording.messages)
    sent = tuple(fact for fact in recording.facts if fact.index is None or fact.index < end)
    return recording if len(sent) == len(recording.facts) else replace(recording, facts=sent)


def _controls(recordings: Sequence[Recording], rows: Sequence[Row], planted: set[str]) -> Controls:
    """The whole conversation must have every fact, no prompt one that was never said, and arithmetic must agree."""
    reader = FactReader()
    whole = [fate for recording in recordings for fate in reader.fates(recording.facts, recording.messages)]
    # Values of recorded facts may be said several times: only of planted ones it is known where they stand.
    expected = [
        (row.expected, row.retained.recall)
        for row in rows
        if row.conversation in planted and row.expected is not None and row.retained.recall is not None
    ]
    return Controls(
        facts=len(whole),
        found=retained(whole).kept,
        unsaid=len(rows) * len(Kind),
        unsaid_found=sum(row.decoys_found for row in rows),
        compared=len(expected),
        differ=sum(abs(one - other) > 1e-9 for one, other in expected),
    )

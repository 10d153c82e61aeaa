"""Conversations x strategies x windows: each conversation is sent call by call, as an application would."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Protocol

from promptreg.context.budget import Budget
from promptreg.context.fit import fit
from promptreg.context.ledger import Action, NoteKind
from promptreg.context.shape import unsendable
from promptreg.context.trial.calls import calls_of_conversation
from promptreg.context.trial.grid_rows import Finding, Row, SummaryCost
from promptreg.context.trial.invariants import (
    Case,
    Invariant,
    Outcome,
    Rules,
    outcome_violations,
    violations,
)
from promptreg.context.trial.planting import decoys
from promptreg.context.trial.prefix import PrefixMeter
from promptreg.context.trial.retention import FactReader, Fate, expected_recall, retained
from promptreg.context.trial.shrink import shrink
from promptreg.errors import EncodingError, EndpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.conversations import Recording
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.groups import Pinned
    from promptreg.context.ledger import Ledger
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.trial.invariants import Violation
    from promptreg.context.trial.prefix import Reuse
    from promptreg.text.sentence import Sentence

_EVERY: Final = 4
"""Facts are looked for in every fourth prompt that was shortened, and in the last one."""
_AGAIN: Final = frozenset((Invariant.I6, Invariant.I7, Invariant.I9))


@dataclass(frozen=True, slots=True)
class Sent:
    """What a contestant makes of a conversation."""

    outcome: Outcome
    ledger: Ledger | None = None
    state: Any = None
    """Handed back with the next call of the same conversation."""
    spent: SummaryCost | None = None
    """What a model that was asked for summaries read and wrote; None where none could be."""


class Contestant(Protocol):
    """Something that shortens conversations, ours or a user's own."""

    @property
    def name(self) -> str:
        """How reports call it."""
        ...

    def send(self, messages: Sequence[Message], budget: int, tools: Sequence[JsonObject], state: Any) -> Sent:
        """What is sent of a whole conversation.

        Args:
            messages: All messages so far.
            budget: Tokens that the prompt may have.
            tools: The tools of the request.
            state: `Sent.state` of the call before; None for the first.

        Raises:
            CannotFit: nothing right can be sent.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ours:
    """A strategy of this package."""

    strategy: Strategy
    counter: Counter
    pinned: Pinned = ()
    spent: Callable[[], SummaryCost] | None = None
    """What its summariser has read and written so far; None for those that are no model."""

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.strategy.name

    def send(self, messages: Sequence[Message], budget: int, tools: Sequence[JsonObject], state: Any) -> Sent:
        """See `Contestant`."""
        before = None if self.spent is None else self.spent()
        fitted = fit(
            messages,
            Budget.exactly(budget),
            counter=self.counter,
            strategy=self.strategy,
            tools=tools,
            pinned=self.pinned,
            state=state,
        )
        listed = frozenset(entry.index for entry in fitted.ledger.entries)
        spent = None if self.spent is None or before is None else self.spent() - before
        return Sent(Outcome(fitted.messages, fitted.origins, listed), fitted.ledger, fitted.state, spent)


@dataclass(frozen=True, slots=True)
class Function:
    """A user's own function: messages and a budget in, messages out."""

    name: str
    call: Callable[[list[Message], int], Sequence[Message]]

    def send(self, messages: Sequence[Message], budget: int, tools: Sequence[JsonObject], state: Any) -> Sent:  # noqa: ARG002 - as `Contestant`
        """See `Contestant`. It gets a copy, so that what it changes is a finding and nothing that others then get."""
        handed = copy.deepcopy(list(messages))
        returned = tuple(self.call(handed, budget))
        return Sent(Outcome(returned, changed=handed != list(messages)))


@dataclass(frozen=True, slots=True)
class Cell:
    """One run of the grid."""

    recording: Recording
    contestant: Contestant
    budget: Budget


def run_grid(
    recordings: Sequence[Recording],
    contestants: Sequence[Contestant],
    windows: Sequence[Budget],
    counter: Counter,
    *,
    pinned: Callable[[Message], bool] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[Row]:
    """A row for each conversation, contestant and window, as soon as it is there.

    Args:
        recordings: Conversations, with facts where recall is asked for (`planting.plant`).
        contestants: What is compared.
        windows: Budgets for prompts.
        counter: Counts prompts for all contestants alike.
        pinned: Which messages have to stay, besides system messages.
        progress: Told after each row how many rows are done, of how many.

    Raises:
        EncodingError: the counter's format has no place for a conversation.
    """
    cells = [
        Cell(recording, contestant, budget)
        for recording in recordings
        for contestant in contestants
        for budget in windows
    ]
    reader = FactReader()
    found: dict[tuple[int, int], dict[Invariant, Finding]] = {}  # made small once, for all windows
    for number, cell in enumerate(cells, 1):
        rules = Rules(counter, cell.recording.tools, pinned)
        examples = found.setdefault((id(cell.contestant), id(cell.recording)), {})
        yield run_cell(cell, rules, reader, examples)
        if progress is not None:
            progress(number, len(cells))


def run_cell(
    cell: Cell,
    rules: Rules,
    reader: FactReader | None = None,
    examples: dict[Invariant, Finding] | None = None,
) -> Row:
    """One conversation sent call by call: before each answer that it has, and at its end.

    Args:
        cell: What is run.
        rules: What counts, and which messages have to stay.
        reader: Remembers texts from cell to cell.
        examples: What was found of the same contestant and conversation in other windows; it is added to.
    """
    return _Run(cell, rules, {} if examples is None else examples).row(reader or FactReader())


class _Run:
    """A cell while it is run."""

    def __init__(self, cell: Cell, rules: Rules, shrunken: dict[Invariant, Finding]) -> None:
        self._cell = cell
        self._shrunken = shrunken
        self._rules = rules
        self._budget = cell.budget.tokens
        self._meter = PrefixMeter(rules.counter)
        self._calls: list[Reuse] = []
        self._whole: list[int] = []
        self._refused = 0
        self._asks = False  # whether a model writes the summaries
        self._first: dict[Invariant, tuple[Sentence, Case]] = {}
        self._times: dict[Invariant, int] = {}
        self._summaries = _Summaries(rules)
        self._state: Any = None

    def row(self, reader: FactReader) -> Row:
        recording = self._cell.recording
        sent: Sent | None = None
        recalls: list[float] = []
        shortened = 0
        for place in calls_of_conversation(recording.messages):
            case = Case(recording.messages[:place], self._budget)
            sent = self._send(case)
            if sent is None or (self._whole and self._whole[-1] > self._budget):
                if shortened % _EVERY == 0:
                    recalls += self._recall_at(place, sent, reader)
                shortened += 1
        self._check_again()
        prompt = () if sent is None else sent.outcome.messages
        fates = reader.fates(recording.facts, prompt) if prompt else tuple(Fate.LOST for _ in recording.facts)
        return Row(
            recording.conversation_id,
            self._cell.contestant.name,
            self._cell.budget.window,
            self._budget,
            self._rules.counter.name,
            self._meter.basis,
            recording.facts,
            fates,
            sum(fate is not Fate.LOST for fate in reader.fates(decoys(recording, 0), prompt)),
            _expected(sent, recording),
            tuple(self._calls),
            tuple(self._whole),
            tuple(recalls),
            self._refused,
            tuple(self._finding(kind) for kind in Invariant if kind in self._first),
            self._summaries.cost,
        )

    def _recall_at(self, place: int, sent: Sent | None, reader: FactReader) -> list[float]:
        """Share of the facts said so far that the prompt has, 0 without a prompt; nothing where none was said."""
        said = [fact for fact in self._cell.recording.facts if fact.index is None or fact.index < place]
        prompt = () if sent is None else sent.outcome.messages
        recall = retained(reader.fates(said, prompt)).recall
        return [] if recall is None else [recall]

    def _send(self, case: Case) -> Sent | None:
        """What is sent of a case; None where nothing can be."""
        tools = self._rules.tools
        try:
            sent = self._cell.contestant.send(case.messages, case.budget, tools, self._state)
        except EndpointError:  # the server that counts: nobody's fault here
            raise
        except Exception as error:  # noqa: BLE001 - a user's own function; what it raises is a finding
            self._check_renders(case)
            self._refused += 1
            self._state = None
            self._note(violations(_raising(error), case, self._rules, [Invariant.I5]), case)
            return None
        self._asks, self._state = sent.spent is not None, sent.state
        reuse = self._reuse(sent.outcome, case)
        total = None if reuse is None else reuse.prompt
        self._note(outcome_violations(sent.outcome, case, self._rules, total), case)
        if reuse is None:
            self._refused += 1
            return None
        whole = sent.ledger.sendable if sent.ledger is not None else self._rules.total(case.messages)
        self._calls.append(reuse)
        self._whole.append(whole)
        self._summaries.add(sent)
        return sent

    def _reuse(self, outcome: Outcome, case: Case) -> Reuse | None:
        """The prompt beside the one before; None where no prompt can be made of it."""
        if outcome.origins is None and unsendable(outcome.messages, case.messages) is not None:
            return None
        try:
            return self._meter.add(outcome.messages, origins=outcome.origins, tools=self._rules.tools)
        except EncodingError:
            return None

    def _check_renders(self, case: Case) -> None:
        """No strategy is to blame for a conversation that the counter's format has no place for.

        Raises:
            EncodingError: naming the conversation.
        """
        try:
            self._rules.total(case.messages)
        except EncodingError as error:
            name = self._cell.recording.conversation_id
            raise EncodingError(f"The conversation `{name}` has no prompt in the format that counts: {error}") from None

    def _note(self, found: Sequence[Violation], case: Case) -> None:
        for violation in found:
            self._first.setdefault(violation.invariant, (violation.sentence, case))
            self._times[violation.invariant] = self._times.get(violation.invariant, 0) + 1

    def _check_again(self) -> None:
        """What needs several calls of the contestant is checked on the whole conversation."""
        places = calls_of_conversation(self._cell.recording.messages)
        if places and self._calls:
            case = Case(self._cell.recording.messages[: places[-1]], self._budget)
            self._note(violations(self._subject, case, self._rules, _AGAIN), case)

    def _subject(self, case: Case) -> Outcome:
        return self._cell.contestant.send(case.messages, case.budget, self._rules.tools, None).outcome

    def _finding(self, kind: Invariant) -> Finding:
        sentence, case = self._first[kind]
        if (done := self._shrunken.get(kind)) is not None:  # one small example of a contestant is enough
            return replace(done, times=self._times[kind])

        if self._asks:  # hundreds of smaller cases would be as many calls of the model
            return Finding(kind, sentence, self._times[kind], case, shrunken=False)

        def what(tried: Case) -> Violation | None:
            return next(iter(violations(self._subject, tried, self._rules, [kind])), None)

        known = what(case)
        if known is None:  # it takes the calls before to get there
            return Finding(kind, sentence, self._times[kind], case, shrunken=False)
        sort = known.sort

        def fails(tried: Case) -> bool:
            found = what(tried)
            return found is not None and found.sort == sort

        small = shrink(case, fails, self._rules.total, self._rules.least)
        found = what(small) or known
        finding = Finding(kind, found.sentence, self._times[kind], small, shrunken=True)
        self._shrunken[kind] = finding
        return finding


def _raising(error: Exception) -> Callable[[Case], Outcome]:
    def raises(_: Case) -> Outcome:
        raise error

    return raises


def _expected(sent: Sent | None, recording: Recording) -> float | None:
    if sent is None or sent.ledger is None or sent.outcome.origins is None or None in sent.outcome.origins:
        return None
    if any(entry.action is not Action.DROPPED for entry in sent.ledger.entries):
        return None
    return expected_recall(recording.facts, {place for place in sent.outcome.origins if place is not None})


class _Summaries:
    """What summaries cost: as a model that was asked says, else read off the ledgers."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._known: frozenset[int] = frozenset()
        self._text: tuple[Message, ...] = ()
        self._versions: frozenset[str] = frozenset()
        self._tokens = 0
        self.cost = SummaryCost()

    def add(self, sent: Sent) -> None:
        if sent.ledger is None or sent.outcome.origins is None:
            return
        kinds = {note.kind for note in sent.ledger.notes}
        self.cost += SummaryCost(
            refused=int(NoteKind.SUMMARY_REFUSED in kinds), failed=int(NoteKind.SUMMARISER_FAILED in kinds)
        )
        stands_for = {entry.index: entry.tokens for entry in sent.ledger.entries if entry.summary is not None}
        pairs = zip(sent.outcome.messages, sent.outcome.origins, strict=True)
        text = tuple(message for message, place in pairs if place is None)
        versions = frozenset(entry.summary for entry in sent.ledger.entries if entry.summary is not None)
        if text and (text != self._text or versions != self._versions):  # one that says the same was written, too
            size = sum(self._rules.counter.message(message) for message in text)
            read = self._tokens + sum(tokens for index, tokens in stands_for.items() if index not in self._known)
            self.cost += SummaryCost(1) if sent.spent is not None else SummaryCost(1, read, size)
            self._tokens = size
        if sent.spent is not None:
            self.cost += sent.spent
        self._known, self._text, self._versions = frozenset(stands_for), text, versions

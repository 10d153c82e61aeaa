"""The window-change report as data: two windows, the conversations against both, what strategies would lose."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import content_text
from promptreg.context.fit import fit
from promptreg.context.trial.retention import FactReader
from promptreg.context.window import Part
from promptreg.errors import CannotFit
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.read import read_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.budget import Budget
    from promptreg.context.count.counting import Message
    from promptreg.context.ledger import NoteKind
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.trial.known import KnownFact
    from promptreg.context.window import Limit, Session
    from promptreg.text.sentence import Sentence

SCHEMA: Final = "promptreg.context-window/1"
_MOST_TEXTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class SideView:
    """One side as reports show it."""

    name: str
    server: str
    """Title of the kind of server; empty where only a number was given."""
    budget: Budget
    reserve_from: Sentence
    counter: str

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output."""
        budget = self.budget
        return {
            "name": self.name,
            "server": self.server,
            "window": budget.window,
            "reserve": budget.reserve,
            "margin": budget.margin,
            "budget": budget.tokens,
            "counter": self.counter,
        }


@dataclass(frozen=True, slots=True)
class LossNote:
    """What a strategy had to tell beside the messages: that a function failed, that what it returned broke a rule."""

    kind: NoteKind
    sessions: int
    """Sessions of which it was told."""
    sentence: Sentence
    """Of the first of them."""

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output."""
        return {"kind": self.kind.value, "sessions": self.sessions, "sentence": self.sentence.to_json()}


@dataclass(frozen=True, slots=True)
class Loss:
    """What one strategy loses of the conversations that do not fit, each at its last turn that does not."""

    strategy: str
    sessions: int
    cannot_fit: int
    """Sessions of which not even the required messages fit."""
    messages: int
    messages_lost: int
    tokens: int
    tokens_lost: int
    facts: int
    """Known facts of the sessions that were fitted; 0 where none are known."""
    facts_kept: int
    values: int
    """Numbers, dates, names and codes that the prompts state, each once a session."""
    values_kept: int
    notes: tuple[LossNote, ...] = ()

    @property
    def values_share(self) -> float | None:
        """Share of the values that is kept; None where there are none."""
        return self.values_kept / self.values if self.values else None

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output."""
        numbers = {name: getattr(self, name) for name in self.__slots__ if name != "notes"}
        return {**numbers, "notes": [note.to_json() for note in self.notes]}


@dataclass(frozen=True, slots=True)
class Ending:
    """What the target's server does with the prompts that do not fit, as they are."""

    fate: str
    """See `promptreg.deployment.targets.served.Fate`."""
    status: int | None
    turns: int
    sessions: int
    sentence: Sentence
    """Of the first such turn."""
    warning: Sentence | None
    """What makes it worse than it looks; None where nothing does."""

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output."""
        return {
            "fate": self.fate,
            "status": self.status,
            "turns": self.turns,
            "sessions": self.sessions,
            "sentence": self.sentence.to_json(),
            "warning": None if self.warning is None else self.warning.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """A conversation that cannot be looked at."""

    conversation_id: str
    why: str


@dataclass(frozen=True, slots=True)
class WindowReport:
    """All of it."""

    source: SideView
    target: SideView
    sessions: tuple[Session, ...]
    skipped: tuple[Skipped, ...]
    losses: tuple[Loss, ...]
    endings: tuple[Ending, ...]
    remarks: tuple[Sentence, ...]
    """What a reader has to know of how it was counted."""

    @property
    def affected(self) -> tuple[Session, ...]:
        """Those that do not fit the target in some turn."""
        return tuple(session for session in self.sessions if session.target_overflow is not None)

    @property
    def worse(self) -> tuple[Session, ...]:
        """Those that stop to fit earlier than on the source."""
        return tuple(session for session in self.sessions if session.is_worse)

    @property
    def heaviest(self) -> Session | None:
        """The session whose fixed part is the largest; None without sessions."""
        return max(self.sessions, key=fixed_tokens, default=None)

    @property
    def hopeless(self) -> int:
        """Sessions whose fixed part alone fills the budget of the target: no strategy helps them."""
        return sum(fixed_tokens(session) > self.target.budget.tokens for session in self.sessions)

    def to_json(self) -> dict[str, Json]:
        """The one object that `promptreg context window --json` prints."""
        heaviest = self.heaviest
        fixed: JsonObject | None = None
        if heaviest is not None:
            parts: dict[str, Json] = {part.value: tokens for part, tokens in heaviest.fixed.items()}
            fixed = {"conversation": heaviest.conversation_id, **parts, "hopeless": self.hopeless}
        return {
            "schema": SCHEMA,
            "source": self.source.to_json(),
            "target": self.target.to_json(),
            "fixed": fixed,
            "affected": len(self.affected),
            "worse": len(self.worse),
            "grew": {part.value: count for part, count in grown(self.affected).items()},
            "endings": [ending.to_json() for ending in self.endings],
            "losses": [loss.to_json() for loss in self.losses],
            "remarks": [remark.to_json() for remark in self.remarks],
            "sessions": [session.to_json() for session in self.sessions],
            "skipped": [{"conversation": each.conversation_id, "why": each.why} for each in self.skipped],
        }


def fixed_tokens(session: Session) -> int:
    """Tokens of what every prompt of a session has; a `response_format`, for which the margin has room, left out."""
    return sum(tokens for part, tokens in session.fixed.items() if part is not Part.RESPONSE_FORMAT)


def grown(sessions: Sequence[Session]) -> dict[Part, int]:
    """In how many of these sessions each part grew most, the most frequent first."""
    return dict(Tally(session.grew for session in sessions if session.grew is not None).most_common())


class Reader:
    """Looks for facts and values in prompts; remembers what it read of a text, since prompts share most of theirs."""

    def __init__(self) -> None:
        self.facts = FactReader()
        """Looks for known facts."""
        self._values: dict[str, frozenset[tuple[str, str]]] = {}

    def kept(self, facts: Sequence[KnownFact], messages: Sequence[Message]) -> int:
        """How many of these facts a model can still know from a prompt."""
        return sum(fate.kept for fate in self.facts.fates(facts, messages))

    def values(self, messages: Sequence[Message]) -> frozenset[tuple[str, str]]:
        """The numbers, dates, names and codes that a prompt states."""
        return frozenset().union(*(self._values_of(content_text(message.get("content"))) for message in messages))

    def _values_of(self, text: str) -> frozenset[tuple[str, str]]:
        known = self._values.get(text)
        if known is None:
            if len(self._values) >= _MOST_TEXTS:
                self._values.clear()
            read = read_facts(text)
            known = frozenset((fact.kind.value, fact.normal) for fact in read if fact.kind is not FactKind.NEGATION)
            self._values[text] = known
        return known


def loss_of(
    strategy: Strategy,
    sessions: Sequence[Session],
    target: Limit,
    facts: Mapping[str, Sequence[KnownFact]],
    reader: Reader,
) -> Loss:
    """Fit the longest prompt of each session and add up what is lost.

    Args:
        strategy: how to shorten.
        sessions: those that do not fit.
        target: the window to fit.
        facts: what conversations are known to say, by their id.
        reader: one for all strategies.
    """
    sums: Tally[str] = Tally()
    notes: dict[NoteKind, list[Sentence]] = {}
    for session in sessions:
        prompt = session.prompt(session.longest)
        pinned = [index for index in session.pinned if index < len(prompt)]
        try:
            fitted = fit(
                prompt, target.budget, counter=target.counter, strategy=strategy, tools=session.tools, pinned=pinned
            )
        except CannotFit:
            sums["cannot_fit"] += 1
            continue
        for kind, sentence in {note.kind: note.sentence for note in reversed(fitted.ledger.notes)}.items():
            notes.setdefault(kind, []).append(sentence)
        sums["messages"] += len(prompt)
        sums["tokens"] += session.longest.target
        sums["messages_lost"] += len(fitted.ledger.absent)
        sums["tokens_lost"] += fitted.ledger.tokens_lost
        there = frozenset(session.places[: len(prompt)])
        said = [fact for fact in facts.get(session.conversation_id, ()) if fact.index is None or fact.index in there]
        sums["facts"] += len(said)
        sums["facts_kept"] += reader.kept(said, fitted.messages)
        before = reader.values(prompt)
        sums["values"] += len(before)
        sums["values_kept"] += len(before & reader.values(fitted.messages))
    return Loss(
        strategy.name,
        len(sessions),
        sums["cannot_fit"],
        sums["messages"],
        sums["messages_lost"],
        sums["tokens"],
        sums["tokens_lost"],
        sums["facts"],
        sums["facts_kept"],
        sums["values"],
        sums["values_kept"],
        tuple(LossNote(kind, len(told), told[0]) for kind, told in notes.items()),
    )

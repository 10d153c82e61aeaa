"""What the grid finds: one row for a conversation, a strategy and a window; rows pooled; the best trade-offs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

from promptreg.context.trial.invariants import SPOILING, Invariant
from promptreg.context.trial.prefix import reuse_possible, reused
from promptreg.context.trial.retention import retained, retained_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from promptreg.context.trial.invariants import Case
    from promptreg.context.trial.known import Kind, KnownFact
    from promptreg.context.trial.prefix import Basis, Reuse, Reused
    from promptreg.context.trial.retention import Fate, Retained
    from promptreg.text.sentence import Sentence


Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Finding:
    """An invariant that a strategy violated in a conversation."""

    invariant: Invariant
    sentence: Sentence
    """What happened in `example`."""
    times: int
    """In how many calls of the conversation."""
    example: Case
    """Made small where it can be reproduced without what went before; else the call where it happened first."""
    shrunken: bool


@dataclass(frozen=True, slots=True)
class SummaryCost:
    """What a model that writes the summaries has to read and write. 0 for strategies without summaries."""

    calls: int = 0
    """Summaries that were put in."""
    input_tokens: int = 0
    """Of a model that was asked, what it read; else the messages that left and the summary before."""
    output_tokens: int = 0
    asked: int = 0
    """Calls of a model; 0 where none was asked, the tokens are then those that one would need."""
    refused: int = 0
    """Times that what a model wrote was no summary to go on with (`Gate`)."""
    failed: int = 0
    """Times that the model gave no summary at all."""

    def __add__(self, other: SummaryCost) -> SummaryCost:
        """Both together."""
        return SummaryCost(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))

    def __sub__(self, other: SummaryCost) -> SummaryCost:
        """What came on top of another."""
        return SummaryCost(*(getattr(self, field.name) - getattr(other, field.name) for field in fields(self)))

    @property
    def tokens(self) -> int:
        """Read and written."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Row:
    """One strategy on one conversation with one window."""

    conversation: str
    strategy: str
    window: int
    budget: int
    """Tokens that a prompt may have: the window less reserve and margin."""
    counter: str
    basis: Basis
    facts: tuple[KnownFact, ...]
    fates: tuple[Fate, ...]
    """Of each fact, in the last prompt that was sent; all lost where none was."""
    decoys_found: int
    """Facts that were never said and were found all the same: above 0 the measurement is wrong."""
    expected: float | None
    """Recall as it must be where nothing was rewritten: the share of facts whose messages are left. None where
    something was rewritten, or the strategy does not say what is left."""
    calls: tuple[Reuse, ...]
    """Every prompt that was sent, in order."""
    whole: tuple[int, ...]
    """Of each of them the tokens that the whole conversation would have had."""
    recalls: tuple[float, ...]
    """In every fourth prompt that was shortened: the share of the facts said until then that it has, 0 to 1. Calls for
    which nothing was sent count as prompts that have none."""
    refused: int
    """Calls for which nothing could be sent: nothing fits, an error was raised, or no prompt can be made of it."""
    findings: tuple[Finding, ...] = ()
    summaries: SummaryCost = SummaryCost()

    @property
    def steady(self) -> int:
        """The first call that had to be shortened, from 0; the number of calls where none had to be."""
        return next((number for number, whole in enumerate(self.whole) if whole > self.budget), len(self.calls))

    @property
    def retained(self) -> Retained:
        """All facts counted, in the last prompt."""
        return retained(self.fates)

    @property
    def recall(self) -> float | None:
        """Mean share of the facts said so far that shortened prompts have, 0 to 1.

        Of all facts at the end where no prompt was shortened; None without facts. The last prompt alone says little: it
        may come just before a cut or just after it.
        """
        return sum(self.recalls) / len(self.recalls) if self.recalls else self.retained.recall

    @property
    def prompt_tokens(self) -> int:
        """Of all calls."""
        return sum(call.prompt for call in self.calls)

    def reused(self, granularity: int) -> Reused:
        """Of the steady state: from the first call that had to be shortened."""
        return reused(self.calls[self.steady :], granularity)

    @property
    def break_even(self) -> float | None:
        """Calls after which the summaries have saved as many prompt tokens as they cost.

        None without summaries, and where they saved nothing.
        """
        saved = [whole - call.prompt for whole, call in zip(self.whole, self.calls, strict=True) if whole > self.budget]
        mean = sum(saved) / len(saved) if saved else 0.0
        return self.summaries.tokens / mean if self.summaries.calls and mean > 0 else None


@dataclass(frozen=True, slots=True)
class Pooled:
    """The rows of one strategy and window over all conversations."""

    strategy: str
    window: int
    rows: tuple[Row, ...]

    @property
    def retained(self) -> Retained:
        """All facts of all conversations counted, in their last prompts."""
        return retained([fate for row in self.rows for fate in row.fates])

    @property
    def recall(self) -> float | None:
        """Mean of the conversations' recalls (`Row.recall`)."""
        recalls = [recall for row in self.rows if (recall := row.recall) is not None]
        return sum(recalls) / len(recalls) if recalls else None

    def by(self, key: Callable[[KnownFact], Key | None]) -> dict[Key, Retained]:
        """Facts in the last prompts by any key, such as depth and kind together; those whose key is None left out."""
        facts = [fact for row in self.rows for fact in row.facts]
        return retained_by(facts, [fate for row in self.rows for fate in row.fates], key)

    @property
    def by_depth(self) -> dict[float, Retained]:
        """Facts by how far into the conversation they were said, to a hundredth; those of system messages left out."""
        return dict(sorted(self.by(lambda fact: None if fact.depth is None else round(fact.depth, 2)).items()))

    @property
    def by_kind(self) -> dict[Kind, Retained]:
        """Facts by kind."""
        return dict(sorted(self.by(lambda fact: fact.kind).items()))

    @property
    def by_role(self) -> dict[str, Retained]:
        """Facts by the role that said them."""
        return dict(sorted(self.by(lambda fact: fact.role or None).items()))

    def reused(self, granularity: int) -> Reused:
        """Of the steady states of all conversations."""
        return reused((call for row in self.rows for call in row.calls[row.steady :]), granularity)

    def hit_ratio(self, granularity: int) -> float | None:
        """Share of the prompt tokens in the steady state that a cache has; None where nothing had to be shortened."""
        return self.reused(granularity).hit_ratio

    def possible(self, granularity: int) -> bool:
        """Whether any prompt can hit the cache at all (`reuse_possible`)."""
        return any(reuse_possible(row.budget, granularity) for row in self.rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The smallest example of each violated invariant."""
        best: dict[Invariant, Finding] = {}
        for row in self.rows:
            for finding in row.findings:
                known = best.get(finding.invariant)
                if known is None or len(finding.example.messages) < len(known.example.messages):
                    best[finding.invariant] = finding
        return tuple(best[kind] for kind in Invariant if kind in best)

    @property
    def valid(self) -> bool:
        """Whether its prompts could be sent, so that what they keep and cost compares with others'."""
        return not any(finding.invariant in SPOILING for row in self.rows for finding in row.findings)


def pooled(rows: Iterable[Row]) -> tuple[Pooled, ...]:
    """Rows by strategy and window, in the order in which they come."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.strategy, row.window), []).append(row)
    return tuple(Pooled(strategy, window, tuple(group)) for (strategy, window), group in groups.items())


def pareto(candidates: Sequence[Pooled], granularity: int) -> tuple[Pooled, ...]:
    """Those that no other of the same window beats in recall and hit ratio together, the highest recall first.

    One beats another when it is at least as good in both and better in one. Candidates without a recall or a hit ratio
    are left out, and so are those whose prompts could not be sent as they are (`Pooled.valid`): they beat nobody.
    """
    points = [
        (one, recall, ratio)
        for one in candidates
        if one.valid and (recall := one.recall) is not None and (ratio := one.hit_ratio(granularity)) is not None
    ]
    front = [
        (one, recall, ratio)
        for one, recall, ratio in points
        if not any(
            other.window == one.window and r >= recall and h >= ratio and (r > recall or h > ratio)
            for other, r, h in points
        )
    ]
    return tuple(one for one, _, _ in sorted(front, key=lambda point: (point[0].window, -point[1], -point[2])))

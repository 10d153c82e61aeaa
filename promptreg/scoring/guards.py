"""What runs a user's own checks, channels, fault rules and embedders: whatever they do wrong ends in one sentence.

A check that raises leaves the answer unscored, like every check that cannot judge. A channel, a fault rule or an
embedder that raises, or returns what it must not, is a `ConfigError` with the line of the user's code: a distance that
is silently missing would make a verdict weaker without anybody knowing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, found, quoted
from promptreg.scoring.embedders.base import unit_vectors
from promptreg.scoring.faults.model import Finding as FaultFinding
from promptreg.scoring.origin import said

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.scoring.channels.base import Channel, Distances
    from promptreg.scoring.checks.base import Builder, Check, Setting
    from promptreg.scoring.embedders.base import Embedder, Vectors
    from promptreg.scoring.faults.model import Observation
    from promptreg.scoring.origin import Origin


def guarded_builder(name: str, build: Builder, origin: Origin) -> Builder:
    """The builder of a user's check; wrong arguments and failures become sentences about the suite's line."""

    def guarded(argument: Json, setting: Setting) -> Check:
        try:
            check = build(argument, setting)
            rules: object = check.rules
        except BadArgument:
            raise
        except (Exception, SystemExit) as error:
            where = origin.place(error)
            raise BadArgument(
                f"The check `{name}` of {origin.label} cannot be made: it raised {said(error)}"
                f"{f' ({where})' if where else ''}.",
            ) from error
        if not (isinstance(rules, Rules) and callable(getattr(check, "find", None))):
            raise BadArgument(
                f"The check `{name}` of {origin.label} cannot be used: its builder must return an object with `rules` "
                f"(such as `must(…)`) and `find(answer)`, not {type(check).__name__}.",
            )
        return GuardedCheck(name, check, origin, rules)

    return guarded


@dataclass(frozen=True, slots=True)
class GuardedCheck:
    """A user's check. What it raises, or returns beside a `Finding`, leaves the answer unscored."""

    name: str
    check: Check
    origin: Origin
    rules: Rules

    def find(self, answer: Answer) -> Finding:
        """What the check says."""
        name = quoted(self.name)
        try:
            finding: object = self.check.find(answer)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            where = self.origin.place(error)
            what = said(error) + (f" ({where})" if where else "")
            return found(None, f"was not judged: {name} raised {what}", f"未被判定：{name} 抛出了 {what}")
        holds: object = finding.holds if isinstance(finding, Finding) else ...
        if isinstance(finding, Finding) and isinstance(holds, (bool, np.bool_, type(None))):
            return finding if holds is None else replace(finding, holds=bool(holds))
        kind = type(finding).__name__
        return found(
            None,
            f"was not judged: {name} returned {kind}, not a Finding such as `found(True, …)`",
            f"未被判定：{name} 返回的是 {kind}，而不是 `found(True, …)` 这样的 Finding",
        )


class GuardedChannel:
    """A user's channel. Its distances are checked: shape (N, N), numbers, symmetric, never negative, 0 on the diagonal.

    See `Channel`; errors are raised as `ConfigError`.
    """

    def __init__(self, name: str, channel: Channel, origin: Origin) -> None:
        self.name = name
        self._channel = channel
        self._origin = origin

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """What the channel prepares; a channel without `prepare` has nothing to."""
        prepare = getattr(self._channel, "prepare", None)
        if prepare is not None:
            self._call(prepare, cases)

    def applies(self, answers: Sequence[Answer]) -> bool:
        """What the channel says; one without `applies` looks at every case."""
        applies = getattr(self._channel, "applies", None)
        return True if applies is None else bool(self._call(applies, answers))

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """The channel's distances, as numbers of double precision."""
        returned = self._call(self._channel.distances, answers)
        try:
            values: Distances = np.array(returned, dtype=np.float64)
        except (TypeError, ValueError):
            self._refuse(f"it returned {type(returned).__name__}, no table of numbers")
        count = len(answers)
        if values.shape != (count, count):
            self._refuse(f"it returned the shape {values.shape} for {count} answers")
        if not np.isfinite(values).all() or (values < 0).any():
            self._refuse("it returned a distance that is negative, infinite or no number")
        if not np.allclose(values, values.T, rtol=1e-9, atol=1e-12):
            self._refuse("the distance of two answers depends on their order")
        if values.diagonal().any():
            self._refuse("an answer has a distance to itself")
        # Rounding may leave the halves a hair apart, and the statistics compare for equality.
        return (values + values.T) / 2

    def _call(self, function: Callable[..., Any], argument: object) -> Any:
        try:
            return function(argument)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            self._origin.blame(f"The channel `{self.name}`", error)

    def _refuse(self, why: str) -> NoReturn:
        self._origin.refuse(
            f"The channel `{self.name}` of {self._origin.label} cannot be used: {why}. `distances` returns a symmetric "
            "table of shape (N, N) with numbers from 0 and 0 on the diagonal.",
            getattr(self._channel.distances, "__func__", None),
        )


def guarded_rule(
    kind: str, find: Callable[[Any], Iterable[FaultFinding]], origin: Origin
) -> Callable[[Any], Iterable[FaultFinding]]:
    """A user's fault rule, on one call or on several; it may only find its own kind."""

    def guarded(observed: Observation | Sequence[Observation]) -> Iterable[FaultFinding]:
        try:
            findings: list[object] = list(find(observed))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            origin.blame(f"The rule of the fault `{kind}`", error)
        wanted = [finding for finding in findings if isinstance(finding, FaultFinding) and finding.kind == kind]
        if len(wanted) != len(findings):
            origin.refuse(
                f"The rule of the fault `{kind}` of {origin.label} cannot be used: it must yield findings of its own "
                f"kind, such as `entry.found(where, evidence)`.",
                find,
            )
        return wanted

    return guarded


class GuardedEmbedder:
    """A user's embedder. Its vectors are checked, and scaled to length 1. See `Embedder`."""

    def __init__(self, embedder: Embedder, origin: Origin) -> None:
        self._embedder = embedder
        self._origin = origin
        name: object = getattr(embedder, "name", None)
        if not isinstance(name, str) or not name or not callable(getattr(embedder, "encode", None)):
            origin.refuse(
                f"An embedder of {origin.label} cannot be used: it needs `name`, a text, and `encode(texts)`; "
                f"{type(embedder).__name__} lacks one of them."
            )
        self.name = name

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One vector a text."""
        try:
            values = np.array(self._embedder.encode(texts), dtype=np.float64)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            self._origin.blame(f"The embedder `{self.name}`", error)
        if (
            values.ndim != 2
            or len(values) != len(texts)
            or not np.isfinite(values).all()
            or not values.any(axis=1).all()
        ):
            self._origin.refuse(
                f"The embedder `{self.name}` of {self._origin.label} cannot be used: it returned the shape "
                f"{values.shape} for {len(texts)} texts, or a vector of zeros or of no numbers. `encode` returns one "
                "vector a text.",
                getattr(self._embedder.encode, "__func__", None),
            )
        return unit_vectors(values)

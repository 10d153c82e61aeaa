"""Stored samples, read into answers; one case at a time, so that memory does not grow with the run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from promptreg.deployment.reader import read_exchange
from promptreg.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.answer.model import Usage
    from promptreg.baseline.model import Golden, Header
    from promptreg.deployment.reading import Reading
    from promptreg.shelf import Kept
    from promptreg.store.samples import StoredSample
    from promptreg.store.store import Store


@dataclass(frozen=True, slots=True)
class ReadSample:
    """A stored sample and what its last attempt says."""

    stored: StoredSample
    reading: Reading


class CaseSamples:
    """The samples of one suite of a run, for a reader that asks for cases in ascending order of their ids."""

    def __init__(self, store: Store, run_id: str, suite: str, since: str | None = None) -> None:
        """`since` is the first case that will be asked for, where it is known: nothing before it is read."""
        self._cases = groupby(store.samples(run_id, suite, since=since), key=lambda sample: sample.case_id)
        self._current: tuple[str, Iterator[StoredSample]] | None = next(self._cases, None)

    def of(self, case_id: str) -> Mapping[int, ReadSample]:
        """The samples of a case by pass; empty when the run has none.

        Args:
            case_id: not below the one asked for before.
        """
        # SQLite orders ids by their UTF-8 bytes, which is the order of Python's strings too.
        while self._current is not None and self._current[0] < case_id:
            self._current = next(self._cases, None)
        if self._current is None or self._current[0] != case_id:
            return {}
        return {
            sample.pass_index: ReadSample(sample, read_exchange(sample.attempts[-1])) for sample in self._current[1]
        }


class GoldenSamples:
    """The calls that goldens came from, for a reader that asks for cases in ascending order of their ids.

    Approved goldens came from a run of the target. A run that the store does not have gives no samples: it may have
    been made on another machine.
    """

    def __init__(self, store: Store, header: Header, since: str | None = None) -> None:
        """`since` as in `CaseSamples`."""
        self._store, self._header, self._since = store, header, since
        self._runs: dict[str, CaseSamples] = {}

    def of(self, golden: Golden) -> Mapping[int, ReadSample]:
        """The samples of a golden by pass; empty when the store does not have them."""
        run_id = self._header.run_id if golden.approved is None else golden.approved.run_id
        if run_id not in self._runs:
            self._runs[run_id] = CaseSamples(self._store, run_id, self._header.suite, self._since)
        return self._runs[run_id].of(golden.case_id)


@dataclass(frozen=True, slots=True)
class ToldAttempt:
    """How one attempt at a call went."""

    duration_s: float
    status: int | None
    problem: str | None
    """Why it holds no answer; None where it does."""


@dataclass(frozen=True, slots=True)
class ToldSample:
    """How the call of one sample went, apart from what was answered."""

    attempts: tuple[ToldAttempt, ...]
    """Oldest first."""
    first_token_s: float | None
    in_flight: int
    usage: Usage | None
    notes: tuple[str, ...]
    variant: str | None

    @classmethod
    def of(cls, sample: ReadSample) -> ToldSample:
        """What a sample tells; its earlier attempts are read here."""
        attempts = sample.stored.attempts
        readings = [*(read_exchange(attempt) for attempt in attempts[:-1]), sample.reading]
        return cls(
            tuple(
                ToldAttempt(
                    attempt.duration_s, attempt.status, None if reading.problem is None else reading.problem.message
                )
                for attempt, reading in zip(attempts, readings, strict=True)
            ),
            sample.reading.first_token_s,
            sample.stored.in_flight,
            sample.reading.usage,
            sample.reading.notes,
            sample.stored.variant,
        )


Told: TypeAlias = "Mapping[int, ToldSample]"
"""The samples of one side of a case, by pass."""


def told(samples: Mapping[int, ReadSample]) -> Told:
    """What samples tell, by pass."""
    return {index: ToldSample.of(sample) for index, sample in samples.items()}


def packed_told(source: Mapping[int, ReadSample], target: Mapping[int, ReadSample]) -> bytes:
    """What the samples of both sides of a case tell, as bytes to put away."""
    return packed((told(source), told(target)))


def told_samples(kept: Kept) -> tuple[Told, Told]:
    """What `packed_told` made bytes of: of the source and of the target."""
    source, target = unpacked(kept.read())
    return source, target

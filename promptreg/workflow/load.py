"""How many calls a deployment had in flight while it was measured, and whether both sides were measured alike.

A server puts the calls that it has at the same time into one batch, and the size of the batch decides which kernels
run: the same weights answer otherwise alone than among many. Each sample knows how many calls were in flight on its
deployment when it was sent, itself included. The load of a side is the lower median of that over its samples; loads
that differ by more than a factor of `APART` are told. That is a rule of thumb and no test: servers prepare batches in
sizes that double, so beyond a factor of two most calls ran in another size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.baseline.model import Header
    from promptreg.canonical import JsonObject
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store

APART: Final = 2
"""Loads that differ by more than this factor are told."""


@dataclass(frozen=True, slots=True)
class SuiteLoad:
    """The loads under which the two sides of a suite were measured; None where that is not known."""

    suite: str
    source: int | None
    target: int | None

    @property
    def apart(self) -> float:
        """The factor between both, at least 1; 1 where one is not known."""
        if self.source is None or self.target is None:
            return 1.0
        return max(self.source, self.target) / min(self.source, self.target)

    def to_json(self) -> JsonObject:
        """The entry in `compare --json`."""
        return {"suite": self.suite, "source": self.source, "target": self.target}


def typical_load(counts: Mapping[int, int]) -> int | None:
    """The lower median of the calls in flight; None where no sample was sent.

    Args:
        counts: by the calls in flight when a sample was sent, the number of samples; 0 stands for one that never was.
    """
    sent = {in_flight: count for in_flight, count in counts.items() if in_flight > 0}
    half, seen = (sum(sent.values()) + 1) // 2, 0
    for in_flight in sorted(sent):
        seen += sent[in_flight]
        if seen >= half:
            return in_flight
    return None


def recorded_load(counts: Mapping[int, int], recorded: int, earlier: Header | None) -> int | None:
    """The load of a recording that keeps calls of an earlier one, each of which counts as one at the earlier load.

    Args:
        counts: of the new run, as in `typical_load`.
        recorded: calls that the baseline tells of, those kept included.
        earlier: the header of the baseline that the rest is from, where there is one.
    """
    kept = recorded - sum(counts.values())
    if earlier is None or kept <= 0:
        return typical_load(counts)
    if earlier.in_flight is None:
        return None
    return typical_load({**counts, earlier.in_flight: counts.get(earlier.in_flight, 0) + kept})


def suite_load(store: Store, header: Header, record: RunRecord) -> SuiteLoad:
    """The loads of a comparison: the source's as its baseline tells it, else as the store knows its run."""
    source = header.in_flight
    if source is None:
        source = typical_load(store.in_flight(header.run_id, header.suite))
    return SuiteLoad(header.suite, source, typical_load(store.in_flight(record.run_id, header.suite)))


def load_warning(loads: Sequence[SuiteLoad]) -> Sentence | None:
    """What to say where sides were measured at different loads, of the suite where they differ most."""
    apart = sorted((load for load in loads if load.apart > APART), key=lambda load: (-load.apart, load.suite))
    if not apart:
        return None
    worst, more = apart[0], len(apart) - 1
    suite = preview(worst.suite, 40)
    more_en = f" (and alike in {counted(more, 'more suite')})" if more else ""
    more_zh = f"（另有 {more} 个测试集也是如此）" if more else ""
    return Sentence(
        "Source and target were measured at different loads, and load alone can change answers: in suite "
        f"{suite} a typical call of the source was one of {worst.source} in flight, one of the target one of "
        f"{worst.target}{more_en}. Give both the same `concurrency` and the same cases, then record or compare again.",
        f"源部署与目标部署是在不同负载下测量的，而负载本身就可能改变回答：测试集 {suite} 中，源部署的典型调用发出时共"
        f"有 {worst.source} 个调用在进行，目标部署为 {worst.target} 个{more_zh}。请为两者设置相同的 `concurrency` "
        "并使用相同的用例，再录制或比较。",
    )

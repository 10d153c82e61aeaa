"""Channels over facts: numbers, negation, entities, each by itself, and the order in which facts stand.

They are never summed: a sum hides the one changed number among the names that vary anyway (statistics.md table 6).
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import orjson

from promptreg.scoring.channels.base import Distances, over_distinct
from promptreg.text.facts.model import GROUP_OF
from promptreg.text.facts.read import read_facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer

Normals: TypeAlias = tuple[str, ...]

_ORDERED_GROUPS: Final = (frozenset({"numbers"}), frozenset({"entities"}), frozenset({"numbers", "entities"}))


class FactReader:
    """Reads every distinct text once for all fact channels. Holds the texts of one block of cases."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[str, str], ...]] = {}

    def keep(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Drop what was read of other cases, so that memory stays bounded."""
        wanted = {answer.content for answers in cases for answer in answers}
        self._known = {text: facts for text, facts in self._known.items() if text in wanted}

    def normals(self, text: str, groups: frozenset[str]) -> Normals:
        """Normal forms of the facts of these groups, in the order of the text."""
        if text not in self._known:
            self._known[text] = tuple((GROUP_OF[fact.kind], fact.normal) for fact in read_facts(text))
        return tuple(normal for group, normal in self._known[text] if group in groups)

    def stated(self, text: str) -> Normals:
        """Normal forms of the numbers and names, in the order of the text."""
        return self.normals(text, _ORDERED_GROUPS[2])


class FactChannel:
    """How many facts of one group one content has and the other lacks: size of the symmetric multiset difference.

    Range 0 (the same facts, in whatever order and wording) without upper end; unit: facts. A changed fact counts twice:
    one that is gone, one that is new. Groups: "numbers" (with units, currencies, dates, times and ranges), "negation"
    (cues that deny) and "entities" (names, titles, addresses, identifiers). Left out of cases without such a fact.

    Blind to order (see `FactOrderChannel`), to which fact belongs to which subject, to antonyms and omissions without
    a cue, to names in small letters, and to every language but Chinese and English as far as words are concerned.
    """

    def __init__(self, name: str, reader: FactReader) -> None:
        """`name` is the group, and how reports call the channel."""
        self.name = name
        self._group = frozenset({name})
        self._reader = reader

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Forget the texts of other cases."""
        self._reader.keep(cases)

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when at least one answer states such a fact."""
        return any(self._reader.normals(answer.content, self._group) for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        multisets = [tuple(sorted(self._reader.normals(answer.content, self._group))) for answer in answers]
        return over_distinct(multisets, _symmetric_differences)


class FactOrderChannel:
    """Whether the same facts stand in another order: 9.9 > 9.11 against 9.11 > 9.9, A→B against B→A.

    The share of pairs of facts that are the other way round, among all pairs; equal facts are matched first to first.
    Taken over numbers, over entities, and over both together; the largest of the three counts. Range 0 (same order) to
    1 (reversed), no unit.

    Of JSON the keys of each object are put in order before: it is read by key, so only the order of its lists counts.

    Blind to order where the facts themselves differ, which the other fact channels see, and to whether the order
    matters: a list of equals in another order lies as far apart. Left out of cases where no answer has two facts.
    """

    name = "order"

    def __init__(self, reader: FactReader) -> None:
        self._reader = reader

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Forget the texts of other cases."""
        self._reader.keep(cases)

    def applies(self, answers: Sequence[Answer]) -> bool:
        """True when at least one answer states two facts."""
        return any(len(self._reader.normals(answer.content, _ORDERED_GROUPS[2])) > 1 for answer in answers)

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula."""
        largest = np.zeros((len(answers), len(answers)))
        for groups in _ORDERED_GROUPS:
            sequences = [self._reader.normals(_by_key(answer.content), groups) for answer in answers]
            largest = np.maximum(largest, over_distinct(sequences, _inversions))
        return largest


def _by_key(text: str) -> str:
    """JSON with its objects' keys in order, and blanks between its values; any other text as it is."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.dumps(orjson.loads(text), ensure_ascii=False, sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _symmetric_differences(multisets: Sequence[Normals]) -> Distances:
    place = {normal: index for index, normal in enumerate(sorted(set().union(*multisets)))}
    counts = np.zeros((len(multisets), len(place)))
    for row, multiset in enumerate(multisets):
        for normal, count in Counter(multiset).items():
            counts[row, place[normal]] = count
    # Row by row: a block of (D, D, facts) would be large for runaway answers.
    return np.stack([np.abs(counts - row).sum(axis=1) for row in counts])


def _inversions(sequences: Sequence[Normals]) -> Distances:
    result = np.zeros((len(sequences), len(sequences)))
    multisets = [Counter(sequence) for sequence in sequences]
    for i in range(len(sequences)):
        for j in range(i):
            if multisets[i] == multisets[j]:
                result[i, j] = result[j, i] = inverted_share(sequences[i], sequences[j])
    return result


def inverted_share(a: Normals, b: Normals) -> float:
    """Share of the pairs of elements that stand the other way round in `b`, 0 to 1; `a` and `b` hold the same elements.

    Args:
        a: one order.
        b: the other; equal elements are matched in the order in which they occur.
    """
    positions: dict[str, list[int]] = {}
    for index in range(len(b) - 1, -1, -1):
        positions.setdefault(b[index], []).append(index)
    count = _inverted([positions[normal].pop() for normal in a])
    return count / (len(a) * (len(a) - 1) / 2) if len(a) > 1 else 0.0


def _inverted(values: list[int]) -> int:
    """Pairs in falling order, by merging: n log n."""
    count, width = 0, 1
    while width < len(values):
        merged: list[int] = []
        for start in range(0, len(values), 2 * width):
            left, right = values[start : start + width], values[start + width : start + 2 * width]
            taken = 0
            for value in right:
                while taken < len(left) and left[taken] < value:
                    merged.append(left[taken])
                    taken += 1
                count += len(left) - taken
                merged.append(value)
            merged += left[taken:]
        values, width = merged, 2 * width
    return count

"""The shortest edit script between two sequences, with a bound on the work.

Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986, greedy forward form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

_LARGEST_CODE: Final = 0x10FFFF
_SHORT_RUN: Final = 8


class Match(NamedTuple):
    """`length` equal elements, from `a_start` in the first sequence and `b_start` in the second."""

    a_start: int
    b_start: int
    length: int


@dataclass(slots=True)
class Budget:
    """Elementary steps that may still be spent. One step is well under a microsecond."""

    steps: int

    def spend(self, steps: int) -> bool:
        """Take steps; False when there are none left."""
        self.steps -= steps
        return self.steps >= 0


_Trace: TypeAlias = list[list[int]]


def shortest_edit(a: Sequence[str], b: Sequence[str], limit: int, budget: Budget) -> list[Match] | None:
    """The equal runs of a shortest edit script, in order.

    Args:
        a: First sequence.
        b: Second sequence.
        limit: Largest number of deleted and inserted elements (D) that is searched for.
        budget: Shared between calls; work beyond it is not done.

    Returns:
        Maximal equal runs, or None when the script would take more than `limit` edits or the budget is used up.
    """
    encoded = _encode(a, b)
    if encoded is None:
        return None
    text_a, text_b = encoded
    prefix = _common_prefix(text_a, 0, text_b, 0)
    suffix = _common_suffix(text_a, text_b, min(len(a), len(b)) - prefix)
    middle_a = text_a[prefix : len(a) - suffix]
    middle_b = text_b[prefix : len(b) - suffix]
    found: list[Match] | None
    if not middle_a or not middle_b:
        found = []
    elif set(middle_a).isdisjoint(middle_b):
        # Nothing to find; the search would walk its whole bound to learn that.
        found = []
    else:
        found = _search(middle_a, middle_b, limit, budget)
    if found is None:
        return None
    matches = [Match(0, 0, prefix)] if prefix else []
    matches += [Match(x + prefix, y + prefix, length) for x, y, length in found]
    if suffix:
        matches.append(Match(len(a) - suffix, len(b) - suffix, suffix))
    return _joined(matches)


def common_prefix_length(a: str, b: str) -> int:
    """How many characters two texts share at their beginning; fast for long texts."""
    return _common_prefix(a, 0, b, 0)


def _encode(a: Sequence[str], b: Sequence[str]) -> tuple[str, str] | None:
    """Both sequences as strings of one private character per distinct element: comparing slices of these is fast."""
    joined = "".join(a), "".join(b)
    if len(joined[0]) == len(a) and len(joined[1]) == len(b) and all(a) and all(b):
        return joined  # single characters already, as in Chinese
    codes: dict[str, str] = {}
    for element in (*a, *b):
        if element not in codes:
            if len(codes) > _LARGEST_CODE:
                return None
            codes[element] = chr(len(codes))
    return "".join(map(codes.__getitem__, a)), "".join(map(codes.__getitem__, b))


def _common_prefix(a: str, x: int, b: str, y: int) -> int:
    """Length of the common run from a[x] and b[y]: a few single steps, then doubling, then halving."""
    longest = min(len(a) - x, len(b) - y)
    length = 0
    while length < longest and length < _SHORT_RUN:
        if a[x + length] != b[y + length]:
            return length
        length += 1
    stride = _SHORT_RUN
    while length < longest:
        size = min(stride, longest - length)
        if a[x + length : x + length + size] == b[y + length : y + length + size]:
            length += size
            stride *= 2
        elif size == 1:
            break
        else:
            stride = size // 2
            longest = length + size - 1
    return length


def _common_suffix(a: str, b: str, longest: int) -> int:
    return _common_prefix(a[::-1][:longest], 0, b[::-1][:longest], 0)


def _search(a: str, b: str, limit: int, budget: Budget) -> list[Match] | None:
    """Greedy forward search; `furthest[k + offset]` is the largest x on diagonal k = x − y."""
    len_a, len_b = len(a), len(b)
    bound = min(limit, len_a + len_b)
    offset = bound + 1
    furthest = [0] * (2 * bound + 3)
    trace: _Trace = []
    for edits in range(bound + 1):
        # Diagonals beyond the ends of a or b cannot take part.
        low = -edits + 2 * max(0, edits - len_b)
        high = edits - 2 * max(0, edits - len_a)
        if not budget.spend(1 + (high - low) // 2):
            return None
        trace.append(furthest[offset + low - 1 : offset + high + 2])
        for k in range(low, high + 1, 2):
            index = k + offset
            if k == -edits or (k != edits and furthest[index - 1] < furthest[index + 1]):
                x = furthest[index + 1]
            else:
                x = furthest[index - 1] + 1
            y = x - k
            if x < len_a and y < len_b and a[x] == b[y]:
                run = _common_prefix(a, x, b, y)
                x += run
                y += run
                if not budget.spend(run // 64):
                    return None
            furthest[index] = x
            if x >= len_a and y >= len_b:
                return _backtrack(trace, edits, len_a, len_b)
    return None


def _backtrack(trace: _Trace, edits: int, len_a: int, len_b: int) -> list[Match]:
    matches: list[Match] = []
    x, y = len_a, len_b
    for step in range(edits, 0, -1):
        before = trace[step]
        # Position of diagonal k in the stored slice, which begins one diagonal below the lowest one searched.
        origin = -step + 2 * max(0, step - len_b) - 1
        k = x - y
        down = k == -step or (k != step and before[k - 1 - origin] < before[k + 1 - origin])
        previous_k = k + 1 if down else k - 1
        previous_x = before[previous_k - origin]
        start = previous_x if down else previous_x + 1
        if x > start:
            matches.append(Match(start, start - k, x - start))
        x, y = previous_x, previous_x - previous_k
    if x:
        matches.append(Match(0, 0, x))
    return matches[::-1]


def _joined(matches: list[Match]) -> list[Match]:
    joined: list[Match] = []
    for match in matches:
        last = joined[-1] if joined else None
        if last and last.a_start + last.length == match.a_start and last.b_start + last.length == match.b_start:
            joined[-1] = last._replace(length=last.length + match.length)
        else:
            joined.append(match)
    return joined

"""Beginnings that the target's answers of several cases share: one text put before all of them is one cause."""

from __future__ import annotations

from os.path import commonprefix
from typing import TYPE_CHECKING

from promptreg.verdict.causes.consequences import BEGINS
from promptreg.verdict.causes.signs import SHORTEST_BEGINNING, WHOLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.verdict.causes.cluster import Cause


def with_shared_beginnings(causes: Mapping[str, Mapping[Cause, int]]) -> dict[str, dict[Cause, int]]:
    """The causes of each case, with one beginning for all cases that share it, and none that only one case has.

    Answers that are the same text as a whole in each of their cases, such as a note of a gateway, have not begun
    otherwise: they are something else altogether, which other signs tell.

    Args:
        causes: by case id, each with how many target answers show it.
    """
    alike: dict[str, list[tuple[str, Cause]]] = {}
    for case_id, of_case in causes.items():
        for cause in of_case:
            if cause[0] == BEGINS:
                alike.setdefault(cause[1][:SHORTEST_BEGINNING], []).append((case_id, cause))
    shared: dict[str, Cause] = {}
    for members in alike.values():
        texts = {cause[1] for _, cause in members}
        if len(members) > 1 and (len(texts) > 1 or any(WHOLE not in cause for _, cause in members)):
            start = commonprefix(sorted(texts))  # noqa: RUF071 - of texts, not of paths
            shared |= dict.fromkeys((case_id for case_id, _ in members), (BEGINS, start.strip()))
    told: dict[str, dict[Cause, int]] = {}
    for case_id, of_case in causes.items():
        told[case_id] = {cause: count for cause, count in of_case.items() if cause[0] != BEGINS}
        if case_id in shared:
            told[case_id][shared[case_id]] = max(count for cause, count in of_case.items() if cause[0] == BEGINS)
    return told

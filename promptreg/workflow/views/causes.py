"""The causes of a comparison as the report shows them: numbered over all suites, and by number with each case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.report.payload import CauseView
from promptreg.verdict.causes.claims import kinds_of
from promptreg.verdict.verdicts import SEVERITY_CLASS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from promptreg.report.payload import CaseView
    from promptreg.verdict.causes.cluster import Cluster
    from promptreg.verdict.model import SuiteJudgement


def cause_views(suites: Iterable[SuiteJudgement]) -> tuple[CauseView, ...]:
    """The causes of all suites, worst first as within each."""
    return tuple(_view(suite, cluster) for suite, cluster in _ordered(suites))


def with_causes(cases: Iterable[CaseView], suites: Iterable[SuiteJudgement]) -> Iterator[CaseView]:
    """The cases, each with the numbers of its causes in `cause_views` of the same suites, from 1."""
    numbers: dict[tuple[str, str], tuple[int, ...]] = {}
    for number, (suite, cluster) in enumerate(_ordered(suites), 1):
        for case_id in cluster.case_ids:
            numbers[suite, case_id] = (*numbers.get((suite, case_id), ()), number)
    for case in cases:
        yield replace(case, causes=numbers.get((case.suite, case.case_id), ()))


def _ordered(suites: Iterable[SuiteJudgement]) -> Sequence[tuple[str, Cluster]]:
    return sorted(
        ((suite.suite, cluster) for suite in suites for cluster in suite.clusters),
        key=lambda entry: (-SEVERITY_CLASS[entry[1].verdict], not entry[1].at_once, -len(entry[1].case_ids)),
    )


def _view(suite: str, cluster: Cluster) -> CauseView:
    return CauseView(
        suite=suite,
        title=cluster.title,
        next_step=cluster.next_step,
        verdict=cluster.verdict.value,
        cases=len(cluster.case_ids),
        samples=cluster.samples,
        also=cluster.also,
        kind=cluster.cause[0],
        about=tuple(kind.value for kind in kinds_of(cluster.cause)),
    )

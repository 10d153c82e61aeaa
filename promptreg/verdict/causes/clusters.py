"""Cases by cause, so that a reader sees a few causes instead of hundreds of cases.

A case stands in a cluster for each of its causes: its faults, the signs that its answers show (see `signs`), each check
that got worse. What the whole case says only by a distance counts where nothing else does: such a case stands under the
channel that moved most.

Which cases take part:

* `fail`, `drift` and `error`: with all their causes, and always in one cluster at least;
* `changed`: by faults and by reasoning that moved; by a sign only where a failed or drifted case shows the same one,
  since a sign of a case that did not move may be chance;
* `pass`: by faults and by reasoning that moved, which no text shows;
* `new`, `missing` and `waived`: not at all.

What another cause of the same case explains is no cluster of its own there: it is named beside its root (see
`consequences`). Where it stands alone in a few cases more, those are put to its root, and said to show only that (see
`rest`). Causes that stand in exactly the same cases are one cluster: the likeliest cause gives it title and next step,
the others are named beside it. So a check that fails in every case whose JSON is fenced is not told twice.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import catalogue
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.beginnings import with_shared_beginnings
from promptreg.verdict.causes.cluster import Cause, Cluster
from promptreg.verdict.causes.consequences import (
    CHANNEL,
    CHECK,
    ERROR,
    FACTS,
    FAULT,
    MOVED,
    by_likelihood,
    explained_by,
    of_looks,
)
from promptreg.verdict.causes.rest import with_the_rest
from promptreg.verdict.causes.words import Words, in_some_only, said, words_of
from promptreg.verdict.evidence import FREE_OF
from promptreg.verdict.verdicts import SEVERITY_CLASS, CaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.verdict.model import CaseJudgement

_JUDGED_WORSE: Final = frozenset({CaseVerdict.FAIL, CaseVerdict.DRIFT, CaseVerdict.ERROR})
_QUIET: Final = frozenset({CaseVerdict.PASS, CaseVerdict.CHANGED})

_FACT_CHANNELS: Final = ("numbers", "entities")
"""Channels that can tell which facts are lacking."""

_OF_FACTS: Final = frozenset({*_FACT_CHANNELS, "negation"})
_MOVED: Final = 2.0
"""Standard deviations by which a channel of facts moved when it is named before how the texts are worded."""


def clusters_of(cases: Iterable[CaseJudgement]) -> tuple[Cluster, ...]:
    """The clusters of a suite's cases, worst first: by the verdict of their worst case, `at_once`, size and severity.

    Args:
        cases: of one suite, in any order; their ids are different.
    """
    ordered = sorted(cases, key=_order)
    causes = with_shared_beginnings({case.case_id: dict(_causes(case)) for case in ordered})
    proven = {cause for case in ordered if case.verdict in _JUDGED_WORSE for cause in causes[case.case_id]}
    by_cause: dict[Cause, list[CaseJudgement]] = {}
    for case in ordered:
        for cause in causes[case.case_id]:
            if case.verdict not in _QUIET or _quiet_cause(case, cause, proven):
                by_cause.setdefault(cause, []).append(case)
    by_cause = _single_checks_by_name(by_cause, causes)
    roots, consequences = _folded(by_cause, causes)
    roots, instead = with_the_rest(roots, by_cause)
    found = [_cluster(same, roots[same[0]], causes, consequences, instead) for same in _coinciding(roots)]
    worst = {case.case_id: case.severity for case in ordered}
    return tuple(
        sorted(
            found,
            key=lambda each: (
                -SEVERITY_CLASS[each.verdict],
                not each.at_once,
                -len(each.case_ids),
                -worst[each.case_ids[0]],
                each.cause,
            ),
        )
    )


def _order(case: CaseJudgement) -> tuple[float, str]:
    return -case.severity, case.case_id


def _causes(case: CaseJudgement) -> Mapping[Cause, int]:
    """The causes of one case with how many target answers show each."""
    if case.verdict not in _JUDGED_WORSE | _QUIET:
        return {}
    causes: dict[Cause, int] = {(FAULT, fault.finding.kind): fault.target for fault in case.faults}
    for sign in case.signs:
        causes[_fact_channel(case) if sign.cause[0] == FACTS else sign.cause] = sign.samples
    for check in case.checks:
        # Freedom from a fault stands beside the checks; what got worse is the fault, which may be named already.
        free = check.check.startswith(FREE_OF)
        cause = (FAULT, check.check.removeprefix(FREE_OF)) if free else (CHECK, check.check)
        if check.worse and cause not in causes:
            causes[cause] = check.target_total - check.target_passed
    if case.verdict is CaseVerdict.ERROR and not any(cause[0] == ERROR for cause in causes):
        causes[ERROR,] = 0
    if case.verdict in _JUDGED_WORSE and not causes:
        causes[_largest_channel(case)] = 0
    elif case.verdict in _JUDGED_WORSE and _numbers_unsaid(case, causes):
        causes[CHANNEL, "numbers"] = 0
    return causes


def _quiet_cause(case: CaseJudgement, cause: Cause, proven: set[Cause]) -> bool:
    """Whether a cause counts for a case that did not move."""
    if cause[0] in (FAULT, MOVED):
        return True
    return case.verdict is CaseVerdict.CHANGED and cause[0] != CHANNEL and cause in proven


def _numbers_unsaid(case: CaseJudgement, causes: Iterable[Cause]) -> bool:
    """Whether the numbers moved, and nothing but the looks of the answers is told of the case."""
    numbers = case.channels.get("numbers")
    return numbers is not None and numbers.z >= _MOVED and all(of_looks(cause) for cause in causes)


def _largest_channel(case: CaseJudgement) -> Cause:
    """The channel with the largest effect, one of facts before one of wording; none where no channel took part."""
    name = max(
        case.channels,
        key=lambda name: (name in _OF_FACTS and case.channels[name].z >= _MOVED, case.channels[name].z, name),
        default=None,
    )
    return ("moved_on",) if name is None else (CHANNEL, name)


def _fact_channel(case: CaseJudgement) -> Cause:
    """The channel of lacking facts: numbers or names, whichever moved more."""
    moved = [name for name in _FACT_CHANNELS if name in case.channels and case.channels[name].z > 0]
    return (CHANNEL, max(moved, key=lambda name: case.channels[name].z, default="stated"))


def _single_checks_by_name(
    by_cause: Mapping[Cause, list[CaseJudgement]], causes: Mapping[str, dict[Cause, int]]
) -> dict[Cause, list[CaseJudgement]]:
    """Checks that only one case has, such as `contains: 7天`, put together where others have the same name."""
    name_of = {
        cause: cause[1].partition(":")[0] for cause, cases in by_cause.items() if cause[0] == CHECK and len(cases) == 1
    }
    several = {name for name, count in Counter(name_of.values()).items() if count > 1}
    merged: dict[Cause, dict[str, CaseJudgement]] = {}
    for cause, cases in by_cause.items():
        name = name_of.get(cause)
        together = (CHECK, name) if name in several else cause
        for case in cases:
            of_case = causes[case.case_id]
            of_case[together] = max(of_case.get(together, 0), of_case[cause])
            merged.setdefault(together, {})[case.case_id] = case
    return {cause: sorted(cases.values(), key=_order) for cause, cases in merged.items()}


def _folded(
    by_cause: Mapping[Cause, Sequence[CaseJudgement]], causes: Mapping[str, Mapping[Cause, int]]
) -> tuple[dict[Cause, list[CaseJudgement]], dict[Cause, set[Cause]]]:
    """The causes that nothing else explains, with their cases; and by cause, what it explains in at least one case."""
    counted: dict[str, dict[Cause, int]] = {}
    for cause, cases in by_cause.items():
        for case in cases:
            counted.setdefault(case.case_id, {})[cause] = causes[case.case_id][cause]
    roots: dict[Cause, list[CaseJudgement]] = {}
    consequences: dict[Cause, set[Cause]] = {}
    for cause, cases in by_cause.items():
        above = {case.case_id: explained_by(cause, counted[case.case_id]) for case in cases}
        left = [case for case in cases if not above[case.case_id]]
        if left:
            # A check is what the project asks for: one that fails for more reasons than one is told in full.
            roots[cause] = list(cases) if cause[0] == CHECK else left
        for root in set().union(*above.values()):
            consequences.setdefault(root, set()).add(cause)
    return roots, consequences


def _coinciding(by_cause: Mapping[Cause, Sequence[CaseJudgement]]) -> list[list[Cause]]:
    """Causes that stand in the same cases, together, the likeliest first."""
    together: dict[tuple[str, ...], list[Cause]] = {}
    for cause, cases in by_cause.items():
        together.setdefault(tuple(case.case_id for case in cases), []).append(cause)
    return [by_likelihood(causes) for causes in together.values()]


def _cluster(
    same: Sequence[Cause],
    cases: Sequence[CaseJudgement],
    causes: Mapping[str, Mapping[Cause, int]],
    consequences: Mapping[Cause, set[Cause]],
    instead: Mapping[Cause, Mapping[Cause, Sequence[CaseJudgement]]],
) -> Cluster:
    cause = same[0]
    words = _words(cause, cases)
    explained = set().union(*(consequences.get(one, set()) for one in same)) - set(same)
    also = [*same[1:], *by_likelihood(explained)]
    rest = [pair for one in same for pair in sorted(instead.get(one, {}).items())]
    titles = dict.fromkeys(
        (
            *(in_some_only(len(some), _words(other, some).title) for other, some in rest),
            *(_words(other, cases).title for other in also if other not in dict(rest)),
        )
    )
    shown = {case.case_id: causes[case.case_id][cause] for case in cases if cause in causes[case.case_id]}
    for other, some in rest:
        shown |= {case.case_id: causes[case.case_id][other] for case in some if case.case_id not in shown}
    return Cluster(
        cause=cause,
        title=words.title,
        next_step=words.next_step,
        case_ids=tuple(case.case_id for case in cases),
        samples=sum(shown.values()),
        verdict=cases[0].verdict,
        also=tuple(title for title in titles if said(title) != said(words.title)),
        at_once=any((FAULT, kind) in same for case in cases for kind in case.not_tolerated),
    )


def _words(cause: Cause, cases: Sequence[CaseJudgement]) -> Words:
    """The words of a cause; those of a fault are with a case that has it, for it may be one of the project's own."""
    if cause[0] != FAULT:
        return words_of(cause)
    faults = (fault for case in cases for fault in case.faults if fault.finding.kind == cause[1])
    fault = next(faults, None) or catalogue().entries.get(cause[1])
    if fault is None:
        return words_of((CHECK, f"{FREE_OF}{cause[1]}"))
    return Words(Sentence(f"{cause[1]} {fault.title.en}", f"{cause[1]} {fault.title.zh}"), fault.next_step)

"""Other runs beside the one that a report is of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.report.verdict_names import CaseVerdictName, EarlierVerdictName, SuiteVerdictName


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many cases of a run have a verdict."""

    verdict: CaseVerdictName
    cases: int


@dataclass(frozen=True, slots=True)
class EarlierRunView:
    """Another comparison of the same suites: a column of the trend, or the run that this one is held against."""

    run_id: str
    started_at: float
    deployment: str
    verdict: SuiteVerdictName
    counts: tuple[VerdictCount, ...] = ()
    """Of the suites of this report."""


LETTERS: Final[Mapping[EarlierVerdictName, str]] = MappingProxyType(
    {
        "none": "-",
        "pass": "p",
        "changed": "c",
        "drift": "d",
        "fail": "f",
        "new": "n",
        "missing": "m",
        "error": "e",
        "waived": "w",
    }
)
"""One letter for each verdict, so that the trends of thousands of cases stay small."""

_NAMES: Final[Mapping[str, EarlierVerdictName]] = MappingProxyType({letter: name for name, letter in LETTERS.items()})


def trend_of(earlier: Sequence[EarlierVerdictName], verdict: CaseVerdictName) -> str:
    """A letter for each earlier run; empty where all of them said what the run itself says."""
    return "" if all(each == verdict for each in earlier) else "".join(LETTERS[each] for each in earlier)


def earlier_of(trend: str, verdict: str, runs: int) -> tuple[EarlierVerdictName, ...]:
    """The verdicts behind a trend, one for each of so many runs."""
    if not trend:
        return (cast("EarlierVerdictName", verdict),) * runs
    return tuple(_NAMES[letter] for letter in trend)


def utc_time(unix: float) -> str:
    """Date and time for a reader whose zone is not known; a dash for what is no time of the calendar."""
    try:
        return datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return "—"

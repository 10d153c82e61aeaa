"""What earlier comparisons of the same target said of each case: stored verdicts only, nothing is judged again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import dropwhile, islice
from typing import TYPE_CHECKING, Final

from promptreg.errors import UsageError
from promptreg.report.earlier import EarlierRunView, VerdictCount
from promptreg.verdict.change import Judged, change_between
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.workflow.judged_cases import judged_cases
from promptreg.workflow.views.run_diff_words import headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from promptreg.report.payload import CaseView
    from promptreg.report.verdict_names import EarlierVerdictName
    from promptreg.review.apply import Key
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.model import SuiteJudgement

EARLIER_RUNS: Final = 9
"""Earlier runs that a trend shows, the newest of them: with the run itself, ten."""

_NONE: Final = "none"


@dataclass(frozen=True, slots=True)
class _Earlier:
    view: EarlierRunView
    verdicts: Mapping[tuple[str, str], EarlierVerdictName]
    """By suite and case id."""


@dataclass(frozen=True, slots=True)
class History:
    """Earlier runs and their verdicts."""

    runs: tuple[_Earlier, ...] = ()
    """Of the same target, oldest first."""
    against: _Earlier | None = None
    """What the run is held against."""
    since: Sentence | None = None
    """What changed since then."""
    then: Mapping[Key, Judged] = field(default_factory=dict)
    """What the run that it is held against said of each case."""
    now: Mapping[Key, Judged] = field(default_factory=dict)
    """The same of the run itself."""

    def views(self) -> tuple[EarlierRunView, ...]:
        """The earlier runs as the report shows them."""
        return tuple(run.view for run in self.runs)

    def told(self, cases: Iterable[CaseView]) -> Iterator[CaseView]:
        """The cases with their verdicts in earlier runs."""
        for case in cases:
            key = case.suite, case.case_id
            view = case
            if self.runs:
                view = replace(view, earlier=tuple(run.verdicts.get(key, _NONE) for run in self.runs))
            if self.against is not None:
                was = self.against.verdicts.get(key, _NONE)
                judged = replace(self.now.get(key, Judged(case.verdict)), verdict=case.verdict)
                change = change_between(self.then.get(key), judged)
                view = replace(view, was=was, since=change.value)
            yield view


def history_of(
    store: Store, record: RunRecord, judged: Sequence[tuple[str, SuiteJudgement]], against: RunRecord | None = None
) -> History:
    """The comparisons before a run that judged its suites on its target, against the same sources.

    What the run itself shows must be in the store.

    Args:
        store: open.
        record: the run.
        judged: of each suite of the run the source and the judgement.
        against: the run to hold it against; None for the newest of the earlier ones.

    Raises:
        UsageError: `against` is the run itself, or has no verdicts on its suites.
    """
    sources = {judgement.suite: source for source, judgement in judged}
    if against is None:
        held = None
    elif against.run_id == record.run_id:
        raise UsageError(f"A run is held against another one, and --against names {record.run_id} itself.")
    else:
        held = _earlier(store, against, sources)
        if held is None:
            raise UsageError(
                f"Run {against.run_id} has no verdicts on the suites of run {record.run_id} against the same source. "
                f"`promptreg report {against.run_id}` judges it without any calls."
            )
    begun_before = islice(dropwhile(lambda each: each.run_id != record.run_id, store.runs()), 1, None)
    before = (each for each in begun_before if each.kind == "compare" and each.deployment == record.deployment)
    found = (earlier for each in before if (earlier := _earlier(store, each, sources)) is not None)
    runs = tuple(islice(found, EARLIER_RUNS))[::-1]
    held = held or next(reversed(runs), None)
    if held is None:
        return History(runs)
    then, now = (
        _judged(store, run_id, sources, verdicts)
        for run_id, verdicts in (
            (held.view.run_id, held.verdicts),
            (record.run_id, {(s.suite, case.case_id): case.verdict.value for _, s in judged for case in s.cases}),
        )
    )
    changes = Counter(change_between(then.get(key), now.get(key)) for key in {**then, **now})
    return History(runs, held, headline(changes), then, now)


def _judged(store: Store, run_id: str, sources: Mapping[str, str], verdicts: Mapping[Key, str]) -> dict[Key, Judged]:
    """What a run said of the cases of some suites, with what it rests on where the store has that."""
    shown = (case for case in store.shown(run_id) if sources.get(case.suite) == case.source)
    known = judged_cases(shown, store.passes_begun(run_id))
    return {key: replace(known.get(key, Judged(verdict)), verdict=verdict) for key, verdict in verdicts.items()}


def _earlier(store: Store, record: RunRecord, sources: Mapping[str, str]) -> _Earlier | None:
    """A run with its verdicts on some suites; None when it has none."""
    found = {
        (suite, case_id): verdict
        for suite, source in sources.items()
        for case_id, verdict in store.verdicts(record.run_id, suite, source).items()
    }
    if not found or record.verdict is None:
        return None
    verdicts: dict[tuple[str, str], EarlierVerdictName] = {
        key: CaseVerdict(verdict).value for key, verdict in found.items()
    }
    counts = Counter(verdicts.values())
    view = EarlierRunView(
        run_id=record.run_id,
        started_at=record.started_at,
        deployment=record.deployment,
        verdict=SuiteVerdict(record.verdict).value,
        counts=tuple(VerdictCount(each.value, counts[each.value]) for each in CaseVerdict if counts[each.value]),
    )
    return _Earlier(view, verdicts)

"""Two stored comparisons: which cases changed their verdict, and what changed between the runs. Nothing is called.

The base is what each run's last judgement said of each case, against the source. How answers changed is only told, in
the words of `baseline diff`; whether they drifted is what the verdicts say.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean
from promptreg.deployment.reader import read_exchange
from promptreg.errors import UsageError
from promptreg.report.answers import answer_groups
from promptreg.text.sentence import Sentence
from promptreg.verdict.change import Change, change_between
from promptreg.workflow.baselines.told_answers import told_answers, told_facts
from promptreg.workflow.criteria import check_changes, rule_changes
from promptreg.workflow.criteria_words import criteria_notes
from promptreg.workflow.judged_cases import judged_cases
from promptreg.workflow.views.deployments import target_view
from promptreg.workflow.views.run_diff_model import CaseDiff, DiffedRun, RunDiff, SettingChange
from promptreg.workflow.views.run_diff_words import headline, run_notes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json, JsonObject
    from promptreg.report.payload import SettingGroup
    from promptreg.store.reviews import ShownCase
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store

RUN_DIFF_SCHEMA: Final = "promptreg.run-diff/1"
"""Name and version of the form of `diff --json`. It grows by new keys only."""

_ORDER: Final = tuple(Change)


def run_diff(store: Store, old: RunRecord, new: RunRecord, suites: Collection[str] = ()) -> RunDiff:
    """What changed from one comparison to another.

    Args:
        store: open.
        old: the earlier run, or the one to hold the other against.
        new: the later run.
        suites: only these; empty for all that both have.

    Raises:
        UsageError: a run has no verdicts yet, both are one, or they share no suite, or not one that was asked for.
    """
    if old.run_id == new.run_id:
        raise UsageError(f"Both names mean run {old.run_id}: name two runs. `promptreg runs` lists them.")
    shown = [_shown(store, record) for record in (old, new)]
    both, only_one = _suites(shown, suites)
    sides = [_side(store, record, cases, both) for record, cases in zip((old, new), shown, strict=True)]
    found = RunDiff(sides[0], sides[1], both, only_one, tuple(_cases(*sides)), tuple(_settings(store, *sides)))
    criteria = (store.criteria(old.run_id), store.criteria(new.run_id))
    otherwise = tuple(criteria_notes(sides[0].shown, sides[1].shown, criteria, old.run_id))
    found = replace(found, criteria=criteria, judged_otherwise=otherwise)
    counts = Counter(case.change for case in found.cases)
    return replace(found, sentence=headline(counts), notes=tuple(run_notes(found)))


def run_diff_json(store: Store, diff: RunDiff) -> JsonObject:
    """The object of `diff --json`."""
    counts = Counter(case.change for case in diff.cases)
    table: list[Json] = [
        {"verdict_a": old, "verdict_b": new, "cases": number} for (old, new), number in diff.verdicts().items()
    ]
    settings: list[Json] = [
        {"group": each.group, "name": each.name, "a": each.old, "b": each.new} for each in diff.settings
    ]
    return {
        "schema": RUN_DIFF_SCHEMA,
        "sentence": diff.sentence.en,
        "sentence_zh": diff.sentence.zh,
        "exit_code": int(diff.exit_code),
        "run_a": diff.old.to_json(),
        "run_b": diff.new.to_json(),
        "suites": list(diff.suites),
        "suites_left_out": list(diff.left_out),
        "notes": [{"sentence": note.en, "sentence_zh": note.zh} for note in (*diff.judged_otherwise, *diff.notes)],
        "counts": {change.value: counts[change] for change in Change},
        "verdicts": table,
        "settings": settings,
        "rules": [{"name": each.name, "a": each.old, "b": each.new} for each in rule_changes(*diff.criteria)],
        "cases": [_case_json(store, diff, case) for case in diff.cases],
    }


def answers_change(store: Store, diff: RunDiff, case: CaseDiff) -> Sentence | None:
    """How a case's most frequent answer changed between the runs, with the facts that differ.

    Returns:
        None for a case that is as before, and where a run has no samples of it.
    """
    if case.change is Change.SAME:
        return None
    old, new = (_answers(store, side.record.run_id, case) for side in (diff.old, diff.new))
    if not old or not new:
        return None
    before, after = answer_groups(old), answer_groups(new)
    told, now = told_answers(before, len(old)), told_answers(after, len(new))
    facts = told_facts(before, after)
    if told == now:
        return Sentence(f"{told.en}, in both runs", f"{told.zh}，两次运行相同")
    return Sentence(f"{told.en} → {now.en}{facts.en}", f"{told.zh} → {now.zh}{facts.zh}")


def _case_json(store: Store, diff: RunDiff, case: CaseDiff) -> JsonObject:
    said = answers_change(store, diff, case)
    sides = {
        name: None if shown is None else {"sentence": shown.sentence, "sentence_zh": shown.sentence_zh}
        for name, shown in (("a", case.old), ("b", case.new))
    }
    verdicts = case.verdicts
    return {
        "suite": case.suite,
        "case_id": case.case_id,
        "change": case.change.value,
        "verdict_a": verdicts[0],
        "verdict_b": verdicts[1],
        **sides,
        "golden_moved": case.golden_moved,
        "asked_otherwise": case.asked_otherwise,
        "checks": [{"a": change.old, "b": change.new} for change in case.checks],
        "answers": None if said is None else {"sentence": said.en, "sentence_zh": said.zh},
    }


def _answers(store: Store, run_id: str, case: CaseDiff) -> list[Answer | None]:
    return [read_exchange(sample.attempts[-1]).answer for sample in store.samples(run_id, case.suite, case.case_id)]


def _shown(store: Store, record: RunRecord) -> tuple[ShownCase, ...]:
    shown = store.shown(record.run_id)
    if not shown:
        raise UsageError(
            f"Run {record.run_id} has no verdicts yet. `promptreg report {record.run_id}` judges it without any calls."
        )
    return shown


def _suites(shown: Sequence[Sequence[ShownCase]], wanted: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The suites that both runs have, and those that only one has."""
    old, new = ({case.suite for case in cases} for cases in shown)
    for name in wanted:
        if name not in old & new:
            where = "only one of the runs has it" if name in old | new else "neither run has it"
            raise UsageError(f"There is no suite {name!r} to compare: {where}.{did_you_mean(name, old & new)}")
    if not old & new:
        raise UsageError(
            f"The runs have no suite in common: one has {', '.join(sorted(old))}, the other {', '.join(sorted(new))}."
        )
    both = tuple(sorted(set(wanted) or old & new))
    return both, () if wanted else tuple(sorted(old ^ new))


def _side(store: Store, record: RunRecord, shown: Sequence[ShownCase], suites: Collection[str]) -> DiffedRun:
    cases = [case for case in shown if case.suite in suites]
    begun = store.passes_begun(record.run_id)
    return DiffedRun(
        record=record,
        sources=tuple(sorted({case.source for case in cases})),
        passes=max((begun.get(suite, 0) for suite in suites), default=0),
        shown={(case.suite, case.case_id): case for case in cases},
        judged=judged_cases(cases, begun),
        asked={(case.suite, case.case_id): case.request_sha256 for case in store.cases(record.run_id)},
    )


def _cases(old: DiffedRun, new: DiffedRun) -> Iterator[CaseDiff]:
    found = [_case(key, old, new) for key in {**new.shown, **old.shown}]
    yield from sorted(found, key=_place)


def _place(case: CaseDiff) -> tuple[int, float, str, str]:
    severity = case.new.severity if case.new is not None else 0.0
    return (_ORDER.index(case.change), -severity, case.suite, case.case_id)


def _case(key: tuple[str, str], old: DiffedRun, new: DiffedRun) -> CaseDiff:
    before, now = old.shown.get(key), new.shown.get(key)
    asked = old.asked.get(key), new.asked.get(key)
    moved = before is not None and now is not None and before.golden_sha256 != now.golden_sha256
    return CaseDiff(
        suite=key[0],
        case_id=key[1],
        change=change_between(old.judged.get(key), new.judged.get(key)),
        old=before,
        new=now,
        golden_moved=moved,
        asked_otherwise=None not in asked and asked[0] != asked[1],
        checks=() if before is None or now is None else check_changes(before.criteria, now.criteria),
    )


def _settings(store: Store, old: DiffedRun, new: DiffedRun) -> Iterator[SettingChange]:
    """What differs between the runs, and is compared at all: not the times, the runs' names, the addresses."""
    sides = [_settings_of(store, side) for side in (old, new)]
    for key in dict.fromkeys((*sides[0], *sides[1])):
        before, now = sides[0].get(key), sides[1].get(key)
        if before != now:
            yield SettingChange(*key, before, now)


def _settings_of(store: Store, side: DiffedRun) -> dict[tuple[SettingGroup, str], str]:
    record = side.record
    found: dict[tuple[SettingGroup, str], str] = {
        ("deployment", "name"): record.deployment,
        ("run", "source"): ", ".join(side.sources),
    }
    if isinstance(select := record.options.get("select"), str):
        found["run", "select"] = select
    view = target_view(record, store.passes_begun(record.run_id).values(), ())
    found.update({(each.group, each.name): each.value for each in view.settings if each.compared})
    return found

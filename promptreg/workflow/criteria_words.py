"""What two runs were judged with otherwise, in words: it is told before a difference is called drift."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.workflow.criteria import check_changes, rule_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.store.reviews import ShownCase
    from promptreg.workflow.criteria import CheckChange, RuleChange

    Shown = Mapping[tuple[str, str], ShownCase]

_NAMED: Final = 5
"""Changed checks that are named; the others are counted."""
_COLUMNS: Final = 60


def criteria_notes(old: Shown, new: Shown, rules: tuple[str | None, str | None], old_run: str) -> Iterator[Sentence]:
    """What the judgements of two runs do not share: checks of cases that both have, thresholds, or that it is unknown.

    Args:
        old: the cases of the earlier run, by suite and case id.
        new: those of the later one.
        rules: what each run as a whole was judged with.
        old_run: id of the earlier run.
    """
    both = sorted(old.keys() & new.keys())
    if rules[0] is None and rules[1] is not None:
        yield Sentence(
            f"What run {old_run} was judged with is not kept, since an older promptreg judged it: whether checks or "
            f"thresholds changed since cannot be said. `promptreg report {old_run}` judges it with those of now.",
            f"运行 {old_run} 由旧版 promptreg 判定，没有保存当时的检查项和阈值，无法得知它们是否有变。"
            f"`promptreg report {old_run}` 会用现在的检查项和阈值重新判定它。",
        )
        return
    changes = [
        (f"{suite}/{case_id}", change)
        for suite, case_id in both
        for change in check_changes(old[suite, case_id].criteria, new[suite, case_id].criteria)
    ]
    if changes:
        yield _told_checks(changes)
    if rules_changed := rule_changes(*rules):
        yield _told_rules(rules_changed)


def _told_checks(changes: Sequence[tuple[str, CheckChange]]) -> Sentence:
    told = [_told_check(preview(key, _COLUMNS), change) for key, change in changes[:_NAMED]]
    more = len(changes) - len(told)
    more_en, more_zh = (f"; and {more} more", f"；另有 {more} 处") if more else ("", "")
    return Sentence(
        f"Checks changed between the runs, which alone can change verdicts: "
        f"{'; '.join(each.en for each in told)}{more_en}.",
        f"两次运行之间检查项有变，仅此就可能改变判定：{'；'.join(each.zh for each in told)}{more_zh}。",
    )


def _told_check(key: str, change: CheckChange) -> Sentence:
    old, new = (None if label is None else preview(label, _COLUMNS) for label in change)
    if old is None:
        return Sentence(f"the check {new} of case {key} was added", f"用例 {key} 新增检查项 {new}")
    if new is None:
        return Sentence(f"the check {old} of case {key} was taken away", f"用例 {key} 删去检查项 {old}")
    if old == new:
        return Sentence(f"what the check {old} of case {key} asks for changed", f"用例 {key} 的检查项 {old} 内容有变")
    return Sentence(f"the check {old} of case {key} is now {new}", f"用例 {key} 的检查项 {old} 改为 {new}")


def _told_rules(changes: Sequence[RuleChange]) -> Sentence:
    told = ", ".join(f"{change.name} {preview(change.old, 40)} → {preview(change.new, 40)}" for change in changes)
    return Sentence(
        f"Thresholds changed between the runs, which alone can change verdicts: {told}.",
        f"两次运行之间阈值有变，仅此就可能改变判定：{told}。",
    )

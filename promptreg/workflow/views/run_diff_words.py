"""What two runs side by side are told in: the verdict in one sentence, and what must be known beside it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.verdict.change import Change
from promptreg.verdict.gate import exit_code
from promptreg.verdict.verdicts import SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.workflow.views.run_diff_model import CaseDiff, RunDiff

TITLES: Final[Mapping[Change, Sentence]] = MappingProxyType(
    {
        Change.NEWLY_FAILING: Sentence("Newly failing", "新出现失败"),
        Change.STILL_FAILING: Sentence("Still failing", "仍然失败"),
        Change.WAIVED: Sentence("Waived since", "其间已豁免"),
        Change.FIXED: Sentence("Fixed", "已修复"),
        Change.APPROVED: Sentence(
            "Approved since: the golden changed, not the answers", "其间已批准：变的是基准输出，不是回答"
        ),
        Change.UNPROVEN: Sentence("No longer found to fail, but not shown to be fixed", "未再判为失败，但未证实已修复"),
        Change.NEW: Sentence("Compared for the first time", "首次比较"),
        Change.GONE: Sentence("No longer compared", "不再比较"),
        Change.SAME: Sentence("As before", "与之前相同"),
    }
)
"""Above each list of cases."""

# One case and several, after the number; the first part says what is counted.
_PARTS: Final[Mapping[Change, tuple[str, str, str]]] = MappingProxyType(
    {
        Change.NEWLY_FAILING: ("newly fails", "newly fail", "新出现失败"),
        Change.FIXED: ("is fixed", "are fixed", "已修复"),
        Change.APPROVED: ("passes since it was approved", "pass since they were approved", "因其间批准而通过"),
        Change.UNPROVEN: (
            "no longer fails but is not shown to be fixed",
            "no longer fail but are not shown to be fixed",
            "未再判为失败，但未证实已修复",
        ),
        Change.STILL_FAILING: ("still fails", "still fail", "仍然失败"),
        Change.WAIVED: ("was waived", "were waived", "其间已豁免"),
        Change.NEW: ("is new", "are new", "是新的"),
        Change.GONE: ("is no longer compared", "are no longer compared", "不再比较"),
        Change.SAME: ("as before", "as before", "与之前相同"),
    }
)

_NAMED: Final = 5
_NAME_COLUMNS: Final = 40


def headline(counts: Mapping[Change, int]) -> Sentence:
    """How many cases newly fail, are fixed, still fail, and so on; kinds without a case are left out."""
    failing = counts.get(Change.NEWLY_FAILING, 0)
    first = _PARTS[Change.NEWLY_FAILING]
    parts_en = [f"{counted(failing, 'case')} {first[failing != 1]}" if failing else "No case newly fails"]
    parts_zh = [f"{failing} 个用例{first[2]}" if failing else "没有用例新出现失败"]
    for change, (one, several, zh) in _PARTS.items():
        number = counts.get(change, 0)
        if number and change is not Change.NEWLY_FAILING:
            parts_en.append(f"{number} {one if number == 1 else several}")
            parts_zh.append(f"{number} 个{zh}")
    return Sentence(f"{', '.join(parts_en)}.", f"{'，'.join(parts_zh)}。")


def run_notes(diff: RunDiff) -> Iterator[Sentence]:
    """What makes verdicts of the two runs hard to compare, and what they do not say."""
    if moved := [case for case in diff.cases if case.golden_moved]:
        named = _names(moved)
        yield Sentence(
            f"{counted(len(moved), 'case')} {'was' if len(moved) == 1 else 'were'} judged against another golden "
            f"({named}). `promptreg report {diff.old.record.run_id}` judges the first run against the goldens of now.",
            f"{len(moved)} 个用例所依据的基准输出不同（{named}）。`promptreg report {diff.old.record.run_id}` "
            "会用现在的基准输出重新判定前一次运行。",
        )
    if asked := [case for case in diff.cases if case.asked_otherwise]:
        named = _names(asked)
        yield Sentence(
            f"{counted(len(asked), 'case')} {'was' if len(asked) == 1 else 'were'} asked otherwise ({named}).",
            f"{len(asked)} 个用例的请求不同（{named}）。",
        )
    if diff.left_out:
        named = ", ".join(preview(suite, _NAME_COLUMNS) for suite in diff.left_out)
        yield Sentence(
            f"Left out, since only one of the runs has it: {named}.", f"以下测试集只在一次运行中，未作比较：{named}。"
        )
    if _worse_as_a_whole(diff):
        old, new = diff.old.record.verdict, diff.new.record.verdict
        yield Sentence(
            f"The verdict over all went from {old} to {new} though no case newly fails: the answers moved as a whole, "
            "or there are too few of them to decide.",
            f"虽然没有用例新出现失败，但总体判定由 {old} 变为 {new}：回答整体发生了移动，或数量不足以下结论。",
        )


def _worse_as_a_whole(diff: RunDiff) -> bool:
    old, new = diff.old.record.verdict, diff.new.record.verdict
    if old is None or new is None or old == new or any(case.change is Change.NEWLY_FAILING for case in diff.cases):
        return False
    return (
        exit_code([SuiteVerdict(old)], allow_inconclusive=False) == 0
        and exit_code([SuiteVerdict(new)], allow_inconclusive=False) != 0
    )


def _names(cases: Sequence[CaseDiff]) -> str:
    shown = ", ".join(preview(case.key, _NAME_COLUMNS) for case in cases[:_NAMED])
    return shown + (", …" if len(cases) > _NAMED else "")

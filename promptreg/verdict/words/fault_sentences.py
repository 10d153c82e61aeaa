"""What verdicts say of serving faults, in English and Chinese."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.scoring.faults.catalogue import catalogue
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.evidence import FREE_OF
from promptreg.verdict.model import unseen_below
from promptreg.verdict.words.case_sentences import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.faults.case import CaseFaults, FaultPasses
    from promptreg.scoring.faults.model import Finding
    from promptreg.verdict.model import CheckOutcome


def kind_name(kind: str) -> Sentence:
    """A kind with its title: F01 (One symbol repeated)."""
    entry = catalogue().entries.get(kind)
    if entry is None:
        return Sentence(kind, kind)
    return Sentence(f"{kind} ({entry.title.en})", f"{kind}（{entry.title.zh}）")


def case_not_tolerated(found: Sequence[FaultPasses], faults: CaseFaults) -> Sentence:
    """Verdict `fail` without a test: names the kind that is in the most calls, and the others after it."""
    first = found[0]
    seen = _seen(first, faults)
    others_en = "".join(f" Also {_kind_and_count(one, faults).en}." for one in found[1:])
    others_zh = "".join(f"还有 {_kind_and_count(one, faults).zh}。" for one in found[1:])
    entry = catalogue().entries.get(first.kind)
    step_en, step_zh = (f" {entry.next_step.en}", entry.next_step.zh) if entry is not None else ("", "")
    return Sentence(
        f"{seen.en}; there is no tolerance for this kind, so no test was needed.{others_en}{step_en}",
        f"{seen.zh}；此类故障零容忍，无需检验。{others_zh}{step_zh}",
    )


def case_fails(worse: Sequence[CheckOutcome], surprise: Sentence) -> Sentence:
    """Verdict `fail` by the regression test, where freedom from a fault got worst."""
    first = worse[0]
    name = kind_name(first.check.removeprefix(FREE_OF))
    more_en = f" ({len(worse) - 1} more got worse)" if len(worse) > 1 else ""
    more_zh = f"（另有 {len(worse) - 1} 项变差）" if len(worse) > 1 else ""
    target, source = first.target_total - first.target_passed, first.source_total - first.source_passed
    there = Sentence(
        f"in {source} of {counted(first.source_total, 'source call')}",
        f"在源部署 {first.source_total} 次调用中出现 {source} 次",
    )
    if not source:
        there = Sentence(_in_none(first.source_total, "source call"), f"源部署 {first.source_total} 次调用中从未出现")
    return Sentence(
        f"{name.en} was seen in {target} of {counted(first.target_total, 'target call')} and {there.en}{more_en}: "
        f"{surprise.en}. Fix the deployment before the switch.",
        f"{name.zh}在目标部署 {first.target_total} 次调用中出现 {target} 次，{there.zh}{more_zh}：{surprise.zh}。"
        "切换之前请先修复部署。",
    )


def case_has_faults(found: Sequence[FaultPasses], faults: CaseFaults, *, alone: bool) -> Sentence:
    """Faults of severity E that only the target shows.

    Args:
        found: at least one, those in the most calls first.
        faults: of the case.
        alone: whether nothing else was proven of the case.
    """
    first = found[0]
    seen = _seen(first, faults)
    others_en = "".join(f" Also {_kind_and_count(one, faults).en}." for one in found[1:])
    others_zh = "".join(f"还有 {_kind_and_count(one, faults).zh}。" for one in found[1:])
    if not alone:
        return Sentence(f"{seen.en}.{others_en}", f"{seen.zh}。{others_zh}")
    return Sentence(
        f"{seen.en}; that is not proof of a regression, but look at it.{others_en}",
        f"{seen.zh}；这还不能证明变差，但需要查看。{others_zh}",
    )


def texts_known(n: int, m: int) -> Sentence:
    """What remains of a `pass` beside a fault."""
    return Sentence(
        "The text of the target answer is among those of the source."
        if m == 1
        else f"The texts of the {m} target answers are all among those of the source.",
        f"目标部署 {m} 条回答的文字都在源部署 {n} 条回答中出现过。",
    )


def faults_unproven(case_ids: Sequence[str]) -> Sentence:
    """Cases whose only finding is a serving fault, of which chance cannot be excluded. Without a full stop."""
    shown = ", ".join(case_ids[:3]) + (", …" if len(case_ids) > 3 else "")
    return Sentence(
        f"Serving faults that only the target shows, without proof of a regression, in "
        f"{counted(len(case_ids), 'case')} ({shown}); look at {'it' if len(case_ids) == 1 else 'them'}",
        f"有 {len(case_ids)} 个用例出现只见于目标部署的服务故障，尚不能证明变差（{shown}）；请查看",
    )


def of_suite(finding: Finding) -> Sentence:
    """A fault that only all cases together show."""
    name, seen = kind_name(finding.kind), finding.evidence
    return Sentence(
        f"{name.en}, over all cases: {finding.where}: {seen.en}. It changes no verdict.",
        f"{name.zh}，汇总全部用例：{finding.where}：{seen.zh}。不影响判定。",
    )


def not_seen(calls: int, *, others: bool) -> Sentence:
    """How rare a kind must be that was not seen in so many calls: at 95 %, below 1 − 0.05^(1/n).

    Args:
        calls: target calls that were looked at, at least 1.
        others: whether some kinds were seen.
    """
    below = percent(unseen_below(calls) or 1.0)
    return Sentence(
        f"No {'other ' if others else ''}kind of serving fault was seen in {counted(calls, 'target call')}, so each "
        f"is in fewer than {below} of such calls (95 % confidence).",
        f"目标部署 {calls} 次调用中没有出现{'其他' if others else ''}服务故障，因此每一类在此类调用中的占比低于 {below}"
        f"（95 % 置信度）。",
    )


def _seen(fault: FaultPasses, faults: CaseFaults) -> Sentence:
    """In how many calls of each side."""
    name = _name(fault, faults)
    m, n = len(fault.target), sum(value is not None for value in fault.source)
    if fault.together:
        here = Sentence(f"shows when the {m} target calls are held side by side", f"在并看目标部署 {m} 次调用时出现")
        there = Sentence(f" and not on the source ({counted(n, 'call')})", f"源部署（{n} 次调用）没有")
    else:
        count = sum(fault.target)
        here = Sentence(
            f"was seen in {count} of {counted(m, 'target call')}", f"在目标部署 {m} 次调用中出现 {count} 次"
        )
        there = Sentence(f" and {_in_none(n, 'source call')}", f"源部署 {n} 次调用中从未出现")
        if not faults.source_calls:
            there = Sentence(
                f" and {_in_none(n, 'recorded answer')} of the source",
                f"源部署 {n} 条录制的回答中从未出现",
            )
    if not n:
        there = Sentence("; the source's calls are not known", "源部署的调用未知")
    return Sentence(f"{name.en} {here.en}{there.en}", f"{name.zh}{here.zh}，{there.zh}")


def _name(fault: FaultPasses, faults: CaseFaults) -> Sentence:
    """The kind with its title, also where the kind is one of the project's own."""
    for told in faults.told:
        if told.finding.kind == fault.kind:
            return Sentence(f"{fault.kind} ({told.title.en})", f"{fault.kind}（{told.title.zh}）")
    return kind_name(fault.kind)


def _kind_and_count(fault: FaultPasses, faults: CaseFaults) -> Sentence:
    name, count, calls = _name(fault, faults), sum(fault.target), len(fault.target)
    if fault.together:
        return Sentence(f"{name.en} over {counted(calls, 'call')} together", f"{name.zh}（并看 {calls} 次调用）")
    return Sentence(f"{name.en} in {count} of {calls}", f"{name.zh}（{calls} 次中 {count} 次）")


def _in_none(number: int, noun: str) -> str:
    return f"not in the only {noun}" if number == 1 else f"in none of the {counted(number, noun)}"

"""What each suite verdict says, in English and Chinese, and what would settle an inconclusive one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.planted import FAULTS
from promptreg.verdict.words.case_sentences import percent
from promptreg.verdict.words.fault_sentences import kind_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.verdict.model import Facts, PowerOutcome


def compared(facts: Facts) -> Sentence:
    """What was compared, how often."""
    return Sentence(
        f"{counted(facts.compared, 'case')}, {counted(facts.source_passes, 'source pass')} against "
        f"{counted(facts.target_passes, 'target pass')}",
        f"{facts.compared} 个用例，源部署 {facts.source_passes} 遍对目标部署 {facts.target_passes} 遍",
    )


def which_look(facts: Facts) -> Sentence:
    """Which look decided, where there was more than one; empty otherwise."""
    if len(facts.looks) < 2 or facts.decided_at is None:
        return Sentence("", "")
    if facts.decided_at < facts.target_passes:
        return Sentence(
            f" It was decided at the look after {counted(facts.decided_at, 'target pass')}; the rest was taken to find "
            "the cases.",
            f"在目标部署跑完 {facts.decided_at} 遍时已得出结论；其余各遍用于定位用例。",
        )
    if facts.decided_at < facts.looks[-1]:
        return Sentence(
            f" It was decided at the look after {counted(facts.decided_at, 'target pass')} of {facts.looks[-1]} "
            f"planned.",
            f"计划 {facts.looks[-1]} 遍，在目标部署跑完 {facts.decided_at} 遍时已得出结论。",
        )
    return Sentence(
        f" It was decided at the last look, after {counted(facts.decided_at, 'target pass')}.",
        f"在最后一次判断（目标部署 {facts.decided_at} 遍之后）时得出结论。",
    )


def suite_drift(facts: Facts, p_value: float, listed: int) -> Sentence:
    """Verdict `DRIFT`, with the number of cases in the list."""
    if listed:
        where = Sentence(
            f"{counted(listed, 'case')} moved further than the source's own noise explains (about {percent(facts.fdr)} "
            f"false entries are to be expected in such a list). Read the worst first, then accept or fix each",
            f"{listed} 个用例的变化超出源部署自身的波动（此类清单中预计约有 {percent(facts.fdr)} 的误报）。请从最严重的"
            f"看起，逐个接受或修复",
        )
    else:
        where = Sentence(
            "The drift is spread over the suite: no single case stands out. Compare both deployments' settings, "
            "then the "
            "cases with the highest scores",
            "漂移分布在整个测试集上，没有哪个用例特别突出。请先对照两个部署的设置，再查看得分最高的用例",
        )
    what = compared(facts)
    return Sentence(
        f"The target drifted: {what.en}, p = {_p(p_value)} against a limit of {_p(facts.alpha)}. {where.en}."
        f"{which_look(facts).en}{_caveat(facts).en}",
        f"目标部署发生漂移：{what.zh}，p = {_p(p_value)}，界限为 {_p(facts.alpha)}。{where.zh}。"
        f"{which_look(facts).zh}{_caveat(facts).zh}",
    )


def suite_regression(
    facts: Facts, regression_p: float, worse: int, better: int, failed: int, *, drift: bool
) -> Sentence:
    """Verdict `REGRESSION`."""
    what = compared(facts)
    cases = (
        Sentence(f"{counted(failed, 'case')} {'fails' if failed == 1 else 'fail'}", f"{failed} 个用例失败")
        if failed
        else Sentence("no single case stands out", "没有哪个用例特别突出")
    )
    also = Sentence(" The answers drifted as well.", "此外，回答也发生了漂移。") if drift else Sentence("", "")
    return Sentence(
        f"Checks got worse on the target: {what.en}, p = {_p(regression_p)} against a limit of "
        f"{_p(facts.regression_alpha)}; {counted(worse, 'check')} lower, {better} higher, {cases.en}.{also.en} "
        f"Fix these before the switch.{which_look(facts).en}{_caveat(facts).en}",
        f"目标部署检查项变差：{what.zh}，p = {_p(regression_p)}，界限为 {_p(facts.regression_alpha)}；{worse} 项下降，"
        f"{better} 项上升，"
        f"{cases.zh}。{also.zh}切换之前请先修复。{which_look(facts).zh}{_caveat(facts).zh}",
    )


def suite_not_tolerated(
    facts: Facts, kinds: Mapping[str, int], failed: int, regression_p: float | None, *, drift: bool
) -> Sentence:
    """Verdict `REGRESSION` without a test.

    Args:
        facts: of the suite.
        kinds: kinds of faults with the number of their cases.
        failed: cases that failed by them.
        regression_p: of the regression test where that rejects too.
        drift: whether the drift test rejects too.
    """
    what = compared(facts)
    named = [(kind_name(kind), count) for kind, count in kinds.items()]
    named_en = ", ".join(f"{name.en} in {counted(count, 'case')}" for name, count in named)
    named_zh = "，".join(f"{name.zh} {count} 个用例" for name, count in named)
    also_en = also_zh = ""
    if regression_p is not None:
        also_en += f" The regression test rejects too, p = {_p(regression_p)} against {_p(facts.regression_alpha)}."
        also_zh += f"变差检验同样拒绝，p = {_p(regression_p)}，界限为 {_p(facts.regression_alpha)}。"
    if drift:
        also_en += " The answers drifted as well."
        also_zh += "此外，回答也发生了漂移。"
    caveat = _caveat(facts) if drift or regression_p is not None else Sentence("", "")
    return Sentence(
        f"The target shows serving faults that the source never shows and that are not tolerated: {named_en}. "
        f"{counted(failed, 'case')} {'fails' if failed == 1 else 'fail'} at once, without a test ({what.en}).{also_en} "
        f"Fix these before the switch.{which_look(facts).en}{caveat.en}",
        f"目标部署出现了源部署从未出现、且不容许的服务故障：{named_zh}。{failed} 个用例无需检验，直接判为失败"
        f"（{what.zh}）。{also_zh}切换之前请先修复。{which_look(facts).zh}{caveat.zh}",
    )


def suite_equivalent(facts: Facts, p_value: float, notes: Sequence[Sentence], *, faults: bool = False) -> Sentence:
    """Verdict `EQUIVALENT`. The bound on what may still have drifted is always said.

    Args:
        facts: of the suite.
        p_value: of the drift test.
        notes: what is said after it.
        faults: whether serving faults are to be looked at, so that there is something to do.
    """
    nothing = Sentence("", "") if faults else Sentence(" Nothing to do.", "无需处理。")
    what = compared(facts)
    bound = percent(facts.drifted_bound if facts.drifted_bound is not None else 1.0)
    return Sentence(
        f"No drift and no worse check: {what.en}, p = {_p(p_value)} against a limit of {_p(facts.alpha)}. At most "
        f"{bound} "
        f"of the cases can have drifted unseen (95 % confidence).{nothing.en}{_join(notes).en}{_caveat(facts).en}",
        f"没有漂移，检查项也没有变差：{what.zh}，p = {_p(p_value)}，界限为 {_p(facts.alpha)}。未被发现的漂移用例最多"
        f"占 {bound}（95 % 置信度）。"
        f"{nothing.zh}{_join(notes).zh}{_caveat(facts).zh}",
    )


def suite_inconclusive(facts: Facts, p_value: float | None, reasons: Sequence[Sentence]) -> Sentence:
    """Verdict `INCONCLUSIVE`: nothing was found, and these reasons keep that from meaning much."""
    if p_value is None:
        return Sentence(f"Nothing could be compared.{_join(reasons).en}", f"没有可比较的内容。{_join(reasons).zh}")
    what = compared(facts)
    return Sentence(
        f"No drift was found, but that proves little: {what.en}, p = {_p(p_value)}."
        f"{_join(reasons).en}{_caveat(facts).en}",
        f"没有发现漂移，但这还说明不了什么：{what.zh}，p = {_p(p_value)}。{_join(reasons).zh}{_caveat(facts).zh}",
    )


def suite_error(errors: int, total: int, limit: float) -> Sentence:
    """Verdict `ERROR`. What to do is known to whoever has the calls (see `why_failed`)."""
    return Sentence(
        f"{errors} of {counted(total, 'case')} could not be judged because answers are missing; at most "
        f"{percent(limit)} may.",
        f"{total} 个用例中有 {errors} 个因缺少回答而无法判定，允许的上限是 {percent(limit)}。",
    )


def why_failed(cases: int, staying: int) -> Sentence:
    """What to do about a suite with the verdict `ERROR`, at the end of its sentence.

    Args:
        cases: with missing answers.
        staying: how many of them would have the same calls fail again.
    """
    if not staying:
        return Sentence(
            "See why the calls failed, then take the missing answers again with --resume.",
            "请查看调用失败的原因，再用 --resume 补采缺失的回答。",
        )
    if staying == cases:
        return Sentence(
            "The same calls would fail again: correct what their errors name, then compare again.",
            "同样的调用会再次失败：请按错误信息修正，然后重新比较。",
        )
    return Sentence(
        f"In {staying} of them the same calls would fail again: correct what their errors name. The other answers can "
        "be taken again with --resume.",
        f"其中 {staying} 个用例的同样调用会再次失败：请按错误信息修正。其余缺失的回答可用 --resume 补采。",
    )


def no_case() -> Sentence:
    """There is nothing on either side."""
    return Sentence(
        "There is no case; write or select some, and record them (`promptreg record`)",
        "没有用例；请编写或选择用例，并进行录制（`promptreg record`）",
    )


def needs_target_passes(more: int, passes: int) -> Sentence:
    """Too few target passes for the plan."""
    return Sentence(
        f"{_passes_en(passes)} on the target can find regressions but never equivalence; "
        f"{counted(more, 'more target pass')} would settle it",
        f"目标部署只有 {passes} 遍，可以发现变差，但不能证明等价；再跑 {more} 遍目标部署即可得出结论",
    )


def needs_source_passes(more: int) -> Sentence:
    """Too few source passes for the plan."""
    return Sentence(
        f"The source was recorded too rarely to know its noise; {counted(more, 'more source pass')} "
        f"(`promptreg record --top-up`) would settle it",
        f"源部署录制的遍数太少，不足以了解它的波动；再录 {more} 遍源部署（`promptreg record --top-up`）即可得出结论",
    )


def plan_goes_on() -> Sentence:
    """Not the last look."""
    return Sentence(
        "The plan goes on: the remaining target passes would settle it",
        "计划尚未结束：跑完目标部署的其余各遍即可得出结论",
    )


def unjudged(case_ids: Sequence[str]) -> Sentence:
    """Cases with missing samples."""
    return Sentence(
        f"{counted(len(case_ids), 'case')} could not be judged ({_list(case_ids)}); the missing answers would settle "
        "it",
        f"{len(case_ids)} 个用例无法判定（{_list(case_ids)}）；补齐缺失的回答即可得出结论",
    )


def unrecorded(case_ids: Sequence[str], *, too_many: bool) -> Sentence:
    """Cases without a recording: named always, and an obstacle when there are many."""
    settle_en = "; recording them (`promptreg record --top-up`) would settle it" if too_many else ""
    settle_zh = "；用 `promptreg record --top-up` 录制它们即可得出结论" if too_many else ""
    return Sentence(
        f"{counted(len(case_ids), 'case')} without a recording {'was' if len(case_ids) == 1 else 'were'} not compared "
        f"({_list(case_ids)}){settle_en}",
        f"{len(case_ids)} 个用例没有录制，未作比较（{_list(case_ids)}）{settle_zh}",
    )


def gone(case_ids: Sequence[str]) -> Sentence:
    """Recorded cases that the suite no longer has."""
    return Sentence(
        f"{counted(len(case_ids), 'recorded case')} no longer in the suite: {_list(case_ids)}",
        f"{len(case_ids)} 个已录制的用例不在测试集中：{_list(case_ids)}",
    )


def lower_unproven(checks: Sequence[str], alpha: float) -> Sentence:
    """Checks with a lower pass rate on the target, which chance explains at the level of the regression test."""
    return Sentence(
        f"{counted(len(checks), 'check')} {'is' if len(checks) == 1 else 'are'} lower on the target, which is not "
        f"proof at "
        f"{_p(alpha)} ({_list(checks)})",
        f"目标部署有 {len(checks)} 项检查的通过率较低，但在 {_p(alpha)} 的水平上还不是证据（{_list(checks)}）",
    )


def thin(case_ids: Sequence[str]) -> Sentence:
    """Cases recorded in fewer passes than the rest."""
    return Sentence(
        f"{counted(len(case_ids), 'case')} {'has' if len(case_ids) == 1 else 'have'} a different number of passes than "
        f"the "
        f"rest ({_list(case_ids)}); `promptreg record --top-up` would settle it",
        f"{len(case_ids)} 个用例的遍数与其余用例不同（{_list(case_ids)}）；运行 `promptreg record --top-up` 即可得出"
        f"结论",
    )


def bound_too_wide(bound: float, limit: float, more_cases: int | None) -> Sentence:
    """The bound on drifted cases lies above what the user allows."""
    settle_en = f"; {counted(more_cases, 'more case')} would settle it" if more_cases else ""
    settle_zh = f"；再增加 {more_cases} 个用例即可得出结论" if more_cases else ""
    return Sentence(
        f"Up to {percent(bound)} of the cases may have drifted unseen, and max_drifted_fraction allows "
        f"{percent(limit)}{settle_en}",
        f"未被发现的漂移用例可能多达 {percent(bound)}，而 max_drifted_fraction 只允许 {percent(limit)}{settle_zh}",
    )


def weak_spots(outcomes: Sequence[PowerOutcome]) -> Sentence:
    """Faults that this comparison would often miss when they happen in a single case."""
    en = ", ".join(f"{FAULTS[o.fault].short.en} ({o.found} of {o.planted} found)" for o in outcomes)
    zh = "、".join(f"{FAULTS[o.fault].short.zh}（{o.planted} 次中发现 {o.found} 次）" for o in outcomes)
    return Sentence(
        f"In a single case it would often miss: {en}; a check on that case finds what distances do not",
        f"单个用例中的以下问题常会漏掉：{zh}；为该用例添加检查项可以发现距离看不到的问题",
    )


def untestable(case_ids: Sequence[str]) -> Sentence:
    """Cases in which a required fault would go unseen."""
    return Sentence(
        f"In {counted(len(case_ids), 'case')} a wrong answer or number would go unseen ({_list(case_ids)}); give "
        f"{'it' if len(case_ids) == 1 else 'them'} a check",
        f"有 {len(case_ids)} 个用例即使回答或数字错了也看不出来（{_list(case_ids)}）；请为其添加检查项",
    )


def power_too_low(outcome: PowerOutcome, more_passes: int) -> Sentence:
    """The self-test missed planted faults."""
    return Sentence(
        f"{outcome.sentence.en}, which is too rarely; {counted(more_passes, 'more target pass')}, or more source "
        f"passes, would settle it",
        f"{outcome.sentence.zh}，发现率太低；再跑 {more_passes} 遍目标部署，或增加源部署的遍数，可以得出结论",
    )


def _caveat(facts: Facts) -> Sentence:
    """What the p-value rests on, where that is not the joint permutation of passes."""
    if not facts.exchangeable:
        return Sentence(
            " The source's recording differs from itself (its first half from its second), so passes could not be "
            "exchanged: the target was only held against how far the second half lies from the first, which finds less "
            "and names no case. Record again, in passes spread over the deployment's usual loads.",
            "源部署的录制前后不一致（前半与后半不同），各遍不可互换：只能以后半与前半的距离为参照来衡量目标部署，"
            "这样发现的问题较少，也无法指出具体用例。请重新录制，并让各遍分布在部署的常见负载之下。",
        )
    if facts.joint:
        return Sentence("", "")
    return Sentence(
        f" With {facts.labellings} ways to relabel the passes each case was permuted on its own, which assumes that "
        f"calls "
        f"of one pass do not influence each other.",
        f"由于重新标记各遍的方式只有 {facts.labellings} 种，每个用例单独置换，其前提是同一遍中的调用互不影响。",
    )


def _join(sentences: Sequence[Sentence]) -> Sentence:
    return Sentence("".join(f" {s.en}." for s in sentences), "".join(f"{s.zh}。" for s in sentences))


def _list(case_ids: Sequence[str]) -> str:
    shown = ", ".join(case_ids[:3])
    return f"{shown}, …" if len(case_ids) > 3 else shown


def _p(value: float) -> str:
    return f"{value:.2g}"


def _passes_en(number: int) -> str:
    return "One pass" if number == 1 else f"{number} passes"

"""What each case verdict says, in English and Chinese.

Every sentence says what was compared, how often, how surprising and how big the difference is, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.text.counted import all_of, counted, part_in_chinese, part_of
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.verdict.model import ChannelEffect, CheckOutcome

_MESSAGE_COLUMNS: Final = 240
"""Of what a failed call said."""

NAMES: Final = {
    "embedding": Sentence("meaning", "语义"),
    "edit": Sentence("wording", "措辞"),
    "length": Sentence("length", "长度"),
    "position": Sentence("position of words", "词的位置"),
    "numbers": Sentence("numbers", "数字"),
    "negation": Sentence("negation", "否定"),
    "entities": Sentence("names", "实体"),
    "order": Sentence("order of facts", "事实的顺序"),
    "stated": Sentence("facts that all source answers state, or none", "源部署全部回答都有或都没有的事实"),
    "contract": Sentence("the form that all source answers have", "源部署全部回答共有的形式"),
    "json": Sentence("JSON values", "JSON 的值"),
    "reasoning": Sentence("length of the reasoning", "推理的长度"),
    "form": Sentence("form (finish reason, tool calls, language, refusal)", "形式（结束原因、工具调用、语言、拒答）"),
    "checks": Sentence("checks", "检查项"),
    "check": Sentence("a check", "检查项"),
    "fault": Sentence("a serving fault", "服务故障"),
    "finish_reason": Sentence("finish reason", "结束原因"),
    "tool_calls": Sentence("tool calls", "工具调用"),
    "language": Sentence("language", "语言"),
    "refusal": Sentence("refusal", "拒答"),
}
"""Channels and material effects as users call them; a name that is not here is shown as it is."""


VERDICTS_ZH: Final = {
    "pass": "通过",
    "changed": "有变化",
    "drift": "漂移",
    "fail": "变差",
    "new": "新增",
    "missing": "缺失",
    "error": "错误",
    "waived": "已豁免",
}
"""The verdicts in Chinese sentences, by their names."""


def channel_name(name: str) -> Sentence:
    """A channel or material effect in users' words."""
    return NAMES.get(name, Sentence(name, name))


def chance(p_value: float, labellings: int) -> Sentence:
    """How surprising: a p-value in words."""
    if p_value > 0.995:
        return Sentence("a difference this large is what chance gives anyway", "这样大小的差异纯属偶然也会出现")
    count = round(p_value * labellings)
    if p_value < 0.01 and count and abs(count / labellings - p_value) < 1e-9:
        return Sentence(
            f"only {count} of {labellings} ways to relabel the passes {'is' if count == 1 else 'are'} as extreme",
            f"在 {labellings} 种重新标记各遍的方式中，只有 {count} 种同样极端",
        )
    return Sentence(
        f"chance alone gives as much in {percent(p_value)} of cases", f"偶然出现同样差异的概率为 {percent(p_value)}"
    )


def chance_of_failures(p_value: float) -> Sentence:
    """How surprising it is that so many of a check's failures fall on the target."""
    return Sentence(
        f"so many failures on the target's side come about by chance with p = {p_value:.2g}",
        f"失败偶然如此集中在目标部署的概率为 p = {p_value:.2g}",
    )


def check_rates(outcome: CheckOutcome) -> Sentence:
    """One check on both sides."""
    if not outcome.source_total or not outcome.target_total:
        return Sentence(
            f"Could be scored on {counted(outcome.source_total, 'source answer')} and "
            f"{counted(outcome.target_total, 'target answer')}; not compared.",
            f"源部署可评分的回答 {outcome.source_total} 条，目标部署 {outcome.target_total} 条；未作比较。",
        )
    surprise = f" (p = {outcome.p_value:.2g})" if outcome.p_value is not None and outcome.p_value < 1 else ""
    return Sentence(
        f"Holds for {outcome.source_passed} of {counted(outcome.source_total, 'source answer')} and "
        f"{outcome.target_passed} of {counted(outcome.target_total, 'target answer')}{surprise}.",
        f"源部署{_held_zh(outcome.source_passed, outcome.source_total, ' 条回答')}，"
        f"目标部署{_held_zh(outcome.target_passed, outcome.target_total, ' 条')}{surprise}。",
    )


def _held_zh(passed: int, total: int, noun: str) -> str:
    """For how many answers a check holds: all, none, or a number of them."""
    if passed in {0, total}:
        said = "成立" if passed else "不成立"
        return f" 1{noun}{said}" if total == 1 else f"全部 {total}{noun}都{said}"
    return f" {total}{noun}中有 {passed} 条成立"


def percent(share: float) -> str:
    """A share as a percentage with as many digits as it deserves."""
    value = 100 * share
    return f"{value:.2g} %" if value < 10 else f"{value:.0f} %"


def case_passes(n: int, m: int, *, one_text: bool) -> Sentence:
    """Verdict `pass`."""
    if one_text:
        return Sentence(
            f"{all_of(n, 'source answer')} and {all_of(m, 'target answer').lower()} are the same text; nothing to do.",
            f"源部署 {n} 条回答与目标部署 {m} 条回答文字完全相同；无需处理。",
        )
    each = "The target answer" if m == 1 else f"Each of the {m} target answers"
    return Sentence(
        f"{each} is word for word one of the {counted(n, 'source answer')}; nothing to do.",
        f"目标部署 {m} 条回答都与源部署 {n} 条回答中的某一条逐字相同；无需处理。",
    )


def case_changed(n: int, m: int, different: int, surprise: Sentence, size: Sentence | None) -> Sentence:
    """Verdict `changed` with a source that varies: inside the noise, or not proven."""
    new_zh = f"目标部署 {m} 条回答中有 {different} 条的文字在源部署 {n} 条回答中没有出现过"
    if different == m:
        new_zh = f"目标部署 {m} 条回答的文字在源部署 {n} 条回答中都没有出现过"
    big_en, big_zh = (f"; {size.en}", f"；{size.zh}") if size else ("", "")
    return Sentence(
        f"{part_of(different, m, 'target answer', 'is', 'are')} worded like none of the "
        f"{counted(n, 'source answer')}, but the source varies too: {surprise.en}{big_en}. Look at it only if the "
        f"wording matters.",
        f"{new_zh}，但源部署自身也有波动：{surprise.zh}{big_zh}。只有在意措辞时才需查看。",
    )


def case_changed_deterministic(n: int, m: int, different: int, effects: Sequence[str]) -> Sentence:
    """Verdict `changed` with a source that repeats itself."""
    if effects:
        en, zh = _effects(effects)
        return Sentence(
            f"{_one_text(n)}; {part_of(different, m, 'target answer', 'differs', 'differ')}, also in {en}, "
            f"which is not proof yet. More target passes would settle it.",
            f"源部署 {n} 条回答文字完全相同；目标部署{part_in_chinese(different, m)}不同，{zh}也有变化，但证据还不足。"
            f"增加目标部署的遍数可以得出结论。",
        )
    return Sentence(
        f"{_one_text(n)}; {part_of(different, m, 'target answer', 'differs', 'differ')}, but in nothing that "
        f"matters by itself: no check, language, refusal, finish reason, tool call, length (beyond 40 %) or meaning. "
        f"Look at it only if the wording matters.",
        f"源部署 {n} 条回答文字完全相同；目标部署{part_in_chinese(different, m)}不同，但没有实质变化：检查项、语言、"
        f"拒答、结束原因、工具调用、长度（超过 40 %）和语义都未变。只有在意措辞时才需查看。",
    )


def case_drift(
    n: int, m: int, different: int, surprise: Sentence, size: Sentence | None, breach: Sentence | None
) -> Sentence:
    """Verdict `drift` with a source that varies; the first breach of what the source's answers share is quoted."""
    told_en, told_zh = _told(breach)
    big_en, big_zh = (f"; {size.en}", f"；{size.zh}") if size else ("", "")
    targets = "The target answer differs" if m == 1 else f"The {m} target answers differ"
    if different:
        never_en = f"{different} of them {'has' if different == 1 else 'have'} a text the source never gave"
        never_en = "it has a text the source never gave" if m == 1 else never_en
        never_zh = f"其中 {different} 条文字在源部署从未出现"
    else:
        never_en = "the source gave each of the texts too, though not as often or not in this form"
        never_zh = "每条文字在源部署都出现过，但频次或形式不同"
    return Sentence(
        f"{targets} from the {counted(n, 'source answer')} by more than the source varies ({never_en}): "
        f"{surprise.en}{big_en}.{told_en} Read them side by side and accept or fix the change.",
        f"目标部署 {m} 条回答与源部署 {n} 条回答的差异超出源部署自身的波动（{never_zh}）："
        f"{surprise.zh}{big_zh}。{told_zh}"
        f"请对照阅读，然后接受或修复。",
    )


def case_drift_deterministic(
    n: int, m: int, different: int, surprise: Sentence, effects: Sequence[str], breach: Sentence | None
) -> Sentence:
    """Verdict `drift` with a source that repeats itself: names the material effects."""
    told_en, told_zh = _told(breach)
    en, zh = _effects(effects)
    if not different:
        here = "the target answer" if m == 1 else f"all {m} target answers"
        return Sentence(
            f"{all_of(n, 'source answer')} and {here} are the same text, yet the target differs in {en}: "
            f"{surprise.en}.{told_en} Look at it, and accept or fix the change.",
            f"源部署 {n} 条回答与目标部署 {m} 条回答文字完全相同，但{zh}变了：{surprise.zh}。{told_zh}"
            f"请查看，然后接受或修复。",
        )
    return Sentence(
        f"{_one_text(n)}; {part_of(different, m, 'target answer', 'differs', 'differ')}, and not only in wording but "
        f"in {en}: {surprise.en}.{told_en} Read them side by side and accept or fix the change.",
        f"源部署 {n} 条回答文字完全相同；目标部署{part_in_chinese(different, m)}不同，且不只是措辞，{zh}也变了："
        f"{surprise.zh}。{told_zh}请对照阅读，然后接受或修复。",
    )


def _one_text(n: int) -> str:
    """Of a source that repeats itself."""
    return f"All {counted(n, 'source answer')} are the same text"


def _told(breach: Sentence | None) -> tuple[str, str]:
    return (f" {breach.en}", breach.zh) if breach is not None else ("", "")


def more_breaches(count: int) -> Sentence:
    """Ends a list of breaches that would be too long."""
    return Sentence(
        f"And {count} more that all source answers share.", f"另有 {count} 项源部署全部回答共有的特征不再成立。"
    )


def case_fails(worse: Sequence[CheckOutcome], surprise: Sentence) -> Sentence:
    """Verdict `fail`: counts the check that got worst, and says how many others did."""
    first, others = worse[0], len(worse) - 1
    other_en = f" {counted(others, 'other check')} got worse too." if others else ""
    other_zh = f"另有 {others} 项也变差。" if others else ""
    if first.target_passed:
        target_en = f"only {first.target_passed} of {counted(first.target_total, 'target answer')}"
        target_zh = f"目标部署 {first.target_total} 条中只有 {first.target_passed} 条成立"
    elif first.target_total == 1:
        target_en, target_zh = "not for the target answer", "目标部署的 1 条不成立"
    else:
        target_en = f"for none of {counted(first.target_total, 'target answer')}"
        target_zh = f"目标部署全部 {first.target_total} 条都不成立"
    return Sentence(
        f"Check {first.check} holds for {first.source_passed} of {counted(first.source_total, 'source answer')} but "
        f"{target_en}: {surprise.en}.{other_en} Fix the prompt or the deployment before the switch.",
        f"检查项 {first.check}：源部署{_held_zh(first.source_passed, first.source_total, ' 条回答')}，{target_zh}；"
        f"{surprise.zh}。{other_zh}切换之前请修改提示词或部署。",
    )


def case_error(n: int, missing_source: int, m: int, missing_target: int) -> Sentence:
    """Verdict `error`: what is missing. Why, and what to do, is known to whoever has the calls (see `calls_failed`)."""
    names = (Sentence("source", "源部署"), missing_source, n), (Sentence("target", "目标部署"), missing_target, m)
    sides = [(name, missing, total) for name, missing, total in names if missing]
    if not sides:
        return Sentence("Not judged: there are no answers.", "未作判定：没有回答。")
    lacking_en = " and ".join(f"{missing} of {counted(total, f'{name.en} answer')}" for name, missing, total in sides)
    lacking_zh = "，".join(f"{name.zh} {total} 条回答中缺 {missing} 条" for name, missing, total in sides)
    verb = "is" if [missing for _, missing, _ in sides] == [1] else "are"
    source_en = " Record the missing source answers with `promptreg record --top-up`." if missing_source else ""
    source_zh = "请用 `promptreg record --top-up` 补录源部署缺失的回答。" if missing_source else ""
    return Sentence(f"Not judged: {lacking_en} {verb} missing.{source_en}", f"未作判定：{lacking_zh}。{source_zh}")


def calls_failed(message: str, attempts: int, step: Sentence) -> Sentence:
    """Beside `case_error`: what most of the missing answers' calls said, and what to do about it.

    Args:
        message: what one of these calls said.
        attempts: of a call, at most.
        step: what to do.
    """
    said = preview(message.rstrip("."), _MESSAGE_COLUMNS)
    if attempts > 1:
        return Sentence(
            f"The calls failed after up to {attempts} attempts each: “{said}”. {step.en}",
            f"每次调用最多尝试 {attempts} 次后仍失败：“{said}”。{step.zh}",
        )
    return Sentence(
        f"The calls failed at their only attempt: “{said}”. {step.en}",
        f"调用失败，只尝试了一次：“{said}”。{step.zh}",
    )


TOO_LONG: Final = Sentence(
    "The prompt is too long for the deployment: give the case a `context` that shortens its conversation, or raise the "
    "window, and compare again.",
    "提示词超出部署的窗口：请为用例写上 `context` 以缩短对话，或增大窗口，然后重新比较。",
)
"""What to do where a server refuses a prompt for its length."""


def given_up(message: str, step: Sentence) -> Sentence:
    """Beside `case_error`, of a case whose calls were not made any more."""
    said = preview(message.rstrip("."), _MESSAGE_COLUMNS)
    return Sentence(
        f"The run was given up before these calls, since every other one failed: “{said}”. {step.en}",
        f"其余调用全部失败，运行在这些调用之前已中止：“{said}”。{step.zh}",
    )


def never_called() -> Sentence:
    """Beside `case_error`: the run ended before these calls."""
    return Sentence(
        "The run was interrupted before these calls; `promptreg compare --resume` makes them.",
        "运行在这些调用之前被中断；用 `promptreg compare --resume` 继续。",
    )


def case_new() -> Sentence:
    """Verdict `new`."""
    return Sentence(
        "Nothing was compared: there is no recording of this request, because the case is new or its request was "
        "changed. Record it on the source with `promptreg record --top-up`.",
        "未作比较：没有这个请求的录制，因为用例是新的，或者它的请求已改动。请用 `promptreg record --top-up` 在源部署录"
        "制。",
    )


def case_missing() -> Sentence:
    """Verdict `missing`."""
    return Sentence(
        "Nothing was compared: the case is recorded but no longer in the suite. Put it back, or remove its golden in "
        "the review.",
        "未作比较：用例有录制，但已不在测试集中。请恢复该用例，或在评审中移除它的基准输出。",
    )


def size_of(channel: str, effect: ChannelEffect) -> Sentence | None:
    """How big, as a multiple of the source's own noise.

    None where the source has no noise on the channel, and where the target is no further than that noise: the drift is
    then another one than distance, such as less variety, and a number below 1 would only contradict the sentence.
    """
    if effect.ratio is None or effect.ratio < 1:
        return None
    name, own = channel_name(channel), _own_noise(effect)
    return Sentence(
        f"in {name.en} the target lies {effect.ratio:.2g} times as far from the source as the source from itself"
        f"{own.en}",
        f"在{name.zh}上，目标部署与源部署的距离是源部署自身波动的 {effect.ratio:.2g} 倍{own.zh}",
    )


def both_noises(effect: ChannelEffect) -> Sentence | None:
    """The noise of each side on one channel; None where a side has fewer than two answers."""
    if effect.source_spread is None or effect.target_spread is None:
        return None
    return Sentence(
        f"Own noise: source {effect.source_spread:.2g}, target {effect.target_spread:.2g}.",
        f"自身波动：源部署 {effect.source_spread:.2g}，目标部署 {effect.target_spread:.2g}。",
    )


def _own_noise(effect: ChannelEffect) -> Sentence:
    """How the target's own noise compares with the source's, where it is twice as large or half as large."""
    if not effect.source_spread or effect.target_spread is None:
        return Sentence("", "")
    multiple = effect.target_spread / effect.source_spread
    if multiple >= 2:
        return Sentence(
            f", and varies {multiple:.2g} times as much in itself", f"，目标部署自身的波动是源部署的 {multiple:.2g} 倍"
        )
    if not effect.target_spread:
        return Sentence(", and does not vary in itself", "，目标部署自身没有波动")
    if multiple <= 0.5:
        return Sentence(
            f", and varies only {multiple:.2g} times as much in itself",
            f"，目标部署自身的波动只有源部署的 {multiple:.2g} 倍",
        )
    return Sentence("", "")


def _effects(effects: Sequence[str]) -> tuple[str, str]:
    names = [channel_name(effect) for effect in effects]
    return ", ".join(name.en for name in names), "、".join(name.zh for name in names)

"""What verdicts and reports say of prompts that were varied on purpose (`noise: null-perturbation`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.replay.perturb import Variant
from promptreg.suite.model import NULL_PERTURBATION
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.suite.model import Suite
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.workflow.pairing import Pairing

_NAMES: Final = {
    Variant.AS_WRITTEN: Sentence("as written", "原样"),
    Variant.SPACE: Sentence("with a trailing space", "末尾加空格"),
    Variant.NEWLINE: Sentence("with a final newline", "末尾加换行"),
    Variant.FULL_STOP: Sentence("with a full stop", "末尾加句号"),
}

_SHOWN: Final = 5
"""Case ids that a warning lists."""


def with_variation(
    judgement: SuiteJudgement, pairing: Pairing, sent: Mapping[str, Mapping[int, str]]
) -> SuiteJudgement:
    """The judgement whose sentences say which prompts were varied, and how; the same where none was.

    Args:
        judgement: of the suite.
        pairing: the suite beside its baseline.
        sent: of the target's run, the variants by case id and pass.
    """
    varied = [case.case_id for case in pairing.known if case.noise == NULL_PERTURBATION]
    if not varied and not pairing.varied_otherwise:
        return judgement
    asking = _asking(pairing.suite)
    otherwise = {case_id: _case_otherwise(asked=case_id in asking) for case_id in pairing.varied_otherwise}
    added: dict[str, Sentence] = {}
    for case_id in varied:
        target = [name for index, name in sent.get(case_id, {}).items() if index < judgement.facts.target_passes]
        added[case_id] = _case_varied(pairing.baseline.goldens[case_id].variants.values(), target)
    cases = []
    for case in judgement.cases:
        said = otherwise.get(case.case_id, case.sentence)
        if case.case_id in added:
            said = _joined(said, added[case.case_id])
        cases.append(replace(case, sentence=said))
    sentence = judgement.sentence
    if varied:
        sentence = _joined(sentence, _suite_varied(len(varied), len(pairing.known)))
    return replace(judgement, cases=tuple(cases), sentence=sentence)


def recorded_otherwise(suite: Suite, case_ids: Sequence[str]) -> Sentence:
    """The warning about cases that were recorded with another `noise` than the suite asks for now."""
    shown = ", ".join(case_ids[:_SHOWN]) + (", …" if len(case_ids) > _SHOWN else "")
    asking = _asking(suite)
    parts = {case_id in asking for case_id in case_ids}
    if len(parts) > 1:
        how = Sentence(
            f"another `noise` than the suite asks for now, some with varied prompts (`{NULL_PERTURBATION}`), some "
            "without",
            f"录制时的 `noise` 与测试集现在要求的不同，有的提示词是变化的（`{NULL_PERTURBATION}`），有的不是",
        )
    elif parts == {True}:
        how = Sentence(
            f"prompts as written, and the suite now asks for varied ones (`noise: {NULL_PERTURBATION}`)",
            f"录制时提示词原样发送，而测试集现在要求变化的提示词（`noise: {NULL_PERTURBATION}`）",
        )
    else:
        how = Sentence(
            f"varied prompts (`noise: {NULL_PERTURBATION}`), and the suite now asks for prompts as written",
            f"录制时提示词是变化的（`noise: {NULL_PERTURBATION}`），而测试集现在要求原样发送",
        )
    were, them = ("was", "it") if len(case_ids) == 1 else ("were", "them")
    return Sentence(
        f"Suite {suite.name}: {counted(len(case_ids), 'case')} {were} recorded with {how.en} ({shown}), and so not "
        f"compared. Record {them} again with `promptreg record --top-up`.",
        f"测试集 {suite.name}：有 {len(case_ids)} 个用例{how.zh}（{shown}），因此未作比较。请用 "
        "`promptreg record --top-up` 重新录制。",
    )


def _asking(suite: Suite) -> frozenset[str]:
    """Ids of the cases that ask for varied prompts now."""
    return frozenset(case.case_id for case in suite.cases if case.noise == NULL_PERTURBATION)


def _joined(first: Sentence, second: Sentence) -> Sentence:
    return Sentence(f"{first.en} {second.en}", f"{first.zh}{second.zh}")


def _suite_varied(varied: int, known: int) -> Sentence:
    which = (
        Sentence("The prompts", "提示词")
        if varied == known
        else Sentence(f"The prompts of {varied} of {counted(known, 'case')}", f"{known} 个用例中有 {varied} 个的提示词")
    )
    return Sentence(
        f"{which.en} were varied on purpose: in each pass of both sides the last user message was sent as written, "
        "with a trailing space, with a final newline or, after prose, with a full stop, drawn at random; the noise of "
        "both sides contains what such changes do.",
        f"{which.zh}是有意变化的：两个部署每一遍都随机选择，最后一条用户消息原样发送、末尾加空格、末尾加换行，或在普通文字后加"
        "句号；两个部署的波动都包含这类改动的影响。",
    )


def _case_varied(source: Iterable[str], target: Iterable[str]) -> Sentence:
    ours, theirs = _counted(source), _counted(target)
    return Sentence(
        f"Its prompt was varied on purpose; on the source: {ours.en}; on the target: {theirs.en}.",
        f"其提示词是有意变化的；源部署：{ours.zh}；目标部署：{theirs.zh}。",
    )


def _counted(variants: Iterable[str]) -> Sentence:
    counts = Counter(variants)
    named = [(counts[variant], name) for variant, name in _NAMES.items() if counts[variant]]
    return Sentence(
        ", ".join(f"{name.en} {_times(count)}" for count, name in named) or "never",
        "、".join(f"{name.zh} {count} 次" for count, name in named) or "没有发送",
    )


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _case_otherwise(*, asked: bool) -> Sentence:
    if asked:
        return Sentence(
            "Nothing was compared: the case was recorded with its prompt as written, and the suite now asks for varied "
            f"ones (`noise: {NULL_PERTURBATION}`). Record it again on the source with `promptreg record --top-up`.",
            f"未作比较：录制时提示词原样发送，而测试集现在要求变化的提示词（`noise: {NULL_PERTURBATION}`）。请用 "
            "`promptreg record --top-up` 在源部署重新录制。",
        )
    return Sentence(
        f"Nothing was compared: the case was recorded with varied prompts (`noise: {NULL_PERTURBATION}`), and the "
        "suite now asks for its prompt as written. Record it again on the source with `promptreg record --top-up`.",
        f"未作比较：录制时提示词是变化的（`noise: {NULL_PERTURBATION}`），而测试集现在要求原样发送。请用 "
        "`promptreg record --top-up` 在源部署重新录制。",
    )

"""What verdicts say of cases whose conversation was shortened for the window of a deployment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import CaseVerdict

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject
    from promptreg.suite.model import Case
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.workflow.context.contexts import FittedCase
    from promptreg.workflow.pairing import Pairing

_MOVED: Final = frozenset({CaseVerdict.CHANGED, CaseVerdict.DRIFT, CaseVerdict.FAIL, CaseVerdict.WAIVED})
_WHOLE: Final = Sentence("the whole one", "完整对话")


def with_contexts(judgement: SuiteJudgement, pairing: Pairing) -> SuiteJudgement:
    """The judgement whose cases say how their conversations were shortened; the same where no case has a context."""
    if not pairing.target.cases:
        return judgement
    by_id = {case.case_id: case for case in pairing.suite.cases}
    known = {case.case_id for case in pairing.known}
    cases = tuple(
        _with_context(one, by_id[one.case_id], pairing, known=one.case_id in known) if one.case_id in by_id else one
        for one in judgement.cases
    )
    return replace(judgement, cases=cases)


def _with_context(judgement: CaseJudgement, case: Case, pairing: Pairing, *, known: bool) -> CaseJudgement:
    source, target = pairing.source.of(case), pairing.target.of(case)
    if source is None or target is None:
        return judgement
    names = pairing.source.deployment, pairing.target.deployment
    said = judgement.sentence
    if source.problem is not None and not known:
        said = Sentence(
            f"Nothing was compared, since the source has no window for this case. {names[0]}: {source.problem.en}",
            f"未作比较，因为源部署的窗口容纳不下该用例。{names[0]}：{source.problem.zh}",
        )
    elif not known and (why := _why_new(case, source, pairing)) is not None:
        said = why
    elif target.problem is not None and known:
        said = Sentence(f"Not judged. {names[1]}: {target.problem.en}", f"未作判定。{names[1]}：{target.problem.zh}")
    elif target.refused is not None and known:
        why = target.refused.sentence
        lost = judgement.verdict is CaseVerdict.ERROR
        said = Sentence(
            f"{'Not judged.' if lost else said.en} {why.en}", f"{'未作判定。' if lost else said.zh}{why.zh}"
        )
    elif known and (more := told(source, target, judgement.verdict)) is not None:
        said = Sentence(f"{said.en} {more.en}", f"{said.zh}{more.zh}")
    return replace(judgement, sentence=said, context=sides_json(source, target))


def _why_new(case: Case, source: FittedCase, pairing: Pairing) -> Sentence | None:
    """Why a case with a recording is not compared, where that can be its context; None for any other reason."""
    if case.case_id in pairing.unasked:
        return Sentence(
            "Nothing was compared: the run did not send the target what it would be sent now, since the case, its "
            "`context` or the target's window changed. Compare again without --run.",
            "未作比较：该次运行发送给目标部署的内容与现在不同（用例、其 `context` 或目标部署的窗口已改变）。"
            "请去掉 --run 重新比较。",
        )
    golden = pairing.baseline.goldens.get(case.case_id)
    if golden is None or not golden.answers or golden.request_sha256 == source.case.request.sha256:
        return None
    return Sentence(
        "Nothing was compared: the source would now be sent something else than was recorded, since the case, its "
        "`context` or the source's window changed. Record it again on the source with `promptreg record --top-up`.",
        "未作比较：现在发送给源部署的内容与录制时不同（用例、其 `context` 或源部署的窗口已改变）。请用 "
        "`promptreg record --top-up` 在源部署重新录制。",
    )


def sides_json(source: FittedCase, target: FittedCase) -> JsonObject:
    """The `context` of a case in `compare --json`."""
    return {"strategy": target.strategy, "source": source.to_json(), "target": target.to_json()}


def cut_apart(source: FittedCase, target: FittedCase) -> bool:
    """Whether the target was sent a shortened conversation that is not what the source was sent."""
    return target.shortened and source.case.request.sha256 != target.case.request.sha256


def told(source: FittedCase, target: FittedCase, verdict: CaseVerdict) -> Sentence | None:
    """What the sentence of a compared case says beside its verdict; None where both sides were sent the same."""
    if source.case.request.sha256 == target.case.request.sha256:
        return None
    here, there = _sent(target), _sent(source)
    first = Sentence(
        f"The target was sent {here.en}, the source {there.en}",
        f"目标部署收到的是{here.zh}，源部署收到的是{there.zh}",
    )
    if verdict in _MOVED and cut_apart(source, target):
        return Sentence(
            f"{first.en}: what is missing there is a likely reason.", f"{first.zh}：缺少的内容很可能就是原因。"
        )
    if verdict in _MOVED:
        return Sentence(f"{first.en}: that is a likely reason.", f"{first.zh}：这很可能就是原因。")
    return Sentence(f"{first.en}.", f"{first.zh}。")


def _sent(side: FittedCase) -> Sentence:
    if not side.shortened:
        return _WHOLE
    total, dropped, changed = len(side.written), len(side.dropped), len(side.changed)
    en = [f"{dropped} of {counted(total, 'message')} dropped"] if dropped else []
    zh = [f"{total} 条消息中移除 {dropped} 条"] if dropped else []
    if changed:
        en.append(f"{changed} cut or replaced")
        zh.append(f"截短或替换 {changed} 条")
    return Sentence(f"a shortened conversation ({', '.join(en)})", f"缩短后的对话（{'，'.join(zh)}）")

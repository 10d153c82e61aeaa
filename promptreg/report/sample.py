"""A made-up report, for looking at the page: `python -m promptreg.report.sample [FILE]`."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib import resources
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from rapidfuzz.distance import Indel

from promptreg.answer.model import Answer, ToolCall, Usage
from promptreg.canonical import sha256_of
from promptreg.report.answers import paired_groups, spread_view
from promptreg.report.html import write_html
from promptreg.report.payload import (
    AnswerGroup,
    AttemptView,
    CaseView,
    CauseView,
    ChannelView,
    CheckView,
    DecisionView,
    DeploymentView,
    Payload,
    SampleView,
    SettingView,
    SuiteView,
)
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.shared import breaches
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.report.verdict_names import CaseVerdictName

_SEVERITY = {"fail": 90.0, "drift": 70.0, "error": 60.0, "missing": 50.0, "new": 40.0, "changed": 20.0, "waived": 10.0}
_SYSTEM = {
    "zh": "你是长河商城的客服。回答要简短、准确。",
    "en": "You are the support desk of Longriver. Be short and exact.",
}


def sample_payload() -> Payload:
    """The made-up report: fifteen cases, every verdict, both languages."""
    data = resources.files("promptreg.report").joinpath("assets", "sample.json").read_text(encoding="utf-8")
    cases = tuple(map(_case, json.loads(data)))
    numbers = {case_id: number for number, case_ids in enumerate(_CAUSES, 1) for case_id in case_ids}
    cases = tuple(replace(case, causes=(numbers[case.case_id],)) if case.case_id in numbers else case for case in cases)
    return Payload(
        title="support, gpu → ascend",
        run_id="20261201-231502-ascend-3f2a",
        created_at=1_796_166_902.0,
        verdict="REGRESSION",
        sentence=Sentence(
            "2 of 15 cases answer worse on ascend than on gpu, and 3 more have drifted beyond gpu's own noise.",
            "15 个用例中有 2 个在 ascend 上的回答比 gpu 差，另有 3 个的变化超出了 gpu 自身的波动。",
        ),
        source=_source(),
        target=_target(),
        suites=(_suite(),),
        causes=tuple(_causes()),
        cases=cases,
        warnings=(
            Sentence(
                "The system fingerprint of ascend changed during the run (fp_71c0 → fp_71c4): "
                "the server was restarted or updated.",
                "运行期间 ascend 的系统指纹发生变化（fp_71c0 → fp_71c4）：服务重启过或更新过。",
            ),
        ),
        next_steps=(
            Sentence(
                "Start with refund-window: a fact changed from 7天 to 30天 in 4 of 5 answers.",
                "先看 refund-window：5 次回答中有 4 次把 7天 改成了 30天。",
            ),
            Sentence(
                "Set the quantisation of ascend to the one of gpu, or waive the drift, and compare again.",
                "把 ascend 的量化方式改为与 gpu 一致，或豁免这些漂移，然后重新比较。",
            ),
        ),
        version="0.1.0",
    )


_CAUSES: Final = (("order-as-json",), ("refund-window",), ("complaint-letter", "legal-advice"), ("weather-tool",))
"""The cases of each made-up cause, in the order of the causes."""


def _causes() -> Iterator[CauseView]:
    told = (
        words_of(("json", "fenced")),
        words_of(("check", "contains: 7天")),
        words_of(("channel", "embedding")),
        words_of(("tool_arguments", "get_weather")),
    )
    also = ((words_of(("check", "json")).title,), (), (), ())
    for (title, next_step), others, case_ids in zip(told, also, _CAUSES, strict=True):
        verdict: CaseVerdictName = "fail" if case_ids[0] in ("order-as-json", "refund-window") else "drift"
        yield CauseView("support", title, next_step, verdict, len(case_ids), 4 * len(case_ids), others)


_DECIDED: Final = {
    "complaint-letter": DecisionView("reject", "李雷", "The order number must stay."),
}
"""Decisions that somebody made before."""


def _source() -> DeploymentView:
    return DeploymentView(
        "gpu",
        (
            SettingView("run", "recorded_at", "2026-11-28 10:02", compared=False),
            SettingView("deployment", "server", "vllm"),
            SettingView("fingerprint", "version", "0.11.2"),
            SettingView("deployment", "model", "deepseek-v3.2"),
            SettingView("fingerprint", "max_model_len", "32768"),
            SettingView("provenance", "hardware", "8 × H20 96G"),
            SettingView("provenance", "quantisation", "fp8"),
            SettingView("provenance", "parallelism", "tp8"),
            SettingView("request", "temperature", "0.7"),
            SettingView("request", "max_tokens", "512"),
            SettingView("request", "top_p", "0.95"),
            SettingView("run", "concurrency", "8"),
        ),
    )


def _target() -> DeploymentView:
    return DeploymentView(
        "ascend",
        (
            SettingView("run", "recorded_at", "2026-12-01 23:15", compared=False),
            SettingView("deployment", "server", "vllm-ascend"),
            SettingView("fingerprint", "version", "0.11.0rc3"),
            SettingView("deployment", "model", "deepseek-v3.2"),
            SettingView("fingerprint", "max_model_len", "8192"),
            SettingView("provenance", "hardware", "16 × 910B3"),
            SettingView("provenance", "quantisation", "w8a8"),
            SettingView("provenance", "cann", "8.3.RC1"),
            SettingView("provenance", "parallelism", "tp16"),
            SettingView("request", "temperature", "0.7"),
            SettingView("request", "max_tokens", "512"),
            SettingView("request", "top_p", "0.95"),
            SettingView("run", "concurrency", "8"),
        ),
    )


def _suite() -> SuiteView:
    return SuiteView(
        "support",
        "REGRESSION",
        Sentence(
            "The answers as a whole moved by more than the source's own noise (p = 0.001).",
            "整体来看，回答的变化超出了源部署自身的波动（p = 0.001）。",
        ),
        p_value=0.001,
        source_passes=10,
        target_passes=5,
        notes=(
            Sentence(
                "Self-test: “a number changed”, planted into these very answers, was found 14 of 20 times.",
                "自检：把“改动一个数字”植入这批回答后，20 次中发现 14 次。",
            ),
            Sentence(
                "Self-test: 11 other planted faults would have been found in these very answers, each at least 85% of "
                "the time.",
                "自检：另外 11 种植入这批回答的故障都能被发现，每种的发现率至少 85%。",
            ),
            Sentence(
                "10 passes on gpu and 5 on ascend; 3003 relabellings of whole passes, all of them counted.",
                "gpu 10 遍，ascend 5 遍；整遍重排共 3003 种，全部计入。",
            ),
            Sentence(
                "When nothing has changed, this comparison raises a false alarm 5 times in 100.",
                "如果什么都没有变，这样的比较每 100 次会误报 5 次。",
            ),
        ),
    )


def _breaches(source: Sequence[Answer | None], target: Sequence[Answer | None]) -> tuple[Sentence, ...]:
    answers = [answer for answer in (*source, *target) if answer is not None]
    recorded = sum(answer is not None for answer in source)
    return tuple(breach.sentence for breach in breaches(contract_of(answers), recorded)) if recorded else ()


def _case(data: dict[str, Any]) -> CaseView:
    """One made-up case. Answers are written as (text, how many passes gave it); null is a failed call."""
    source, target = _answers(data, "source"), _answers(data, "target")
    groups = paired_groups(source, target)
    channels = _channels([*source, *target], len(source))
    p_value = data.get("p_value")
    system = _SYSTEM["zh" if "zh" in data.get("tags", ()) else "en"]
    params: JsonObject = {"model": "deepseek-v3.2", "temperature": 0.7, "max_tokens": 512, "stream": True}
    return CaseView(
        suite="support",
        case_id=data["case_id"],
        verdict=data["verdict"],
        severity=_SEVERITY.get(data["verdict"], 0.0) + (1 - (p_value or 0)),
        sentence=Sentence(data["en"], data["zh"]),
        p_value=p_value,
        noise_multiple=channels[0].ratio if channels else None,
        tags=tuple(data.get("tags", ())),
        channels=channels,
        checks=(_check(*data["check"]),) if "check" in data else (),
        breaches=_breaches(source, target),
        golden=groups.golden,
        candidate=groups.candidate,
        source_samples=_samples(groups.golden, len(source), target_side=False),
        target_samples=_samples(groups.candidate, len(target), target_side=True),
        messages=({"role": "system", "content": system}, {"role": "user", "content": data["question"]}),
        source_params=params,
        target_params={**params, "top_k": -1},
        golden_sha256=_identity(data, "source"),
        candidate_sha256=_identity(data, "target") if data["source"] else None,
        decision=_DECIDED.get(data["case_id"]),
    )


def _identity(data: dict[str, Any], side: str) -> str | None:
    """What decisions on a made-up case are bound to; None for a side without answers."""
    return sha256_of([data["case_id"], data[side]]) if data[side] else None


def _answers(data: dict[str, Any], side: str) -> list[Answer | None]:
    texts = [text for text, count in data[side] for _ in range(count)]
    thoughts = cycle(data.get("reasoning", [""]))
    return [_answer(text, bool(data.get("tool")), thought) for text, thought in zip(texts, thoughts, strict=False)]


def _answer(text: str | None, as_tool: bool, reasoning: str) -> Answer | None:
    if text is None:
        return None
    if as_tool:
        arguments = json.dumps({"city": text, "day": "tomorrow"}, ensure_ascii=False)
        return Answer(tool_calls=(ToolCall("get_weather", arguments),), finish_reason="tool_calls")
    return Answer(text, reasoning, "reasoning_content" if reasoning else None, finish_reason="stop")


def _check(label: str, source_passed: int, target_passed: int) -> CheckView:
    return CheckView(
        label,
        source_passed,
        10,
        target_passed,
        5,
        worse=True,
        sentence=Sentence(
            f"Passes in {source_passed} of 10 answers on gpu and in {target_passed} of 5 on ascend.",
            f"gpu 上 10 次回答通过 {source_passed} 次，ascend 上 5 次通过 {target_passed} 次。",
        ),
    )


def _channels(answers: Sequence[Answer | None], n: int) -> tuple[ChannelView, ...]:
    texts = [answer.content + "".join(call.arguments for call in answer.tool_calls) for answer in answers if answer]
    if len(texts) != len(answers) or n == 0 or len(texts) == n:
        return ()
    distances = np.array([[Indel.normalized_distance(a, b) ** 0.5 for b in texts] for a in texts])
    spread = spread_view(distances, n)
    if spread is None:
        return ()
    noise, moved = np.mean(spread.source), np.mean(spread.target)
    ratio = float(moved / noise) if noise else float("inf") if moved else 1.0
    return (ChannelView("edit", z=float(4 * (moved - noise)), ratio=ratio, spread=spread),)


def _samples(groups: Sequence[AnswerGroup], passes: int, *, target_side: bool) -> tuple[SampleView, ...]:
    by_pass = {index: number for number, group in enumerate(groups) for index in group.passes}
    return tuple(_sample(index, by_pass.get(index), target_side) for index in range(passes))


def _sample(index: int, group: int | None, target_side: bool) -> SampleView:
    if group is None:
        overflow = "This model's maximum context length is 8192 tokens, the prompt has 9120."
        return SampleView(index, attempts=(AttemptView(0.21, 400, overflow),), in_flight=4)
    answered = AttemptView(1.4 + 0.13 * index + target_side, 200)
    retried = target_side and index == 2
    return SampleView(
        index,
        group,
        attempts=(AttemptView(10.0, 503, "The engine is starting."), answered) if retried else (answered,),
        first_token_s=0.18 + 0.01 * index,
        in_flight=8,
        usage=Usage(212, 64 + index, 276 + index),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the sample to the file named, else to reports/sample.html."""
    names = sys.argv[1:] if arguments is None else arguments
    written = write_html(sample_payload(), Path(names[0] if names else "reports/sample.html"))
    sys.stdout.write(f"{written.path} ({written.size_bytes} bytes)\n")


if __name__ == "__main__":
    main()

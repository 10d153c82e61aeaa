"""A made-up report, for looking at the page: `python -m promptreg.report.sample [FILE]`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Indel

from promptreg.answer.model import Answer, ToolCall, Usage
from promptreg.report.answers import Groups, paired_groups, spread_view
from promptreg.report.html import write_html
from promptreg.report.payload import (
    AnswerGroup,
    AttemptView,
    CaseVerdictName,
    CaseView,
    ChannelView,
    CheckView,
    DeploymentView,
    Payload,
    SampleView,
    SettingView,
    SuiteView,
)
from promptreg.text.sentence import Sentence

SEVERITY = {"fail": 90.0, "drift": 70.0, "error": 60.0, "missing": 50.0, "new": 40.0, "changed": 20.0, "waived": 10.0}

_FOLDED_REPLY = """尊敬的客户：

您好！感谢您联系长河商城。我们已经收到您关于订单 20260418 的投诉，并对由此给您带来的不便深表歉意。经核实，您的包裹在转运途中因暴雨延误，目前已到达{city}分拨中心，预计{days}内送达。

为表达歉意，我们已向您的账户发放{amount}元无门槛优惠券，有效期为{valid}。您可以在“我的—优惠券”中查看。如果届时仍未收到包裹，请直接回复本消息，我们会立即为您安排{remedy}。

根据平台规则，因天气原因造成的延误不计入商家时效考核，但我们依然会持续跟踪您的包裹，直到您确认收货为止。您也可以随时拨打客服热线查询物流状态，热线工作时间为每天 8:00 至 22:00。

祝您生活愉快！
长河商城客服"""  # noqa: E501 (a letter's paragraph is one line)


def sample_payload() -> Payload:
    """The made-up report: fifteen cases, every verdict, both languages."""
    cases = tuple(_cases())
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
                "10 passes on gpu and 5 on ascend; 3003 relabellings of whole passes, all of them counted.",
                "gpu 10 轮，ascend 5 轮；整轮重排共 3003 种，全部计入。",
            ),
            Sentence(
                "When nothing has changed, this comparison raises a false alarm 5 times in 100.",
                "如果什么都没有变，这样的比较每 100 次会误报 5 次。",
            ),
        ),
    )


def _cases() -> list[CaseView]:
    refund = "支持七天无理由退货。您可以在签收后的{days}内提交申请，我们会在 {work} 个工作日内完成退款。"
    order = '{{"order_id": "A-1042", "status": "shipped", "carrier": "{carrier}", "items": {items}}}'
    reply = {"city": "武汉", "days": "2 天", "amount": "20", "valid": "30 天", "remedy": "补发或全额退款"}
    worse = {"city": "郑州", "days": "3 天", "amount": "20", "valid": "7 天", "remedy": "补发"}
    sums = "17 × 24 = 408. Each of the four teams therefore receives 102 kits."
    thoughts = [f"17 times 24: 17 × 20 = 340, 17 × 4 = 68, {word} 408. 408 / 4 = 102." for word in ("sum", "total", "so")]
    sorry = "抱歉，我无法回答这个问题。"
    return [
        _case("refund-window", "fail", "退货期限是几天？", [refund.format(days="7天", work=work) for work in "3333333555"],
              [*[refund.format(days="30天", work="3")] * 4, refund.format(days="7天", work="3")],
              Sentence("The check contains: 7天 passes in 10 of 10 answers on gpu and in 1 of 5 on ascend.",
                       "检查项 contains: 7天 在 gpu 上 10 次全部通过，在 ascend 上 5 次只通过 1 次。"),
              check=("contains: 7天", 10, 1), p=0.0007, tags=("policy", "zh")),
        _case("order-as-json", "fail", "Give the state of order A-1042 as JSON only.",
              [order.format(carrier="SF Express", items=items) for items in "2222222222"],
              ["```json\n" + json.dumps(json.loads(order.format(carrier="SF Express", items=2)), indent=2) + "\n```"] * 3
              + [order.format(carrier="SF Express", items="2")] * 2,
              Sentence("The check json passes in 10 of 10 answers on gpu and in 2 of 5 on ascend: three answers are wrapped in a code fence.",
                       "检查项 json 在 gpu 上 10 次全部通过，在 ascend 上 5 次通过 2 次：有三次回答被包在代码块里。"),
              check=("json", 10, 2), p=0.0007, tags=("format",)),
        _case("complaint-letter", "drift", "请给订单 20260418 的客户写一封致歉信。",
              [_FOLDED_REPLY.format(**{**reply, "city": city}) for city in ("武汉", "武汉市", "武汉") * 3 + ("武汉",)],
              [_FOLDED_REPLY.format(**worse)] * 3 + [_FOLDED_REPLY.format(**{**worse, "days": "两天"})] * 2,
              Sentence("The wording moved by 6.4 times the source's own noise; a promise became weaker (full refund is gone).",
                       "措辞的变化是源部署自身波动的 6.4 倍；承诺变弱（不再提全额退款）。"),
              p=0.0007, tags=("letter", "zh")),
        _case("weather-tool", "drift", "What is the weather in Wuhan tomorrow?", ["Wuhan"] * 9 + ["武汉"], ["武汉市"] * 4 + ["Wuhan"],
              Sentence("The argument city of the tool call get_weather changed in 4 of 5 answers.",
                       "工具调用 get_weather 的参数 city 在 5 次回答中有 4 次改变。"),
              p=0.004, tags=("tools",), as_tool=True),
        _case("legal-advice", "drift", "租房合同没到期，房东要收回房子怎么办？",
              [f"您可以先与房东协商；协商不成，可要求其承担违约责任并退还押金。{end}" for end in ("", "", "祝顺利。", "", "", "", "", "", "", "")],
              [sorry, sorry, sorry, f"{sorry}请咨询律师。", "您可以先与房东协商；协商不成，可要求其承担违约责任并退还押金。"],
              Sentence("4 of 5 answers on ascend are refusals; gpu never refused.", "ascend 的 5 次回答中有 4 次拒答；gpu 从未拒答。"),
              p=0.0013, tags=("refusal", "zh")),
        _case("long-summary", "error", "Summarise the attached minutes.", ["The board approved the budget."] * 10, [None] * 4 + ["The board approved the budget."],
              Sentence("Could not be judged: 4 of 5 calls on ascend failed (the prompt is longer than the served window of 8192 tokens).",
                       "无法判定：ascend 的 5 次调用中有 4 次失败（提示词超过了服务端 8192 个词元的窗口）。"), tags=("window",)),
        _case("kit-division", "changed", "Four teams share 17 boxes of 24 kits. How many kits does each team get?", [sums] * 8 + [sums[:-1]] * 2,
              [sums] * 4 + [sums.replace("therefore receives", "receives")],
              Sentence("One answer in five is worded differently; that is inside the source's own noise.", "五次回答中有一次措辞不同，没有超出源部署自身的波动。"),
              p=0.41, tags=("reasoning",), reasoning=thoughts),
        _case("thin-space", "changed", "单价是多少？", ["单价为 128 元。"] * 10, ["单价为\u00a0128 元。"] * 5,
              Sentence("The texts look the same; a blank became a no-break space.", "两段文本看起来相同，一个空格变成了不间断空格。"), p=0.33, tags=("zh",)),
        _case("greeting-en", "changed", "Greet the customer by name.", [f"Hello Ms Chen, how can I help you{end}" for end in "???? today??"[:10]],
              ["Hello Ms Chen, how may I help you?"] * 2 + ["Hello Ms Chen, how can I help you?"] * 3,
              Sentence("Worded differently in 2 of 5 answers, inside the source's own noise.", "5 次回答中有 2 次措辞不同，没有超出源部署自身的波动。"), p=0.22),
        _case("promo-banner", "waived", "写一句双十二促销语。", ["双十二，好价不等人。"] * 6 + ["双十二，好物低价来袭。"] * 4, ["双十二狂欢，全场五折起！"] * 5,
              Sentence("Waived until 2027-01-31: marketing accepts any slogan.", "豁免至 2027-01-31：市场部接受任何标语。"), p=0.0007, tags=("zh",)),
        _case("invoice-title", "new", "开发票需要哪些信息？", [], ["需要单位名称和税号。"] * 5,
              Sentence("Not in the baseline: the request changed since it was recorded.", "基线中没有：录制之后请求有改动。")),
        _case("old-coupon", "missing", "旧版优惠券还能用吗？", ["旧版优惠券已停用。"] * 10, [],
              Sentence("In the baseline, but not in the suite any more.", "基线中有，但测试集里已经没有。")),
        *(_case(name, "pass", question, [answer] * 10, [answer] * 5, Sentence("Same answers as on the source.", "回答与源部署一致。"), p=1.0)
          for name, question, answer in (
              ("opening-hours", "客服几点上班？", "客服工作时间为每天 8:00 至 22:00。"),
              ("currency", "Which currencies do you accept?", "We accept CNY, USD and EUR."),
              ("warranty", "保修多久？", "整机保修一年，电池保修半年。"),
          )),
    ]  # fmt: skip


def _case(
    case_id: str,
    verdict: CaseVerdictName,
    question: str,
    source: Sequence[str | None],
    target: Sequence[str | None],
    sentence: Sentence,
    *,
    check: tuple[str, int, int] | None = None,
    p: float | None = None,
    tags: tuple[str, ...] = (),
    as_tool: bool = False,
    reasoning: Sequence[str] = (),
) -> CaseView:
    """One made-up case. `check` is (label, passed on the source, passed on the target)."""
    golden = [_answer(text, as_tool, reasoning[index % len(reasoning)] if reasoning else "") for index, text in enumerate(source)]
    candidate = [_answer(text, as_tool, reasoning[-1] if reasoning else "") for text in target]
    groups = paired_groups(golden, candidate)
    channels = _channels([*golden, *candidate], len(golden))
    return CaseView(
        suite="support",
        case_id=case_id,
        verdict=verdict,
        severity=SEVERITY.get(verdict, 0.0) + (1 - (p or 0)),
        sentence=sentence,
        p_value=p,
        noise_multiple=channels[0].ratio if channels else None,
        tags=tags,
        channels=channels,
        checks=() if check is None else (_check(*check),),
        golden=groups.golden,
        candidate=groups.candidate,
        source_samples=_samples(groups, golden, target_side=False),
        target_samples=_samples(groups, candidate, target_side=True),
        messages=(
            {"role": "system", "content": "你是长河商城的客服。回答要简短、准确。" if "zh" in tags else "You are the support desk of Longriver. Be short and exact."},
            {"role": "user", "content": question},
        ),
        source_params={"model": "deepseek-v3.2", "temperature": 0.7, "max_tokens": 512, "stream": True},
        target_params={"model": "deepseek-v3.2", "temperature": 0.7, "max_tokens": 512, "stream": True, "top_k": -1},
    )  # fmt: skip


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


def _samples(groups: Groups, answers: Sequence[Answer | None], *, target_side: bool) -> tuple[SampleView, ...]:
    side: tuple[AnswerGroup, ...] = groups.candidate if target_side else groups.golden
    by_pass = {index: number for number, group in enumerate(side) for index in group.passes}
    return tuple(_sample(index, by_pass.get(index), target_side) for index in range(len(answers)))


def _sample(index: int, group: int | None, target_side: bool) -> SampleView:
    if group is None:
        refused = AttemptView(0.21, 400, "HTTP 400: This model's maximum context length is 8192 tokens, the prompt has 9120.")
        return SampleView(index, attempts=(refused,), in_flight=4)
    answered = AttemptView(1.4 + 0.13 * index + target_side, 200)
    retried = target_side and index == 2
    attempts = (AttemptView(10.0, 503, "HTTP 503: the engine is starting"), answered) if retried else (answered,)
    return SampleView(
        index, group, attempts, first_token_s=0.18 + 0.01 * index, in_flight=8, usage=Usage(212, 64 + index, 276 + index)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the sample to the file named, else to reports/sample.html."""
    names = sys.argv[1:] if arguments is None else arguments
    written = write_html(sample_payload(), Path(names[0] if names else "reports/sample.html"))
    sys.stdout.write(f"{written.path} ({written.size_bytes} bytes)\n")


if __name__ == "__main__":
    main()

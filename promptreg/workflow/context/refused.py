"""What a server says that refuses a prompt as too long which was counted as fitting: both counts, side by side."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from promptreg.deployment.overflow import read_overflow
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.contexts import Refused

if TYPE_CHECKING:
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.overflow import Overflow
    from promptreg.store.store import Store
    from promptreg.workflow.context.contexts import FittedCase
    from promptreg.workflow.pairing import Pairing


def refused(side: FittedCase, deployment: str, exchange: Exchange, server: str | None = None) -> Refused | None:
    """The refusal of a fitted prompt in an exchange; None where it was answered, or refused for another reason.

    Args:
        side: what was sent.
        deployment: name of the deployment that was asked.
        exchange: the last attempt.
        server: kind of the server where it is known.
    """
    if side.fitted is None or exchange.failure is not None:
        return None
    overflow = read_overflow(exchange.status, exchange.body, server)
    if overflow is None or overflow.what == "answer":  # then `max_tokens` alone is beyond what the server allows
        return None
    return Refused(side.fitted.total, overflow.prompt, overflow.window, _sentence(side, deployment, overflow))


def with_refusals(pairing: Pairing, store: Store, run_id: str, server: str | None) -> Pairing:
    """The pairing whose target cases know with which count the target refused them.

    Args:
        pairing: of the run's suite.
        store: holds the run.
        run_id: the run of the target.
        server: kind of the target's server where it is known.
    """
    target = pairing.target
    found: dict[tuple[str, str], FittedCase] = {}
    for key, side in target.cases.items():
        if key[0] != pairing.suite.name or side.fitted is None:
            continue
        attempts = (sample.attempts[-1] for sample in store.samples(run_id, *key))
        said = next((said for last in attempts if (said := refused(side, target.deployment, last, server))), None)
        if said is not None:
            found[key] = replace(side, refused=said)
    if not found:
        return pairing
    return replace(pairing, target=replace(target, cases=MappingProxyType({**target.cases, **found})))


def _sentence(side: FittedCase, deployment: str, overflow: Overflow) -> Sentence:
    total = 0 if side.fitted is None else side.fitted.total
    budget, served = side.budget, overflow.prompt
    ours_en, ours_zh = f"promptreg counted {total} ({side.counter})", f"promptreg 计为 {total} 个（{side.counter}）"
    if served is not None and served > total:
        least_en, least_zh = ("at least ", "至少") if overflow.prompt_is_least else ("", "")
        return Sentence(
            f"`{deployment}` refuses the prompt as too long: it counts {least_en}{counted(served, 'token')} where "
            f"{ours_en}. Check `tokenizer` under [deployments.{deployment}], or raise `reserve` in the `context` by "
            f"{least_en}{served - total}.",
            f"“{deployment}”以超长为由拒绝了该提示词：它计为{least_zh} {served} 个 token，而 {ours_zh}。请检查 "
            f"[deployments.{deployment}] 的 `tokenizer`，或把 `context` 的 `reserve` 调大{least_zh} {served - total}。",
        )
    if overflow.answer is not None:
        return Sentence(
            f"`{deployment}` refuses the prompt and the answer as too long together: the request asks for up to "
            f"{counted(overflow.answer, 'token')}, and {budget.reserve} are kept free; of the prompt {ours_en}. Raise "
            "`reserve` in the `context`, or lower `max_tokens`.",
            f"“{deployment}”拒绝：提示词与回答合计超长。请求最多要 {overflow.answer} 个 token，而预留为 "
            f"{budget.reserve} 个；提示词 {ours_zh}。请调大 `context` 的 `reserve`，或减小 `max_tokens`。",
        )
    if overflow.window is not None and overflow.window < budget.window:
        return Sentence(
            f"`{deployment}` refuses the prompt as too long: it says that its window has "
            f"{counted(overflow.window, 'token')}, and {ours_en} for a window of {budget.window}. Correct `window` "
            f"under [deployments.{deployment}] or in the `context`.",
            f"“{deployment}”以超长为由拒绝了该提示词：它称窗口为 {overflow.window} 个 token，而 {ours_zh}，"
            f"按窗口 {budget.window} 处理。请改正 [deployments.{deployment}] 或 `context` 的 `window`。",
        )
    return Sentence(
        f"`{deployment}` refuses the prompt as too long, without its own count, where {ours_en} of the "
        f"{budget.tokens} that fit. Check `tokenizer` and `window` under [deployments.{deployment}], or raise "
        "`reserve` in the `context`.",
        f"“{deployment}”以超长为由拒绝了该提示词，没有给出它的计数，而 {ours_zh}，未超过上限 {budget.tokens} 个。"
        f"请检查 [deployments.{deployment}] 的 `tokenizer` 和 `window`，或调大 `context` 的 `reserve`。",
    )

"""What pooled rows come to: calls for which nothing was sent, why prompts broke off, what summaries cost."""

from __future__ import annotations

from collections import Counter as Tally
from typing import TYPE_CHECKING

from promptreg.context.trial.grid_rows import SummaryCost
from promptreg.text.counted import counted, grouped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json
    from promptreg.context.trial.grid_rows import Pooled
    from promptreg.context.trial.prefix import Cause


def refused(one: Pooled) -> int:
    """Calls for which nothing fits, or that raised."""
    return sum(row.refused for row in one.rows)


def break_even(one: Pooled) -> float | None:
    """Shortened prompts after which summaries saved as much as they cost; None without any, or without savings."""
    saved = [
        whole - call.prompt
        for row in one.rows
        for whole, call in zip(row.whole, row.calls, strict=True)
        if whole > row.budget
    ]
    cost = summary_cost(one).tokens
    return cost * len(saved) / sum(saved) if cost and sum(saved) > 0 else None


def causes(one: Pooled, granularity: int) -> Mapping[Cause, int]:
    """Why prompts did not continue the ones before, the most frequent first."""
    return dict(Tally(dict(one.reused(granularity).causes)).most_common())


def summary_cost(one: Pooled) -> SummaryCost:
    """What summaries cost in all conversations."""
    return sum((row.summaries for row in one.rows), SummaryCost())


def cost_sentence(one: Pooled) -> Sentence | None:
    """What summaries cost, and when that is paid back; None without any."""
    cost, even = summary_cost(one), break_even(one)
    if not cost.calls and not cost.asked:
        return None
    many = counted(cost.calls, "summary", "summaries")
    paid_en = "" if even is None else f", paid back after {even:.1f} shortened prompts"
    paid_zh = "" if even is None else f"，经 {even:.1f} 个缩短的提示词即可抵回"
    if cost.asked or cost.failed:
        stand = cost.refused + cost.failed
        parts = [(cost.refused, "refused", "未通过"), (cost.failed, "failed", "出错")]
        why_en = " and ".join(f"{count} {_was(count, what)}" for count, what, _ in parts if count)
        why_zh = "，".join(f"{count} 次{what}" for count, _, what in parts if count)
        own_en = f"; {stand} {'is an extract' if stand == 1 else 'are extracts'}, since {why_en}" if stand else ""
        own_zh = f"；{stand} 次改用抽取式摘要（{why_zh}）" if stand else ""
        return Sentence(
            f"{one.strategy}: {many}, for which the model was called {counted(cost.asked, 'time')}, read "
            f"{grouped(cost.input_tokens, 'token')} and wrote {cost.output_tokens:,}{paid_en}{own_en}.",
            f"{one.strategy}：{cost.calls} 次摘要，调用模型 {cost.asked} 次，读入 {cost.input_tokens:,} token、"
            f"写出 {cost.output_tokens:,} token{paid_zh}{own_zh}。",
        )
    return Sentence(
        f"{one.strategy}: {many}; a model would read {grouped(cost.input_tokens, 'token')} and write "
        f"{cost.output_tokens:,}{paid_en}.",
        f"{one.strategy}：{cost.calls} 次摘要，若由模型撰写需读入 {cost.input_tokens:,} token、"
        f"写出 {cost.output_tokens:,} token{paid_zh}。",
    )


def _was(count: int, what: str) -> str:
    return what if what == "failed" else f"{'was' if count == 1 else 'were'} {what}"


def cost_json(one: Pooled) -> dict[str, Json] | None:
    """As in the JSON output; None without any."""
    cost = summary_cost(one)
    if not cost.calls and not cost.asked:
        return None
    return {
        "calls": cost.calls,
        "model_calls": cost.asked,
        "refused": cost.refused,
        "failed": cost.failed,
        "input_tokens": cost.input_tokens,
        "output_tokens": cost.output_tokens,
        "break_even_calls": break_even(one),
    }

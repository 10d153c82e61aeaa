"""What a run would cost, before anything is sent."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from promptreg.canonical import JsonObject, canonical_json
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.contexts import UNSENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from promptreg.workflow.context.contexts import FittedCase
    from promptreg.workflow.running.collect import Order

ASSUMED_ANSWER_TOKENS = 512
"""Answer length of a case that sets no limit; the estimate says that it was assumed."""

ASSUMED_TOKENS_PER_S = 30.0
"""Decoding speed of one stream on a loaded server, tokens a second. Only the order of magnitude is meant."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Calls, tokens and time of an order.

    Tokens are estimates from the script of the text, not counts, but for cases under a context.
    """

    deployment: str
    suites: int
    cases: int
    passes: int
    calls: int
    """Samples to take; fewer than cases times passes when only the missing ones are taken."""
    prompt_tokens: int
    answer_tokens: int
    """At most: every answer as long as its limit."""
    seconds: float
    """At most, at an assumed decoding speed and the configured concurrency."""
    looks: tuple[int, ...] = ()
    """Passes after which the target is judged, the last one included; empty for a recording."""
    unfitted: tuple[tuple[str, Sentence], ...] = ()
    """Cases that will not be sent, since their conversation cannot be shortened enough: the name, and why."""
    judge_calls: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """At most, by the deployment that judges: calls beside `calls`, for `judge` checks."""

    def to_json(self) -> JsonObject:
        """The object of `--dry-run --json`."""
        return {
            "schema": "promptreg.estimate/1",
            "deployment": self.deployment,
            "suites": self.suites,
            "cases": self.cases,
            "passes": self.passes,
            "calls": self.calls,
            "estimated_prompt_tokens": self.prompt_tokens,
            "estimated_answer_tokens": self.answer_tokens,
            "estimated_seconds": round(self.seconds),
            "looks": list(self.looks),
            "unfitted": [{"case": name, "why": why.en, "why_zh": why.zh} for name, why in self.unfitted],
            "judge_calls": dict(sorted(self.judge_calls.items())),
        }


def estimate(
    order: Order, looks: tuple[int, ...] = (), judge_calls: Mapping[str, int] = MappingProxyType({})
) -> Estimate:
    """Estimate an order, judged after `looks` passes with so many calls of judges; nothing is sent."""
    calls = Counter((call.case.suite, call.case.case_id) for call in order.calls())
    sent = [order.contexts.of(case) for case in order.cases]
    # What cannot be shortened enough is not sent.
    times = [
        0 if fitted is not None and fitted.problem is not None else calls[case.suite, case.case_id]
        for case, fitted in zip(order.cases, sent, strict=True)
    ]
    prompts = [
        _tokens(canonical_json(list(case.request.messages)))
        if fitted is None or fitted.fitted is None
        else fitted.fitted.total
        for case, fitted in zip(order.cases, sent, strict=True)
    ]
    limits = [_limit({**order.deployment.request, **case.request.params}) for case in order.cases]
    answer_tokens = sum(limit * number for limit, number in zip(limits, times, strict=True))
    in_parallel = max(1, min(order.deployment.concurrency, len(order.cases)))
    return Estimate(
        deployment=order.deployment.name,
        suites=len({case.suite for case in order.cases}),
        cases=len(order.cases),
        passes=order.passes,
        calls=sum(times),
        prompt_tokens=sum(prompt * number for prompt, number in zip(prompts, times, strict=True)),
        answer_tokens=answer_tokens,
        seconds=answer_tokens / ASSUMED_TOKENS_PER_S / in_parallel,
        looks=looks,
        unfitted=tuple(_unfitted(sent)),
        judge_calls=judge_calls,
    )


def _unfitted(sent: Iterable[FittedCase | None]) -> Iterator[tuple[str, Sentence]]:
    for fitted in sent:
        if fitted is not None and fitted.problem is not None:
            why = Sentence(fitted.problem.en.removeprefix(UNSENT.en), fitted.problem.zh.removeprefix(UNSENT.zh))
            yield f"{fitted.case.suite}/{fitted.case.case_id}", why


def _tokens(text: str) -> int:
    """0.3 token an ASCII character and 0.6 any other: the rule of thumb of DeepSeek's API documentation, rounded up."""
    ascii_characters = sum(character.isascii() for character in text)
    return math.ceil(0.3 * ascii_characters + 0.6 * (len(text) - ascii_characters))


def _limit(params: JsonObject) -> int:
    for name in ("max_completion_tokens", "max_tokens"):
        value = params.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return ASSUMED_ANSWER_TOKENS

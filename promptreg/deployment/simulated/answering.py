"""From a request to a reply: which rule, which variant, which noise. Repeatable, see `Turns`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from promptreg.canonical import sha256_of
from promptreg.deployment.simulated.faults.registry import FAULTS
from promptreg.deployment.simulated.reply import Asked, Call, Reply
from promptreg.deployment.simulated.script import Noise, Plant, Rule, Script, Variant

if TYPE_CHECKING:
    from promptreg.deployment.simulated.faults.base import Fault

_OPENINGS_EN = ("", "Sure. ", "Certainly. ", "Of course. ")
_OPENINGS_ZH = ("", "好的，", "您好，", "没问题，")
_SYNONYMS = (
    ("必须", "需要"),
    ("可以", "能够"),
    ("因此", "所以"),
    ("立即", "马上"),
    ("请联系", "请您联系"),
    ("usually", "normally"),
    ("within", "in no more than"),
    ("you can", "you may"),
    ("quickly", "fast"),
    ("about", "around"),
)
_HAN = re.compile(r"[\u3400-\u9fff]")
_NUMBER = re.compile(r"\d+")


class Turns:
    """How often each request was answered, which decides its next answer.

    The answer to a request depends only on the script's seed, the request's messages, and its turn: the number of
    answers that were given to the same messages before, modulo the script's `cycle`. So 10 passes recorded twice
    with the default cycle of 10 give the same answers twice. An attempt that ends without an answer (a planted
    HTTP 503, say) does not use the turn up; attempts within a turn are counted apart.
    """

    def __init__(self, cycle: int) -> None:
        self._cycle = cycle
        self._answered: dict[str, int] = {}
        self._failed: dict[str, int] = {}
        self._attempts: dict[str, int] = {}

    def next_attempt(self, request_hash: str) -> tuple[int, int, int]:
        """Turn (0 to cycle - 1), attempts that failed within this turn, and all attempts so far; counts this one."""
        total = self._attempts.get(request_hash, 0)
        self._attempts[request_hash] = total + 1
        return self._answered.get(request_hash, 0) % self._cycle, self._failed.get(request_hash, 0), total

    def ended(self, request_hash: str, *, answered: bool) -> None:
        """Takes note of how the attempt goes. Called at once, so that calls in flight together get different turns."""
        if answered:
            self._answered[request_hash] = self._answered.get(request_hash, 0) + 1
            self._failed.pop(request_hash, None)
        else:
            self._failed[request_hash] = self._failed.get(request_hash, 0) + 1


def request_hash(body: Mapping[str, Any]) -> str:
    """Identity of a request for `Turns`: its messages, nothing else."""
    return sha256_of(body.get("messages"))


def find_rule(script: Script, last_user: str, everything: str) -> Rule:
    """What the script says about a request, in one rule that has everything: answers, noise, latency, faults."""
    noise, latency = None, None
    faults = list(script.faults)
    answers = script.answers
    for rule in script.rules:
        if not rule.match.holds(last_user, everything):
            continue
        noise, latency = noise or rule.noise, latency or rule.latency
        faults.extend(rule.faults)
        if rule.answers:
            answers = rule.answers
            break
    return Rule(answers=answers, noise=noise or script.noise, latency=latency or script.latency, faults=tuple(faults))


def struck(rule: Rule, draw: Random, attempt: int) -> tuple[Fault, ...]:
    """The faults that strike this attempt (counted from 0)."""
    return tuple(FAULTS[plant.name] for plant in rule.faults if _strikes(plant, draw, attempt))


def _strikes(plant: Plant, draw: Random, attempt: int) -> bool:
    # Drawn before `at_most` is looked at, so that adding it to one plant leaves the others' draws as they were.
    by_chance = draw.random() < plant.probability
    return by_chance and (plant.at_most is None or attempt < plant.at_most)


def choose_reply(rule: Rule, asked: Asked) -> Reply:
    """The reply of a rule as `find_rule` gives it: a variant by weight, with its noise."""
    noise = rule.noise or Noise()
    greedy = asked.body.get("temperature") == 0 and not noise.when_greedy
    draw = asked.draw
    variants = rule.answers
    if not variants:
        return _with_noise(_default_reply(asked), noise, draw, greedy=greedy)
    chosen = variants[0]
    if not greedy and draw.random() < noise.variant:
        chosen = _by_weight(variants, draw)
    return _with_noise(_reply_of(chosen), noise, draw, greedy=greedy)


def _by_weight(variants: tuple[Variant, ...], draw: Random) -> Variant:
    return draw.choices(variants, [variant.weight for variant in variants])[0]


def _reply_of(variant: Variant) -> Reply:
    calls = tuple(
        Call(
            call.name,
            call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False),
        )
        for call in variant.tool_calls
    )
    return Reply(variant.content, variant.reasoning, calls, variant.finish_reason)


def _default_reply(asked: Asked) -> Reply:
    """A short answer that repeats the start of the question, so that different requests have different answers."""
    start = " ".join(asked.last_user.split())[:40]
    number = int(sha256_of(asked.everything)[:6], 16) % 9000 + 1000
    if len(_HAN.findall(start)) * 3 > len(start):
        text = f"已收到您的问题“{start}”，编号{number}。"
    else:
        text = f'Your question "{start}" was received under number {number}.'
    form = asked.body.get("response_format")
    if isinstance(form, Mapping) and form.get("type") in ("json_object", "json_schema"):
        text = json.dumps({"answer": text, "number": number}, ensure_ascii=False)
    return Reply(text)


def _with_noise(reply: Reply, noise: Noise, draw: Random, *, greedy: bool) -> Reply:
    # All draws are made in any case: switching one kind of noise off must not change the others.
    change_wording, change_number = draw.random() < noise.wording, draw.random() < noise.number
    details = Random(draw.random())  # noqa: S311 - noise, not secrets
    if greedy or not reply.content:
        return reply
    content = reply.content
    if change_wording:
        content = _other_wording(content, details)
    if change_number:
        content = _other_number(content, details)
    return replace(reply, content=content)


def _other_wording(text: str, draw: Random) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        pass
    else:
        if isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=False, indent=draw.choice((None, 2)))
    present = [(old, new) for old, new in _SYNONYMS if old in text]
    if present and draw.random() < 0.5:
        old, new = draw.choice(present)
        return text.replace(old, new)
    openings = _OPENINGS_ZH if _HAN.search(text) else _OPENINGS_EN
    return draw.choice(openings[1:]) + text


def _other_number(text: str, draw: Random) -> str:
    found = list(_NUMBER.finditer(text))
    if not found:
        return text
    at = draw.choice(found)
    return f"{text[: at.start()]}{int(at[0]) + draw.choice((1, 2, 10))}{text[at.end() :]}"

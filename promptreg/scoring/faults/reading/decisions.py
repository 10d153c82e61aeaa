"""What an answer decides, apart from its words: the tool it calls, the labels and numbers it gives, yes or no."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from promptreg.canonical import canonical_json
from promptreg.deployment.json_text import parse_json
from promptreg.text.facts.model import GROUP_OF
from promptreg.text.facts.read import read_facts

if TYPE_CHECKING:
    from promptreg.canonical import Json
    from promptreg.scoring.faults.model import Observation

Decisions: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of what is decided and how. Two answers that share no key decide different things."""

_LABEL_LENGTH: Final = 40
_SHORT_ANSWER: Final = 24
_MOST_LEAVES: Final = 500
_LONGEST: Final = 20_000
_VERDICT: Final = re.compile(r"\W*(yes|no|true|false|correct|incorrect|是|否|对|错|不是|正确|错误)\b", re.IGNORECASE)
_TRIM: Final = " \t\r\n.,!?。，！？\"'“”‘’*`"


def decisions_of(call: Observation) -> Decisions:
    """The decisions of an answer; empty for free text without numbers."""
    if call.tool_calls:
        return frozenset(("call", f"{one.name} {_arguments(one.arguments)}") for one in call.tool_calls)
    text = call.content.raw.strip()[:_LONGEST]
    if text[:1] in ("{", "["):
        value = _json(text)
        if value is not None:
            return frozenset(_leaves(value))
    return _of_text(text)


def decides_otherwise(first: Decisions, second: Decisions) -> bool:
    """Whether two answers decide differently.

    Free text may leave a number out; only when each has one that the other lacks did a decision change. Calls, labels
    and JSON leaves must agree.
    """
    if first == second:
        return False
    loose_first = {value for key, value in first if key == "number"}
    loose_second = {value for key, value in second if key == "number"}
    strict_first = {pair for pair in first if pair[0] != "number"}
    strict_second = {pair for pair in second if pair[0] != "number"}
    if loose_first - loose_second and loose_second - loose_first:
        return True
    if {key for key, _ in strict_first} & {key for key, _ in strict_second} == {"label"}:
        return strict_first != strict_second and not (loose_first or loose_second)
    keyed_first, keyed_second = dict(strict_first), dict(strict_second)
    calls = [pair for pair in strict_first ^ strict_second if pair[0] == "call"]
    shared = keyed_first.keys() & keyed_second.keys() - {"call", "label"}
    return bool(calls) or any(keyed_first[key] != keyed_second[key] for key in shared)


def _of_text(text: str) -> Decisions:
    found: set[tuple[str, str]] = set()
    verdict = _VERDICT.match(text)
    if verdict is not None:
        found.add(("verdict", verdict.group(1).lower()))
    if any(character.isdigit() for character in text) or len(text) < 2000:
        found |= {("number", fact.normal) for fact in read_facts(text) if GROUP_OF[fact.kind] == "numbers"}
    if len(text) <= _SHORT_ANSWER and text.count(" ") <= 2:
        found.add(("label", text.strip(_TRIM).casefold()))
    return frozenset(found)


def _leaves(value: Json) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    stack: list[tuple[str, Json]] = [("$", value)]
    while stack and len(found) < _MOST_LEAVES:
        path, current = stack.pop()
        if isinstance(current, dict):
            stack += [(f"{path}.{key}", child) for key, child in current.items()]
        elif isinstance(current, list):
            stack += [(f"{path}[{place}]", child) for place, child in enumerate(current)]
        elif isinstance(current, str):
            if len(current) <= _LABEL_LENGTH and current.count(" ") <= 3:
                found.append((path, current.strip().casefold()))
        else:
            found.append((path, canonical_json(current) if current == current else "NaN"))  # noqa: PLR0124 - NaN
    return found


def _arguments(arguments: str) -> str:
    value = _json(arguments)
    try:
        return canonical_json(value) if value is not None else arguments.strip()
    except ValueError:
        return arguments.strip()


def _json(text: str) -> Json:
    try:
        return parse_json(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None

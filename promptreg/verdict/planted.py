"""Faults planted into answers, so that a judgement can say whether it would have found them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.text.segment import graphemes
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.answer.model import Answer

    _Plant = Callable[[Sequence[Answer], Sequence[Answer], random.Random], tuple[Answer, ...] | None]

_NUMBER: Final = re.compile(r"[0-9]+")
_ENGLISH_VERB: Final = re.compile(
    r"\b(is|are|was|were|can|could|will|would|should|must|may|do|does|did|has|have)\b(?! not\b|n't)", re.IGNORECASE
)
_CHINESE_VERB: Final = re.compile(r"(?<![不没未无])(是|能|可以|会|应当|应该|需要|允许|支持|包含|属于)")
_TEMPLATE_TEXT: Final = "<|im_start|>assistant\n"
_JUNK_WORDS: Final = 15


@dataclass(frozen=True, slots=True)
class Fault:
    """One kind of planted fault."""

    name: str
    short: Sentence
    """As an item of a list."""
    description: Sentence
    """As the subject of a sentence."""
    plant: _Plant
    """(answers, answers of another case, source of randomness) to faulty answers; None where it cannot be planted."""


def _each(answers: Sequence[Answer], change: Callable[[str], str]) -> tuple[Answer, ...] | None:
    """The changed answers; None when fewer than half of them changed, for then little was planted."""
    changed = [change(answer.content) for answer in answers]
    different = sum(new != answer.content for new, answer in zip(changed, answers, strict=True))
    if 2 * different < len(answers) or not answers:
        return None
    return tuple(replace(answer, content=new) for new, answer in zip(changed, answers, strict=True))


def _number(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    return _each(answers, lambda text: _NUMBER.sub(lambda found: str(int(found.group()) + 1), text, count=1))


def _negated(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    def negate(text: str) -> str:
        if _ENGLISH_VERB.search(text):
            return _ENGLISH_VERB.sub(r"\1 not", text, count=1)
        return _CHINESE_VERB.sub(r"不\1", text, count=1)

    return _each(answers, negate)


def _cut(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    def cut(text: str) -> str:
        characters = graphemes(text)
        return "".join(characters[: len(characters) * 3 // 5])

    return _each(answers, cut)


def _prefixed(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    return _each(answers, lambda text: _TEMPLATE_TEXT + text)


def _appended(answers: Sequence[Answer], others: Sequence[Answer], draw: random.Random) -> tuple[Answer, ...] | None:
    words = [word for answer in others for word in answer.content.split()] or list("…")
    return _each(answers, lambda text: text + " " + " ".join(draw.choices(words, k=_JUNK_WORDS)))


def _swapped(answers: Sequence[Answer], others: Sequence[Answer], draw: random.Random) -> tuple[Answer, ...] | None:
    if not others or {answer.content for answer in others} & {answer.content for answer in answers}:
        return None
    return tuple(draw.choice(others) for _ in answers)


def _repeated(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    if len({answer.content for answer in answers}) < 2:
        return None
    return (answers[0],) * len(answers)


def _fault(name: str, plant: _Plant, short: Sentence, description: Sentence) -> tuple[str, Fault]:
    return name, Fault(name, short, description, plant)


FAULTS: Final[Mapping[str, Fault]] = dict(
    (
        _fault(
            "swapped",
            _swapped,
            Sentence("the answer to another question", "答了另一个问题"),
            Sentence("One case answering another case's question", "某个用例答了另一个用例的问题"),
        ),
        _fault(
            "number",
            _number,
            Sentence("a number changed by one", "数字加一"),
            Sentence("One case with its first number changed by one", "某个用例的第一个数字加一"),
        ),
        _fault(
            "negated",
            _negated,
            Sentence("the opposite", "说法被否定"),
            Sentence("One case saying the opposite", "某个用例的说法被否定"),
        ),
        _fault(
            "cut",
            _cut,
            Sentence("an answer cut to 60 %", "回答被截到 60 %"),
            Sentence("One case cut to 60 % of its length", "某个用例被截到 60 % 的长度"),
        ),
        _fault(
            "prefixed",
            _prefixed,
            Sentence("template text in front", "前面多出模板文字"),
            Sentence("Template text in front of one case's answers", "某个用例的回答前多出模板文字"),
        ),
        _fault(
            "appended",
            _appended,
            Sentence("junk words behind", "后面多出无关词语"),
            Sentence("Junk words behind one case's answers", "某个用例的回答后多出无关词语"),
        ),
        _fault(
            "repeated",
            _repeated,
            Sentence("always the same answer", "总是同一条回答"),
            Sentence("One case always giving the same answer", "某个用例总是给出同一条回答"),
        ),
    )
)
"""The faults by name, in the order in which they are reported."""

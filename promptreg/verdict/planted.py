"""Faults planted into answers, so that a judgement can say whether it would have found them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.model import GROUP_OF
from promptreg.text.facts.read import read_facts
from promptreg.text.numerals import CHINESE_NUMERALS, ENGLISH_VALUES, chinese_value, plain
from promptreg.text.segment import graphemes
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.answer.model import Answer

    _Plant = Callable[[Sequence[Answer], Sequence[Answer], random.Random], tuple[Answer, ...] | None]

_DIGITS: Final = re.compile(r"[0-9０-９]+")
_CHINESE_NUMERAL: Final = re.compile(f"[{CHINESE_NUMERALS}]+")
_NUMBER_WORD: Final = re.compile(rf"\b({'|'.join(ENGLISH_VALUES)})\b", re.IGNORECASE)
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
    cases: int = 1
    """How many cases it strikes at once."""
    everywhere: bool = False
    """True for a fault that strikes a share of all answers of the suite instead of every answer of one case."""


def _each(answers: Sequence[Answer], change: Callable[[str], str]) -> tuple[Answer, ...] | None:
    """The changed answers; None when fewer than half of them changed, for then little was planted."""
    changed = [change(answer.content) for answer in answers]
    different = sum(new != answer.content for new, answer in zip(changed, answers, strict=True))
    if 2 * different < len(answers) or not answers:
        return None
    return tuple(replace(answer, content=new) for new, answer in zip(changed, answers, strict=True))


def _number(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    return _each(answers, another_number)


def another_number(text: str) -> str:
    """The text with the first number that it states as a fact raised by one; the text itself where there is none.

    List numbering and code are no facts and stay. Digits stay digits; a Chinese numeral or an English word becomes
    digits.
    """
    for fact in read_facts(text):
        if GROUP_OF[fact.kind] == "numbers":
            changed = _raised(fact.text)
            if changed != fact.text:
                return text[: fact.start] + changed + text[fact.end :]
    return text


def _raised(number: str) -> str:
    if digits := _DIGITS.search(number):
        return number[: digits.start()] + str(int(digits.group()) + 1) + number[digits.end() :]
    # The last numeral: in 百分之五 that is the five.
    for numeral in reversed(list(_CHINESE_NUMERAL.finditer(number))):
        value = chinese_value(numeral.group())
        if value is not None:
            return number[: numeral.start()] + plain(value + 1) + number[numeral.end() :]
    return _NUMBER_WORD.sub(lambda word: str(ENGLISH_VALUES[word.group().lower()] + 1), number, count=1)


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


def _garbage(answers: Sequence[Answer], _: Sequence[Answer], __: random.Random) -> tuple[Answer, ...] | None:
    """One token over and over, which is what servers give when their logits are not numbers."""
    return _each(answers, lambda text: "!" * len(graphemes(text)))


def _fault(
    name: str, plant: _Plant, short: Sentence, description: Sentence, *, cases: int = 1, everywhere: bool = False
) -> tuple[str, Fault]:
    return name, Fault(name, short, description, plant, cases, everywhere)


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
            Sentence("a number changed by one in three cases", "三个用例的数字加一"),
            Sentence("A number changed by one in three cases", "三个用例的一个数字加一"),
            cases=3,
        ),
        _fault(
            "one_number",
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
        _fault(
            "garbage",
            _garbage,
            Sentence("10 % garbage", "10 % 的乱码回答"),
            Sentence("One answer in ten being garbage, in all cases", "所有用例中每十条回答有一条是乱码"),
            everywhere=True,
        ),
    )
)
"""The faults by name, in the order in which they are reported."""

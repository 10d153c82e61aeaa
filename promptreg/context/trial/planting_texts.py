"""How planted facts are said, asked for, and what their values are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.trial.known import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.context.trial.corpus_texts import Script


@dataclass(frozen=True, slots=True)
class Wording:
    """How one kind of fact is said in one language, with `{subject}`, `{value}` and `{old}`."""

    says: str
    asks: str
    before: str = ""
    """What is said earlier, with the value that will not hold."""


WORDINGS: Final[Mapping[Script, Mapping[Kind, Wording]]] = {
    "en": {
        Kind.NUMBER: Wording("The deposit for {subject} is {value}.", "How high is the deposit for {subject}?"),
        Kind.DATE: Wording("The handover of {subject} is on {value}.", "When is the handover of {subject}?"),
        Kind.NAME: Wording("The contact for {subject} is {value}.", "Who is the contact for {subject}?"),
        Kind.IDENTIFIER: Wording("The access code of {subject} is {value}.", "What is the access code of {subject}?"),
        Kind.PREFERENCE: Wording(
            "For {subject} I always want {value} from here on.", "What does the user want for {subject}?"
        ),
        Kind.NEGATION: Wording(
            "For {subject}, crate {value} must never be opened on the way.",
            "Which crate of {subject} must never be opened on the way?",
        ),
        Kind.UPDATE: Wording(
            "Correction: the shelf code of {subject} is {value}.",
            "What is the shelf code of {subject} that holds?",
            "The shelf code of {subject} is {old}.",
        ),
        Kind.DECISION: Wording(
            "It is decided: {value} does {subject}, and {old} was rejected.",
            "Which company was chosen for {subject}?",
            "For {subject} we could take {value} or {old}.",
        ),
    },
    "zh": {
        Kind.NUMBER: Wording("{subject}的定金是{value}。", "{subject}的定金是多少？"),
        Kind.DATE: Wording("{subject}的交接日期是{value}。", "{subject}的交接日期是哪天？"),
        Kind.NAME: Wording("{subject}的联系人是{value}。", "{subject}的联系人是谁？"),
        Kind.IDENTIFIER: Wording("{subject}的访问码是{value}。", "{subject}的访问码是什么？"),
        Kind.PREFERENCE: Wording("今后{subject}我都要{value}。", "{subject}用户要什么？"),
        Kind.NEGATION: Wording("{subject}的{value}号箱在途中不得打开。", "{subject}的哪个箱子在途中不得打开？"),
        Kind.UPDATE: Wording(
            "更正：{subject}的货架码是{value}。", "{subject}现在有效的货架码是什么？", "{subject}的货架码是{old}。"
        ),
        Kind.DECISION: Wording(
            "已经决定：{subject}由{value}承担，{old}被否决。",
            "{subject}最后选定哪家公司？",
            "{subject}可以选{value}或者{old}。",
        ),
    },
}

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
SYLLABLES: Final = (
    *("bel", "cor", "dra", "fen", "gal", "hol", "jun", "kal", "lor", "mar", "nev", "or"),
    *("pel", "quin", "ros", "sil", "tam", "ul", "ver", "wil", "yor", "zan"),
)
GIVEN: Final = (
    *("Linnea", "Tobias", "Amara", "Henrik", "Soraya", "Mateo", "Ingrid", "Rafael", "Noemi", "Viktor"),
    *("Leila", "Anselm", "Carmen", "Dmitri", "Elena", "Farid"),
)
FAMILY: Final = (
    *("Vasquez", "Lindqvist", "Okafor", "Brandt", "Haddad", "Moreau", "Petrov", "Castellan", "Ferraro", "Nakamura"),
    *("Oyelaran", "Szabo", "Thorsen", "Ulrich", "Weatherby", "Zielinski"),
)
HAN_FAMILY: Final = "陈林黄吴徐孙胡朱高何郭马罗梁宋郑"
HAN_GIVEN: Final = "思远明哲雨桐嘉宁文博晓岚子涵若曦志强美琪"
HAN_SYLLABLES: Final = "维朗青松海岚云岭星河翠湖金桥银杏远帆长宁"
COLOURS: Final = {
    "en": ("cobalt", "amber", "ivory", "scarlet", "olive"),
    "zh": ("钴蓝", "琥珀", "象牙", "猩红", "橄榄"),
}
THINGS: Final = {
    "en": ("envelopes", "ribbons", "labels", "folders", "tape"),
    "zh": ("信封", "丝带", "标签", "文件夹", "胶带"),
}

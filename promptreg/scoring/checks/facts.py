"""Check `facts`: the content still states the facts of given texts, in whatever wording."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.options import fields, listed, texts
from promptreg.text.facts.read import LONGEST, read_facts

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class KeepsFacts:
    """A fact is kept when one with the same normal form is in the content: 三十天, 30 天 and "30 days" are the same."""

    must_keep: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    """Each given text with its facts: normal form and as written there."""

    @property
    def rules(self) -> Rules:
        """The content must state all of the facts, or must not."""
        names = [given for given, _ in self.must_keep]
        return must(f"state the facts of {listed(names, 'and')}", f"陈述{listed(names, '和')}中的事实")

    def find(self, answer: Answer) -> Finding:
        """Which facts are not there."""
        stated = _normals(answer.content)
        lost = [written for _, facts in self.must_keep for normal, written in facts if normal not in stated]
        if not lost:
            return found(True, "states all the facts asked for", "陈述了所要求的全部事实")
        if len(answer.content) > LONGEST:
            return found(
                None,
                f"is longer than the {LONGEST} characters read for facts, and {listed(lost, 'and')} is not in them",
                f"超过读取事实的 {LONGEST} 个字符，其中没有{listed(lost, '和')}",
            )
        return found(False, f"does not state {listed(lost, 'or')}", f"没有陈述{listed(lost, '或')}")


def build(argument: Json, setting: Setting) -> KeepsFacts:
    """`facts: {must_keep: [TEXT, …]}`, or `facts: [TEXT, …]`."""
    if isinstance(argument, (str, list, tuple)):
        argument = {"must_keep": argument}
    table = fields(argument, setting, ("must_keep",), "{must_keep: [七天, ¥199, 长河公司]}")
    kept = []
    for given in texts(table["must_keep"], setting, "must_keep"):
        found_there = tuple({fact.normal: fact.text for fact in read_facts(given)}.items())
        if not found_there:
            raise BadArgument(
                f"`{setting.name}` reads no fact in {quoted(given)}: no number, date, name or address. Use `contains` "
                "for words; `promptreg facts TEXT` shows what is read.",
            )
        kept.append((given, found_there))
    return KeepsFacts(tuple(kept))


# Several of these checks ask about the same answers one after the other.
@lru_cache(maxsize=32)
def _normals(content: str) -> frozenset[str]:
    return frozenset(fact.normal for fact in read_facts(content))

"""What a rule saw of a fault, in both languages: rules say it in English, `evidence.toml` knows it in Chinese."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.scoring.faults.model import Finding

_PARTS: Final = "parts"
"""The table of words that stand within others."""

_OWN_WORDS: Final = frozenset({"what", "how", "why"})
"""Names that stand for words of ours, never for a quote: an answer that says "none" is quoted."""

_NAME: Final = re.compile(r"\{(\w+)\}")

_OF_KIND: Final = re.compile(r"(F\d\d) (.+)", re.DOTALL)
"""A fault within another one: that warm answers show F24, say."""


class _Phrase(NamedTuple):
    pattern: re.Pattern[str]
    zh: str


def evidence_in_words(finding: Finding) -> Sentence:
    """What was seen, in both languages; what is no sentence of ours (a quote, say) is the same in both."""
    return Sentence(finding.evidence, _in_chinese(finding.kind, finding.evidence))


@lru_cache(maxsize=4096)
def _in_chinese(kind: str, said: str) -> str:
    nested = _OF_KIND.fullmatch(said) if kind == _PARTS else None
    if nested is not None:
        return f"{nested[1]} {_in_chinese(nested[1], nested[2])}"
    for phrase in _phrases().get(kind, ()):
        match = phrase.pattern.fullmatch(said)
        if match is not None:
            return _filled(phrase.zh, match)
    return said


def _filled(zh: str, match: re.Match[str]) -> str:
    """A sentence with what the rule filled in: words of ours in Chinese, everything else as it is."""
    return _NAME.sub(lambda name: _in_chinese(_PARTS, match[name[1]]) if name[1] in _OWN_WORDS else match[name[1]], zh)


@cache
def _phrases() -> Mapping[str, tuple[_Phrase, ...]]:
    text = resources.files(__package__ or "").joinpath("evidence.toml").read_text("utf-8")
    return {
        kind: tuple(_Phrase(_pattern(en), zh) for en, zh in table.items())
        for kind, table in tomllib.loads(text).items()
    }


def _pattern(en: str) -> re.Pattern[str]:
    """A sentence as a pattern. Each name takes as little as it can, the last one all the rest."""
    pieces = _NAME.split(en)
    last = len(pieces) - 2
    return re.compile(
        "".join(
            re.escape(piece) if place % 2 == 0 else f"(?P<{piece}>.+{'' if place == last else '?'})"
            for place, piece in enumerate(pieces)
        ),
        re.DOTALL,
    )

"""A text in, its facts out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.addresses import read_addresses, read_identifiers
from promptreg.text.facts.blank import BLANK
from promptreg.text.facts.dates import read_dates
from promptreg.text.facts.names import read_names
from promptreg.text.facts.negation import negations
from promptreg.text.facts.page import Page
from promptreg.text.facts.quantities import read_quantities
from promptreg.text.numerals import chinese_value

if TYPE_CHECKING:
    from promptreg.text.facts.model import Fact

LONGEST: Final = 50_000
"""Characters that are read; what comes after them in a runaway answer shows in its length."""

_LIST_MARKER: Final = re.compile(
    r"^[ \t\u3000]*+(?:[>*+•#-]{1,6}[ \t]*+)?\*{0,2}(?:(?:Step|步骤|第(?=[0-9一二三四五六七八九十]{1,3}步)) ?)?"
    r"(?:(?P<digits>[0-9]{1,3})(?=[.)、．:：](?![0-9])|\*\*|步)|[（(](?P<bracket>[0-9]{1,3}"
    r"|[一二三四五六七八九十]{1,3})[)）]"
    r"|(?P<han>[一二三四五六七八九十]{1,3})(?=[、.．:：]))[.)、．:：]?(?![0-9])",
    re.MULTILINE | re.IGNORECASE,
)
_INLINE_MARKER: Final = re.compile(r"[（(](?P<digits>[0-9]{1,2})[)）]|\[[0-9]{1,3}\]|[①-⓿]")

_BRACKET: Final = re.compile("[（(\\[①-⓿]")


def read_facts(text: str) -> tuple[Fact, ...]:
    """The facts of a text in the order in which they stand.

    Code (fenced and inline) and list numbering are no facts. A numbering that skips or does not begin at one is no
    numbering, and read as numbers. Time grows linearly with the text, of which the first `LONGEST` characters are read.
    """
    page = Page(text[:LONGEST])
    _without_numbering(page)
    read_addresses(page)
    negated = negations(page)
    read_dates(page)
    read_identifiers(page)
    read_quantities(page)
    read_names(page)
    return tuple(sorted((*page.facts, *negated), key=lambda fact: (fact.start, fact.end)))


def _without_numbering(page: Page) -> None:
    """Blank out list numbers that count up from one, at the beginnings of lines and in brackets inside them."""
    patterns = (_LIST_MARKER, _INLINE_MARKER) if _BRACKET.search(page.text) else (_LIST_MARKER,)
    for pattern in patterns:
        seen = {0}
        pieces: list[str] = []
        done = 0
        for match in pattern.finditer(page.text):
            written = next((group for group in match.groups() if group), None)
            if written is not None:
                number = int(written) if written.isdecimal() else int(chinese_value(written) or 0)
                if number - 1 not in seen:
                    continue
                seen.add(number)
            pieces += (page.text[done : match.start()], BLANK * (match.end() - match.start()))
            done = match.end()
        if pieces:
            page.text = "".join((*pieces, page.text[done:]))

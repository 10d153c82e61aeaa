"""Tool calls that a server left in a text as special tokens: they are a fault, and nothing that the text states.

Only forms made of special tokens, which no application asks for: a `<tool_call>` without them may be a form that the
prompt asks for, and its numbers are then what the answer says.
"""

from __future__ import annotations

import re
from typing import Final

from promptreg.text.facts.blank import blanked

_BAR: Final = "[｜|‖]{1,2}"
_CALLS: Final = r"tool[▁_ ](?:call|output)s?[▁_ ](?:section[▁_ ])?"
_BEGUN: Final = r"(?=\s{0,8}(?:<|\{|\[|function\b))"
"""A call that was cut goes on with its parts. A sentence about the token goes on in words."""

_LONGEST: Final = 8_000
"""Characters of a call whose end is looked for; it bounds the time in a text full of beginnings."""

_LEAK: Final = re.compile(
    rf"<{_BAR}DSML{_BAR}(?P<kind>[a-z_]{{1,20}})[^<>\n]{{0,200}}>(?:.{{0,{_LONGEST}}}?</{_BAR}DSML{_BAR}(?P=kind)>|{_BEGUN}.*)"
    rf"|<[｜|]{_CALLS}begin[｜|]>(?:.{{0,{_LONGEST}}}?<[｜|]{_CALLS}end[｜|]>|{_BEGUN}.*)"
    r"|\[TOOL_CALLS\]\s{0,4}(?:\[?\s{0,4}\{|[\w.-]{1,64}(?:\[ARGS\]|\{)).*"
    # What is left of one: an end without its beginning, a token by itself.
    rf"|</?{_BAR}DSML{_BAR}(?:[a-z_]{{1,20}}(?:[^<>\n]{{0,200}}(?:>|\Z))?)?"
    r"|<[｜|](?:tool[▁_ ]|[A-Za-z]{2,20}▁)[A-Za-z▁_ ]{1,40}[｜|]>",
    re.DOTALL,
)


def without_leaks(text: str) -> str:
    """The text with such calls blanked out, as long as before."""
    if "<｜" in text or "<|" in text or "DSML" in text or "[TOOL_CALLS]" in text:
        return _LEAK.sub(blanked, text)
    return text

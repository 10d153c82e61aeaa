"""Reasoning that a server left inside the content, between think tags.

The rules, in this order:

1. The content begins (after blanks) with `<think>`: what stands before the first `</think>` outside code is
   reasoning, the rest is the answer. A tag that is inside code closes only when no other one does. Without any
   closing tag everything is reasoning: the answer was cut, or the model never came to it.
2. No `<think>` before it, but a `</think>` outside code: the chat template had already written the opening tag,
   so everything before the closing tag is reasoning. A tag in quotes, or one that is called a tag, is only spoken of.
3. Otherwise the content is the answer as it stands. A tag in the middle of an answer is left there for the faults
   to find.
"""

from __future__ import annotations

import re
from typing import NamedTuple

OPENING = "<think>"
CLOSING = "</think>"

_CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,}).*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)"  # a fenced block; an unclosed one runs on
    # a code span; it may go over line ends, but not over a blank line
    r"|(?<!`)(?P<ticks>`{1,8})(?!`)[^`\n]*(?:\n[^`\n]+)*?(?<!`)(?P=ticks)(?!`)",
    re.MULTILINE | re.DOTALL,
)


_SPOKEN_OF = re.compile(
    r"[\"'“‘「『（(]</think>[\"'”’」』）)]"
    r"|[^\n]?</think>[ \t]?(?:标签|标记|(?<=[ \t])是(?!的)|tags?\b|tokens?\b|markers?\b)"
)
"""From the character before the tag on."""
_MOST_MENTIONS = 16


class ThinkSplit(NamedTuple):
    """Content without its inline reasoning."""

    reasoning: str
    content: str
    found: bool
    """Whether a tag was found, even around nothing."""


def split_think(content: str) -> ThinkSplit:
    """Splits inline reasoning off the content, by the rules above. Blanks around the parts are dropped."""
    if CLOSING not in content and OPENING not in content:
        return ThinkSplit("", content, found=False)
    start = len(content) - len(content.lstrip())
    if content.startswith(OPENING, start):
        start += len(OPENING)
        closing = _closing(content, start)
        if closing is None:
            found = content.find(CLOSING, start)
            closing = None if found < 0 else found
        if closing is None:
            return ThinkSplit(content[start:].strip(), "", found=True)
    else:
        closing = _closing(content, start)
        for _ in range(_MOST_MENTIONS):
            if closing is None or not _SPOKEN_OF.match(content, max(0, closing - 1)):
                break
            closing = _closing(content, closing + len(CLOSING))
        else:
            closing = None  # a text about tags
        if closing is None or 0 <= content.find(OPENING) < closing:
            return ThinkSplit("", content, found=False)
    return ThinkSplit(content[start:closing].strip(), content[closing + len(CLOSING) :].lstrip(), found=True)


def _closing(content: str, start: int) -> int | None:
    """Where the first closing tag outside code stands, searching from `start`, where a line is taken to begin."""
    rest = content[start:]
    position = rest.find(CLOSING)
    for code in _CODE.finditer(rest):
        if position < code.start():
            break
        if position < code.end():
            position = rest.find(CLOSING, code.end())
    return None if position < 0 else start + position

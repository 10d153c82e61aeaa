"""Text from outside, made safe to print on a terminal."""

from __future__ import annotations

import json
import re
from typing import Final

# Alternatives in order: strings that end in BEL or ST (OSC, DCS, SOS, PM, APC), control sequences, other escapes. A
# string without its end loses only its opening, so that a stray escape cannot hide the rest of an answer.
_SEQUENCES: Final = re.compile(
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]*+(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|\x1b[\]PX^_\[]"
    r"|\x1b[ -/]*+[0-Z\\`-~]",
)
# What is left of C0 and C1, and the characters that reorder what follows them.
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def safe_for_terminal(text: str) -> str:
    """The text without ANSI and OSC sequences, control characters and direction marks.

    Line feeds and tabs stay, and CRLF becomes a line feed. Linear in the length of the text.
    """
    if text.isascii() and text.isprintable():
        return text
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


# JSON escapes C0 itself. Of the rest: C1, line separators, marks of direction, and what has no UTF-8.
_ESCAPED_IN_JSON: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def json_for_terminal(value: object, *, indent: int | None = None) -> str:
    r"""JSON for standard output, which may be a terminal: readable, and what a terminal obeys stands as `\uXXXX`.

    It reads back as the same value, lone surrogates included.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

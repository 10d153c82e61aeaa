"""Text from outside, made safe to print on a terminal."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.canonical import Json

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
    return _visible_json(json.dumps(value, ensure_ascii=False, indent=indent))


def json_pieces_for_terminal(value: Json, levels: int = 4) -> Iterator[str]:
    """The pieces that `json_for_terminal` is made of, so that much of it need not be one text in memory.

    Args:
        value: to be written.
        levels: so many objects and lists inside each other are written member by member.
    """
    if not levels or not value or not isinstance(value, dict | list):
        yield _visible_json(json.dumps(value, ensure_ascii=False))
    elif isinstance(value, dict):
        for number, (name, member) in enumerate(value.items()):
            yield f"{', ' if number else '{'}{_visible_json(json.dumps(name, ensure_ascii=False))}: "
            yield from json_pieces_for_terminal(member, levels - 1)
        yield "}"
    else:
        for number, member in enumerate(value):
            yield ", " if number else "["
            yield from json_pieces_for_terminal(member, levels - 1)
        yield "]"


def _visible_json(text: str) -> str:
    return _ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

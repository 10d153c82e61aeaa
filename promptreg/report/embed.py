"""The only code that puts data into HTML.

Two kinds of data leave here: JSON inside inert script elements, which the page reads back and shows through
`textContent`; and, for readers without JavaScript, escaped text. Neither can end an element, open a tag or be run.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from promptreg.canonical import Json

BASE85: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;:=,?@^_`{|}~"
"""The digits of packed data: those of RFC 1924 with `.`, `:` and `,` in place of `&`, `<` and `>`."""

_DIGITS: Final = np.frombuffer(BASE85.encode("ascii"), np.uint8)

_UNSAFE_IN_SCRIPT = str.maketrans(
    {
        "<": "\\u003c",
        ">": "\\u003e",
        "&": "\\u0026",
        "\u2028": "\\u2028",
        "\u2029": "\\u2029",
    }
)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# What no HTML text may hold: the parser drops or replaces these, or calls them errors.
_NOT_HTML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")


def json_text(value: Json) -> str:
    """JSON that is safe inside `<script type="application/json">`. Lone surrogates become U+FFFD.

    Raises:
        ValueError: for NaN or an infinity; `payload.to_json` has none.
    """
    return _json(value).translate(_UNSAFE_IN_SCRIPT)


def packed(value: Json) -> str:
    """JSON, gzipped, in `base85`. For `<script type="text/plain">`."""
    # mtime=0: the same data gives the same bytes.
    return base85(gzip.compress(_json(value).encode(), compresslevel=6, mtime=0))


def base85(data: bytes) -> str:
    """Every four bytes as five digits, the most significant first, in an alphabet that cannot close or open a tag.

    A quarter longer than the data, where base64 is a third longer. The last bytes, fewer than four, are filled up with
    zeros, and as many digits are left out at the end.
    """
    missing = -len(data) % 4
    words = np.frombuffer(data + bytes(missing), ">u4").astype(np.uint32)
    digits = np.empty((len(words), 5), np.uint8)
    for place in (4, 3, 2, 1, 0):
        words, digits[:, place] = np.divmod(words, 85)
    text = _DIGITS[digits].tobytes().decode("ascii")
    return text[: len(text) - missing]


def escaped(text: str) -> str:
    """Text for HTML content or a quoted attribute, without the characters that HTML does not allow."""
    return html.escape(_NOT_HTML.sub("\ufffd", whole(text)), quote=True)


def whole(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become U+FFFD (same length in UTF-16)."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _json(value: Json) -> str:
    return whole(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))

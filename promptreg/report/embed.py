"""The only code that puts data into HTML.

Two kinds of data leave here: JSON inside inert script elements, which the page reads back and shows through
`textContent`; and, for readers without JavaScript, escaped text. Neither can end an element, open a tag or be run.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.canonical import Json

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
    """JSON, gzipped, as base64: an alphabet that cannot close a tag. For `<script type="text/plain">`."""
    # mtime=0: the same data gives the same bytes.
    return base64.b64encode(gzip.compress(_json(value).encode(), compresslevel=6, mtime=0)).decode("ascii")


def escaped(text: str) -> str:
    """Text for HTML content or a quoted attribute, without the characters that HTML does not allow."""
    return html.escape(_NOT_HTML.sub("\ufffd", whole(text)), quote=True)


def whole(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become U+FFFD (same length in UTF-16)."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def _json(value: Json) -> str:
    return whole(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False))

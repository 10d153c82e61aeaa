"""What goes into text columns: text that UTF-8 can say, and JSON."""

from __future__ import annotations

import re
from typing import overload

from promptreg.canonical import Json, canonical_json

_SURROGATE = re.compile("[\ud800-\udfff]")


@overload
def plain_text(text: str) -> str: ...
@overload
def plain_text(text: None) -> None: ...
def plain_text(text: str | None) -> str | None:
    """The text with lone surrogates, which SQLite cannot store, replaced by U+FFFD."""
    return text if text is None or text.isascii() else _SURROGATE.sub("\ufffd", text)


def json_text(value: Json) -> str:
    """Canonical JSON whose lone surrogates are JSON escapes, so that reading it gives back exactly the value."""
    text = canonical_json(value)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")

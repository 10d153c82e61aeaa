"""JSON as every client reads it, which is less than some servers write."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NoReturn

from promptreg.deployment.json_text import parse_json

if TYPE_CHECKING:
    from promptreg.canonical import Json

_NO_NUMBER: Final = re.compile(r"NaN|Infinity")


def read_strictly(text: str) -> Json:
    """Reads JSON text without NaN and infinities: Python takes them, RFC 8259 and other languages do not.

    Raises:
        ValueError: when it is no JSON.
    """
    value = parse_json(text.encode("utf-8", "surrogatepass"))
    if _NO_NUMBER.search(text) is not None:  # perhaps within a string; read again to know
        json.loads(text, parse_constant=_refuse)
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")

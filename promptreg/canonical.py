"""JSON values, their one canonical text, and hashes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, Sequence["Json"], Mapping[str, "Json"], None]  # noqa: UP007 - "Json" is a forward reference, which | does not take
"""Any JSON value. Read-only by type: nothing that receives one may change it."""

JsonObject: TypeAlias = Mapping[str, Json]
"""A JSON object."""


def canonical_json(value: Json) -> str:
    """The one text of a JSON value: sorted keys, no spaces, Unicode as it is, no NaN.

    Raises:
        ValueError: for NaN or an infinity, which JSON does not have.
    """
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256_of(value: Json) -> str:
    """Hex SHA-256 of the canonical JSON text, UTF-8. Lone surrogates are hashed as escapes, so any text has a hash."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "backslashreplace")).hexdigest()

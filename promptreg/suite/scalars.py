"""What an unquoted word of a suite means, depending on where it stands.

Variables, ids and messages take the characters as written; request parameters take YAML 1.2's types; check
arguments are numbers only where the number is written exactly as it would be printed. So `007`, `no`, `1e3` and
dates stay what the user typed, wherever they could end up in a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_MAX_DIGITS = 4000  # Python refuses to convert longer integers


class Plain(str):
    """An unquoted scalar of YAML, or a number of JSON: the characters as written, their type not yet decided."""

    __slots__ = ()


class Block(str):
    """A literal block (`|`) of YAML: its first line stands one line below the key."""

    __slots__ = ()


class AmbiguousWordError(ValueError):
    """A word that cannot be taken in one way only. The message is a sentence."""


def as_text(value: str) -> str:
    """The characters as written."""
    return value if isinstance(value, Block) else str(value)


def typed(value: Any) -> Any:
    """The JSON value that YAML 1.2 sees; a number with leading zeros stays a text, as JSON has no such number.

    Raises:
        AmbiguousWordError: for infinities and NaN, which JSON does not have.
    """
    if isinstance(value, Mapping):
        return {str(key): typed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [typed(item) for item in value]
    return _core(value) if isinstance(value, Plain) else _bare(value)


def exact(value: Any) -> Any:
    """As `typed`, but a number stays a text when printing it would change a character (`1.10`, `1e3`)."""
    if isinstance(value, Mapping):
        return {str(key): exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact(item) for item in value]
    if isinstance(value, Plain):
        found = _core(value)
        return found if isinstance(found, (bool, type(None))) or str(found) == value else str(value)
    return _bare(value)


def variable(value: Any) -> Any:
    """A template variable: texts and numbers as written; only `true`, `false` and an empty or null value have a type.

    Raises:
        AmbiguousWordError: for `True`, `FALSE` and the like, which could be the word or the truth value.
    """
    if isinstance(value, Mapping):
        return {str(key): variable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [variable(item) for item in value]
    if not isinstance(value, Plain):
        return _bare(value)
    if value in _NULLS:
        return None
    if value in _BOOLEANS:
        if not value.islower():
            raise AmbiguousWordError(
                f'`{value}` could be the word or the truth value; write "{value}" in quotes or `{value.lower()}`.'
            )
        return _BOOLEANS[value]
    return str(value)


def _core(value: Plain) -> Any:
    if value in _NULLS:
        return None
    if value in _BOOLEANS:
        return _BOOLEANS[value]
    if _INTEGER.fullmatch(value) and len(value) < _MAX_DIGITS:
        return int(value)
    if _OTHER_BASE.fullmatch(value) and len(value) < _MAX_DIGITS:
        return int(value, 0)
    if _NOT_FINITE.fullmatch(value):
        raise AmbiguousWordError(f"`{value}` has no JSON form; write a finite number, or quotes around a text.")
    if _NUMBER.fullmatch(value):
        number = float(value)
        if not math.isfinite(number):
            raise AmbiguousWordError(f"`{value[:40]}` is larger than any number that can be sent.")
        return number
    return str(value)


def _bare(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value

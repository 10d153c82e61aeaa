"""Suggestions as YAML that can be copied into a suite."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.canonical import Json
    from promptreg.scoring.contract.suggest import Suggestion
    from promptreg.text.sentence import Language

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_MEANS_SOMETHING_ELSE: Final = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"])


def checks_yaml(suggestions: Sequence[Suggestion], indent: int, language: Language) -> Iterator[str]:
    """The lines of a list under `checks:`, each check below a comment that says why."""
    pad = " " * indent
    for suggestion in suggestions:
        yield f"{pad}# {suggestion.reason.text(language)}"
        if suggestion.argument is None:
            yield f"{pad}- {suggestion.name}"
        else:
            first, *rest = _entry(suggestion.name, suggestion.argument, indent + 2)
            yield f"{pad}- {first.lstrip()}"
            yield from rest


def scalar(value: Json) -> str:
    """One value on one line. Texts stand in double quotes unless they are plain words; nothing invisible is left."""
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _MEANS_SOMETHING_ELSE:
            return value
        quoted = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else _escaped(char) for char in quoted)
    return json.dumps(value, ensure_ascii=False)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _entry(key: str, value: Json, indent: int) -> Iterator[str]:
    pad = " " * indent
    if isinstance(value, Mapping) and value:
        yield f"{pad}{scalar(key)}:"
        for name, inner in value.items():
            yield from _entry(name, inner, indent + 2)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"{pad}{scalar(key)}: [{', '.join(scalar(each) for each in value)}]"
    else:
        yield f"{pad}{scalar(key)}: {'{}' if isinstance(value, Mapping) else scalar(value)}"

"""The key `context` of a case: how its conversation is shortened for the window of each deployment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BeforeValidator, Field, WithJsonSchema

from promptreg.config.hints import did_you_mean, listing
from promptreg.config.model import problem
from promptreg.config.problems import named_kind
from promptreg.suite.model import CaseContext
from promptreg.suite.scalars import AmbiguousWordError, typed

if TYPE_CHECKING:
    from promptreg.errors import Place

NONE: Final = "none"
"""The strategy of a case that is sent as it is written, whatever `defaults` says."""

_KEYS: Final = ("strategy", "window", "reserve", "pinned")
_SCHEMA: Final = {
    "anyOf": [
        {"type": ["string", "null"]},
        {
            "type": "object",
            "required": ["strategy"],
            "additionalProperties": False,
            "properties": {
                "strategy": {"type": "string", "minLength": 1},
                "window": {"type": "integer", "minimum": 1},
                "reserve": {"type": "integer", "minimum": 0},
                "pinned": {"type": "array", "items": {"type": "integer"}},
            },
        },
    ]
}


@dataclass(frozen=True, slots=True)
class WrittenContext:
    """A context as written; one without a strategy takes that of `defaults` away."""

    strategy: str | None
    window: int | None = None
    reserve: int | None = None
    pinned: tuple[int, ...] = ()

    def at(self, place: Place) -> CaseContext | None:
        """The context of a case, written at that place; None for none."""
        if self.strategy is None:
            return None
        return CaseContext(self.strategy, place, self.window, self.reserve, self.pinned)


def _context(value: object) -> WrittenContext:
    if isinstance(value, WrittenContext):
        return value
    written = _text(value)
    if written is None:
        return WrittenContext(None)
    if isinstance(written, str):
        return WrittenContext(_strategy(written))
    if not isinstance(value, Mapping):
        raise problem(
            f"`context` is the name of a strategy, such as `hysteresis`, or a table with `strategy`, not "
            f"{named_kind(written)}."
        )
    for key in value:
        if key not in _KEYS:
            raise problem(f"`context` has no key `{key}`.{did_you_mean(str(key), _KEYS)} Allowed: {listing(_KEYS)}.")
    if "strategy" not in value:
        raise problem("`context` needs `strategy`, such as `hysteresis`; `none` for the messages as they are written.")
    strategy = _text(value["strategy"])
    if strategy is not None and not isinstance(strategy, str):
        raise problem(f"`strategy` under `context` is a text, not {named_kind(strategy)}.")
    return WrittenContext(
        None if strategy is None else _strategy(strategy),
        _tokens(value, "window", 1),
        _tokens(value, "reserve", 0),
        _pinned(value.get("pinned")),
    )


def _text(value: object) -> object:
    """A text as such, what stands for nothing as None; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return typed(value)
    except AmbiguousWordError as error:
        raise problem(str(error)) from None


def _strategy(text: str) -> str | None:
    text = text.strip()
    if not text:
        raise problem("`context` is empty; write the name of a strategy, such as `hysteresis`, or `none`.")
    return None if text == NONE else text


def _tokens(value: Mapping[object, object], key: str, least: int) -> int | None:
    if _text(value.get(key)) is None:
        return None
    number = _whole(value[key])
    if number is None or number < least:
        raise problem(f"`{key}` under `context` is a number of tokens, at least {least}.")
    return number


def _pinned(value: object) -> tuple[int, ...]:
    if _text(value) is None:
        return ()
    numbers = [_whole(item) for item in value] if isinstance(value, (list, tuple)) else [None]
    if None in numbers:
        raise problem("`pinned` under `context` is a list of message numbers, such as `[1, -1]`: from 0, -1 the last.")
    return tuple(dict.fromkeys(number for number in numbers if number is not None))


def _whole(value: object) -> int | None:
    value = _text(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


Context = Annotated[
    WrittenContext | None,
    BeforeValidator(_context),
    WithJsonSchema(_SCHEMA),
    Field(
        description="How the conversation is shortened for the window of each deployment: a strategy, such as "
        "`hysteresis`, or a table of `strategy`, `window`, `reserve` and `pinned`; `none` sends it as it is written."
    ),
]
"""Of a field whose default, None, says that the key is not there; a null that is written is a `WrittenContext`."""

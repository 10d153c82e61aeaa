"""Reading the arguments of checks: texts, numbers, bands, and tables of named fields."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.config.hints import did_you_mean
from promptreg.scoring.checks.base import BadArgument, Setting, quoted, written_text
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

_LISTED: Final = 6


def listed(names: Sequence[str], joint: str) -> str:
    """Texts as a sentence quotes them, at most six of them: "“a”, “b” and “c”" or “a”、“b”和“c”."""
    shown = [quoted(name) for name in names[:_LISTED]]
    chinese = not joint.isascii()
    comma = "、" if chinese else ", "
    if len(names) > _LISTED:
        return comma.join(shown) + ("等" if chinese else f" {joint} {len(names) - _LISTED} more")
    if len(shown) == 1:
        return shown[0]
    return comma.join(shown[:-1]) + (joint if chinese else f" {joint} ") + shown[-1]


def fields(argument: Json, setting: Setting, allowed: Sequence[str], example: str) -> JsonObject:
    """The argument as a table of named fields.

    Args:
        argument: As written.
        setting: Where it is written.
        allowed: Names of the fields.
        example: A right argument in YAML's short form.

    Raises:
        BadArgument: when it is no table, is empty, or has another field.
    """
    names = ", ".join(f"`{name}`" for name in allowed)
    if not isinstance(argument, Mapping) or not argument:
        raise BadArgument(f"`{setting.name}` needs fields, such as `{setting.name}: {example}`. Fields are {names}.")
    for key in argument:
        if key not in allowed:
            raise BadArgument(
                f"`{setting.name}` has no field `{key}`.{did_you_mean(str(key), allowed)} Fields are {names}.",
            )
    return argument


def text(value: Json, setting: Setting, field: str) -> str:
    """The value of a field as text that is not empty; numbers count as their text.

    Raises:
        BadArgument: for anything else, and when the field is not there.
    """
    if isinstance(value, str) and not value.strip():
        value = None
    return written_text(value, f"`{field}` of `{setting.name}`", f"{field}: text")


def texts(argument: Json, setting: Setting, field: str | None = None, *, one: str = "") -> tuple[str, ...]:
    """The argument, or the value of a field, as a list of texts; one text is a list of one.

    Args:
        argument: As written.
        setting: Where it is written.
        field: The field it is the value of; None for the argument itself.
        one: The check for a single text, where a list is needed; "" where one text will do.

    Raises:
        BadArgument: for anything else, and for an empty list or text.
    """
    what = f"`{field}` of `{setting.name}`" if field else f"`{setting.name}`"
    example = f"{field or setting.name}: [first, second]"
    if one and isinstance(argument, (str, int, float)) and not isinstance(argument, bool):
        raise BadArgument(
            f"{what} needs a list of texts, such as `{example}`; commas within one text do not divide it. "
            f"For one text write `{one}: {preview(str(argument), 60)}`.",
        )
    values = argument if isinstance(argument, (list, tuple)) else [argument]
    entries = isinstance(argument, (list, tuple, str, int, float)) and not isinstance(argument, bool)
    if not entries or not values or None in values or "" in values:
        raise BadArgument(f"{what} needs a list of texts, none of them empty, such as `{example}`.")
    return tuple(dict.fromkeys(written_text(value, f"Each entry of {what}", example) for value in values))


def number(value: Json, setting: Setting, field: str, least: float, most: float = math.inf) -> float:
    """A number within limits; one written with other digits than Python's (`0.80`) comes as text and counts too.

    Raises:
        BadArgument: for anything else.
    """
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    # The comparison also refuses NaN.
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not least <= value <= most
        or value == math.inf
    ):
        limits = f"from {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise BadArgument(f"`{field}` of `{setting.name}` needs a number {limits}.")
    return float(value)


def truth(value: Json, setting: Setting, field: str) -> bool:
    """`true` or `false`.

    Raises:
        BadArgument: for anything else.
    """
    if isinstance(value, bool):
        return value
    raise BadArgument(f"`{field}` of `{setting.name}` must be `true` or `false`.")


@dataclass(frozen=True, slots=True)
class Band:
    """Whole numbers from `least` to `most`, both included; None where that end is open."""

    least: int | None = None
    most: int | None = None

    def holds(self, count: int) -> bool:
        """Whether a number is inside."""
        return (self.least is None or count >= self.least) and (self.most is None or count <= self.most)

    @property
    def en(self) -> str:
        """As in "at least 2", "2 to 5", "exactly 3"."""
        if self.least is not None and self.least == self.most:
            return f"exactly {self.least}"
        if self.least is None:
            return f"at most {self.most}"
        return f"at least {self.least}" if self.most is None else f"{self.least} to {self.most}"

    @property
    def zh(self) -> str:
        """As in "至少 2", "2 至 5", "恰好 3"."""
        if self.least is not None and self.least == self.most:
            return f"恰好 {self.least}"
        if self.least is None:
            return f"至多 {self.most}"
        return f"至少 {self.least}" if self.most is None else f"{self.least} 至 {self.most}"


def band(value: Json, setting: Setting, field: str, *, bare: str) -> Band:
    """A band of counts: `{min: 2, max: 5}`, either of them alone, or a bare number.

    Args:
        value: As written.
        setting: Where it is written.
        field: The field it is the value of.
        bare: What a bare number is: "max" or "exact".

    Raises:
        BadArgument: for anything else.
    """
    what = f"`{setting.name}`" if field == setting.name.removeprefix("not_") else f"`{field}` of `{setting.name}`"
    if not isinstance(value, Mapping):
        count = _count(value)
        if count is None:
            meaning = "the largest number allowed" if bare == "max" else "the exact number"
            raise BadArgument(
                f"{what} needs a whole number from 0 ({meaning}), or `{field}: {{min: 1, max: 5}}`.",
            )
        return Band(None if bare == "max" else count, count)
    ends: dict[str, int] = {}
    for key, end in value.items():
        count = _count(end)
        if key not in ("min", "max") or count is None:
            raise BadArgument(
                f"{what} has the fields `min` and `max`, both whole numbers from 0; "
                f"{quoted(f'{key}: {end}')} is none of them.",
            )
        ends[key] = count
    if not ends:
        raise BadArgument(f"{what} needs `min`, `max` or both.")
    if "min" in ends and "max" in ends and ends["min"] > ends["max"]:
        raise BadArgument(
            f"{what} has a `min` ({ends['min']}) above its `max` ({ends['max']}): no answer could pass.",
        )
    return Band(ends.get("min"), ends.get("max"))


def _count(value: Json) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value) if len(value) < 19 else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

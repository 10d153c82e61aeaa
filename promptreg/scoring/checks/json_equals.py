"""Checks `json_equals` and `json_fields`: the content is JSON with these values, numbers within a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.options import fields, number
from promptreg.scoring.checks.reading.json_text import parse_answer
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_STEP: Final = re.compile(r"\.?(?P<key>[^.\[\]]++)|\[(?P<index>[0-9]{1,9})\]|\[\"(?P<quoted>[^\"]*+)\"\]")
_ODD_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two numbers may be apart and still count as equal: by either of the two."""

    absolute: float = 0.0
    relative: float = 0.0
    """Share of the larger one."""

    @property
    def en(self) -> str:
        """What follows the rule, "" without a tolerance."""
        return self._said(" (numbers within ", " or ", ")")

    @property
    def zh(self) -> str:
        """What follows the rule, "" without a tolerance."""
        return self._said("（数值误差不超过 ", " 或 ", "）")

    def equal(self, first: Any, second: Any) -> bool:
        """Whether two JSON values that are neither list nor object are equal; 1 and 1.0 are, 1 and true are not."""
        if isinstance(first, bool) or isinstance(second, bool) or not _numbers(first, second):
            return type(first) is type(second) and bool(first == second)
        if first == second:
            return True
        try:
            return math.isclose(first, second, rel_tol=self.relative, abs_tol=self.absolute)
        except OverflowError:  # an integer beyond the range of floats
            return False

    def _said(self, start: str, joint: str, end: str) -> str:
        parts = [f"{self.absolute:g}"] if self.absolute else []
        parts += [f"{100 * self.relative:g} %"] if self.relative else []
        return f"{start}{joint.join(parts)}{end}" if parts else ""


@dataclass(frozen=True, slots=True)
class JsonEquals:
    """Key order and blanks do not count; the order of lists does."""

    value: Any
    tolerance: Tolerance

    @property
    def rules(self) -> Rules:
        """The content must be JSON equal to the value, or must not."""
        shown = quoted(_written(self.value))
        return must(f"be JSON equal to {shown}{self.tolerance.en}", f"是等于{shown}的 JSON{self.tolerance.zh}")

    def find(self, answer: Answer) -> Finding:
        """Whether it is; if not, the first place where it differs."""
        parsed = parse_answer(answer)
        if parsed.problem is not None:
            return Finding(holds=False, sentence=parsed.problem)
        shown = quoted(_written(self.value))
        difference = _first_difference("$", parsed.value, self.value, self.tolerance)
        if difference is None:
            return found(True, f"is JSON equal to {shown}", f"是等于{shown}的 JSON")
        return found(False, f"is JSON that differs: {difference[0]}", f"是 JSON，但有不同：{difference[1]}")


@dataclass(frozen=True, slots=True)
class JsonFields:
    """Only the named places are looked at; other keys may be there."""

    fields: tuple[tuple[str, tuple[str | int, ...], Any], ...]
    """Path as written, its steps, the value expected there."""
    tolerance: Tolerance

    @property
    def rules(self) -> Rules:
        """The content must be JSON with these values, or something else."""
        shown = ", ".join(f"{preview(path, 40)} = {quoted(_written(value))}" for path, _, value in self.fields[:4])
        more = f", … ({len(self.fields)})" if len(self.fields) > 4 else ""
        return must(
            f"be JSON with {shown}{more}{self.tolerance.en}",
            f"是满足 {shown}{more} 的 JSON{self.tolerance.zh}",
        )

    def find(self, answer: Answer) -> Finding:
        """Whether all places have their values; if not, the first that has not."""
        parsed = parse_answer(answer)
        if parsed.problem is not None:
            return Finding(holds=False, sentence=parsed.problem)
        for path, steps, value in self.fields:
            here = _at(parsed.value, steps)
            shown = preview(path, 60)
            if here is _MISSING:
                return found(False, f"is JSON without {shown}", f"是 JSON，但没有 {shown}")
            difference = _first_difference(shown, here, value, self.tolerance)
            if difference is not None:
                return found(False, f"is JSON that differs: {difference[0]}", f"是 JSON，但有不同：{difference[1]}")
        return found(True, "is JSON with the values asked for", "是 JSON，且各项取值符合要求")


def build(argument: Json, setting: Setting) -> JsonEquals:
    """`json_equals: {value: …}` in YAML, `{json: TEXT}` with the JSON as a text, or that text alone."""
    if isinstance(argument, str):
        argument = {"json": argument}
    example = "{value: {days: 30}, tolerance: 0.01}"
    table = fields(argument, setting, ("value", "json", "tolerance", "relative_tolerance"), example)
    if ("value" in table) == ("json" in table):
        raise BadArgument(f"`{setting.name}` needs either `value` or `json`, such as `{setting.name}: {example}`.")
    if "value" in table:
        _refuse_odd_numbers(table["value"], setting)
        _refuse_json_text(table["value"], setting)
        return JsonEquals(table["value"], _tolerance(table, setting))
    written = table["json"]
    if not isinstance(written, str):
        raise BadArgument(f"`json` of `{setting.name}` needs a text in quotes; a value in YAML stands under `value`.")
    try:
        return JsonEquals(orjson.loads(written), _tolerance(table, setting))
    except orjson.JSONDecodeError as error:
        raise BadArgument(
            f"`{setting.name}` needs JSON; {quoted(written)} is none (line {error.lineno}, column {error.colno}).",
        ) from None


def build_fields(argument: Json, setting: Setting) -> JsonFields:
    """`json_fields: {fields: {PATH: VALUE, …}}`, paths such as `items[0].price`."""
    example = '{fields: {days: 30, "items[0].name": 长河}, tolerance: 0.01}'
    table = fields(argument, setting, ("fields", "tolerance", "relative_tolerance"), example)
    wanted = table.get("fields")
    if not isinstance(wanted, Mapping) or not wanted:
        raise BadArgument(f"`{setting.name}` needs `fields`, such as `{setting.name}: {example}`.")
    for value in wanted.values():
        _refuse_odd_numbers(value, setting)
    made = tuple((str(path), _steps(str(path), setting), value) for path, value in wanted.items())
    return JsonFields(made, _tolerance(table, setting))


def _tolerance(table: Mapping[str, Json], setting: Setting) -> Tolerance:
    return Tolerance(
        number(table.get("tolerance", 0), setting, "tolerance", 0),
        number(table.get("relative_tolerance", 0), setting, "relative_tolerance", 0, 1),
    )


def _refuse_odd_numbers(value: Json, setting: Setting) -> None:
    """A suite keeps `1.10` as the characters it is; as a number it has to be written as JSON prints it."""
    rest = [value]
    while rest:
        part = rest.pop()
        if isinstance(part, Mapping):
            rest += part.values()
        elif isinstance(part, (list, tuple)):
            rest += part
        elif isinstance(part, str) and len(part) < 400 and _ODD_NUMBER.fullmatch(part) and str(_number(part)) != part:
            raise BadArgument(
                f"{quoted(part)} in `{setting.name}` could be a number or a text. Write the number as {_number(part)}, "
                "or the text with `json_schema` and `const`.",
            )


def _refuse_json_text(value: Json, setting: Setting) -> None:
    """`value: '{"a": 1}'` is a text to YAML, and no answer that is the object would equal it."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return
    raise BadArgument(
        f"`value` of `{setting.name}` is the text {quoted(value)}, which is JSON itself. Write `json:` instead of "
        "`value:` to compare with what the text holds, or the value in YAML without quotes around it "
        "(`value: {a: 1}`). An answer that is this text in quotes is `json_schema: {const: …}`.",
    )


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def _steps(path: str, setting: Setting) -> tuple[str | int, ...]:
    """The keys and list positions of a path."""
    steps: list[str | int] = []
    rest = path.removeprefix("$") if path.startswith(("$.", "$[")) else path
    position = 0
    while position < len(rest):
        match = _STEP.match(rest, position)
        if match is None:
            break
        if match["index"] is not None:
            steps.append(int(match["index"]))
        else:
            steps.append(match["key"] if match["key"] is not None else match["quoted"])
        position = match.end()
    if not steps or position < len(rest):
        raise BadArgument(
            f"`{setting.name}` cannot read the path {quoted(path)}; paths look like `days`, `items[0].price` or "
            '`["a.b"]`.',
        )
    return tuple(steps)


def _at(value: Any, steps: tuple[str | int, ...]) -> Any:
    for step in steps:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step, _MISSING)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return _MISSING
    return value


def _first_difference(start: str, given: Any, wanted: Any, tolerance: Tolerance) -> tuple[str, str] | None:
    """Where two values differ first, said in English and Chinese. Bounded by what was expected, without recursion."""
    rest: list[tuple[str, Any, Any]] = [(start, given, wanted)]
    while rest:
        path, here, there = rest.pop()
        if isinstance(there, Mapping) and isinstance(here, dict):
            for key in there:
                if key not in here:
                    return f"{path} has no {quoted(key)}", f"{path} 处没有{quoted(key)}"
            for key in here:
                if key not in there:
                    return f"{path} also has {quoted(key)}", f"{path} 处多出{quoted(key)}"
            rest += reversed([(f"{path}.{preview(key, 40)}"[:400], here[key], value) for key, value in there.items()])
        elif isinstance(there, (list, tuple)) and isinstance(here, list):
            if len(here) != len(there):
                return (
                    f"{path} has {len(here)} elements, not {len(there)}",
                    f"{path} 处有 {len(here)} 个元素，而不是 {len(there)} 个",
                )
            rest += reversed(list(_elements(path, here, there)))
        elif isinstance(here, (dict, list)) or not tolerance.equal(here, there):
            shown, expected = quoted(_written(here)), quoted(_written(there))
            return f"{path} is {shown}, not {expected}", f"{path} 处是{shown}，而不是{expected}"
    return None


def _elements(path: str, here: list[Any], there: Any) -> Iterator[tuple[str, Any, Any]]:
    for index, (first, second) in enumerate(zip(here, there, strict=True)):
        yield f"{path}[{index}]"[:400], first, second


def _numbers(first: Any, second: Any) -> bool:
    return isinstance(first, (int, float)) and isinstance(second, (int, float))


def _written(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()[:200]
    except (TypeError, ValueError):  # deeper than orjson writes, or an integer beyond 64 bits
        return str(value)[:200] if isinstance(value, int) else "…"

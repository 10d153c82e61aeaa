"""YAML text to plain tables, lists and scalars that know their lines.

ruamel.yaml gives the parse events; the tree is built here, because types depend on where a scalar stands (see
scalars), duplicate keys must name both places, and aliases must not multiply without bound.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, DocumentStartEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

from promptreg.errors import Place, Problem
from promptreg.suite.scalars import Block, Plain

_MAX_DEPTH = 60
_MAX_VALUES = 1_000_000
"""How many values a file may have, those that its aliases stand for included. A long text counts as several."""
_CHARACTERS = 100

_LINE_BREAKS = {
    "\x85": "U+0085, next line",
    "\u2028": "U+2028, line separator",
    "\u2029": "U+2029, paragraph separator",
}
_MERGE = "<<"
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Table(dict[str, Any]):
    """A mapping that knows the line of each key. Read-only by agreement: aliases share one object."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Rows(list[Any]):
    """A sequence that knows the line of each entry. Read-only by agreement: aliases share one object."""

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


@dataclass(frozen=True, slots=True)
class Document:
    """A read file: its top value and what was wrong with it so far. `data` is None when it could not be read."""

    data: Any
    problems: tuple[Problem, ...]


class _UnreadableError(Exception):
    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_yaml(text: str, path: str) -> Document:
    """The one document of `text`. `path` is the file's name in messages."""
    for char, name in _LINE_BREAKS.items():
        at = text.find(char)
        if at >= 0:
            # YAML readers disagree on whether these end a line; a prompt must not depend on it.
            line = text.count("\n", 0, at) + 1
            escape = {"\x85": "\\N", "\u2028": "\\L", "\u2029": "\\P"}[char]
            message = f"The character {name}, is not safe in YAML; write {escape} inside double quotes instead."
            return Document(None, (Problem(message, Place(path, line)),))
    builder = _Builder(path)
    try:
        data = builder.build(text)
    except _UnreadableError as error:
        return Document(None, (*builder.problems, Problem(str(error), Place(path, error.line))))
    except MarkedYAMLError as error:
        return Document(None, (*builder.problems, _syntax_problem(error, path)))
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        reason = getattr(error, "reason", None) or str(error).splitlines()[0]
        message = f"This is not valid YAML: {reason}"
        if hasattr(error, "character"):
            message = f"The control character U+{_code_point(error.character):04X} is not allowed in YAML."
        return Document(None, (*builder.problems, Problem(message, Place(path, line))))
    except RecursionError:
        return Document(None, (*builder.problems, Problem("The file is nested too deeply.", Place(path))))
    return Document(data, tuple(builder.problems))


def line_of(data: Any, path: tuple[str | int, ...]) -> int | None:
    """The line of the value at `path`, or of the nearest one around it. Keys that are not there are passed over."""
    line: int | None = getattr(data, "line", None)
    for key in path:
        if isinstance(data, Table) and key in data.lines:
            line = data.lines[str(key)]
            data = data[str(key)]
        elif isinstance(data, Rows) and isinstance(key, int) and 0 <= key < len(data):
            line = data.lines[key]
            data = data[key]
    return line


def value_at(data: Any, path: tuple[str | int, ...]) -> Any:
    """The value at `path`, every key of which is there."""
    for key in path:
        data = data[key]
    return data


def _code_point(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


def _syntax_problem(error: MarkedYAMLError, path: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else None
    what = str(error.problem or error.context or "broken text").strip()
    if "'\\t'" in what:
        return Problem("A tab stands where YAML needs spaces; indent with spaces only.", Place(path, line))
    begun = ""
    if error.context and error.context_mark is not None and error.context_mark.line + 1 != line:
        begun = f" ({str(error.context).strip()} that begins on line {error.context_mark.line + 1})"
    return Problem(f"This is not valid YAML: {what}{begun}.", Place(path, line))


class _Builder:
    def __init__(self, path: str) -> None:
        self.problems: list[Problem] = []
        self._path = path
        self._anchors: dict[str, tuple[Any, int]] = {}
        """What each finished anchor stands for, and how many values that is."""
        self._open: set[str] = set()
        self._values = 0
        self._events: Any = None

    def build(self, text: str) -> Any:
        self._events = YAML(typ="safe", pure=True).parse(text)
        data: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise _UnreadableError(
                        "A second document begins here (`---`); write one suite per file.", event.start_mark.line + 1
                    )
            elif isinstance(event, (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent)):
                data, _ = self._value(event, 0)
        return data

    def _value(self, event: Any, depth: int) -> tuple[Any, int]:
        """The value that `event` begins and how many values are in it, aliases counted as written out."""
        line = event.start_mark.line + 1
        if depth > _MAX_DEPTH:
            raise _UnreadableError(f"The file is nested more than {_MAX_DEPTH} levels deep.", line)
        if isinstance(event, AliasEvent):
            return self._alias(event.anchor, line)
        self._count(1, line)
        self._refuse_tag(event, line)
        anchor = event.anchor
        if anchor is not None:
            self._open.add(anchor)
        value: Any
        if isinstance(event, ScalarEvent):
            value = _scalar(event)
            size = 1 + len(value) // _CHARACTERS
        elif isinstance(event, SequenceStartEvent):
            value, size = self._sequence(line, depth)
        else:
            value, size = self._mapping(line, depth)
        if anchor is not None:
            self._open.discard(anchor)
            self._anchors[anchor] = (value, size)
        return value, size

    def _alias(self, anchor: str, line: int) -> tuple[Any, int]:
        if anchor in self._open:
            raise _UnreadableError(f"The alias `*{anchor}` stands inside its own anchor.", line)
        if anchor not in self._anchors:
            raise _UnreadableError(f"The alias `*{anchor}` has no anchor `&{anchor}` before it.", line)
        value, size = self._anchors[anchor]
        self._count(size, line)
        return value, size

    def _count(self, values: int, line: int) -> None:
        self._values += values
        if self._values > _MAX_VALUES:
            raise _UnreadableError(
                f"The file has more than {_MAX_VALUES} values by here, those that aliases stand for included. Write "
                "fewer, or move the cases into a case file (`cases_from`).",
                line,
            )

    def _refuse_tag(self, event: Any, line: int) -> None:
        tag = str(event.tag) if event.tag is not None else None
        if tag in {None, "!", "tag:yaml.org,2002:str", "!!str"}:
            return
        self.problems.append(
            Problem(f"The YAML tag `{tag}` is not allowed; put a text in quotes instead.", Place(self._path, line))
        )

    def _sequence(self, line: int, depth: int) -> tuple[Rows, int]:
        rows = Rows(line)
        total = 1
        for event in self._events:
            if type(event).__name__ == "SequenceEndEvent":
                break
            value, size = self._value(event, depth + 1)
            rows.append(value)
            rows.lines.append(event.start_mark.line + 1)
            total += size
        return rows, total

    def _mapping(self, line: int, depth: int) -> tuple[Table, int]:
        table = Table(line)
        merged: list[tuple[Any, int]] = []
        total = 1
        for event in self._events:
            if type(event).__name__ == "MappingEndEvent":
                break
            key_line = event.start_mark.line + 1
            key, _ = self._value(event, depth + 1)
            value, size = self._value(next(self._events), depth + 1)
            total += size
            if not isinstance(key, str):
                self.problems.append(
                    Problem("A key must be a text, not a list or a table.", Place(self._path, key_line))
                )
            elif isinstance(key, Plain) and key == _MERGE:
                merged.append((value, key_line))
            elif key in table:
                message = f"The key `{key}` stands twice in one table, here and at {self._path}:{table.lines[key]}."
                self.problems.append(Problem(f"{message} Remove one.", Place(self._path, key_line)))
            else:
                table[str(key)] = value
                table.lines[str(key)] = key_line
        for value, key_line in merged:
            self._merge(table, value, key_line)
        return table, total

    def _merge(self, table: Table, value: Any, line: int) -> None:
        """`<<: *anchor`: keys of the table itself win, then those of the first table named."""
        for source in value if isinstance(value, Rows) else [value]:
            if not isinstance(source, Table):
                self.problems.append(Problem("`<<` takes a table, or a list of tables.", Place(self._path, line)))
                continue
            for key, item in source.items():
                if key not in table:
                    table[key] = item
                    table.lines[key] = source.lines[key]


def _scalar(event: ScalarEvent) -> str:
    text = str(event.value)
    if not text.isascii() and _SURROGATES.search(text):
        # JSON writes characters beyond U+FFFF as two escapes; YAML that was JSON once has them, too.
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    if event.style == "|":
        return Block(text)
    plain = event.style is None and event.tag is None
    return Plain(text) if plain else text

"""Reads a baseline, and says everything that is wrong with a damaged one."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from io import BytesIO
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import ValidationError

from promptreg.baseline.lines import CaseLine, HeaderLine
from promptreg.baseline.model import SCHEMA, Baseline, Golden, Header
from promptreg.config.encoding import UnreadableTextError, open_file
from promptreg.config.json_input import finite, refuse_constant, unique_keys, why_unread
from promptreg.errors import BaselineError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from pydantic_core import ErrorDetails

MOST_LINE_BYTES: Final = 64 * 1024 * 1024
"""Of one case: a hundred passes with answers of 200 000 Chinese characters."""
MOST_BYTES: Final = 2 * 1024 * 1024 * 1024
"""Of a whole file."""

_BOM = b"\xef\xbb\xbf"
_RESTORE = "Restore the file from git."
_MOST_PROBLEMS = 200
_LONG_LINE_BYTES = 256 * 1024
_LineModel = TypeVar("_LineModel", HeaderLine, CaseLine)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. A byte order mark and CRLF line ends (git's autocrlf) are accepted.

    Raises:
        BaselineError: with the problems of the file, each with its line.
    """
    try:
        with open_file(path) as file:
            return _Reader(str(path)).read(file)
    except FileNotFoundError as error:
        raise BaselineError(
            Problem("There is no baseline yet. `promptreg record` makes it.", Place(str(path)))
        ) from error
    except UnreadableTextError as error:
        raise BaselineError(Problem(str(error), Place(str(path)))) from None
    except OSError as error:
        raise BaselineError(Problem(f"It cannot be read: {error.strerror or error}.", Place(str(path)))) from error


def parse_baseline(data: bytes, shown: str) -> Baseline:
    """The baseline in the bytes of a file.

    Args:
        data: the bytes.
        shown: how messages name the file.

    Raises:
        BaselineError: with the problems of the file, each with its line.
    """
    return _Reader(shown).read(BytesIO(data))


def peek_header(path: Path) -> Header | None:
    """The header of the file, None when there is no file or no header that can be read."""
    try:
        with open_file(path) as file:
            first = file.readline(MOST_LINE_BYTES)
        return HeaderLine.model_validate(json.loads(first.removeprefix(_BOM))).header()
    except (OSError, ValueError, RecursionError):
        return None


@dataclass(frozen=True, slots=True)
class _Line:
    place: Place
    data: bytes


class _EnoughError(Exception):
    """So much is wrong that nobody reads more of it."""


class _Reader:
    """Reads one file, line by line, and collects its problems."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._problems: list[Problem] = []

    def read(self, file: BinaryIO) -> Baseline:
        try:
            baseline = self._read(self._lines(file))
        except _EnoughError:
            baseline = None
            self._problems.append(Problem("The rest of this file was not read.", Place(self._path)))
        if self._problems or baseline is None:
            raise BaselineError(self._problems)
        return baseline

    def _read(self, lines: Iterator[_Line]) -> Baseline | None:
        line = next(lines, None)
        if line is None:
            raise BaselineError(Problem("The file is empty. Record the baseline again.", Place(self._path)))
        first = self._json(line)
        header = None if first is None else self._header(line, first)
        # A case in the first line means that the header was lost. It is read too, to find all problems at once.
        cases = chain([line], lines) if first is not None and "case_id" in first else lines
        goldens: dict[str, Golden] = {}
        places: dict[str, Place] = {}
        for line in cases:
            golden = self._golden(line)
            if golden is None:
                continue
            if golden.case_id in goldens:
                earlier = places[golden.case_id].line
                self._add(
                    line,
                    f"Case {golden.case_id!r} stands here again; it stands in line {earlier} already. Remove one, or "
                    "record the baseline again.",
                )
                continue
            goldens[golden.case_id] = golden
            places[golden.case_id] = line.place
            if header is not None:
                self._check_passes(line, golden, header.passes)
        return None if header is None else Baseline(header, goldens)

    def _lines(self, file: BinaryIO) -> Iterator[_Line]:
        # Only LF ends a line: JSON text may hold U+2028 and the like.
        number = read = 0
        while data := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            read += len(data)
            if number == 1:
                data = data.removeprefix(_BOM)
            line = _Line(Place(self._path, number), data.removesuffix(b"\n").removesuffix(b"\r"))
            if len(data) > MOST_LINE_BYTES:
                self._add(line, f"This line is longer than {MOST_LINE_BYTES // 2**20} MB. {_RESTORE}")
                raise _EnoughError
            if read > MOST_BYTES:
                self._add(line, f"The file is larger than {MOST_BYTES // 2**30} GB by here. Record its suite in parts.")
                raise _EnoughError
            if data.strip():
                yield line

    def _header(self, line: _Line, value: dict[str, Any]) -> Header | None:
        if "schema" not in value:
            self._add(line, f'The first line must be the header, with "schema": "{SCHEMA}". Restore it from git.')
            return None
        version = value.get("schema")
        if version != SCHEMA:
            self._add(
                line,
                f"The format is {version!r}, this promptreg reads {SCHEMA!r}. Upgrade promptreg or record again.",
            )
            return None
        model = self._validated(line, value, HeaderLine)
        return None if model is None else model.header()

    def _golden(self, line: _Line) -> Golden | None:
        value = self._json(line)
        model = None if value is None else self._validated(line, value, CaseLine)
        if model is None:
            return None
        told = Counter(index for passes in model.prompt_variants.values() for index in passes)
        tried = {*model.failed_passes, *(index for part in model.answers for index in part.passes)}
        if told and (set(told) != tried or told.total() > len(told)):
            self._add(
                line,
                f"`prompt_variants` of case {model.case_id!r} does not name each of its passes once. Restore it from "
                "git or record the baseline again.",
            )
        called = Counter(index for part in model.calls for index in part.passes)
        if not set(called) <= tried or called.total() > len(called):
            self._add(
                line,
                f"`calls` of case {model.case_id!r} names a pass twice, or one that was not tried. Restore it from git "
                "or record the baseline again.",
            )
        return model.golden()

    def _json(self, line: _Line) -> dict[str, Any] | None:
        if line.data.startswith((b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")):
            self._add(line, "A git merge conflict is left here. Choose one side, or record the baseline again.")
            return None
        try:
            value = json.loads(
                line.data.decode("utf-8"),
                parse_float=finite,
                parse_constant=refuse_constant,
                # Asked for every object of a large baseline it costs a tenth of the reading, and a short line has few.
                object_pairs_hook=unique_keys if len(line.data) > _LONG_LINE_BYTES else None,
            )
        except UnicodeDecodeError as error:
            self._add(line, f"Byte {error.start + 1} of this line is not UTF-8. Restore the file from git.")
        except json.JSONDecodeError as error:
            self._add(
                line,
                f"This line is not a whole JSON object ({error.msg}, column {error.colno}); it may be cut. "
                "Restore it from git or record the baseline again.",
            )
        except (ValueError, RecursionError) as error:
            self._add(line, f"This line cannot be read as JSON: {why_unread(error)}. Restore it from git.")
        else:
            if isinstance(value, dict):
                return value
            self._add(line, "This line is not a JSON object. Restore it from git.")
        return None

    def _validated(self, line: _Line, value: Any, model: type[_LineModel]) -> _LineModel | None:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            for details in error.errors(include_url=False):
                self._add(line, _sentence(details))
            return None

    def _check_passes(self, line: _Line, golden: Golden, passes: int) -> None:
        counts = Counter(index for part in golden.answers for index in part.passes)
        counts.update(golden.failed_passes)
        for index, count in sorted(counts.items()):
            if count > 1:
                self._add(line, f"Pass {index} of case {golden.case_id!r} is listed {count} times.")
            if index >= passes:
                self._add(
                    line,
                    f"Pass {index} of case {golden.case_id!r} does not exist: the header says {passes} passes, "
                    f"counted from 0.",
                )

    def _add(self, line: _Line, message: str) -> None:
        self._problems.append(Problem(message, line.place))
        if len(self._problems) >= _MOST_PROBLEMS:
            raise _EnoughError


def _sentence(details: ErrorDetails) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"]).lstrip(".")
    if details["type"] == "missing":
        return f"The key {where!r} is missing."
    if details["type"] == "extra_forbidden":
        return f"The key {where!r} is unknown; a newer promptreg may have written it."
    return f"{where or 'The line'}: {details['msg']}."

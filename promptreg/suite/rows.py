"""Case files: CSV and JSON Lines to rows that know their lines. Values are kept to the byte."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptreg.config.encoding import MAX_BYTES, UnreadableTextError, decode, read_limited
from promptreg.config.hints import did_you_mean, listing
from promptreg.config.json_input import JsonInputError, refuse_constant, unique_keys
from promptreg.errors import Place, Problem, SuiteError
from promptreg.suite.scalars import Plain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIXES = (".csv", ".jsonl", ".ndjson")
MOST_ROWS = 1_000_000
"""Of one file."""
MOST_PROBLEMS = 10_000
"""After so many the rest of a file is not read."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a case file: a record of texts from CSV, an object from JSON Lines."""

    values: dict[str, Any]
    place: Place


def not_read(place: Place | None) -> Problem:
    """What is said where so much is wrong that nobody reads more of it."""
    return Problem("So much is wrong with this file that the rest of it was not read.", place)


def read_rows(path: Path, shown: str, encoding: str | None) -> tuple[list[Row], list[Problem]]:
    """Every row that can be read, and every problem with its line.

    Args:
        path: The case file.
        shown: Its name in messages.
        encoding: None for UTF-8.
    """
    if path.suffix.lower() not in SUFFIXES:
        return [], [Problem(f"A case file is one of *{', *'.join(SUFFIXES)}.", Place(shown))]
    try:
        text = decode(read_limited(path), encoding)
    except UnreadableTextError as error:
        way_out = ""
        if error.line is not None:
            named = error.likely or "gb18030"
            way_out = f" Save it as UTF-8, or write `encoding: {named}` beside `cases_from`."
        return [], [Problem(f"{error}{way_out}", Place(shown, error.line))]
    rows: list[Row] = []
    problems: list[Problem] = []
    read = _csv_rows if path.suffix.lower() == ".csv" else _json_rows
    for row in read(text, shown):
        if isinstance(row, Problem):
            problems.append(row)
            if len(problems) >= MOST_PROBLEMS:
                problems.append(not_read(row.place))
                break
        elif len(rows) < MOST_ROWS:
            rows.append(row)
        else:
            problems.append(Problem(f"The file has more than {MOST_ROWS} rows. Split it into several.", row.place))
            break
    if not rows and not problems:
        problems.append(Problem("The case file has no cases.", Place(shown)))
    return rows, problems


def _csv_rows(text: str, shown: str) -> Iterator[Row | Problem]:
    # The limit of the csv module is a setting of the whole process; a long document in a cell is no mistake here.
    if csv.field_size_limit() < MAX_BYTES:
        csv.field_size_limit(MAX_BYTES)
    # newline="" keeps line ends inside quotes as they are.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield Problem(
                f"The quotes of the row that begins here do not fit ({error}). A quote inside a quoted value is "
                'written twice (`""`); nothing stands between the closing quote and the comma.',
                Place(shown, line),
            )
            return
        if not cells:
            continue  # an empty line, such as the last one
        if header is None:
            header = cells
            wrong = _header_problem(header)
            if wrong is not None:
                yield Problem(wrong, Place(shown, line))
                return
        elif len(cells) != len(header):
            yield Problem(
                f"This row has {len(cells)} values, the header has {len(header)} columns. "
                "A value with a comma, a quote or a line end stands in double quotes.",
                Place(shown, line),
            )
        else:
            yield Row(dict(zip(header, cells, strict=True)), Place(shown, line))


def _header_problem(header: list[str]) -> str | None:
    if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
        return "The columns seem to be separated by semicolons or tabs; save the file with commas."
    if any(not name.strip() for name in header):
        return f"Column {next(at for at, name in enumerate(header, 1) if not name.strip())} has no name."
    twice = sorted(name for name, count in Counter(header).items() if count > 1)
    if twice:
        return f"Columns stand twice: {listing(twice)}. Give each its own name."
    return None


def _json_rows(text: str, shown: str) -> Iterator[Row | Problem]:
    # JSON escapes line ends inside texts, so only the real ones end a row (splitlines would split at others, too).
    for number, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        place = Place(shown, number)
        try:
            value = json.loads(
                written,
                object_pairs_hook=unique_keys,
                parse_int=Plain,
                parse_float=Plain,
                parse_constant=refuse_constant,
            )
        except JsonInputError as error:
            yield Problem(f"This cannot be read as JSON: {error}.", place)
        except json.JSONDecodeError as error:
            yield Problem(
                f"This is not valid JSON: {error.msg} (column {error.colno}). Each line is one object.", place
            )
        except RecursionError:
            yield Problem("This JSON is nested too deeply.", place)
        else:
            if isinstance(value, dict):
                yield Row(value, place)
            else:
                yield Problem("Each line of a JSON Lines file is one object `{…}`.", place)


def id_column(rows: list[Row], wanted: str | None, shown: str) -> str | None:
    """The column that holds the ids: the one asked for, else `id` where there is one, else None.

    Raises:
        SuiteError: when the column asked for does not exist.
    """
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row.values))
    if wanted is None:
        return "id" if "id" in columns else None
    if wanted not in columns:
        raise SuiteError(
            Problem(
                f"There is no column `{wanted}`.{did_you_mean(wanted, columns)} Columns are {listing(columns)}.",
                Place(shown, 1),
            )
        )
    return wanted

"""Writes a baseline: stable bytes, and either the whole file or no change at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from promptreg.baseline.lines import objects_of
from promptreg.baseline.read import peek_header
from promptreg.canonical import canonical_json
from promptreg.errors import OutputError
from promptreg.store.columns import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from promptreg.baseline.model import Baseline


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write a baseline as JSON Lines: the header, then the cases by id; UTF-8, LF, canonical JSON.

    The same answers always give the same case lines, whatever the order in which they arrived.

    Raises:
        OutputError: it cannot be written, or the file holds the baseline of another suite or deployment. Nothing was
            changed then.
    """
    # A link stays a link: what it points at is replaced.
    given, path = path, Path(os.path.realpath(path))
    _refuse_foreign(path, baseline)
    if given.is_symlink():
        _refuse_other_file(given, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, baseline_lines(baseline))
    except OSError as error:
        raise OutputError(
            f"The baseline {path} cannot be written: {error.strerror or error}. The file is as it was before; make "
            "room or make its folder writable, then record again with --resume."
        ) from error


def baseline_lines(baseline: Baseline) -> Iterator[bytes]:
    """The lines of a baseline's file, each with its line end."""
    return map(_line, map(canonical_json, objects_of(baseline)))


def _line(text: str) -> bytes:
    # Answers come with their lone surrogates replaced already; a case id might still hold one.
    return plain_text(text).encode() + b"\n"


def _replace(path: Path, lines: Iterable[bytes]) -> None:
    temporary = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _refuse_other_file(link: Path, path: Path) -> None:
    """A link that came with a branch must not replace a file of the user that has nothing to do with baselines."""
    try:
        taken = path.stat().st_size > 0
    except OSError:
        return
    if taken and peek_header(path) is None:
        raise OutputError(
            f"{link} is a link to {path}, which holds no baseline, so nothing was written. Remove the link, or what it "
            "points at."
        )


def _refuse_foreign(path: Path, baseline: Baseline) -> None:
    header = peek_header(path)
    ours = (baseline.header.suite, baseline.header.deployment)
    if header is not None and (header.suite, header.deployment) != ours:
        raise OutputError(
            f"{path} holds the baseline of suite {header.suite!r} on deployment {header.deployment!r}, not of "
            f"{ours[0]!r} on {ours[1]!r}. Names that differ in upper and lower case only share a file on this system: "
            "rename one of them."
        )

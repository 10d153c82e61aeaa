"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import tempfile
from typing import IO, TYPE_CHECKING

from promptreg.errors import OutputError
from promptreg.report.page import replaced

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[IO[str]]:
    """A UTF-8 file to write, which takes the place of `path` when the block ends and is gone when it raises.

    Args:
        path: the file; its folder is made when it is missing.

    Raises:
        OutputError: it cannot be written; an older file there is as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as out:
            yield out
    except OSError as error:
        raise OutputError(f"The report cannot be written to {path}: {error.strerror or error}.") from error


def unwritable(path: Path) -> str | None:
    """Why `new_file` could not write `path`, as a sentence; None when it could. Leaves nothing behind.

    Tried rather than read off the permissions, which say nothing of a full disk or of a read-only file system.
    """
    try:
        if path.is_dir():
            return f"The report cannot be written to {path}: it is a folder."
        folder = next(parent for parent in path.absolute().parents if parent.exists())
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return f"The report cannot be written to {path}: {error.strerror or error}."

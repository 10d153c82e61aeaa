"""Writes several files so that all of them change, or none as far as one process can see to it."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from promptreg.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Mapping


def replace_files(contents: Mapping[Path, bytes | None]) -> None:
    """Replace, make or (None) remove files.

    Every new content lies on the disk before the first file is replaced, so a full disk or a folder that cannot be
    written changes nothing. Where replacing fails half-way all the same, what was replaced is put back.

    Raises:
        OutputError: a file cannot be written. All are as they were.
    """
    staged: dict[Path, Path | None] = {}
    before: dict[Path, bytes | None] = {}
    try:
        for given, content in contents.items():
            # A link stays a link: what it points at is replaced.
            path = Path(os.path.realpath(given))
            staged[path] = None if content is None else _staged(path, content)
        for path, temporary in staged.items():
            before[path] = path.read_bytes() if path.exists() else None
            _put(path, temporary)
    except BaseException as error:
        # After Ctrl-C, too: a review that was interrupted says that nothing was changed.
        for path, content in before.items():
            with suppress(OSError):
                _put(path, None if content is None else _staged(path, content))
        if not isinstance(error, OSError):
            raise
        raise OutputError(
            f"{error.filename or 'A file'} cannot be written: {error.strerror or error}. Nothing was changed; make "
            "room or make its folder writable, then do it again."
        ) from error
    finally:
        for temporary in staged.values():
            if temporary is not None:
                with suppress(OSError):
                    temporary.unlink()


def _staged(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:60]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    return temporary


def _put(path: Path, temporary: Path | None) -> None:
    if temporary is None:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # a folder that holds something else stays
            path.parent.rmdir()
    else:
        temporary.replace(path)

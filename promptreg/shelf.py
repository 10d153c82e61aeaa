"""What a large piece of work puts away and takes up again later, one piece at a time: memory holds where each lies."""

from __future__ import annotations

import os
import tempfile
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from promptreg.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path


class Kept(Protocol):
    """Bytes that were put away."""

    def read(self, start: int = 0, size: int | None = None) -> bytes:
        """They, or `size` of them from `start` on."""


class Shelf(Protocol):
    """Keeps bytes as long as anything of them is kept."""

    def put(self, data: bytes) -> Kept:
        """Put bytes away."""


class MemoryShelf:
    """Keeps bytes as they are: for work that is small."""

    def put(self, data: bytes) -> Kept:
        """Put bytes away."""
        return _InMemory(data)


@dataclass(frozen=True, slots=True)
class _InMemory:
    data: bytes

    def read(self, start: int = 0, size: int | None = None) -> bytes:
        """See `Kept`."""
        return self.data[start:] if size is None else self.data[start : start + size]


class FileShelf:
    """Keeps bytes in a file that has no name and is gone with this process, however it ends.

    Copies of this process may read what was put away before they were made, and put nothing away. Linux only, since
    others do not read at a place without moving to it.
    """

    def __init__(self, folder: Path) -> None:
        """A new file in a folder.

        Raises:
            StoreError: there can be none.
        """
        self._folder = folder
        try:
            self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - open as long as it is used
        except OSError as error:
            raise _no_room(folder, error) from error
        self._end = 0
        weakref.finalize(self, self._file.close)

    def put(self, data: bytes) -> Kept:
        """Put bytes away.

        Raises:
            StoreError: the disk is full.
        """
        at, view = self._end, memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) :]
        except OSError as error:
            raise _no_room(self._folder, error) from error
        self._end += len(data)
        return _InFile(self, at, len(data))

    def read(self, at: int, size: int) -> bytes:
        """Bytes from a place in the file."""
        return os.pread(self._file.fileno(), size, at)


@dataclass(frozen=True, slots=True)
class _InFile:
    shelf: FileShelf
    at: int
    size: int

    def read(self, start: int = 0, size: int | None = None) -> bytes:
        """See `Kept`."""
        return self.shelf.read(self.at + start, self.size - start if size is None else size)


def _no_room(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"Judging keeps what it measured in a file in {folder} until the report is written, and cannot write it: "
        f"{error.strerror}. Make room there and judge the run again; nothing stored is lost."
    )

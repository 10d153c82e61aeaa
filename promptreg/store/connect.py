"""Opens the SQLite file with our settings, and says in one sentence what SQLite means by its errors."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from promptreg.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BUSY_TIMEOUT_S = 15.0
"""How long a write waits for another process before it gives up, in seconds."""


def connect(path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """A connection in autocommit mode; transactions are begun by hand.

    WAL with `synchronous = NORMAL`: a committed sample survives `kill -9` of promptreg, because its pages are with the
    operating system by then. After a power cut the last commits may be missing, but the file is whole and a resumed run
    takes the missing samples again; paying an fsync for every commit would buy nothing more.
    """
    connection = sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)
    try:
        _use_wal(connection, busy_timeout_s)
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, busy_timeout_s: float) -> None:
    """Switch a new file to WAL; the mode stays with the file.

    SQLite does not wait by itself when two connections switch at once: one of them is told "locked" at once.
    """
    give_up_at = time.monotonic() + busy_timeout_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up_at:
                raise
            time.sleep(0.02)
        else:
            return


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A block that writes: all of it or nothing. Inside another one it is a part of that.

    IMMEDIATE, so that it waits for other writers before it begins. One that reads first and writes later is refused
    without any wait where another process wrote in between, for it would write on the ground of what is no longer so.
    """
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()  # does nothing where a full disk made SQLite roll back by itself
        raise


@contextmanager
def store_errors(path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Iterator[None]:
    """Turns errors of the file and of SQLite into StoreError; errors that only a bug can cause pass through.

    Raises:
        StoreError: one sentence about what is wrong and one about what to do.
    """
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        raise
    except sqlite3.DatabaseError as error:
        raise StoreError(_sentence(path, error, busy_timeout_s)) from error
    except OSError as error:
        raise StoreError(
            f"The store {path} cannot be opened: {error.strerror or error}. {_ELSEWHERE}",
        ) from error


_ROOM_NEEDED = 64 * 1024
"""Bytes. SQLite needs half of that beside the store, for the memory that its connections share."""

_ELSEWHERE = "Make the folder writable, or name another file as `store` under [paths] in promptreg.toml."

_SENTENCES = (
    (
        "disk is full",
        (
            "The disk is full: the store {path} cannot grow. What was stored stays; free some space and continue with "
            "--resume."
        ),
    ),
    (
        "locked",
        (
            "The store {path} has been locked by another process for more than {seconds:g} s. Wait for that process or "
            "end it, then continue with --resume."
        ),
    ),
    (
        "disk I/O error",
        (
            "The store {path} cannot be read or written (disk I/O error): the disk fails, or a quota or a limit on the "
            "size of files is reached. What was stored stays; remove the cause and continue with --resume."
        ),
    ),
    ("unable to open", "The store {path} cannot be opened or created. " + _ELSEWHERE),
    ("readonly", "The store {path} is read-only. " + _ELSEWHERE),
    (
        "not a database",
        (
            "{path} is not a store of promptreg and not a SQLite database at all. Move it away, or name another "
            "file as `store` under [paths] in promptreg.toml."
        ),
    ),
    ("malformed", "The store {path} is damaged. Move it away: the next run makes a new one."),
)
"""What SQLite's words contain, and what they mean to a user."""


def _sentence(path: Path, error: sqlite3.DatabaseError, busy_timeout_s: float) -> str:
    said = str(error)
    # A full disk that cannot even hold the files beside the store is an I/O error to SQLite, on reading too.
    if "disk I/O error" in said and _is_full(path.parent):
        said = "disk is full"
    for words, sentence in _SENTENCES:
        if words in said:
            return sentence.format(path=path, seconds=busy_timeout_s)
    return f"The store {path} failed: {error}."


def _is_full(folder: Path) -> bool:
    try:
        return shutil.disk_usage(folder).free < _ROOM_NEEDED
    except OSError:
        return False

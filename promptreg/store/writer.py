"""The thread that writes samples in batches, so that the event loop never waits for the disk."""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, NamedTuple

from promptreg.errors import StoreError
from promptreg.store.chunks import encode_chunks
from promptreg.store.columns import json_text, plain_text
from promptreg.store.runs import insert_cases

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from promptreg.deployment.exchange import Exchange
    from promptreg.replay.sample import Sample
    from promptreg.suite.model import Case
    from promptreg.text.redaction import Redaction

BATCH_DELAY_S = 0.05
"""A sample waits this long for company before it is committed. Far below the 250 ms promised, and 20 commits a second
cost next to nothing."""

BATCH_SIZE = 256
"""A batch of this many samples is written without further waiting."""

MAX_WAITING = 1024
"""When so many samples wait for the disk, the next one waits too: memory stays bounded on a slow disk."""

MAX_WAITING_BYTES = 64 * 1024 * 1024
"""The same bound in bytes of response bodies."""


class _Item(NamedTuple):
    run_id: str
    sample: Sample
    size: int


class Writer:
    """Takes samples from any thread and commits them from its own; a failure is raised at the next call."""

    def __init__(
        self,
        open_connection: Callable[[], sqlite3.Connection],
        errors: Callable[[], AbstractContextManager[None]],
        redaction: Redaction,
    ) -> None:
        """Nothing runs before the first sample: most commands only read.

        Args:
            open_connection: opens the connection that only the thread uses.
            errors: a context that turns errors of SQLite into StoreError.
            redaction: what is taken out of requests.
        """
        self._open_connection = open_connection
        self._errors = errors
        self._redaction = redaction
        self._changed = threading.Condition()
        self._waiting: list[_Item] = []
        self._waiting_bytes = 0
        self._first_at = 0.0
        self._writing = False
        self._hurry = False
        self._closing = False
        self._error: Exception | None = None
        self._told = False
        # A daemon, so that a caller who forgets to close the store can still end; `close` waits for it.
        self._thread = threading.Thread(target=self._run, name="promptreg-store", daemon=True)
        self._started = False

    def add(self, run_id: str, sample: Sample) -> None:
        """Queue a sample; blocks only while too many wait.

        Raises:
            StoreError: when an earlier write failed.
        """
        size = sum(len(chunk.data) for attempt in sample.attempts for chunk in attempt.chunks)
        with self._changed:
            if self._closing:
                raise RuntimeError("a sample is added to a store that is closed")
            if not self._started:
                self._started = True
                self._thread.start()
            while self._error is None and (
                len(self._waiting) >= MAX_WAITING or self._waiting_bytes >= MAX_WAITING_BYTES
            ):
                self._changed.wait()
            self._raise_error()
            self._waiting.append(_Item(run_id, sample, size))
            self._waiting_bytes += size
            if len(self._waiting) == 1:
                self._first_at = time.monotonic()
                self._changed.notify_all()
            elif len(self._waiting) == BATCH_SIZE:
                self._changed.notify_all()

    def flush(self) -> None:
        """Return when everything added so far is committed.

        Raises:
            StoreError: when a write failed.
        """
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            try:
                while self._error is None and (self._waiting or self._writing):
                    self._changed.wait()
            finally:
                self._hurry = False
            self._raise_error()

    def close(self) -> None:
        """Write what waits and end the thread.

        Raises:
            StoreError: when a write failed and nobody was told yet.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._started:
            self._thread.join()
        if not self._told:
            self._raise_error()

    def _raise_error(self) -> None:
        self._told = self._error is not None
        if isinstance(self._error, StoreError):
            raise StoreError(str(self._error)) from self._error
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            with self._errors(), closing(self._open_connection()) as connection:
                rows = _Rows(connection, self._redaction)
                while batch := self._next_batch():
                    rows.write(batch)
                    with self._changed:
                        self._writing = False
                        self._changed.notify_all()
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach the thread that adds samples
            with self._changed:
                self._error = error
                self._writing = False
                self._waiting.clear()
                self._changed.notify_all()

    def _next_batch(self) -> list[_Item]:
        """What is to be written next; empty when the writer is to end."""
        with self._changed:
            while not self._waiting and not self._closing:
                self._changed.wait()
            commit_at = self._first_at + BATCH_DELAY_S
            while not (self._closing or self._hurry) and len(self._waiting) < BATCH_SIZE:
                wait_s = commit_at - time.monotonic()
                if wait_s <= 0:
                    break
                self._changed.wait(wait_s)
            batch, self._waiting = self._waiting, []
            self._waiting_bytes = 0
            self._writing = bool(batch)
            self._changed.notify_all()
            return batch


_NEW_SAMPLE = """
INSERT INTO samples (run_case, pass_index, variant, state, in_flight, problem_kind, problem_message)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_case, pass_index) DO NOTHING
"""

_RETAKEN_SAMPLE = """
UPDATE samples SET state = ?, in_flight = ?, problem_kind = ?, problem_message = ? WHERE id = ?
"""

_ATTEMPT = """
INSERT INTO attempts (sample_id, number,
    sent_at, duration_s, status, headers_json, chunks, failure_kind, failure_message)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""


class _Place(NamedTuple):
    """Where the attempts of a sample go."""

    sample_id: int
    first_number: int


class _Rows:
    """Turns samples into rows of one connection."""

    def __init__(self, connection: sqlite3.Connection, redaction: Redaction) -> None:
        self._connection, self._redaction = connection, redaction
        self._case_keys: dict[str, dict[tuple[str, str], int]] = {}

    def write(self, batch: list[_Item]) -> None:
        """Commit a batch as one transaction: a sample is there with all its attempts, or not at all."""
        # Compress before the transaction begins: other processes wait for less.
        coded = [[encode_chunks(attempt.chunks) for attempt in item.sample.attempts] for item in batch]
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            for item, bodies in zip(batch, coded, strict=True):
                place = self._write_sample(item)
                if place is not None:
                    self._write_attempts(place, item.sample.attempts, bodies)
            self._connection.execute("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself.
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _write_sample(self, item: _Item) -> _Place | None:
        """Write the sample's row; None when it was answered before, which is never written over."""
        call, problem = item.sample.call, item.sample.reading.problem
        key = (self._case_key(item.run_id, call.case), call.pass_index)
        state = (
            "answered" if item.sample.reading.answer is not None else "failed",
            item.sample.in_flight,
            None if problem is None else problem.kind.value,
            None if problem is None else plain_text(problem.message),
        )
        variant = None if call.variant is None else call.variant.value
        inserted = self._connection.execute(_NEW_SAMPLE, (*key, variant, *state))
        if inserted.rowcount == 1:
            return _Place(inserted.lastrowid or 0, 0)
        # The sample failed at an earlier start of the run: the new attempts go after the old ones.
        stored = self._connection.execute(
            "SELECT id, state, (SELECT count(*) FROM attempts WHERE sample_id = samples.id) FROM samples "
            "WHERE run_case = ? AND pass_index = ?",
            key,
        )
        sample_id, old_state, attempts = stored.fetchone()
        if old_state == "answered":
            return None
        self._connection.execute(_RETAKEN_SAMPLE, (*state, sample_id))
        return _Place(sample_id, attempts)

    def _write_attempts(self, place: _Place, attempts: tuple[Exchange, ...], bodies: list[bytes]) -> None:
        self._connection.executemany(
            _ATTEMPT,
            [
                (
                    place.sample_id,
                    place.first_number + index,
                    attempt.sent_at,
                    attempt.duration_s,
                    attempt.status,
                    json_text(attempt.headers),
                    body,
                    None if attempt.failure is None else attempt.failure.kind.value,
                    None if attempt.failure is None else plain_text(attempt.failure.message),
                )
                for index, (attempt, body) in enumerate(zip(attempts, bodies, strict=True))
            ],
        )

    def _case_key(self, run_id: str, case: Case) -> int:
        name = (plain_text(case.suite), plain_text(case.case_id))
        keys = self._case_keys.get(run_id)
        if keys is None:
            keys = self._case_keys[run_id] = self._read_case_keys(run_id)
        if name not in keys:
            insert_cases(self._connection, run_id, [case], redaction=self._redaction)
            ids = "SELECT id FROM run_cases WHERE run_id = ? AND suite = ? AND case_id = ?"
            (keys[name],) = self._connection.execute(ids, (run_id, *name)).fetchone()
        return keys[name]

    def _read_case_keys(self, run_id: str) -> dict[tuple[str, str], int]:
        rows = self._connection.execute("SELECT suite, case_id, id FROM run_cases WHERE run_id = ?", (run_id,))
        return {(suite, case_id): key for suite, case_id, key in rows}

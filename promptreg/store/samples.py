"""Stored samples, read back as raw as they arrived."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from promptreg.deployment.exchange import Exchange, Failure, FailureKind
from promptreg.errors import StoreError
from promptreg.store.chunks import decode_chunks

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class StoredSample:
    """A sample as it was stored; `promptreg.deployment.reader` reads its last attempt again."""

    suite: str
    case_id: str
    pass_index: int
    request_sha256: str
    in_flight: int
    attempts: tuple[Exchange, ...]
    """Oldest first, those of earlier starts of a resumed run included."""
    variant: str | None = None
    """How the last user message was varied (`replay.perturb.Variant`); None where the case is not varied."""


# The order is the order of the indexes, so SQLite sorts nothing and the first row comes at once.
_SAMPLES = """
SELECT suite, case_id, pass_index, request_sha256, in_flight, variant,
    sent_at, duration_s, status, headers_json, chunks, failure_kind, failure_message
FROM run_cases
    CROSS JOIN samples ON samples.run_case = run_cases.id
    CROSS JOIN attempts ON attempts.sample_id = samples.id
WHERE run_id = ? {suite_condition}
ORDER BY suite, case_id, pass_index, number
"""


def read_samples(
    connection: sqlite3.Connection,
    run_id: str,
    suite: str | None,
    case_id: str | None = None,
    since: str | None = None,
) -> Iterator[StoredSample]:
    """Samples of a run, perhaps of one suite or case only, by suite, case and pass, one at a time.

    `since` leaves out the cases whose ids are smaller.

    Raises:
        StoreError: for a stored body that is damaged.
    """
    wanted = {"suite =": suite, "case_id =": case_id, "case_id >=": since}
    only = {condition: value for condition, value in wanted.items() if value is not None}
    conditions = " ".join(f"AND {condition} ?" for condition in only)
    rows = connection.execute(_SAMPLES.format(suite_condition=conditions), (run_id, *only.values()))
    for key, attempts in groupby(rows, key=lambda row: row[:6]):
        suite_name, case_id, pass_index, request_sha256, in_flight, variant = key
        try:
            exchanges = tuple(_exchange(*row[6:]) for row in attempts)
        except ValueError as error:
            raise StoreError(
                f"The sample of case {case_id!r}, pass {pass_index}, run {run_id!r} cannot be read: {error}. "
                "Take a new run; the rest of the store can still be used."
            ) from error
        yield StoredSample(suite_name, case_id, pass_index, request_sha256, in_flight, exchanges, variant)


def _exchange(
    sent_at: float,
    duration_s: float,
    status: int | None,
    headers_json: str,
    chunks: bytes,
    failure_kind: str | None,
    failure_message: str | None,
) -> Exchange:
    return Exchange(
        sent_at=sent_at,
        duration_s=duration_s,
        status=status,
        headers=tuple((name, value) for name, value in json.loads(headers_json)),
        chunks=decode_chunks(chunks),
        failure=None if failure_kind is None else Failure(FailureKind(failure_kind), failure_message or ""),
    )

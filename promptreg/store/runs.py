"""Runs as they are begun, as they change, and as they are read back."""

from __future__ import annotations

import json
import re
import secrets
import time
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from promptreg.errors import StoreError
from promptreg.store.columns import json_text, plain_text
from promptreg.store.connect import transaction
from promptreg.text.redaction import NOTHING
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.store.sqlite_utils import Database
    from promptreg.suite.model import Case
    from promptreg.text.redaction import Redaction

RunKind: TypeAlias = Literal["record", "compare"]
RunState: TypeAlias = Literal["running", "interrupted", "done", "failed"]


@dataclass(frozen=True, slots=True)
class RunSpec:
    """What is known when a run begins."""

    kind: RunKind
    deployment: str
    model: str
    passes: int
    seed: int
    suites: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    server: str | None = None
    base_url: str | None = None
    """Without user and password."""
    provenance: JsonObject = field(default_factory=dict)
    request_defaults: JsonObject = field(default_factory=dict)
    options: JsonObject = field(default_factory=dict)
    """Options of the command that later steps need, such as alpha."""
    contexts: Mapping[tuple[str, str], JsonObject] = field(default_factory=dict)
    """By suite and case id, how a conversation was shortened for the deployment's window, with its ledger."""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A stored run."""

    run_id: str
    kind: RunKind
    state: RunState
    """`running` also after a kill: nobody was left to write another state."""
    deployment: str
    model: str
    passes: int
    seed: int
    suites: tuple[str, ...]
    server: str | None
    base_url: str | None
    provenance: JsonObject
    request_defaults: JsonObject
    options: JsonObject
    started_at: float
    """Unix time, seconds."""
    ended_at: float | None
    fingerprint_before: JsonObject | None
    fingerprint_after: JsonObject | None
    warnings: tuple[Sentence, ...]
    verdict: str | None
    cases: int
    """Cases of the run; it is complete when `answered + failed == cases * passes`."""
    answered: int
    """Stored samples with an answer."""
    failed: int
    """Stored samples without one."""


@dataclass(frozen=True, slots=True)
class RunCase:
    """A case as a run asked it."""

    suite: str
    case_id: str
    request_sha256: str
    request: JsonObject
    """{"messages": […], "params": {…}}."""
    tags: tuple[str, ...]
    noise: str = "none"
    """`null-perturbation` where the run varied the last user message."""
    context: JsonObject | None = None
    """How the conversation was shortened for the deployment's window; None where the case has no `context`."""


def new_run_id(deployment: str, at: float) -> str:
    """A readable id that is safe as a file name, such as 20261201-231502-gpu-3f2a (UTC)."""
    slug = re.sub(r"[^a-z0-9]+", "-", deployment.lower()).strip("-")[:24].strip("-") or "run"
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(at))}-{slug}-{secrets.token_hex(2)}"


def insert_run(db: Database, spec: RunSpec, redaction: Redaction = NOTHING) -> str:
    """Store a run that begins now, with its cases and their requests, in one transaction."""
    started_at = time.time()
    run_id = new_run_id(spec.deployment, started_at)
    with transaction(db.conn):
        db.table("runs").insert(
            {
                "id": run_id,
                "kind": spec.kind,
                "state": "running",
                "deployment": plain_text(spec.deployment),
                "server": plain_text(spec.server),
                "model": plain_text(spec.model),
                "base_url": plain_text(spec.base_url),
                "provenance_json": json_text(spec.provenance),
                "request_defaults_json": json_text(spec.request_defaults),
                "passes": spec.passes,
                "seed": spec.seed,
                "options_json": json_text(spec.options),
                "suites_json": json_text(list(spec.suites)),
                "started_at": started_at,
                "warnings_json": "[]",
            }
        )
        insert_cases(db.conn, run_id, spec.cases, spec.contexts, redaction)
    return run_id


def insert_cases(
    connection: sqlite3.Connection,
    run_id: str,
    cases: Sequence[Case],
    contexts: Mapping[tuple[str, str], JsonObject] = MappingProxyType({}),
    redaction: Redaction = NOTHING,
) -> None:
    """Add cases to a run inside the caller's transaction; cases that it has already are left alone.

    Requests are stored without what `redaction` takes out, under the hash of what is sent. One that is stored already
    is written again where it would now look otherwise, so that a redaction that was asked for later holds for it too.
    """
    connection.executemany(
        "INSERT INTO requests (sha256, request_json) VALUES (?, ?) ON CONFLICT (sha256) DO UPDATE "
        "SET request_json = excluded.request_json WHERE request_json <> excluded.request_json",
        (
            (
                case.request.sha256,
                json_text(redaction.json({"messages": list(case.request.messages), "params": case.request.params})),
            )
            for case in cases
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO run_cases (run_id, suite, case_id, request_sha256, tags_json, noise, context_json) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (
                run_id,
                plain_text(case.suite),
                plain_text(case.case_id),
                case.request.sha256,
                json_text(list(case.tags)),
                None if case.noise == "none" else case.noise,
                None
                if (context := contexts.get((case.suite, case.case_id))) is None
                else json_text(redaction.json(context)),
            )
            for case in cases
        ),
    )


def change_run(db: Database, run_id: str, columns: Mapping[str, str | float | None]) -> None:
    """Set columns of a run.

    Raises:
        StoreError: when there is no such run.
    """
    assignments = ", ".join(f"{name} = ?" for name in columns)
    with transaction(db.conn):
        cursor = db.conn.execute(
            f"UPDATE runs SET {assignments} WHERE id = ?",  # noqa: S608 - names of columns, written in this package
            (*columns.values(), run_id),
        )
        if cursor.rowcount == 0:
            raise StoreError(f"The store holds no run {run_id!r}. `promptreg runs` lists the runs it holds.")


_RUNS = """
SELECT runs.*,
    (SELECT count(*) FROM run_cases WHERE run_id = runs.id) AS cases,
    (SELECT count(*) FROM run_cases JOIN samples ON samples.run_case = run_cases.id
        WHERE run_id = runs.id AND samples.state = 'answered') AS answered,
    (SELECT count(*) FROM run_cases JOIN samples ON samples.run_case = run_cases.id
        WHERE run_id = runs.id AND samples.state = 'failed') AS failed
FROM runs
"""


def _sentence(stored: str | dict[str, str]) -> Sentence:
    """A warning as it is stored; older stores have it in English only."""
    return Sentence(stored, stored) if isinstance(stored, str) else Sentence(stored["en"], stored["zh"])


def read_runs(db: Database, condition: str = "1", arguments: Sequence[str] = ()) -> Iterator[RunRecord]:
    """Runs that meet a condition in SQL, the one that was begun last first."""
    # Not by started_at: a clock that was set back between two runs would make the later one the older.
    for row in db.query(f"{_RUNS} WHERE {condition} ORDER BY runs.rowid DESC", tuple(arguments)):
        yield RunRecord(
            run_id=row["id"],
            kind=row["kind"],
            state=row["state"],
            deployment=row["deployment"],
            model=row["model"],
            passes=row["passes"],
            seed=row["seed"],
            suites=tuple(json.loads(row["suites_json"])),
            server=row["server"],
            base_url=row["base_url"],
            provenance=json.loads(row["provenance_json"]),
            request_defaults=json.loads(row["request_defaults_json"]),
            options=json.loads(row["options_json"]),
            started_at=row["started_at"],
            ended_at=row["ended_at"],
            fingerprint_before=_object(row["fingerprint_before_json"]),
            fingerprint_after=_object(row["fingerprint_after_json"]),
            warnings=tuple(map(_sentence, json.loads(row["warnings_json"]))),
            verdict=row["verdict"],
            cases=row["cases"],
            answered=row["answered"],
            failed=row["failed"],
        )


def read_cases(db: Database, run_id: str) -> Iterator[RunCase]:
    """The cases of a run by suite and id, with their requests."""
    rows = db.query(
        "SELECT suite, case_id, request_sha256, request_json, tags_json, noise, context_json FROM run_cases "
        "JOIN requests ON sha256 = request_sha256 WHERE run_id = ? ORDER BY suite, case_id",
        (run_id,),
    )
    for row in rows:
        yield RunCase(
            suite=row["suite"],
            case_id=row["case_id"],
            request_sha256=row["request_sha256"],
            request=json.loads(row["request_json"]),
            tags=tuple(json.loads(row["tags_json"])),
            noise=row["noise"] or "none",
            context=_object(row["context_json"]),
        )


def _object(text: str | None) -> dict[str, Json] | None:
    loaded: dict[str, Json] | None = None if text is None else json.loads(text)
    return loaded

"""The store's schema, as an append-only list of small steps. Never change one that was released: add another.

Each step runs together with its record in one transaction, and all pending steps of one opening run in one transaction
around them, so a crash leaves the store as it was. The schema's version is the number of steps applied.

Tables use natural names; what is written once per run (`run_cases`) has an integer key, so that the rows written once
per sample stay small. Columns called `*_json` hold JSON text.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from promptreg.errors import StoreError
from promptreg.store.sqlite_utils import Database, Migrations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MIGRATION_SET = "promptreg.store"
"""Name of our steps among those of other tools that might share the file."""


def m001_runs(db: Database) -> None:
    """Runs, and what each asked: requests are kept once however many runs send them."""
    db.create_table(
        "runs",
        {
            "id": str,
            "kind": str,
            "state": str,
            "deployment": str,
            "server": str,
            "model": str,
            "base_url": str,
            "provenance_json": str,
            "request_defaults_json": str,
            "passes": int,
            "seed": int,
            "options_json": str,
            "suites_json": str,
            "started_at": float,
            "ended_at": float,
            "fingerprint_before_json": str,
            "fingerprint_after_json": str,
            "warnings_json": str,
            "verdict": str,
        },
        pk="id",
        not_null={"kind", "state", "deployment", "started_at"},
    )
    db.create_table("requests", {"sha256": str, "request_json": str}, pk="sha256")
    db.create_table(
        "run_cases",
        {"id": int, "run_id": str, "suite": str, "case_id": str, "request_sha256": str, "tags_json": str},
        pk="id",
        foreign_keys=[("run_id", "runs", "id"), ("request_sha256", "requests", "sha256")],
        not_null={"run_id", "suite", "case_id", "request_sha256"},
    )
    db.table("run_cases").create_index(["run_id", "suite", "case_id"], unique=True)


def m002_samples(db: Database) -> None:
    """Samples, unique by run, suite, case and pass; and every attempt at them."""
    db.create_table(
        "samples",
        {
            "id": int,
            "run_case": int,
            "pass_index": int,
            "state": str,
            "in_flight": int,
            "problem_kind": str,
            "problem_message": str,
        },
        pk="id",
        foreign_keys=[("run_case", "run_cases", "id")],
        not_null={"run_case", "pass_index", "state", "in_flight"},
    )
    db.table("samples").create_index(["run_case", "pass_index"], unique=True)
    # Keyed by the sample's id, which grows: the large rows are only ever appended, whatever the order of the calls.
    db.create_table(
        "attempts",
        {
            "sample_id": int,
            "number": int,
            "sent_at": float,
            "duration_s": float,
            "status": int,
            "headers_json": str,
            "chunks": bytes,
            "failure_kind": str,
            "failure_message": str,
        },
        pk=("sample_id", "number"),
        foreign_keys=[("sample_id", "samples", "id")],
        not_null={"sent_at", "duration_s", "headers_json", "chunks"},
    )


def m003_embeddings(db: Database) -> None:
    """Vectors of texts by model and text hash, float32 in little-endian order."""
    db.create_table(
        "embeddings",
        {"model": str, "text_sha256": str, "vector": bytes},
        pk=("model", "text_sha256"),
        not_null={"vector"},
    )


def m004_variants(db: Database) -> None:
    """Which cases were varied on purpose, and what each of their samples was sent as."""
    db.table("run_cases").add_column("noise", str)
    db.table("samples").add_column("variant", str)


def m005_judge_replies(db: Database) -> None:
    """What judges replied, by the hash of what they were asked."""
    db.create_table(
        "judge_replies",
        {"question_sha256": str, "judge": str, "reply": str, "finish_reason": str, "asked_at": float},
        pk="question_sha256",
        not_null={"judge", "reply", "asked_at"},
    )


def m006_reviews(db: Database) -> None:
    """What comparisons showed of each case, and every decision on it; of the log, no row is ever changed."""
    db.create_table(
        "shown_cases",
        {
            "run_id": str,
            "suite": str,
            "case_id": str,
            "source": str,
            "target": str,
            "verdict": str,
            "severity": float,
            "golden_sha256": str,
            "candidate_sha256": str,
            "sentence": str,
            "sentence_zh": str,
        },
        pk=("run_id", "suite", "case_id"),
        foreign_keys=[("run_id", "runs", "id")],
        not_null={"source", "target", "verdict", "severity", "sentence", "sentence_zh"},
    )
    # Without a foreign key: a decision outlives the run it was made on.
    db.create_table(
        "decisions",
        {
            "id": int,
            "applied_at": float,
            "run_id": str,
            "suite": str,
            "case_id": str,
            "source": str,
            "target": str,
            "golden_sha256": str,
            "candidate_sha256": str,
            "decision": str,
            "reviewer": str,
            "reason": str,
            "expires_on": str,
            "decided_at": str,
        },
        pk="id",
        not_null={"applied_at", "run_id", "suite", "case_id", "source", "target", "decision", "reviewer", "decided_at"},
    )
    for change in ("UPDATE", "DELETE"):
        db.execute(
            f"CREATE TRIGGER decisions_no_{change.lower()} BEFORE {change} ON decisions "
            "BEGIN SELECT RAISE(ABORT, 'the log of decisions is append-only'); END"
        )


def m007_contexts(db: Database) -> None:
    """How the conversations of a run were shortened for its deployment's window, with what was lost."""
    db.table("run_cases").add_column("context_json", str)


def m008_approvals(db: Database) -> None:
    """Of each shown case, what is wrong with the target's answers, and whether its golden was approved."""
    db.table("shown_cases").add_column("lacks_json", str)
    db.table("shown_cases").add_column("approved", int)


def m009_criteria(db: Database) -> None:
    """What a judgement was made with, of each case and of the run: the values once, by their digest."""
    db.create_table("criteria", {"sha256": str, "values_json": str}, pk="sha256", not_null={"values_json"})
    db.table("shown_cases").add_column("criteria_sha256", str)
    db.table("runs").add_column("criteria_sha256", str)


MIGRATIONS: tuple[Callable[[Database], None], ...] = (
    m001_runs,
    m002_samples,
    m003_embeddings,
    m004_variants,
    m005_judge_replies,
    m006_reviews,
    m007_contexts,
    m008_approvals,
    m009_criteria,
)
"""All steps, oldest first."""


def is_store(path: Path) -> bool:
    """True when promptreg has used the file before. Nothing is written, and nothing is made where no file is."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return Migrations(MIGRATION_SET).applied(Database(connection, execute_plugins=False)) != []
    except sqlite3.DatabaseError:
        return False


def migrate(db: Database, path: Path, steps: tuple[Callable[[Database], None], ...] = MIGRATIONS) -> None:
    """Bring a store to the newest schema; do nothing when it is there already.

    Raises:
        StoreError: when a newer promptreg or another program wrote the file.
    """
    migrations = Migrations(MIGRATION_SET)
    for step in steps:
        migrations()(step)
    _refuse_foreign(migrations, db, path, len(steps))
    if not migrations.pending(db):
        return
    # IMMEDIATE: of two processes that open a new store at once, the second waits here and then finds nothing to do.
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        migrations.apply(db)
    except BaseException:
        db.rollback()
        raise
    db.commit()


def _refuse_foreign(migrations: Migrations, db: Database, path: Path, known: int) -> None:
    applied = migrations.applied(db)
    if not applied and {"runs", "run_cases", "samples", "attempts", "requests", "embeddings"} & set(db.table_names()):
        raise StoreError(
            f"{path} is the database of another program. Name another file as `store` under [paths] in promptreg.toml."
        )
    if len(applied) > known:
        raise StoreError(
            f"{path} was written by a newer promptreg: its schema version is {len(applied)}, this promptreg knows "
            f"up to {known}. Upgrade promptreg, or name another file as `store` under [paths] in promptreg.toml."
        )

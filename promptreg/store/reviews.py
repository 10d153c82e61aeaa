"""What comparisons showed of each case, and the decisions that were made on it: an append-only log."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias

from promptreg.canonical import canonical_json
from promptreg.store.columns import plain_text
from promptreg.store.lacks import Lack

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


Decided: TypeAlias = Literal["approve", "reject", "waive", "defer", "remove"]
"""What can be decided on a case."""

Logged: TypeAlias = Literal["approve", "reject", "waive", "defer", "remove", "withdraw"]
"""What the log holds: decisions, and that one was taken back before it took effect."""


@dataclass(frozen=True, slots=True)
class ShownCase:
    """One case of a compared run as its report showed it: what a decision is bound to."""

    suite: str
    case_id: str
    source: str
    """The deployment whose baseline it was judged against."""
    target: str
    verdict: str
    severity: float
    golden_sha256: str | None
    """None where the baseline has no golden of the case."""
    candidate_sha256: str | None
    """Identity of the golden that the target's answers would be; None where the target was not asked."""
    sentence: str
    sentence_zh: str
    lacks: tuple[Lack, ...] = ()
    """What is wrong with the target's answers by themselves."""
    approved: bool = False
    """True where the golden is not the source's own, but approved."""
    criteria: str | None = None
    """What it was judged with, as canonical JSON: its checks; None where that was not kept."""

    @property
    def key(self) -> str:
        """The case's name in `promptreg review`, the same in every run."""
        return f"{self.suite}/{self.case_id}"


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """A decision that was applied, or made on a served page."""

    applied_at: float
    """Unix time, seconds."""
    run_id: str
    suite: str
    case_id: str
    source: str
    target: str
    golden_sha256: str | None
    candidate_sha256: str | None
    decision: Logged
    reviewer: str
    reason: str
    expires_on: str | None
    decided_at: str


_SHOWN = (
    "suite, case_id, source, target, verdict, severity, golden_sha256, candidate_sha256, sentence, sentence_zh, "
    "criteria_sha256, lacks_json, approved"
)
_LOGGED = (
    "applied_at, run_id, suite, case_id, source, target, golden_sha256, candidate_sha256, decision, reviewer, reason, "
    "expires_on, decided_at"
)


def replace_shown(
    connection: sqlite3.Connection, run_id: str, cases: Iterable[ShownCase], criteria: str | None = None
) -> None:
    """Inside the caller's transaction, put what a run shows now in the place of what it showed before.

    Args:
        connection: in a transaction.
        run_id: of the run.
        cases: all that it shows.
        criteria: what the run as a whole was judged with, as canonical JSON.
    """
    cases = tuple(cases)
    digests = {text: _digest(text) for text in {criteria, *(case.criteria for case in cases)} if text}
    connection.execute("DELETE FROM shown_cases WHERE run_id = ?", (run_id,))
    connection.executemany(
        "INSERT OR IGNORE INTO criteria (sha256, values_json) VALUES (?, ?)",
        ((digest, plain_text(text)) for text, digest in digests.items()),
    )
    connection.execute("UPDATE runs SET criteria_sha256 = ? WHERE id = ?", (digests.get(criteria or ""), run_id))
    connection.executemany(
        f"INSERT INTO shown_cases (run_id, {_SHOWN}) VALUES (?, {_marks(_SHOWN)})",  # noqa: S608 - names of columns, written above
        (
            (
                run_id,
                plain_text(case.suite),
                plain_text(case.case_id),
                plain_text(case.source),
                plain_text(case.target),
                case.verdict,
                case.severity,
                case.golden_sha256,
                case.candidate_sha256,
                plain_text(case.sentence),
                plain_text(case.sentence_zh),
                digests.get(case.criteria or ""),
                plain_text(canonical_json([lack.to_json() for lack in case.lacks])) if case.lacks else None,
                int(case.approved),
            )
            for case in cases
        ),
    )


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def read_criteria(connection: sqlite3.Connection, run_id: str) -> str | None:
    """What a run as a whole was judged with last, as canonical JSON; None where that was not kept."""
    row = connection.execute(
        "SELECT values_json FROM runs JOIN criteria ON sha256 = criteria_sha256 WHERE id = ?", (run_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def read_shown(connection: sqlite3.Connection, run_id: str) -> Iterator[ShownCase]:
    """The cases of a run, worst first, then by suite and id."""
    columns = _SHOWN.replace("criteria_sha256", "values_json")
    rows = connection.execute(
        f"SELECT {columns} FROM shown_cases LEFT JOIN criteria ON sha256 = criteria_sha256 "  # noqa: S608 - see above
        "WHERE run_id = ? ORDER BY severity DESC, suite, case_id",
        (run_id,),
    )
    return (
        replace(ShownCase(*row[:-3]), criteria=row[-3], lacks=_lacks(row[-2]), approved=bool(row[-1])) for row in rows
    )


def _lacks(text: str | None) -> tuple[Lack, ...]:
    return () if text is None else tuple(Lack.from_json(each) for each in json.loads(text))


def read_verdicts(connection: sqlite3.Connection, run_id: str, suite: str, source: str) -> Iterator[tuple[str, str]]:
    """Case id and verdict of a suite of a run as it was judged against a source, in any order."""
    return connection.execute(
        "SELECT case_id, verdict FROM shown_cases WHERE run_id = ? AND suite = ? AND source = ?",
        (run_id, suite, plain_text(source)),
    )


def append_decisions(connection: sqlite3.Connection, decisions: Iterable[LoggedDecision]) -> None:
    """Inside the caller's transaction, add decisions to the log. Triggers refuse to change what is in it."""
    connection.executemany(
        f"INSERT INTO decisions ({_LOGGED}) VALUES ({_marks(_LOGGED)})",  # noqa: S608 - see above
        (
            (
                each.applied_at,
                plain_text(each.run_id),
                plain_text(each.suite),
                plain_text(each.case_id),
                plain_text(each.source),
                plain_text(each.target),
                each.golden_sha256,
                each.candidate_sha256,
                each.decision,
                plain_text(each.reviewer),
                plain_text(each.reason),
                each.expires_on,
                each.decided_at,
            )
            for each in decisions
        ),
    )


def read_decisions(connection: sqlite3.Connection) -> Iterator[LoggedDecision]:
    """The whole log, oldest first."""
    rows = connection.execute(f"SELECT {_LOGGED} FROM decisions ORDER BY id")  # noqa: S608 - see above
    return (LoggedDecision(*row) for row in rows)


def last_decision(connection: sqlite3.Connection) -> int:
    """A number that grows with the log; 0 where it is empty."""
    (number,) = connection.execute("SELECT MAX(id) FROM decisions").fetchone()
    return int(number or 0)


def _marks(columns: str) -> str:
    return ", ".join("?" for _ in columns.split(","))

"""What judges replied, by the hash of what they were asked, so that no question is asked twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.store.columns import plain_text

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_HASHES_PER_QUERY = 500  # SQLite's smallest limit on parameters is 999


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """The reply of a judge to one question."""

    text: str
    finish_reason: str | None


def read_replies(connection: sqlite3.Connection, hashes: Iterable[str]) -> dict[str, JudgeReply]:
    """The stored replies by question hash; questions without one are left out."""
    wanted = list(hashes)
    found: dict[str, JudgeReply] = {}
    for start in range(0, len(wanted), _HASHES_PER_QUERY):
        part = wanted[start : start + _HASHES_PER_QUERY]
        rows = connection.execute(
            "SELECT question_sha256, reply, finish_reason FROM judge_replies WHERE question_sha256 IN "  # noqa: S608 - marks
            f"({', '.join('?' for _ in part)})",
            part,
        )
        found.update({question: JudgeReply(text, finish_reason) for question, text, finish_reason in rows})
    return found


def insert_reply(
    connection: sqlite3.Connection, question_sha256: str, judge: str, reply: JudgeReply, asked_at: float
) -> None:
    """Store a reply; the first one to a question stays."""
    connection.execute(
        "INSERT OR IGNORE INTO judge_replies (question_sha256, judge, reply, finish_reason, asked_at) "
        "VALUES (?, ?, ?, ?, ?)",
        (question_sha256, plain_text(judge), plain_text(reply.text), plain_text(reply.finish_reason), asked_at),
    )

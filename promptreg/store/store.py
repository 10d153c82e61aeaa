"""The store: one SQLite file with runs, raw responses, embeddings and replies of judges."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from promptreg.errors import StoreError, UsageError
from promptreg.store.columns import json_text
from promptreg.store.connect import BUSY_TIMEOUT_S, connect, store_errors, transaction
from promptreg.store.migrations import is_store, migrate
from promptreg.store.replies import JudgeReply, insert_reply, read_replies
from promptreg.store.reviews import (
    LoggedDecision,
    ShownCase,
    append_decisions,
    last_decision,
    read_criteria,
    read_decisions,
    read_shown,
    read_verdicts,
    replace_shown,
)
from promptreg.store.runs import (
    RunCase,
    RunRecord,
    RunSpec,
    RunState,
    change_run,
    insert_run,
    read_cases,
    read_runs,
)
from promptreg.store.samples import StoredSample, read_samples
from promptreg.store.sqlite_utils import Database
from promptreg.store.writer import Writer
from promptreg.text.redaction import NOTHING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import TracebackType

    import numpy as np

    from promptreg.canonical import JsonObject
    from promptreg.replay.sample import Sample
    from promptreg.text.redaction import Redaction
    from promptreg.text.sentence import Sentence

_HASHES_PER_QUERY = 500  # SQLite's smallest limit on parameters is 999


class Store:
    """An open store. Use as a context manager, from the thread that opened it; `add_sample` from any thread."""

    def __init__(self, path: Path, database: Database, busy_timeout_s: float, redaction: Redaction) -> None:
        """Use `Store.open`."""
        self.path = path
        self._database = database
        self._busy_timeout_s = busy_timeout_s
        self._redaction = redaction
        self._readers: list[sqlite3.Connection] = []
        """Connections that read samples, where nobody does at the moment."""
        self._closed = False
        self._writer = Writer(partial(connect, path, busy_timeout_s), self._errors, redaction)

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        create: bool = True,
        busy_timeout_s: float = BUSY_TIMEOUT_S,
        redaction: Redaction = NOTHING,
    ) -> Store:
        """Open a store, bring it to the newest schema, and make it first where it does not exist.

        Args:
            path: the file; folders above it are made as needed.
            create: False to insist that it exists, for commands that only read.
            busy_timeout_s: how long to wait for another process that writes.
            redaction: what is taken out of the requests of runs; answers come without it from the client.

        Raises:
            StoreError: it cannot be opened, is no store, is damaged, or a newer promptreg wrote it; it is a link to
                anything but a store.
        """
        path = Path(path)
        if not create and not path.exists():
            raise StoreError(f"There is no store at {path} yet. `promptreg record` makes it.")
        with store_errors(path, busy_timeout_s):
            # A pull request can bring a link: through it nothing is made, and no other program's database changed.
            if path.is_symlink() and not is_store(path):
                raise StoreError(
                    f"{path} is a link to {path.readlink()}, which is no store of promptreg. Remove the link, or name "
                    "the file itself as `store` under [paths] in promptreg.toml."
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect(path, busy_timeout_s)
            try:
                database = Database(connection, execute_plugins=False)
                migrate(database, path)
            except BaseException:
                connection.close()
                raise
        return cls(path, database, busy_timeout_s, redaction)

    def close(self) -> None:
        """Write what still waits and close the file.

        Raises:
            StoreError: when something could not be written and no earlier call said so.
        """
        try:
            self._writer.close()
        finally:
            self._closed = True
            for reader in self._readers:
                reader.close()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The error that is on its way says more than a second one about the same disk.
        with suppress(StoreError) if error is not None else nullcontext():
            self.close()

    def start_run(self, spec: RunSpec) -> str:
        """Store a run that begins now.

        Returns:
            Its id, such as 20261201-231502-gpu-3f2a.
        """
        with self._errors():
            return insert_run(self._database, spec, self._redaction)

    def update_run(
        self,
        run_id: str,
        *,
        state: RunState | None = None,
        fingerprint_before: JsonObject | None = None,
        fingerprint_after: JsonObject | None = None,
        warnings: Sequence[Sentence] | None = None,
        ended_at: float | None = None,
        verdict: str | None = None,
    ) -> None:
        """Change what is given and leave the rest, after everything added so far is committed.

        Raises:
            StoreError: no such run, or the store cannot be written.
        """
        changes: dict[str, str | float | None] = {
            "state": state,
            "fingerprint_before_json": None if fingerprint_before is None else json_text(fingerprint_before),
            "fingerprint_after_json": None if fingerprint_after is None else json_text(fingerprint_after),
            "warnings_json": None if warnings is None else json_text([said.to_json() for said in warnings]),
            "ended_at": ended_at,
            "verdict": verdict,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        self.flush()
        if changes:
            with self._errors():
                change_run(self._database, run_id, changes)

    def add_sample(self, run_id: str, sample: Sample) -> None:
        """Hand a sample to the writer thread; it is committed, with all its attempts, within 250 ms.

        A sample that failed before gets the new attempts appended and the new state; one that was answered stays as it
        is. Cases that the run does not hold yet are added to it.

        Raises:
            StoreError: when this or an earlier sample could not be written. What was stored stays.
        """
        self._writer.add(run_id, sample)

    def flush(self) -> None:
        """Return when every sample added so far is committed.

        Raises:
            StoreError: when one could not be written.
        """
        self._writer.flush()

    def answered(self, run_id: str) -> frozenset[tuple[str, str, int]]:
        """(suite, case id, pass) of the samples with an answer. Failed ones are not in it, so a resume retries them."""
        self.flush()
        with self._errors():
            rows = self._database.query(
                "SELECT suite, case_id, pass_index FROM run_cases JOIN samples ON samples.run_case = run_cases.id "
                "WHERE run_id = ? AND samples.state = 'answered'",
                (run_id,),
            )
            return frozenset((row["suite"], row["case_id"], row["pass_index"]) for row in rows)

    def passes_begun(self, run_id: str) -> dict[str, int]:
        """By suite, one more than the highest pass of which a sample is stored, failed ones included."""
        self.flush()
        with self._errors():
            rows = self._database.query(
                "SELECT suite, MAX(pass_index) + 1 AS passes FROM run_cases "
                "JOIN samples ON samples.run_case = run_cases.id WHERE run_id = ? GROUP BY suite",
                (run_id,),
            )
            return {row["suite"]: row["passes"] for row in rows}

    def samples(
        self, run_id: str, suite: str | None = None, case_id: str | None = None, *, since: str | None = None
    ) -> Iterator[StoredSample]:
        """The samples of a run, or of one suite or case of it, raw, by suite, case and pass.

        `since` leaves out the cases whose ids are smaller. One at a time: memory does not grow with the run.
        """
        self.flush()
        with self._errors():
            # A connection of its own: as long as it reads, it sees the store as it was, and could not write.
            reader = self._readers.pop() if self._readers else connect(self.path, self._busy_timeout_s)
            try:
                yield from read_samples(reader, run_id, suite, case_id, since)
            finally:
                if self._closed:
                    reader.close()
                else:
                    self._readers.append(reader)

    def runs(self) -> tuple[RunRecord, ...]:
        """All runs, newest first."""
        self.flush()
        with self._errors():
            return tuple(read_runs(self._database))

    def run(self, run_id: str) -> RunRecord:
        """One run.

        Raises:
            UsageError: when there is no such run.
        """
        self.flush()
        with self._errors():
            for record in read_runs(self._database, "id = ?", (run_id,)):
                return record
        raise UsageError(f"The store {self.path} holds no run {run_id!r}. `promptreg runs` lists the runs it holds.")

    def cases(self, run_id: str) -> tuple[RunCase, ...]:
        """The cases of a run with their requests, by suite and case id."""
        self.flush()
        with self._errors():
            return tuple(read_cases(self._database, run_id))

    def variants(self, run_id: str, suite: str) -> dict[str, dict[int, str]]:
        """How the last user message was varied, by case id and pass; samples that were not varied are left out."""
        self.flush()
        found: dict[str, dict[int, str]] = {}
        with self._errors():
            rows = self._database.conn.execute(
                "SELECT case_id, pass_index, variant FROM run_cases JOIN samples ON run_case = run_cases.id "
                "WHERE run_id = ? AND suite = ? AND variant IS NOT NULL ORDER BY case_id, pass_index",
                (run_id, suite),
            )
            for case_id, pass_index, variant in rows:
                found.setdefault(case_id, {})[pass_index] = variant
        return found

    def in_flight(self, run_id: str, suite: str) -> dict[int, int]:
        """How many samples of a suite were sent with so many calls in flight, by that number; 0 for one not sent."""
        self.flush()
        with self._errors():
            rows = self._database.conn.execute(
                "SELECT in_flight, count(*) FROM run_cases JOIN samples ON run_case = run_cases.id "
                "WHERE run_id = ? AND suite = ? GROUP BY in_flight ORDER BY in_flight",
                (run_id, suite),
            )
            return dict(rows.fetchall())

    def embeddings(self, model: str, hashes: Iterable[str]) -> dict[str, np.ndarray]:
        """Stored vectors (float32) by text hash; texts without one are left out."""
        import numpy as np  # noqa: PLC0415 - recording needs no numpy

        found: dict[str, np.ndarray] = {}
        wanted = list(hashes)
        with self._errors():
            for start in range(0, len(wanted), _HASHES_PER_QUERY):
                part = wanted[start : start + _HASHES_PER_QUERY]
                rows = self._database.conn.execute(
                    "SELECT text_sha256, vector FROM embeddings WHERE model = ? AND text_sha256 IN "  # noqa: S608 - marks
                    f"({', '.join('?' for _ in part)})",
                    (model, *part),
                )
                found.update({text_sha256: np.frombuffer(vector, dtype="<f4") for text_sha256, vector in rows})
        return found

    def add_embeddings(self, model: str, vectors: Mapping[str, np.ndarray]) -> None:
        """Store vectors by text hash, as float32; replaces what was there."""
        with self._errors(), transaction(self._database.conn):
            self._database.conn.executemany(
                "INSERT OR REPLACE INTO embeddings (model, text_sha256, vector) VALUES (?, ?, ?)",
                [(model, text_sha256, vector.astype("<f4").tobytes()) for text_sha256, vector in vectors.items()],
            )

    def judge_replies(self, hashes: Iterable[str]) -> dict[str, JudgeReply]:
        """What judges replied, by the hash of the question; questions without a reply are left out."""
        with self._errors():
            return read_replies(self._database.conn, hashes)

    def add_judge_reply(self, question_sha256: str, judge: str, reply: JudgeReply, asked_at: float) -> None:
        """Store the reply of a deployment (`judge`) to a question; the first one to a question stays."""
        with self._errors():
            insert_reply(self._database.conn, question_sha256, judge, reply, asked_at)

    def shown(self, run_id: str) -> tuple[ShownCase, ...]:
        """What the last judgement of a run showed, worst first; empty when it was never judged."""
        with self._errors():
            return tuple(read_shown(self._database.conn, run_id))

    def verdicts(self, run_id: str, suite: str, source: str) -> dict[str, str]:
        """By case id, what the last judgement of a run said of a suite; empty when it was never judged.

        Args:
            run_id: of the run.
            suite: its name.
            source: the deployment against whose baseline it was judged.
        """
        with self._errors():
            return dict(read_verdicts(self._database.conn, run_id, suite, source))

    def show(self, run_id: str, cases: Iterable[ShownCase], criteria: str | None = None) -> None:
        """Keep what a judgement of a run shows, in the place of what an earlier one showed.

        Args:
            run_id: of the run.
            cases: all that it shows, each with what it was judged with.
            criteria: what the run as a whole was judged with, as canonical JSON.
        """
        with self._errors(), transaction(self._database.conn):
            replace_shown(self._database.conn, run_id, cases, criteria)

    def criteria(self, run_id: str) -> str | None:
        """What a run as a whole was judged with last, as canonical JSON; None where that was not kept."""
        with self._errors():
            return read_criteria(self._database.conn, run_id)

    def decisions(self) -> tuple[LoggedDecision, ...]:
        """The log of decisions, oldest first."""
        with self._errors():
            return tuple(read_decisions(self._database.conn))

    def last_decision(self) -> int:
        """A number that grows with the log of decisions; 0 where it is empty."""
        with self._errors():
            return last_decision(self._database.conn)

    def log_decisions(self, decisions: Iterable[LoggedDecision]) -> None:
        """Append decisions to the log, all or none."""
        with self._errors(), transaction(self._database.conn):
            append_decisions(self._database.conn, decisions)

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """A block that no other process writes beside: what is read in it is still so when it is acted on.

        What the block writes is kept when it ends well, and is not when it raises.
        """
        self.flush()
        with ExitStack() as stack:
            with self._errors():
                stack.enter_context(transaction(self._database.conn))
            yield
            with self._errors():
                stack.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with store_errors(self.path, self._busy_timeout_s):
            yield

"""What the faults of `faults.py` share: a project between two fault servers, and what its store is held to."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fault_server import FaultServer, Trouble

from promptreg.store.store import Store
from promptreg.testing import Finished, Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.deployment.exchange import Exchange
    from promptreg.store.runs import RunRecord

Command = Literal["record", "compare"]

HOOKS = (Path(__file__).parents[1] / "tests" / "data" / "letters_hooks.py").read_text(encoding="utf-8")
"""An embedder that costs nothing: embeddings are not the matter here."""

SUITES = {
    "support": {
        "refund": "How many days do I have to return a book?",
        "shipping": "订单多久能送到？",
        "invoice": "Where is my invoice?",
        "hours": "客服热线几点开始？",
    },
    "shop": {"points": "What are points for?", "gift": "礼品卡的有效期是多久？"},
}
ANSWERS = {
    SUITES["support"]["refund"]: "You have 14 days to return a book, counted from the day it arrives.",
    SUITES["support"]["shipping"]: "订单一般在三个工作日内送到，偏远地区需要七天。",
    SUITES["support"]["invoice"]: "Your invoice is in the e-mail that confirms the order; 也可以在账户里下载。",
    SUITES["support"]["hours"]: "客服热线每天早上八点开始，晚上十点结束。",
    SUITES["shop"]["points"]: "Points make the next order cheaper: 100 points are worth 1 euro.",
    SUITES["shop"]["gift"]: "礼品卡自购买之日起三年内有效。",
}
MOVED = {SUITES["support"]["refund"]: "No idea. Ask the shop next door about their cats and gardens, or in a year."}
"""What the target answers otherwise: one case has to be found, and the others have to stay quiet."""

PASSES: Mapping[Command, int] = {"record": 4, "compare": 3}
CASES = sum(map(len, SUITES.values()))
LIMITS = {"connect": 0.4, "first_byte": 0.4, "idle": 0.4, "total": 4.0}
MOST_STARTS = 25
"""A run that is not complete after so many starts, the trouble being over, is lost."""

TIMED_LATENCY_S = 0.05
"""Between question and answer where a run has to last for a while."""

SETTLED_S = 0.5
"""An answer that was given so long before a kill must be stored: twice the 250 ms that are promised."""


@dataclass(slots=True)
class Tally:
    """What went wrong with one run under a fault."""

    lost: int = 0
    duplicated: int = 0
    wrong: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, column: Literal["lost", "duplicated", "wrong"], note: str) -> None:
        """Count one and say what it was."""
        setattr(self, column, getattr(self, column) + 1)
        self.notes.append(f"{column}: {note}")


@dataclass(frozen=True, slots=True)
class Reference:
    """What a run without any fault gives."""

    case_lines: Mapping[str, bytes]
    """By suite, the baseline without its header."""
    suites: Mapping[str, object]
    """By suite, what `compare --json` says of it, as far as it is the same in each run."""
    seconds: Mapping[Command, float]
    """How long each command takes in a process of its own."""


class Bench:
    """A fresh project between two fault servers, and what became of its runs."""

    def __init__(self, folder: Path, source: FaultServer, target: FaultServer, *, seed: int = 0) -> None:
        self.folder, self.seed, self.tally = folder, seed, Tally()
        self.project = Project(folder, {"promptreg_hooks.py": HOOKS})
        self.servers: dict[Command, FaultServer] = {"record": source, "compare": target}
        self.fields: dict[str, Any] = {"concurrency": 4, "max_retries": 1, "timeout_s": LIMITS}
        self._held: dict[tuple[str, str, str, int], tuple[Exchange, ...]] = {}
        self.project.section("judging", embedder="letters")
        self.project.section("plan", record_passes=PASSES["record"], compare_passes=PASSES["compare"], looks=[3])
        for name, questions in SUITES.items():
            self.project.suite(name, questions, request={"temperature": 0.0})
        self.configure()

    def configure(self, base_urls: Mapping[Command, str] | None = None, **fields: Any) -> None:
        """Write the deployments, with other addresses than the servers' where some are given."""
        self.fields.update(fields)
        urls = {command: server.base_url for command, server in self.servers.items()} | dict(base_urls or {})
        self.project.deployment("gpu", urls["record"], role="source", **self.fields)
        self.project.deployment("ascend", urls["compare"], role="target", **self.fields)

    def start(self, command: Command, *more: str, resume: bool | None = None) -> Finished:
        """Start a command as a user does after a failure: with --resume where there is a run to go on with."""
        return self.judge(command, self.project.run(*self.arguments(command, *more, resume=resume)))

    def arguments(self, command: Command, *more: str, resume: bool | None = None) -> tuple[str, ...]:
        """The command line of `start`."""
        if resume is None:
            run = self.run_of(command)
            resume = run is not None and run.state != "done"
        return (command, "--json", *more, *(["--resume"] if resume else []))

    @contextmanager
    def process(
        self, command: Command, *more: str, env: Mapping[str, str] | None = None, resume: bool | None = None
    ) -> Iterator[subprocess.Popen[str]]:
        """The same in a process of its own, which is killed if the block leaves it running."""
        process = subprocess.Popen(
            self.project.command(*self.arguments(command, *more, resume=resume)),
            cwd=self.folder,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def run_of(self, command: Command) -> RunRecord | None:
        """The newest run of a command."""
        path = self.folder / ".promptreg" / "store.db"
        if not path.exists():
            return None
        with Store.open(path) as store:
            return next((run for run in store.runs() if run.kind == command), None)

    def is_complete(self, command: Command) -> bool:
        """Whether the newest run of a command took all its samples."""
        run = self.run_of(command)
        return run is not None and run.state == "done" and run.answered == CASES * PASSES[command]

    def complete(self, command: Command, starts_in_trouble: int = 2) -> None:
        """Start again until the run is complete; after some starts the trouble is over."""
        for number in range(MOST_STARTS):
            if self.is_complete(command):
                return
            if number == starts_in_trouble:
                self.servers[command].trouble = Trouble()
                self.configure()
            done = self.start(command)
        if not self.is_complete(command):
            self.tally.add("lost", f"{command} is not complete after {MOST_STARTS} starts: {done.stderr.strip()[:300]}")

    def judge(self, command: Command, done: Finished) -> Finished:
        """Look at the store after a command, and at what it said."""
        self.look()
        if "Traceback" in done.stderr or "bug of promptreg" in done.stderr:
            self.tally.add("wrong", f"{command} fell over: {done.stderr.strip()[-300:]}")
        if command == "compare" and done.stdout.startswith("{"):
            self._judge_unanswered(done)
        elif command == "record" and done.exit_code == 0 and not self.is_complete("record"):
            self.tally.add("wrong", "record says that all is well, and samples are missing")
        return done

    def _judge_unanswered(self, done: Finished) -> None:
        said = done.json
        held = {
            key[1:]: _answered(self.servers["compare"], attempts)
            for key, attempts in self._held.items()
            if key[0] == said["run_id"]
        }
        missing = 0
        for suite in said["suites"]:
            for case in suite["cases"]:
                answers = [
                    held.get((suite["suite"], case["case_id"], number), False) for number in range(PASSES["compare"])
                ]
                missing += answers.count(False)
                if not any(answers) and case["verdict"] != "error":
                    self.tally.add("wrong", f"{case['case_id']} has no answer and the verdict {case['verdict']}")
        if missing and done.exit_code == 0:
            self.tally.add("wrong", f"{missing} samples are missing and the exit code is 0")

    def look(self) -> None:
        """Hold the store to what it held when it was looked at last."""
        path = self.folder / ".promptreg" / "store.db"
        if not path.exists():
            if self._held:
                self.tally.add("lost", "the store is gone")
            return
        now: dict[tuple[str, str, str, int], tuple[Exchange, ...]] = {}
        answered: set[tuple[str, str, str, int]] = set()
        with Store.open(path) as store:
            for run in store.runs():
                answered |= {(run.run_id, *key) for key in store.answered(run.run_id)}
                for sample in store.samples(run.run_id):
                    key = (run.run_id, sample.suite, sample.case_id, sample.pass_index)
                    if key in now:
                        self.tally.add("duplicated", f"sample {key} is stored twice")
                    now[key] = sample.attempts
        self._compare(now)
        self._check_answers(now, answered)
        self._held = now

    def _compare(self, now: Mapping[tuple[str, str, str, int], tuple[Exchange, ...]]) -> None:
        for key, before in self._held.items():
            after = now.get(key, ())
            if after[: len(before)] != before:
                self.tally.add("lost", f"sample {key} is not what it was")
            elif len(after) > len(before) and self._is_whole(before[-1].body):
                self.tally.add("duplicated", f"sample {key} had its answer and was asked again")

    def _check_answers(
        self,
        now: Mapping[tuple[str, str, str, int], tuple[Exchange, ...]],
        answered: set[tuple[str, str, str, int]],
    ) -> None:
        seen: dict[bytes, tuple[str, str, str, int]] = {}
        for key in answered:
            body = now[key][-1].body
            if not self._is_whole(body):
                self.tally.add("wrong", f"sample {key} counts as answered with {body[-60:]!r}")
            if body in seen:
                self.tally.add("duplicated", f"samples {key} and {seen[body]} are one answer")
            seen[body] = key

    def _is_whole(self, body: bytes) -> bool:
        return any(_is_whole(server, body) for server in self.servers.values())

    def stored_bodies(self) -> set[bytes]:
        """The last body of every stored sample, as of the last look."""
        return {attempts[-1].body for attempts in self._held.values()}

    def stored(self, command: Command) -> int:
        """Samples with an answer in the newest run of a command."""
        run = self.run_of(command)
        return 0 if run is None else run.answered

    def held_of(self, command: Command) -> set[tuple[str, str, int]]:
        """(suite, case, pass) of what was stored by any run of a command at the last look."""
        with Store.open(self.folder / ".promptreg" / "store.db") as store:
            return {key for run in store.runs() if run.kind == command for key in store.answered(run.run_id)}

    def miss(self, command: Command, killed_at: float) -> None:
        """After a kill: what was answered well before it must be stored."""
        bodies = self.stored_bodies()
        for name, completed in self.servers[command].completed.items():
            if completed.at < killed_at - SETTLED_S and completed.body not in bodies:
                self.tally.add("lost", f"answer {name} was given {killed_at - completed.at:.2f} s before the kill")

    def case_lines(self) -> dict[str, bytes]:
        """By suite, the baseline without its header."""
        found = {}
        for name in SUITES:
            path = self.folder / "baselines" / name / "gpu.jsonl"
            found[name] = path.read_bytes().split(b"\n", 1)[1] if path.exists() else b""
        return found

    def verdicts(self) -> dict[str, object]:
        """By suite, what the stored comparison is judged to be."""
        run = self.run_of("compare")
        if run is None:
            return {}
        return told(self.project.run("compare", "--run", run.run_id, "--json"))

    def settle(self, reference: Reference) -> None:
        """At the end: totals, baselines and verdicts are those of a run without a fault."""
        self.look()
        for command, passes in PASSES.items():
            if self.stored(command) != CASES * passes:
                self.tally.add("lost", f"{command} holds {self.stored(command)} of {CASES * passes} samples")
        lines, verdicts = self.case_lines(), self.verdicts()
        for name in SUITES:
            if lines[name] != reference.case_lines[name]:
                self.tally.add("wrong", f"the baseline of {name} is another one")
            if verdicts.get(name) != reference.suites[name]:
                self.tally.add("wrong", f"{name} is judged {verdicts.get(name)}, not {reference.suites[name]}")


def told(done: Finished) -> dict[str, object]:
    """By suite, what `compare --json` said: verdicts and p values."""
    if not done.stdout.startswith("{"):
        return {"": done.stderr.strip()[-300:]}
    return {
        suite["suite"]: (
            suite["verdict"],
            suite["p_value"],
            {case["case_id"]: (case["verdict"], case["p_value"]) for case in suite["cases"]},
        )
        for suite in done.json["suites"]
    }


def _is_whole(server: FaultServer, body: bytes) -> bool:
    name = body[:4096].partition(b'"id": "')[2].partition(b'"')[0].decode("ascii", "replace")
    completed = server.completed.get(name)
    return completed is not None and completed.body == body


def _answered(server: FaultServer, attempts: tuple[Exchange, ...]) -> bool:
    return _is_whole(server, attempts[-1].body)


@contextmanager
def bench(folder: Path | None = None, *, seed: int = 0, **server: Any) -> Iterator[Bench]:
    """A bench in a folder, or in one that is removed afterwards."""
    with ExitStack() as stack:
        if folder is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="faults-")))
        source = stack.enter_context(FaultServer(ANSWERS, **server))
        target = stack.enter_context(FaultServer({**ANSWERS, **MOVED}, first_name=500_000, **server))
        yield Bench(folder, source, target, seed=seed)


def reference_run(*, timed: bool = True) -> Reference:
    """A run without any fault.

    Args:
        timed: whether the commands run in processes of their own, so that their seconds are those of a user.

    Raises:
        RuntimeError: when it does not end well; then nothing can be held against it.
    """
    seconds: dict[Command, float] = {}
    with bench(latency_s=TIMED_LATENCY_S if timed else 0.0) as clean:
        clean.configure(concurrency=2 if timed else 4)
        for command in PASSES:
            began = time.monotonic()
            run = clean.project.run_process if timed else clean.project.run
            done = run(command, "--json")
            seconds[command] = time.monotonic() - began
            clean.judge(command, done)
            if not clean.is_complete(command) or clean.tally.notes:
                raise RuntimeError(f"the clean {command} failed: {clean.tally.notes} {done.stderr}")
        return Reference(clean.case_lines(), clean.verdicts(), seconds)

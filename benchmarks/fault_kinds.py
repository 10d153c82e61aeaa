"""The faults of `faults.py`: what happens, to which command, and how it is made."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fault_bench import CASES, PASSES, SUITES, TIMED_LATENCY_S, Bench, Command, Reference, told
from fault_server import Kind, Trouble

from promptreg.store.store import Store
from promptreg.testing import Finished

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Happens = Callable[[Bench, Command, Reference, float], None]
    Place = Callable[[Path | None], Any]

TIME_LIMIT_S = 60.0
"""A command that has not ended by then hangs."""


class CannotBeMadeError(Exception):
    """This machine cannot make the fault."""


@contextmanager
def anywhere(folder: Path | None) -> Iterator[Path | None]:
    """A place like any other."""
    yield folder


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    title: str
    happens: Happens
    """Makes it happen while a command runs; the caller then completes the run. The last argument is the part of all
    the runs that this one is in the middle of, from 0 to 1."""
    times: int = 1
    """How many runs stand for one."""
    server: Mapping[str, Any] = field(default_factory=dict)
    """How the fault servers are made."""
    place: Place = anywhere
    """Where the project lies."""


def of_server(kind: Kind, **fields: Any) -> Happens:
    """A server in trouble."""

    def happens(bench: Bench, command: Command, _: Reference, __: float) -> None:
        server = bench.servers[command]
        before = server.met
        server.trouble = Trouble(kind, seed=bench.seed, **fields)
        bench.configure()
        bench.start(command)
        if server.met == before:
            bench.start(command)

    return happens


def dies_for_good(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """The server dies in the middle, and is back for the second start after that."""
    bench.servers[command].trouble = Trouble(Kind.DIES, seed=bench.seed, at=5 + bench.seed % 7)
    bench.start(command)
    bench.start(command)
    bench.servers[command].trouble = Trouble()


def no_name(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """The name is not resolved: before the run has begun, and in the middle of it."""
    gone = {command: "http://gone.invalid:8000/v1"}
    bench.configure(gone)
    bench.start(command)
    bench.configure()
    bench.servers[command].trouble = Trouble(Kind.DIES, seed=bench.seed, at=5 + bench.seed % 7)
    bench.start(command)
    bench.configure(gone)
    bench.start(command)
    bench.servers[command].trouble = Trouble()
    bench.configure()


CLOCK = """
import os, time
real, folder = time.time, os.environ["FAULT_CLOCK"]
jumped = lambda: float(os.environ["FAULT_JUMP"]) if os.path.exists(os.path.join(folder, "jumped")) else 0.0
time.time = lambda: real() + jumped()
"""
"""A sitecustomize: Python's clock jumps when a file appears. Timers of the event loop do not, as on a real machine."""


def _clock(bench: Bench, jump_s: float) -> tuple[Path, dict[str, str]]:
    """The file whose appearance makes the clock of a process jump, and the environment that the process needs."""
    hook = bench.folder / "clock"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
    jumped = hook / "jumped"
    jumped.unlink(missing_ok=True)
    path = os.pathsep.join([str(hook), *filter(None, [os.environ.get("PYTHONPATH")])])
    return jumped, {"PYTHONPATH": path, "FAULT_CLOCK": str(hook), "FAULT_JUMP": str(jump_s)}


def clock_jumps(jump_s: float) -> Happens:
    """The clock jumps in the middle of a run in which the server asks for pauses."""

    def happens(bench: Bench, command: Command, _: Reference, __: float) -> None:
        server = bench.servers[command]
        server.trouble = Trouble(Kind.STORM_429_RETRY_AFTER, share=0.2, seed=bench.seed, retry_after_s=1)
        server.latency_s = 0.03
        jumped, env = _clock(bench, jump_s)
        with bench.process(command, env=env) as process:
            server.wait_for(met=server.met + 1)
            time.sleep(0.005)  # the client has the refusal, and other calls are still on their way
            jumped.touch()
            bench.judge(command, _ended(bench, process, command))
        server.latency_s = 0.0

    return happens


def clock_was_set_back(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """Between two runs the clock is set back by a day: the later run is still the one to go on with."""
    bench.start(command)
    first = bench.run_of(command)
    server = bench.servers[command]
    server.latency_s = TIMED_LATENCY_S
    jumped, env = _clock(bench, -86400.0)
    jumped.touch()
    with bench.process(command, env=env) as process:
        server.wait_for(chats=server.chats + 8)
        process.kill()
        process.wait()
    server.latency_s = 0.0
    bench.look()
    again = bench.run_of(command)
    if first is None or again is None or again.run_id == first.run_id:
        bench.tally.add("lost", f"{command}: the run that was begun last is not the newest one")


def _ended(bench: Bench, process: subprocess.Popen[str], command: Command) -> Finished:
    try:
        stdout, stderr = process.communicate(timeout=TIME_LIMIT_S)
    except subprocess.TimeoutExpired:
        bench.tally.add("lost", f"{command} hangs")
        process.kill()
        stdout, stderr = process.communicate()
    return Finished(process.returncode, stdout, stderr)


def _mount(folder: Path, options: str) -> None:
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        raise CannotBeMadeError
    done = subprocess.run([mount, *options.split(), str(folder)], capture_output=True, check=False)
    if done.returncode:
        raise CannotBeMadeError


@contextmanager
def small_disk(folder: Path | None) -> Iterator[Path | None]:
    """A file system in memory, for root only."""
    with tempfile.TemporaryDirectory(prefix="faults-") as above:
        folder = folder or Path(above) / "disk"
        folder.mkdir(exist_ok=True)
        _mount(folder, "-t tmpfs -o size=900k tmpfs")
        try:
            yield folder
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def disk_is_full(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """The disk fills up in the middle, then there is room again."""
    used = shutil.disk_usage(bench.folder).used // 1024
    _mount(bench.folder, f"-o remount,size={used + 350}k")
    bench.configure(concurrency=1)
    done = bench.start(command)
    if done.exit_code != 4:
        bench.tally.add("wrong", f"{command} fits on a full disk, exit code {done.exit_code}: make the disk smaller")
    _mount(bench.folder, "-o remount,size=64m")


LARGEST_FILE = 200_000
"""Bytes: about eight answers with their ballast, in the file beside the store that SQLite writes first."""


def files_are_limited(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """No file may grow beyond a limit, as under a quota."""
    bench.configure(concurrency=1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, limits[1]))
    try:
        done = bench.project.run_process(*bench.arguments(command))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    bench.judge(command, done)
    if done.exit_code != 4:
        bench.tally.add("wrong", f"{command} fits below the limit, exit code {done.exit_code}: make it smaller")


LOCKER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
print("ready", flush=True)
for line in sys.stdin:
    connection.execute("BEGIN IMMEDIATE" if line == "lock\\n" else "ROLLBACK")
    print("done", flush=True)
"""


@contextmanager
def _locker(path: Path) -> Iterator[Callable[[str], None]]:
    """Another process that locks the store when it is told to, and lets it go."""
    process = subprocess.Popen(
        [sys.executable, "-c", LOCKER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )

    def order(word: str) -> None:
        process.stdin.write(f"{word}\n")  # type: ignore[union-attr]  # it is a pipe
        process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe

    try:
        process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
        yield order
    finally:
        process.kill()
        process.communicate()


def _begun(bench: Bench, command: Command) -> None:
    """A run that stopped in the middle, so that there is a store to lock and a run to go on with."""
    bench.servers[command].trouble = Trouble(Kind.DIES, seed=bench.seed, at=7)
    bench.start(command)
    bench.servers[command].trouble = Trouble()


def locked(seconds: float, patience_s: float) -> Happens:
    """Another process holds the store for some time; promptreg waits so long for it."""

    def happens(bench: Bench, command: Command, _: Reference, __: float) -> None:
        _begun(bench, command)
        with _locker(bench.folder / ".promptreg" / "store.db") as order, _patience(patience_s):
            order("lock")
            free = threading.Timer(seconds, order, ("free",))
            free.start()
            done = bench.project.run(*bench.arguments(command))
            free.join()
        bench.judge(command, done)
        if (done.exit_code == 4) != (seconds > patience_s):
            bench.tally.add("wrong", f"{command} met a lock of {seconds} s, exit code {done.exit_code}: {done.stderr}")

    return happens


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Another default for `busy_timeout_s`: nobody wants to wait for 15 s of it in each run."""
    function = Store.open.__func__  # type: ignore[attr-defined]  # it is a class method
    before = dict(function.__kwdefaults__)
    function.__kwdefaults__["busy_timeout_s"] = seconds
    try:
        yield
    finally:
        function.__kwdefaults__.update(before)


def two_at_once(bench: Bench, command: Command, reference: Reference, _: float) -> None:
    """Two processes take a suite each into one store."""
    server = bench.servers[command]
    server.latency_s = 0.02
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(bench.process(command, f"suites/{name}.yaml", resume=False)) for name in SUITES
        }
        ended = {name: _ended(bench, process, command) for name, process in processes.items()}
    server.latency_s = 0.0
    bench.look()
    held = bench.held_of(command)
    if held != {(name, case, number) for name in SUITES for case in SUITES[name] for number in range(PASSES[command])}:
        bench.tally.add("lost", f"two processes hold {len(held)} samples: {[done.stderr for done in ended.values()]}")
    if command == "compare":
        for name, done in ended.items():
            if told(done).get(name) != reference.suites[name]:
                bench.tally.add("wrong", f"beside another process {name} is judged {told(done)}")


def two_resume(bench: Bench, command: Command, _: Reference, __: float) -> None:
    """Two processes go on with the same run at once."""
    _begun(bench, command)
    server = bench.servers[command]
    server.latency_s = 0.02
    with bench.process(command) as one, bench.process(command) as other:
        ended = [_ended(bench, process, command) for process in (one, other)]
    server.latency_s = 0.0
    for done in ended:
        bench.judge(command, done)


def killed(bench: Bench, command: Command, reference: Reference, moment: float) -> None:
    """Kill -9 at a moment of the run that is another in each, from its start to its end."""
    server = bench.servers[command]
    server.latency_s = TIMED_LATENCY_S
    bench.configure(concurrency=2)
    spread = random.Random(bench.seed).uniform(-0.5, 0.5) * SPREAD
    with bench.process(command) as process:
        with suppress(subprocess.TimeoutExpired):
            process.wait(reference.seconds[command] * min(max(moment + spread, 0.02), 1.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
        at = time.monotonic()
    server.trouble = Trouble()  # drops what it is still answering: nobody is there to take it, and it would be counted
    bench.look()
    bench.miss(command, at)
    stored, asked = bench.stored(command), server.answered
    bench.complete(command, starts_in_trouble=0)
    repeated = server.answered - asked - (CASES * PASSES[command] - stored)
    if repeated > 0:
        bench.tally.add("duplicated", f"{repeated} stored calls of {command} were repeated after the kill")


SPREAD = 0.02
"""How far a kill is moved at random, as a part of the run."""

FAULTS: Mapping[str, Fault] = {
    "reset_connect": Fault("reset at connect", of_server(Kind.RESET_CONNECT)),
    "reset_head": Fault("reset within the response's head", of_server(Kind.RESET_HEAD)),
    "reset_stream": Fault("reset in mid-stream", of_server(Kind.RESET_STREAM)),
    "stall_accept": Fault("nobody accepts connections", of_server(Kind.STALL_ACCEPT)),
    "stall_connect": Fault("stalls after the connect", of_server(Kind.STALL_CONNECT)),
    "stall_head": Fault("stalls within the response's head", of_server(Kind.STALL_HEAD, share=0.2)),
    "stall_stream": Fault("stalls in mid-stream", of_server(Kind.STALL_STREAM, share=0.2)),
    "half_character": Fault("half a UTF-8 character, then close", of_server(Kind.HALF_CHARACTER)),
    "short_answer": Fault("closes after a whole frame, no end told", of_server(Kind.SHORT_ANSWER)),
    "tls_silence": Fault("TLS handshake that never ends", of_server(Kind.TLS_SILENCE, share=1.0)),
    "storm_429": Fault("429 storm", of_server(Kind.STORM_429, share=0.4)),
    "storm_429_retry_after": Fault("429 storm with Retry-After", of_server(Kind.STORM_429_RETRY_AFTER, share=0.3)),
    "burst_5xx": Fault("bursts of 500, 502, 503, 504", of_server(Kind.BURST_5XX, share=0.4)),
    "dies_and_returns": Fault("server dies and returns", of_server(Kind.DIES, at=9, back_after_s=0.7)),
    "dies_for_good": Fault("server dies and is back for a later start", dies_for_good),
    "dns": Fault("name is not resolved", no_name),
    "clock_forward": Fault("clock jumps forward by a day", clock_jumps(86400.0)),
    "clock_back": Fault("clock jumps back by a day", clock_jumps(-86400.0)),
    "clock_between": Fault("clock set back between two runs", clock_was_set_back),
    "disk_full": Fault("disk full", disk_is_full, server={"ballast": 40_000, "latency_s": 0.02}, place=small_disk),
    "file_limit": Fault("file size limit", files_are_limited, server={"ballast": 40_000, "latency_s": 0.02}),
    "locked": Fault("store locked for a moment", locked(0.5, 15.0)),
    "locked_long": Fault("store locked for longer than it waits", locked(1.0, 0.3)),
    "two_processes": Fault("two processes on one store", two_at_once),
    "two_resume": Fault("two processes go on with one run", two_resume),
    "kill_9": Fault("kill -9", killed, times=10),
}
"""By the name for `--only`."""

"""How long after its start `promptreg compare` sends its first call.

    python benchmarks/first_call.py [--runs 9]

A mock on the loopback notes when each request is whole; the command is started as a shell would start it. The first
request asks which models there are (the check that the target can be reached), the first call comes after it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from mock import stream_body  # noqa: UP026 - the one beside this file

from promptreg.testing import Project

CASES = 20


class Mock(BaseHTTPRequestHandler):
    """Answers at once, and notes when."""

    protocol_version = "HTTP/1.1"
    asked: list[tuple[str, float, float]]
    """Of each request its method, when it was whole, and what its sender had taken of the processor until then."""
    sender = 0

    def do_GET(self) -> None:
        """The models."""
        self._answer(json.dumps({"data": [{"id": "mock"}]}).encode(), "application/json")

    def do_POST(self) -> None:
        """A completion."""
        self.rfile.read(int(self.headers["content-length"]))
        self._answer(b"".join(stream_body()), "text/event-stream")

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""

    def _answer(self, body: bytes, kind: str) -> None:
        self.asked.append((self.command, time.monotonic(), cpu_s(self.sender)))
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def cpu_s(process: int) -> float:
    """Seconds of the processor that all threads of a process have had so far; 0 where the system does not tell."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e9


def started(folder: Path) -> tuple[float, float, float]:
    """Seconds from the start of `compare` to its first request and first call, and of the processor until then."""
    Mock.asked = []
    command = [sys.executable, "-m", "promptreg", "compare", "-q"]
    # Whoever installs a package has its modules compiled; a variable may forbid it for those of a working tree.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begun = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        Mock.sender = process.pid
        _, said = process.communicate()
    if process.returncode not in {0, 1, 3}:
        raise SystemExit(said.decode())
    _, first, _ = Mock.asked[0]
    _, call, cpu = next(asked for asked in Mock.asked if asked[0] == "POST")
    return first - begun, call - begun, cpu


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Mock)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = Project(folder)
        for role in ("source", "target"):
            project.deployment(
                role, f"http://127.0.0.1:{server.server_port}/v1", role=role, model="mock", server="vllm"
            )
        project.suite("support", {f"q{number}": f"Question {number}?" for number in range(CASES)})
        project.section("plan", record_passes=3, compare_passes=3, looks=[3])
        Mock.asked = []
        if project.run("record").exit_code:
            raise SystemExit("record failed")
        times = [started(folder) for _ in range(options.runs + 1)][1:]  # the first start writes compiled modules
    server.shutdown()
    labels = ("first request of any kind", "first call", "processor time until then")
    for label, seconds in zip(labels, zip(*times, strict=True), strict=True):
        print(f"{label}: {median(seconds):.2f} s ({min(seconds):.2f}–{max(seconds):.2f}), {options.runs} starts")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()

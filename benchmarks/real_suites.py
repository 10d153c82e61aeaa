"""Suites recorded afresh from a real model: the demo's, on llama.cpp servers of this machine.

Every suite is three recordings by the product's own `record`: ten source passes and five more passes on one and the
same server (an A/A suite: nothing changed), and five passes on a second server whose KV cache has 4 bits. No two A/A
suites share a sample, and no two q4 suites do; the A/A and the q4 suite of one number share their ten source passes.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from promptreg.config import Config, load_config
from promptreg.demo.llama import LlamaServer
from promptreg.demo.llama_child import MODEL_NAME
from promptreg.deployment.reader import read_exchange
from promptreg.store.store import Store
from promptreg.workflow.project import project_suites
from promptreg.workflow.record import RecordOptions, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.answer.model import Answer
    from promptreg.suite.model import Case

SUITE_FILE = Path(__file__).with_name("real_suite.yaml")
SOURCE_PASSES, TARGET_PASSES = 10, 5
MAX_TOKENS = 10
_SLOTS = 4
_WINDOW = 512

Part = Literal["source", "again", "q4"]
"""Of a suite: the source's passes, more passes of the same server, passes of the server with a q4 KV cache."""

Reply = tuple[str, str | None] | None
"""Text and finish reason; None where a call got no answer after all its attempts."""

Replies = dict[str, list[Reply]]
"""By case id, then by pass."""

RealSuite = dict[Part, Replies]

_ABOUT = (
    "Answers of SmolLM2-135M-Instruct on llama.cpp, recorded with promptreg. suites[temperature][number][part][case] "
    "is a list of [text, finish_reason] by pass, null for a failed call. Parts: source and again are passes of one "
    "server with an f16 KV cache, q4 is a server with a q4_0 KV cache."
)


def suite_cases() -> tuple[Case, ...]:
    """The cases that are asked, with their checks."""
    root = SUITE_FILE.parent
    config = Config(root=root)
    return project_suites(config, (SUITE_FILE,), None)[0].cases


# --- the file of answers ---------------------------------------------------------------------------------------------


class Answers:
    """Recorded suites by temperature; safe to add to from several threads."""

    def __init__(self, path: Path | None) -> None:
        """Read what the file holds already.

        Args:
            path: where each suite is added as soon as it is complete; None to keep nothing.
        """
        self._path, self._lock = path, threading.Lock()
        self.suites: dict[float, list[RealSuite]] = {}
        if path is not None and path.exists():
            self.suites = read_answers(path)

    def add(self, temperature: float, suite: RealSuite) -> int:
        """Add a suite and write the file; returns how many there are of this temperature."""
        with self._lock:
            found = self.suites.setdefault(temperature, [])
            found.append(suite)
            if self._path is not None:
                data = {"about": _ABOUT, "suites": {str(key): value for key, value in self.suites.items()}}
                part = self._path.with_name(self._path.name + ".part")
                part.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
                part.replace(self._path)
            return len(found)


def read_answers(path: Path) -> dict[float, list[RealSuite]]:
    """The suites of a file that `Answers` wrote."""
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {float(temperature): suites for temperature, suites in data["suites"].items()}


# --- recording -------------------------------------------------------------------------------------------------------


def record_suites(answers: Answers, temperatures: Sequence[float], count: int) -> None:
    """Record until there are so many suites of each temperature, the temperatures side by side.

    Every temperature has two servers of one thread each, of which one works at a time: two temperatures keep two cores
    busy. More threads a server would spin against each other.
    """
    with ThreadPoolExecutor(len(temperatures)) as pool:
        for done in [pool.submit(_record_temperature, answers, value, count) for value in temperatures]:
            done.result()


def _record_temperature(answers: Answers, temperature: float, count: int) -> None:
    first = len(answers.suites.get(temperature, ()))
    if first >= count:
        return
    started = time.monotonic()
    with _serving(temperature) as recorder:
        for number in range(first, count):
            done = answers.add(temperature, recorder.suite(number))
            spent = time.monotonic() - started
            rate = recorder.calls / spent
            left = spent / (done - first) * (count - done) / 60
            print(
                f"temperature {temperature}: suite {done} of {count}, {rate:.1f} calls/s, {left:.0f} min left",
                file=sys.stderr,
                flush=True,
            )


@contextlib.contextmanager
def _serving(temperature: float) -> Iterator[_Recorder]:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        f16 = LlamaServer(cache="f16", window=_WINDOW, slots=_SLOTS, log=root / "f16.log", threads=1)
        q4 = LlamaServer(cache="q4_0", window=_WINDOW, slots=_SLOTS, log=root / "q4.log", threads=1)
        with f16, q4:
            config = _project(root, {"f16": f16.base_url, "q4": q4.base_url}, temperature)
            yield _Recorder(config)


def _project(root: Path, addresses: Mapping[str, str], temperature: float) -> Config:
    lines = []
    for name, address in addresses.items():
        lines += [
            f"[deployments.{name}]",
            f'base_url = "{address}"',
            f'model = "{MODEL_NAME}"',
            'server = "local"',
            f"concurrency = {_SLOTS}",
            "timeout_s = 600",
            f"request = {{temperature = {temperature}, max_tokens = {MAX_TOKENS}}}",
        ]
    (root / "promptreg.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "suites").mkdir()
    (root / "suites" / SUITE_FILE.name).write_bytes(SUITE_FILE.read_bytes())
    return load_config(root / "promptreg.toml", root)


@dataclass(slots=True)
class _Recorder:
    """Records suites with the product's own `record`."""

    config: Config
    calls: int = 0

    def suite(self, number: int) -> RealSuite:
        """One suite; its number sets the order in which the cases of each pass are asked."""
        orders: dict[Part, tuple[str, int]] = {
            "source": ("f16", SOURCE_PASSES),
            "again": ("f16", TARGET_PASSES),
            "q4": ("q4", TARGET_PASSES),
        }
        found: RealSuite = {}
        for place, part in enumerate(get_args(Part)):
            deployment, passes = orders[part]
            found[part] = self._record(deployment, passes, seed=number * len(orders) + place)
        return found

    def _record(self, deployment: str, passes: int, *, seed: int) -> Replies:
        plan = self.config.plan.model_copy(update={"seed": seed})
        config = self.config.model_copy(update={"plan": plan})
        recording = record(config, RecordOptions(deployment=deployment, passes=passes))
        self.calls += recording.answered + recording.failed
        answers: dict[str, dict[int, Answer | None]] = {}
        with Store.open(config.root / config.paths.store) as store:
            for sample in store.samples(recording.run_id):
                answers.setdefault(sample.case_id, {})[sample.pass_index] = read_exchange(sample.attempts[-1]).answer
        return {
            case_id: [
                None if (answer := by_pass.get(index)) is None else (answer.content, answer.finish_reason)
                for index in range(passes)
            ]
            for case_id, by_pass in sorted(answers.items())
        }

"""The demo itself: record on a source, compare on a target, through the same functions as the commands."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from promptreg.config import Config, load_config
from promptreg.demo.llama import LlamaServer, free_port
from promptreg.demo.model import find_model
from promptreg.demo.project import DemoKind, write_demo_project
from promptreg.deployment.simulated.background import SimulatedServer
from promptreg.deployment.simulated.loading import load_script
from promptreg.workflow.compare import compare
from promptreg.workflow.compare_options import CompareOptions
from promptreg.workflow.record import RecordOptions, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from promptreg.replay.progress import Renderer
    from promptreg.workflow.compared import Compared
    from promptreg.workflow.recording import Recording

_SLOTS = 4
"""Calls in flight on a llama.cpp server; as `concurrency` in the demo's promptreg.toml."""

_Role = Literal["source", "target"]


_SOURCE_STEPS = {
    "model": "1/2  Source: SmolLM2 135M on llama.cpp, 16-bit KV cache, window 8192. Recording 10 passes.",
    "simulated": "1/2  Source: a simulated vLLM server. Recording 10 passes.",
}
_TARGET_STEPS = {
    "model": "2/2  Target: the same model with a 4-bit KV cache, window 2048. Comparing 5 passes.",
    "simulated": "2/2  Target: a simulated vLLM-Ascend server with planted faults. Comparing 5 passes.",
}


@dataclass(frozen=True, slots=True)
class DemoResult:
    """A demo that ran through."""

    config: Config
    recording: Recording
    compared: Compared
    seconds: float


def run_demo(
    kind: DemoKind,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _: None,
    renderer: Callable[[str], Renderer],
) -> DemoResult:
    """Write the demo project into a folder, record its source, compare its target, write the report.

    Args:
        kind: a real small model, or two simulated deployments.
        folder: where; made when it does not exist.
        on_step: called with a sentence as each step begins.
        renderer: makes the progress display of a step, from its title.

    Raises:
        PromptregError: when a package is missing, a server does not start, or the folder cannot be used.
    """
    began = time.monotonic()
    if kind == "model":
        find_model()
    write_demo_project(folder, kind)
    config = load_config(folder / "promptreg.toml", folder)
    serving = _serving_model if kind == "model" else _serving_script
    on_step(_SOURCE_STEPS[kind])
    with serving(config, "source") as served, renderer("record") as show:
        recording = record(served, RecordOptions(), on_progress=show)
    on_step(_TARGET_STEPS[kind])
    with serving(config, "target") as served, renderer("compare") as show:
        # One look after all passes: an early one would prove the drift, but name fewer of the planted faults.
        compared = compare(served, CompareOptions(looks=(5,)), on_progress=show)
    return DemoResult(config, recording, compared, time.monotonic() - began)


def _at(config: Config, name: str, base_url: str) -> Config:
    """The configuration with one deployment at the address where it is served now."""
    moved = config.deployment(name).model_copy(update={"base_url": base_url})
    return config.model_copy(update={"deployments": {**config.deployments, name: moved}})


def _configured_port(base_url: str | None) -> int:
    return (urlsplit(base_url).port or 0) if base_url else 0


@contextlib.contextmanager
def _serving_model(config: Config, role: _Role) -> Iterator[Config]:
    deployment = config.role(role)
    server = LlamaServer(
        cache="f16" if role == "source" else "q4_0",
        window=deployment.window or 2048,
        slots=_SLOTS,
        log=config.root / ".promptreg" / f"llama-{role}.log",
        preferred_port=_configured_port(deployment.base_url),
    )
    with server:
        yield _at(config, deployment.name, server.base_url)


@contextlib.contextmanager
def _serving_script(config: Config, role: _Role) -> Iterator[Config]:
    deployment = config.role(role)
    script = load_script(config.root / "examples" / f"{deployment.name}.yaml")
    with SimulatedServer(script, port=free_port(_configured_port(deployment.base_url))) as server:
        yield _at(config, deployment.name, server.base_url)

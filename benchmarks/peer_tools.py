"""The tools of peers.py: what each is given to do, with which command lines, and what it does or leaves out."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import peer_setup
from peer_mock import answer

from promptreg.testing import Project

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = Path(__file__).resolve().parent
QUESTION = "Q{number}: How long may I return item {number}?"


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done, and where."""

    folder: Path
    """Empty, and the tool's own."""
    port: int
    cases: int
    concurrency: int

    @property
    def url(self) -> str:
        """Of the mock."""
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True, slots=True)
class Tool:
    """A contestant."""

    name: str
    does: str
    """What it does beside calling, and what it leaves out."""
    sides: Literal[1, 2]
    """Calls a case: 2 where it asks the source too, 1 where it is given the source's answers."""
    start: tuple[str, ...]
    """A command that only starts it."""
    prepare: Callable[[Work], Sequence[Sequence[str]]]
    """Writes its files; the command lines to measure, one after the other."""
    env: tuple[tuple[str, str], ...] = ()


# --- ours -------------------------------------------------------------------------------------------------------------

PROMPTREG = (sys.executable, "-m", "promptreg")


def _project(work: Work, **deployment: str) -> Project:
    project = Project(work.folder)
    for role in ("source", "target"):
        shape = {"model": role, "server": "vllm", "concurrency": work.concurrency, **deployment}
        project.deployment(role, work.url, role=role, **shape)
    project.section("plan", record_passes=1, compare_passes=1, looks=[1])
    rows = [json.dumps({"id": f"q{n}", "question": QUESTION.format(number=n)}) for n in range(work.cases)]
    project.write("suites/questions.jsonl", "\n".join(rows) + "\n")
    suite = {
        "suite": "returns",
        "defaults": {"request": {"temperature": 0}},
        "prompts": {"ask": [{"user": "{{ question }}"}]},
        "cases": [{"cases_from": "questions.jsonl", "prompt": "ask"}],
    }
    project.write("suites/returns.yaml", json.dumps(suite))
    return project


_WHOLE = ((*PROMPTREG, "record", "--quiet"), (*PROMPTREG, "compare", "--quiet", "--junit", "junit.xml"))


def _ours(work: Work, **deployment: str) -> Sequence[Sequence[str]]:
    _project(work, **deployment)
    return _WHOLE


def _ours_with_openai(work: Work) -> Sequence[Sequence[str]]:
    return _ours(work, client="openai")


def _ours_with_endpoint(work: Work) -> Sequence[Sequence[str]]:
    project = _project(work)
    project.section("judging", embedder="letters")
    config = work.folder / "promptreg.toml"
    table = f'[embedders.letters]\nbase_url = "{work.url}"\nmodel = "letters"\n'
    config.write_text(f"{config.read_text(encoding='utf-8')}\n{table}", encoding="utf-8")
    return _WHOLE


def ours() -> list[Tool]:
    """Ours: as it comes, with the official client, and with embeddings from the server."""
    start = (*PROMPTREG, "--help")
    does = "raw responses stored, 11 channels, faults, contract, statistics, self-test; HTML, JUnit"
    return [
        Tool("promptreg", f"{does}; embeds on this machine", 2, start, _ours),
        Tool("promptreg, embedder on the server", f"{does}", 2, start, _ours_with_endpoint),
        Tool("promptreg, client = openai", f"{does}; embeds on this machine", 2, start, _ours_with_openai),
    ]


# --- the bare client --------------------------------------------------------------------------------------------------


def bare_openai() -> Tool:
    """The official client without anything around it."""
    script = (sys.executable, str(FOLDER / "bare_openai.py"))

    def prepare(work: Work) -> Sequence[Sequence[str]]:
        return [(*script, str(work.port), str(work.cases), str(work.concurrency))]

    return Tool("bare openai client", "calls only: nothing is checked, stored or reported", 2, script, prepare)


# --- llmshift ---------------------------------------------------------------------------------------------------------


def _llmshift_rows(work: Work, checks: Sequence[object]) -> None:
    rows = [
        {
            "id": f"q{number}",
            "group": "returns",
            "input": {
                "messages": [{"role": "user", "content": QUESTION.format(number=number)}],
                "params": {"temperature": 0},
            },
            "baseline": {"output": answer("source", number), "model": "source"},
            "checks": checks,
        }
        for number in range(work.cases)
    ]
    text = "\n".join(map(json.dumps, rows))
    (work.folder / "tests.jsonl").write_text(f"{text}\n", encoding="utf-8")


def llmshift(command: Sequence[str], port: int) -> list[Tool]:
    """The closest one, with the source's answers given, with the source asked too, and with embeddings."""
    env = (("OPENAI_API_KEY", "none"), ("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1"))
    does = "one answer a side, no noise floor, ROUGE-L; HTML, JSON, JUnit; a file an answer as cache"

    def prepared(*more: str, checks: Sequence[object] = ({"type": "similarity"},)) -> Callable[[Work], list[list[str]]]:
        def prepare(work: Work) -> list[list[str]]:
            _llmshift_rows(work, checks)
            files = ["--html", "r.html", "--json", "r.json", "--junit", "j.xml"]
            wanted = ["--tests", "tests.jsonl", "--to", "openai:target", "--concurrency", str(work.concurrency)]
            return [[*command, "compare", *wanted, *files, *more]]

        return prepare

    both = ("--baseline-model", "openai:source")
    cosine = [{"type": "similarity", "metric": "cosine"}]
    start = (*command, "--version")
    return [
        Tool("llmshift", f"{does}; the source is not asked", 1, start, prepared(), env),
        Tool("llmshift --baseline-model", does, 2, start, prepared(*both), env),
        Tool(
            "llmshift + cosine",
            f"{does}; an embedding request a case; the source is not asked",
            1,
            start,
            prepared("--embedder", "openai:letters", checks=cosine),
            env,
        ),
    ]


# --- promptfoo --------------------------------------------------------------------------------------------------------


def promptfoo(command: Sequence[str], port: int) -> list[Tool]:
    """The best known one, with an equality of its own kind, and with `similar`."""
    url = f"http://127.0.0.1:{port}/v1"
    off = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")
    env = (("OPENAI_API_KEY", "none"), *((f"PROMPTFOO_DISABLE_{name}", "1") for name in off))

    def prepared(*, similar: bool) -> Callable[[Work], list[list[str]]]:
        def prepare(work: Work) -> list[list[str]]:
            provider = {"id": "openai:embedding:letters", "config": {"apiBaseUrl": url}}
            config = {
                "prompts": [{"id": "ask", "label": "ask", "raw": "{{question}}"}],
                "providers": [
                    {"id": f"openai:chat:{side}", "label": side, "config": {"apiBaseUrl": url, "temperature": 0}}
                    for side in ("source", "target")
                ],
                "defaultTest": {"options": {"provider": {"embedding": provider}}},
                "tests": "file://tests.jsonl",
            }
            (work.folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
            rows = []
            for number in range(work.cases):
                golden = answer("source", number)
                kind = {"type": "similar", "threshold": 0.8} if similar else {"type": "levenshtein", "threshold": 20}
                rows.append(
                    {
                        "vars": {"question": QUESTION.format(number=number)},
                        "assert": [{**kind, "value": golden}],
                    }
                )
            text = "\n".join(map(json.dumps, rows))
            (work.folder / "tests.jsonl").write_text(f"{text}\n", encoding="utf-8")
            files = ["-o", "out.json", "-o", "out.html", "-o", "out.junit.xml"]
            plain = ["--no-cache", "--no-table", "--no-progress-bar", "-j", str(work.concurrency)]
            return [[*command, "eval", "-c", "config.json", *plain, *files]]

        return prepare

    does = "one answer a side, no noise floor; HTML, JSON, JUnit; SQLite"
    start = (*command, "--version")
    return [
        Tool("promptfoo, levenshtein", does, 2, start, prepared(similar=False), env),
        Tool("promptfoo, similar", f"{does}; two embedding requests an answer", 2, start, prepared(similar=True), env),
    ]


def peers(folder: Path, port: int) -> tuple[list[Tool], list[str]]:
    """What could be installed, and a line for what could not."""
    tools: list[Tool] = []
    missing = []
    makers = (("llmshift", peer_setup.llmshift, llmshift), ("promptfoo", peer_setup.promptfoo, promptfoo))
    for name, install, make in makers:
        installed = install(folder)
        if installed.command:
            tools += make(installed.command, port)
        else:
            missing.append(f"{name} is not measured: it cannot be installed here ({installed.why_not}).")
    return tools, missing


def environment(tool: Tool, work: Work) -> dict[str, str]:
    """The process's environment: no proxy, each tool's own folder for what it keeps, and Python's compiled modules.

    Whoever installs a tool has its modules compiled; ours run from the working tree, where a variable may forbid it.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.lower().endswith("_proxy") and name != "PYTHONDONTWRITEBYTECODE"
    }
    return {
        **kept,
        "NO_PROXY": "*",
        "PYTHONPATH": str(FOLDER.parent),
        "PROMPTFOO_CONFIG_DIR": str(work.folder / "promptfoo"),
        **dict(tool.env),
    }

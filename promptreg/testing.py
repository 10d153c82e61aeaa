"""Public harness for tests of projects, plugins and pipelines: a simulated deployment, and a project in a folder.

```python
from promptreg.testing import Project, SimulatedServer

def test_think_tags_are_found(tmp_path):
    project = Project(tmp_path)
    project.suite("support", {"refund": "How long may I return a book?"})
    with SimulatedServer() as source, SimulatedServer(faults=["think_tags"]) as target:
        project.deployment("gpu", source.base_url, role="source")
        project.deployment("ascend", target.base_url, role="target")
        assert project.run("record").exit_code == 0
        assert project.run("compare").exit_code == 1
```
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from promptreg.deployment.simulated.background import SimulatedServer

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Finished", "Project", "SimulatedServer"]


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """Standard output as JSON.

        Raises:
            ValueError: when it is not one JSON value and nothing else.
        """
        return json.loads(self.stdout)


class Project:
    """A project in a folder: writes its files and runs commands in it."""

    def __init__(self, folder: Path, files: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self._deployments: dict[str, dict[str, Any]] = {}
        self._sections: dict[str, dict[str, Any]] = {}
        for name, text in (files or {}).items():
            self.write(name, text)

    def write(self, name: str, text: str) -> Path:
        """Write a file, with the folders it needs; line ends stay as they are in `text`."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    def deployment(
        self, name: str, base_url: str, *, role: Literal["source", "target"] | None = None, **fields: Any
    ) -> None:
        """Add a deployment to promptreg.toml, or replace it. `fields` are its other keys; the model is `simulated`."""
        self._deployments[name] = {"base_url": base_url, "model": "simulated", **fields}
        if role is not None:
            self._sections.setdefault("roles", {})[role] = name
        self._write_config()

    def section(self, name: str, **fields: Any) -> None:
        """Set keys of another table of promptreg.toml, such as `plan` or `judging`."""
        self._sections.setdefault(name, {}).update(fields)
        self._write_config()

    def suite(
        self,
        name: str,
        questions: Mapping[str, str],
        *,
        request: Mapping[str, Any] | None = None,
        checks: Sequence[Any] = (),
    ) -> Path:
        """Write suites/NAME.yaml with one case per question, by case id."""
        cases = [
            {"id": case_id, "prompt": "ask", "vars": {"question": question}} for case_id, question in questions.items()
        ]
        content = {
            "suite": name,
            "defaults": {"request": dict(request or {}), "checks": list(checks)},
            "prompts": {"ask": [{"user": "{{ question }}"}]},
            "cases": cases,
        }
        # JSON is YAML as well, and quotes every text by itself, except for the characters that YAML calls line ends.
        text = json.dumps(content, ensure_ascii=False, indent=1)
        for mark in "\x85\u2028\u2029":
            text = text.replace(mark, f"\\u{ord(mark):04x}")
        return self.write(f"suites/{name}.yaml", text)

    def run(self, *arguments: str | Path) -> Finished:
        """Run a command in this process, with the project's folder as the current one."""
        from promptreg.cli.app import run  # noqa: PLC0415 - click only when a command is run

        out, err = io.StringIO(), io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            exit_code = run([str(argument) for argument in arguments])
        return Finished(int(exit_code), out.getvalue(), err.getvalue())

    def run_process(
        self, *arguments: str | Path, env: Mapping[str, str] | None = None, timeout_s: float = 120.0
    ) -> Finished:
        """Run a command in a process of its own. `env` is added to this process's environment."""
        done = subprocess.run(  # noqa: S603 - our own command in a test
            self.command(*arguments),
            cwd=self.folder,
            env={**os.environ, "PYTHONUTF8": "1", **(env or {})},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=timeout_s,
            check=False,
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def command(self, *arguments: str | Path) -> list[str]:
        """The command line of a process, for tests that start or kill it themselves."""
        return [sys.executable, "-m", "promptreg", *map(str, arguments)]

    def _write_config(self) -> None:
        lines: list[str] = []
        for name, fields in self._sections.items():
            lines += [f"[{_quoted(name)}]", *_toml(fields), ""]
        for name, fields in self._deployments.items():
            lines += [f"[deployments.{_quoted(name)}]", *_toml(fields), ""]
        self.write("promptreg.toml", "\n".join(lines))


def _quoted(text: str) -> str:
    # A basic TOML string has the escapes of JSON.
    return json.dumps(text, ensure_ascii=False)


def _toml(fields: Mapping[str, Any]) -> list[str]:
    return [f"{_quoted(key)} = {_toml_value(value)}" for key, value in fields.items()]


def _toml_value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(_toml(value)) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)

"""What CI systems read besides JUnit: GitHub's annotations and step summary, GitLab's code-quality report."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from promptreg.report.new_file import new_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from promptreg.canonical import Json
    from promptreg.pytest_plugin.outcomes import Outcome
    from promptreg.pytest_plugin.selection import Entry

MOST_ANNOTATIONS: Final = 10
"""GitHub shows so many of one kind for a step."""

_GITLAB_FILE: Final = "gl-code-quality-report.json"
_SEVERITIES: Final = {
    "fail": "critical",
    "REGRESSION": "critical",
    "error": "critical",
    "ERROR": "critical",
    "drift": "major",
    "DRIFT": "major",
    "INCONCLUSIVE": "minor",
}
"""GitLab's severity by verdict; `critical` for what was not judged at all."""


def code_quality_path(asked: Path | None) -> Path | None:
    """Where the code-quality report goes: where it was asked for, else its usual place in GitLab CI, else nowhere."""
    if asked is not None:
        return asked
    return Path(os.environ.get("CI_PROJECT_DIR", ".")) / _GITLAB_FILE if os.environ.get("GITLAB_CI") else None


def step_summary_path() -> Path | None:
    """The file that GitHub shows as the summary of the running step."""
    given = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(given) if given else None


def append_summary(path: Path, markdown: str) -> None:
    """Adds to the summary; other steps may have written there before.

    Raises:
        OSError: the file cannot be written.
    """
    with path.open("a", encoding="utf-8") as out:
        out.write(markdown + "\n")


def github_lines(
    entries: Iterable[Entry], outcomes: Mapping[str, Outcome], root: Path, notes: Iterable[str] = ()
) -> Iterator[str]:
    """GitHub's workflow commands for what failed, at the line of the suite that has the case; none elsewhere.

    Where more failed than GitHub shows, a suite's own verdict is shown before its cases, and how many are left is said.

    Args:
        entries: the items in their order.
        outcomes: by node id.
        root: what paths are relative to, unless GITHUB_WORKSPACE says it.
        notes: what else whoever reads the job must know.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    base = Path(os.environ.get("GITHUB_WORKSPACE") or root)
    failed = list(_failed(entries, outcomes))
    if (left := len(failed) - MOST_ANNOTATIONS) > 0:
        failed.sort(key=lambda each: each[0].case_id is not None)
        more = f"{left} more of {len(failed)} failures have no annotation; the step summary and the report have them."
        yield f"::warning title=promptreg::{_data(more)}"
    yield from (f"::warning title=promptreg::{_data(note)}" for note in notes)
    for entry, outcome in failed[:MOST_ANNOTATIONS]:
        place = f"file={_property(_relative(entry.written, base))},line={entry.line},title={_property(entry.name)}"
        yield f"::error {place}::{_data(outcome.sentence)}"


def write_code_quality(path: Path, entries: Iterable[Entry], outcomes: Mapping[str, Outcome], root: Path) -> None:
    """Writes what failed as GitLab reads it; an empty list when nothing did.

    Args:
        path: the file.
        entries: the items in their order.
        outcomes: by node id.
        root: what paths are relative to, unless CI_PROJECT_DIR says it.

    Raises:
        OutputError: the file cannot be written.
    """
    base = Path(os.environ.get("CI_PROJECT_DIR") or root)
    found: list[Json] = []
    for entry, outcome in _failed(entries, outcomes):
        verdict = dict(outcome.properties).get("promptreg_verdict", "error")
        found.append(
            {
                "description": f"{entry.name}: {outcome.sentence}",
                "check_name": f"promptreg-{verdict.lower()}",
                "fingerprint": sha256(entry.name.encode("utf-8", "replace")).hexdigest(),
                "severity": _SEVERITIES.get(verdict, "critical"),
                "location": {"path": _relative(entry.written, base), "lines": {"begin": entry.line}},
            }
        )
    with new_file(path) as out:
        out.write(json.dumps(found, ensure_ascii=False, indent=1) + "\n")


def _failed(entries: Iterable[Entry], outcomes: Mapping[str, Outcome]) -> Iterator[tuple[Entry, Outcome]]:
    for entry in entries:
        outcome = outcomes.get(entry.node_id)
        if outcome is not None and outcome.kind in {"failed", "error"}:
            yield entry, outcome


def _relative(path: Path, base: Path) -> str:
    path, base = path.resolve(), base.resolve()
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""Installs what peers.py measures beside promptreg, in a folder outside the repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LLMSHIFT = "0.1.4"
PROMPTFOO = "0.123.1"
NODE = (22, 22)
"""What promptfoo asks for; an older Node is not touched, another is installed beside promptfoo."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A peer's command; or, where it cannot be installed, why."""

    command: tuple[str, ...] = ()
    why_not: str = ""


def default_folder() -> Path:
    """The user's cache, so that no second clone installs everything again."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "promptreg-benchmarks"


def llmshift(folder: Path) -> Installed:
    """Install llmshift in a virtual environment of its own."""
    place = folder / f"llmshift-{LLMSHIFT}"
    command = place / "bin" / "llmshift"
    if not command.exists():
        print(f"Installing llmshift {LLMSHIFT} into {place}", file=sys.stderr)
        why_not = _run([sys.executable, "-m", "venv", "--clear", str(place)]) or _run(
            [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-input", f"llmshift=={LLMSHIFT}"]
        )
        if why_not:
            shutil.rmtree(place, ignore_errors=True)
            return Installed(why_not=why_not)
    return Installed((str(command),))


def promptfoo(folder: Path) -> Installed:
    """Install promptfoo with a Node that is new enough."""
    npm, node = shutil.which("npm"), shutil.which("node")
    place = folder / f"promptfoo-{PROMPTFOO}"
    package = place / "node_modules" / "promptfoo" / "package.json"
    if not package.exists():
        if npm is None:
            return Installed(why_not="npm is not installed")
        print(f"Installing promptfoo {PROMPTFOO} into {place} (some minutes)", file=sys.stderr)
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text('{"private": true}\n', encoding="utf-8")
        wanted = [f"promptfoo@{PROMPTFOO}", *([] if _new_enough(node) else ["node@22"])]
        quiet = ["--no-audit", "--no-fund", "--no-progress", "--loglevel=error"]
        why_not = _run([npm, "install", *quiet, *wanted], folder=place)
        if why_not:
            package.unlink(missing_ok=True)
            return Installed(why_not=why_not)
    own = place / "node_modules" / "node" / "bin" / "node"
    runner = str(own) if own.exists() else node
    if not _new_enough(runner):
        return Installed(why_not=f"it needs Node {NODE[0]}.{NODE[1]}, and none could be installed")
    entries = json.loads(package.read_text(encoding="utf-8"))["bin"]
    entry = entries["promptfoo"] if isinstance(entries, dict) else entries
    return Installed((str(runner), str(package.parent / entry)))


def _new_enough(node: str | None) -> bool:
    if node is None:
        return False
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    numbers = said.strip().removeprefix("v").split(".")
    return len(numbers) > 1 and tuple(map(int, numbers[:2])) >= NODE


def _run(command: list[str], folder: Path | None = None) -> str:
    """Run an installer; why it failed, or nothing."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1800, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__} from {Path(command[0]).name}"
    last = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
    return last[:200] if done.returncode else ""

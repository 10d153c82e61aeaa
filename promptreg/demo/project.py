"""The folder of a demo: configuration, suites and scripts, written so that the user can go on from there."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from promptreg.errors import OutputError, UsageError

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

DemoKind = Literal["model", "simulated"]
"""With a real small model, or on two simulated deployments."""

_IGNORE = "# A demo: nothing in this folder needs to be in git.\n*\n"


def demo_files(kind: DemoKind) -> dict[str, str]:
    """The files of a demo project: path relative to its folder, and text."""
    found: dict[str, str] = {}
    _collect(files("promptreg.demo") / "assets" / kind, "", found)
    return dict(sorted(found.items()))


def _collect(folder: Traversable, prefix: str, found: dict[str, str]) -> None:
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            _collect(entry, f"{name}/", found)
        else:
            found[name] = entry.read_text(encoding="utf-8")


def write_demo_project(folder: Path, kind: DemoKind) -> None:
    """Write the demo's files into a folder, which may hold an earlier demo of the same kind.

    Raises:
        UsageError: when the folder holds another project.
        OutputError: when the folder cannot be written.
    """
    texts = demo_files(kind)
    try:
        config = folder / "promptreg.toml"
        if config.exists() and _first_line(config.read_text("utf-8", "replace")) != _first_line(
            texts["promptreg.toml"]
        ):
            raise UsageError(f"{config} belongs to another project. Name another folder with --dir.")
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text(
                "# A demo: nothing in this folder needs to be in git.\n*\n", encoding="utf-8", newline="\n"
            )
    except OSError as problem:
        raise OutputError(f"Cannot write the demo into {folder}: {problem.strerror or problem}.") from problem


def _first_line(text: str) -> str:
    # The first line of a demo's promptreg.toml says that it is one.
    return text.partition("\n")[0].strip()

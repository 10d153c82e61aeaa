"""What git knows of the project, where there is git and the project is in it."""

from __future__ import annotations

import getpass
import subprocess
from typing import TYPE_CHECKING

from promptreg.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_TIMEOUT_S = 20.0


def reviewer_name(root: Path) -> str:
    """Who is at the keyboard: git's `user.name`, else the name of the account.

    Raises:
        UsageError: neither is known.
    """
    done = _git(root, "config", "user.name")
    if done is not None and done.strip():
        return done.decode("utf-8", "replace").strip()
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        raise UsageError("Nobody knows who decides here: pass --reviewer NAME, or set git's user.name.") from None


def committed(path: Path) -> bytes | None:
    """The file as it is in the last commit; None where that has no such file.

    Raises:
        UsageError: there is no git, or the file is in no repository with a commit.
    """
    folder = path.parent
    while not folder.is_dir():
        folder = folder.parent
    if _git(folder, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        raise UsageError(
            f"{path} is in no git repository with a commit, so there is nothing to compare it with. Name an older "
            "file with --against FILE."
        )
    relative = path.relative_to(folder).as_posix()
    return _git(folder, "show", f"HEAD:./{relative}")


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None when it fails or is not installed."""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command; what varies are arguments, never a shell's text
            ["git", "-C", str(folder), *arguments],  # noqa: S607 - the user's own git, wherever it is
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def committed_below(folder: Path) -> tuple[Path, ...]:
    """The files below a folder in the last commit; none where there is none, or no such folder."""
    known = folder
    while not known.is_dir():
        known = known.parent
    listed = _git(known, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", ".")
    names = [] if listed is None else listed.decode("utf-8", "replace").split("\0")
    paths = [known / name for name in names if name.endswith(".jsonl")]
    return tuple(path for path in paths if path.is_relative_to(folder))

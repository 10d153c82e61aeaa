"""What every page needs: its assets, a policy for just its own script and style, a file that is whole or not there."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import tempfile
from importlib import resources
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator


_POLICY: Final = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data:; connect-src 'none'; "
    "base-uri 'none'; form-action 'none'"
)

POLICY_OF_FILES: Final = _POLICY.format(script="self", style="self")
"""The same for a page whose script and style are files beside it."""


def asset(name: str) -> str:
    """The text of a file in `assets/`, named with forward slashes."""
    return resources.files("promptreg.report").joinpath("assets", *name.split("/")).read_text(encoding="utf-8")


def template(name: str) -> Iterator[tuple[str, bool]]:
    """The pieces of a template in `assets/`, in order: its text, and with True the name of each placeholder.

    It is split once and what is put between its parts is never looked at again, so a placeholder inside data stays
    what it is.
    """
    for number, part in enumerate(re.split(r"\{\{(\w+)\}\}", asset(name))):
        yield part, number % 2 == 1


def policy(script: str, style: str, *, served: bool = False) -> str:
    """The content security policy of a page that has this script and this style, needs no network and sends nothing.

    One that is `served` may speak with the server that it comes from, and with no other.
    """
    alone = _POLICY.format(script=_hash(script), style=_hash(style))
    return alone.replace("connect-src 'none'", "connect-src 'self'") if served else alone


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[IO[str]]:
    """A file to write, which takes the place of `path` when the block ends and is gone when it raises.

    Raises:
        OSError: it cannot be written; an older file at `path` is as it was.
    """
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")

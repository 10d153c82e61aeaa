"""Names that become part of a path (suites and deployments name folders and files under baselines/)."""

from __future__ import annotations

import unicodedata

_MAX_BYTES = 120
_FORBIDDEN = '/\\:*?"<>|'
_DEVICES = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}


def name_problem(name: str) -> str | None:
    """Why `name` cannot name a file on every system, as the end of a sentence; None when it can."""
    if not name.strip():
        return "is empty"
    bad = next((char for char in name if char in _FORBIDDEN or unicodedata.category(char) in {"Cc", "Cs"}), None)
    if bad is not None:
        return f"contains {bad!r}; file names are made of it, so {_FORBIDDEN} and control characters are not allowed"
    if name[0] == "." or name[-1] == "." or name != name.strip():
        return "starts or ends with a dot or a space; file names are made of it"
    if name.split(".", maxsplit=1)[0].casefold() in _DEVICES:
        return "is a device name on Windows; file names are made of it"
    if len(name.encode()) > _MAX_BYTES:
        return f"is longer than {_MAX_BYTES} bytes; file names are made of it"
    return None


def folded(name: str) -> str:
    """What two names share when a file system that ignores case or composition would mix them up."""
    return unicodedata.normalize("NFC", name).casefold()

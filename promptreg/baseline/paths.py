"""Where a baseline lies: names of suites and deployments as names of files on every system."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, with any suffix."""

_HASHED = re.compile(r"-[0-9a-f]{10}$")
"""What a changed name ends with. A name that ends so by itself is changed as well, so the two never meet."""

_MAX_BYTES = 120
"""Of a changed name without its hash, in UTF-8. File systems allow 255 bytes (Windows: 260 characters a path)."""


def safe_name(name: str) -> str:
    """A file name for a name: itself where every file system takes it, else cleaned and with a hash of the name.

    Different names give different file names, unless they differ in upper and lower case only: on Windows and macOS
    such names are the same file. `write_baseline` refuses to write one over the other.
    """
    cleaned = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip(" ").rstrip(". ")
    if _RESERVED.fullmatch(cleaned) or cleaned.startswith(".") or not cleaned:
        cleaned = f"_{cleaned}"
    shortened = cleaned.encode("utf-8")[:_MAX_BYTES].decode("utf-8", "ignore").rstrip(". ")
    if shortened == name and not _HASHED.search(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{shortened}-{digest}"


def baseline_path(baselines: Path, suite: str, deployment: str) -> Path:
    """`<baselines>/<suite>/<deployment>.jsonl`, with both names made safe."""
    return baselines / safe_name(suite) / f"{safe_name(deployment)}.jsonl"

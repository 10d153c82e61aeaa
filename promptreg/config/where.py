"""Where in its file a key of a loaded configuration stands, for errors that are found when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.lines import key_lines, line_of
from promptreg.errors import Place

if TYPE_CHECKING:
    from promptreg.config.model import Config


def place_of(config: Config, *keys: str) -> Place | None:
    """The file and the line of a key, or of the table around it; None where the configuration has no file.

    Args:
        config: as loaded.
        keys: from the top down, such as `"deployments", "ascend", "tokenizer"`.
    """
    if not config.file:
        return None
    path = config.root / Path(config.file).name
    prefix = ("tool", "promptreg") if path.name == "pyproject.toml" else ()
    try:
        lines = key_lines(decode(read_limited(path)).replace("\r\n", "\n"))
    except UnreadableTextError:  # it changed since it was loaded
        return Place(config.file)
    return Place(config.file, line_of(lines, (*prefix, *keys)))

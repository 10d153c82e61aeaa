"""sqlite-utils without pandas.

It loads pandas wherever that is installed, to know the types of its columns. The store has none of them, and pandas
takes half a second and 70 MB.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def _without(name: str) -> Iterator[None]:
    """As if a module were not installed, unless it is loaded already."""
    hidden = name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what `import` takes for a module that is not there
    try:
        yield
    finally:
        if hidden:
            del sys.modules[name]


with _without("pandas"):
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

__all__ = ["Database", "Migrations"]

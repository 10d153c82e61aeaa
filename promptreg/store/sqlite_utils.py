"""sqlite-utils without pandas and numpy.

It loads both wherever they are installed, to know the types of their columns. The store has none of them; pandas takes
half a second and 70 MB, numpy a tenth of a second before the first call of a run.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def _without(*names: str) -> Iterator[None]:
    """As if modules were not installed, unless they are loaded already."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what `import` takes for a module that is not there
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _without("pandas", "numpy"):
    from sqlite_utils import Database
    from sqlite_utils.migrations import Migrations

__all__ = ["Database", "Migrations"]

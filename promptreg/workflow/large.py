"""Large runs: when the work on stored answers is shared among processes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from promptreg.shelf import FileShelf, MemoryShelf
from promptreg.spread import spread_over
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.shelf import Shelf
    from promptreg.spread import Spread

LARGE: Final = 5_000
"""Samples from which it pays: one process reads and scores so many in about five seconds."""

MUCH: Final = 75_000
"""Pairs of samples, those of each case by themselves, whose distances are put away: some 7 MB, of 333 cases of 15."""


def spread_of(config: Config, samples: int) -> Spread:
    """How the work on so many samples is spread.

    A project's own checks, channels and fault rules see all cases in one process: they may keep what they saw, and hold
    what a copy of a process must not touch.
    """
    own = load_extensions(config.root)
    if samples < LARGE or own.checks or own.channels or own.faults:
        return map
    return spread_over(config.judging.workers)


def shelf_of(config: Config, cases: int, passes: int) -> Shelf:
    """Where what was measured on so many cases of so many passes waits until it is needed again.

    That is a file beside the store where it is much, and memory where it is little.

    Raises:
        StoreError: no file can be made there.
    """
    if cases * passes**2 < MUCH or sys.platform != "linux":
        return MemoryShelf()
    return FileShelf((config.root / config.paths.store).parent)

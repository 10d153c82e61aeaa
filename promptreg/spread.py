"""Spreads the parts of a large piece of work over processes; the results are those of `map`, in the same order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from promptreg.errors import PromptregError
from promptreg.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_Part = TypeVar("_Part")
_Result = TypeVar("_Result")

MOST_WORKERS: Final = 8
"""Processes at most when their number is not given: one process writes the report and takes what the others made."""


class Spread(Protocol):
    """Applies a function to every part and gives the results in the order of the parts, as the built-in `map` does."""

    def __call__(self, work: Callable[[_Part], _Result], parts: Sequence[_Part], /) -> Iterator[_Result]:
        """`work` must not depend on what it did to other parts, nor change anything that outlives it."""


class Processes:
    """Spreads parts over copies of this process, which know everything that it knows; only results travel.

    A copy shares files and connections with its original and must not use them: `work` opens its own. Each copy takes
    every n-th part and waits when nobody takes its results, so memory stays bounded.
    """

    def __init__(self, workers: int) -> None:
        """Start nothing yet; `workers` is the number of processes."""
        self._workers = workers

    def __call__(self, work: Callable[[_Part], _Result], parts: Sequence[_Part], /) -> Iterator[_Result]:
        """See `Spread`.

        Raises:
            PromptregError: a process was killed.
            BaseException: whatever `work` raised first, in the order of the parts.
        """
        count = min(self._workers, len(parts))
        if count < 2:
            yield from map(work, parts)
            return
        context = multiprocessing.get_context("fork")
        processes: list[ForkProcess] = []
        results: list[Connection] = []
        try:
            for number in range(count):
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_serve, args=(work, parts[number::count], sender), daemon=True)
                with warnings.catch_warnings():
                    # Newer Pythons warn where there are threads, of which ours wait for the disk and nothing else.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                sender.close()
                processes.append(process)
                results.append(receiver)
            for number in range(len(parts)):
                yield _received(results[number % count])
        finally:
            for receiver in results:
                receiver.close()
            for process in processes:
                process.terminate()
                process.join()


def _serve(work: Callable[[Any], Any], parts: Sequence[Any], sender: Connection) -> None:
    """The life of one copy. Whatever it learns travels; it prints nothing and closes nothing of its original's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the original too, which ends its copies
    code = 0
    try:
        for part in parts:
            try:
                told: tuple[Any, BaseException | None] = (work(part), None)
            except BaseException as error:  # noqa: BLE001 - raised again by the original
                told = (None, error)
            sender.send_bytes(_packed(told))
    except OSError:
        code = 1  # the original has gone, or wants no more
    finally:
        with suppress(OSError):
            sender.close()
        os._exit(code)  # no clean-up of what belongs to the original


def _packed(told: tuple[Any, BaseException | None]) -> bytes:
    try:
        return packed(told)
    except Exception as error:  # noqa: BLE001 - an error that cannot travel is told all the same
        shown = told[1] or error
        return packed((None, RuntimeError(f"{type(shown).__name__}: {shown}")))


def _received(results: Connection) -> Any:
    try:
        result, error = unpacked(results.recv_bytes())
    except EOFError:
        raise PromptregError(
            "A process that judges was ended from outside, perhaps for want of memory. Nothing stored is lost; judge "
            "the run again, with `workers = 1` under [judging] to use less memory."
        ) from None
    if error is not None:
        raise error
    return result


def spread_over(workers: int | None) -> Spread:
    """Over so many processes; None for one a core, and no more than there can be here.

    Only Linux copies a process without surprises; elsewhere everything is done in this one.
    """
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    count = min(usable, MOST_WORKERS) if workers is None else workers
    return Processes(count) if count > 1 and sys.platform == "linux" else map

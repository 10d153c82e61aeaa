"""Which run a user means: by its id, by the beginning of it, or by its age."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.errors import UsageError
from promptreg.text.counted import counted
from promptreg.workflow.running.runs import planned_calls

if TYPE_CHECKING:
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store

_BY_AGE: Final = re.compile(r"latest(?:~(\d{1,6}))?")
_LISTED: Final = 5
_NOT_TAKEN: Final = frozenset({"running", "interrupted"})
"""States of a run that was not taken to its end. One that failed was, and has a verdict."""


def named_run(store: Store, name: str) -> RunRecord:
    """A stored run.

    Args:
        store: open.
        name: its id; the beginning of it, where only one run has that; `latest`, the newest run of `compare`, or
            `latest~1`, the one before.

    Raises:
        UsageError: there is no such run, or several begin so.
    """
    records = store.runs()
    exact = next((record for record in records if record.run_id == name), None)
    if exact is not None:
        return exact
    if (age := _BY_AGE.fullmatch(name)) is not None:
        compared = [record for record in records if record.kind == "compare"]
        place = int(age[1] or 0)
        if place < len(compared):
            return compared[place]
        held = counted(len(compared), "comparison")
        raise UsageError(f"There is no run {name}: the store holds {held}. `promptreg runs` lists them.")
    begun = [record for record in records if name and record.run_id.startswith(name)]
    if len(begun) > 1:
        shown = ", ".join(record.run_id for record in begun[:_LISTED]) + (", …" if len(begun) > _LISTED else "")
        raise UsageError(f"{len(begun)} runs begin with {name!r}: {shown}. Write more of the id.")
    return begun[0] if begun else store.run(name)


def named_comparison(store: Store, name: str) -> RunRecord:
    """A run of `compare`, named as for `named_run`.

    A run that was not taken to its end is judged as it is where its id names it. Its age does not: who says `latest`
    means a verdict, and neither half a run's nor an older one's.

    Raises:
        UsageError: there is no such run, several begin so, it recorded a baseline, or its age names it and it is
            unfinished.
    """
    record = named_run(store, name)
    if record.state in _NOT_TAKEN and name != record.run_id and _BY_AGE.fullmatch(name):
        raise UsageError(_unfinished(store, name, record))
    if record.kind != "compare":
        raise UsageError(
            f"Run {record.run_id} recorded a baseline, so it has no verdicts; only runs of `compare` have. "
            "`promptreg runs` lists them."
        )
    return record


def _unfinished(store: Store, name: str, record: RunRecord) -> str:
    finished = next((run for run in store.runs() if run.kind == "compare" and run.state not in _NOT_TAKEN), None)
    older = "" if finished is None else f", and {finished.run_id} is the newest that is finished"
    return (
        f"Run {record.run_id} (`{name}`) is not finished: it has {record.answered} of {planned_calls(record)} samples "
        f"({record.state}). `promptreg compare --resume` takes the rest; its id judges it as it is{older}."
    )

"""Examples of causes: the facts that differ in the worst of its cases, where a cause is about what is said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.report.index import in_brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.report.index import Entry
    from promptreg.report.payload import CauseView

_TOLD_BY_FACTS: Final = frozenset({"fact", "negation", "channel", "check"})


def examples(causes: Sequence[CauseView], entries: Iterable[Entry]) -> tuple[str, ...]:
    """An example of each cause, empty where there is none.

    Args:
        causes: of the report.
        entries: its cases, worst first.
    """
    found = [""] * len(causes)
    open_ = {number for number, cause in enumerate(causes, 1) if cause.kind in _TOLD_BY_FACTS}
    for entry in entries:
        numbers = entry.case.get("causes")
        if not open_:
            break
        for number in open_.intersection(numbers if isinstance(numbers, list) else ()):
            about = causes[number - 1].about
            facts = [fact for fact in entry.facts if not about or fact.kind in about]
            if facts:
                found[number - 1] = in_brief(facts)
        open_ -= {number for number in open_ if found[number - 1]}
    return tuple(found)

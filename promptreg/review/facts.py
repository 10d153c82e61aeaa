"""Which facts of a golden are others in the candidate: 3天 became 30天."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from promptreg.report.payload import ChangeView
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.read import read_facts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from promptreg.text.facts.model import Fact

MOST_FACTS = 8
"""More than these are read in the text."""


def changed_facts(golden: str, candidate: str) -> tuple[ChangeView, ...]:
    """The facts that only one of two texts states, those of one kind beside each other, numbers first.

    At most `MOST_FACTS`. A fact that is written otherwise but means the same (3天, 三天) is no change.
    """
    ours, theirs = read_facts(golden), read_facts(candidate)
    lost, gained = _beyond(ours, theirs), _beyond(theirs, ours)
    changes: list[ChangeView] = []
    # In the order of the kinds: numbers before names and titles.
    for kind in FactKind:
        before = [fact.text for fact in lost if fact.kind is kind]
        after = [fact.text for fact in gained if fact.kind is kind]
        length = max(len(before), len(after))
        before += [""] * (length - len(before))
        after += [""] * (length - len(after))
        changes += map(ChangeView, before, after)
    return tuple(changes[:MOST_FACTS])


def _beyond(facts: Iterable[Fact], others: Iterable[Fact]) -> list[Fact]:
    """The facts that the others do not state so often, in order."""
    left = Counter((fact.kind, fact.normal) for fact in others)
    found = []
    for fact in facts:
        key = fact.kind, fact.normal
        if left[key]:
            left[key] -= 1
        else:
            found.append(fact)
    return found

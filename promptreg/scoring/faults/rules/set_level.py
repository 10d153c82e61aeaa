"""F40: one class of tasks got worse, which only the whole set of cases shows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.faults.catalogue import found
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.scoring.faults.model import Finding

ALPHA: Final = 0.05
"""Probability of naming any class although none got worse."""


def passes_usually(passed: Sequence[Sequence[bool | None]], answers: Sequence[int]) -> bool:
    """Whether more than half of these answers pass every check that could be scored on them.

    Args:
        passed: by check, then by answer; None where an answer was not scored.
        answers: numbers of the answers to look at.
    """
    kept = sum(all(check[answer] is not False for check in passed) for answer in answers)
    return 2 * kept > len(answers)


class Outcome(NamedTuple):
    """One case on both sides."""

    task_class: str
    """Tag of the case: "tools", "code", "knowledge"."""
    source_passed: bool
    target_passed: bool


def task_class_losses(outcomes: Iterable[Outcome], alpha: float = ALPHA) -> tuple[Finding, ...]:
    """The classes of tasks that got worse: McNemar's exact test on each, with Holm's correction.

    The test is two-sided. The mean over all classes says nothing here: a loss of tool calls hides behind questions of
    knowledge.

    Args:
        outcomes: every case once, with the class it belongs to.
        alpha: see `ALPHA`.

    Returns:
        One finding for each class, the surest first; `where` is its name.
    """
    lost: Counter[str] = Counter()
    won: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    for one in outcomes:
        cases[one.task_class] += 1
        lost[one.task_class] += one.source_passed and not one.target_passed
        won[one.task_class] += one.target_passed and not one.source_passed
    values = sorted((_two_sided(lost[name], won[name]), name) for name in cases)
    findings = []
    for place, (value, name) in enumerate(values):
        if value * (len(values) - place) > alpha:
            break
        if lost[name] > won[name]:
            told = Sentence(
                f"{lost[name]} of {cases[name]} cases got worse, {won[name]} better (p = {value:.2g})",
                f"{cases[name]} 个用例中有 {lost[name]} 个变差，{won[name]} 个变好（p = {value:.2g}）",
            )
            findings.append(found("F40", name, told))
    return tuple(findings)


def _two_sided(lost: int, won: int) -> float:
    """Probability of a split at least as uneven, if a case that changed were as likely to win as to lose."""
    changed = lost + won
    ways = tail = 1
    for already in range(min(lost, won)):
        ways = ways * (changed - already) // (already + 1)
        tail += ways
    return min(1.0, tail / (1 << max(0, changed - 1)))

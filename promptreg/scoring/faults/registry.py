"""Every family of rules, and the one function that runs them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.model import Finding, Observation, Probe, Rule, Severity
from promptreg.scoring.faults.reading.choices import OF_EACH_CHOICE, OF_WHOLE_STREAM, other_choices, uncounted
from promptreg.scoring.faults.rules import determinism, endings, protocol, reasoning, structured, text, tool_calls

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.scoring.extensions import FaultKind
    from promptreg.scoring.faults.reading.choices import OtherChoice

FAMILIES: Final[tuple[tuple[Rule, ...], ...]] = (
    text.rules,
    reasoning.rules,
    tool_calls.rules,
    structured.rules,
    endings.rules,
    determinism.rules,
    protocol.rules,
)
"""The rules of each family, in the order of the design page (A to G)."""

_ORDER: Final = tuple(Severity)


def families_with(own: Sequence[FaultKind]) -> tuple[tuple[Rule, ...], ...]:
    """The rules of all families, and after them those of a project's own kinds."""
    rules = tuple(Rule(kind.entry.kind, Probe.ONE, kind.find, kind.find_in_run) for kind in own)
    return (*FAMILIES, rules) if rules else FAMILIES


def find_faults(
    observed: Observation | Sequence[Observation],
    families: Sequence[Sequence[Rule]] = FAMILIES,
) -> tuple[Finding, ...]:
    """Every fault of one call, or of several calls of the same request; the gravest first.

    Args:
        observed: one call, or several in the order in which they were made. Rules on repeated calls run when there
            are at least two; findings about one of several calls have its label before their place.
        families: the rules to run.
    """
    calls = (observed,) if isinstance(observed, Observation) else tuple(observed)
    others = [tuple(other_choices(call)) for call in calls]
    alone = calls[0] if len(calls) == 1 and not others[0] else None
    found: dict[Finding, None] = {}
    for rules in families:
        for rule in rules:
            if rule.find is not None:
                if alone is not None:
                    found.update(dict.fromkeys(rule.find(alone)))
                    continue
                for number, call in enumerate(calls, 1):
                    for finding in _of_call(rule, call, others[number - 1]):
                        found[finding if len(calls) == 1 else _labelled(finding, call.label or f"call {number}")] = None
            if rule.find_in_run is not None and len(calls) > 1:
                found.update(dict.fromkeys(rule.find_in_run(calls)))
    return tuple(sorted(found, key=lambda finding: (_ORDER.index(finding.severity), finding.kind, finding.where)))


def _of_call(rule: Rule, call: Observation, others: Sequence[OtherChoice]) -> Iterator[Finding]:
    """What a rule finds in one call: in the choice that is read, then in each of the others."""
    if rule.find is None:
        return
    each = bool(others) and rule.kind in OF_EACH_CHOICE
    yield from rule.find(uncounted(call) if each else call)
    if each and not (rule.kind in OF_WHOLE_STREAM and call.streamed):
        for other in others:
            yield from map(other.found, rule.find(other.call))


def run_rules(families: Sequence[Sequence[Rule]] = FAMILIES) -> tuple[tuple[Rule, ...], ...]:
    """The same families, of which only what looks at several calls is left."""
    return tuple(
        tuple(replace(rule, find=None) for rule in rules if rule.find_in_run is not None) for rules in families
    )


def _labelled(finding: Finding, label: str) -> Finding:
    return replace(finding, where=f"{label}: {finding.where}")

"""Faults that only the calls of several cases show: another request's text (F37), prompts counted alike (F47).

A case can take part in the search for leaks when its prompt has a word of its own, written `canary: K7-2041` or
`金丝雀：K7-2041`: an answer that holds the canary of another case has its text from there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.case import FaultPasses
from promptreg.scoring.faults.model import Observation, Severity
from promptreg.scoring.faults.registry import find_faults, run_rules
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.scoring.faults.model import Finding

LEAK: Final = "F37"
COUNTED_ALIKE: Final = "F47"

_CANARY: Final = re.compile(r"(?:canary|金丝雀)[ ]?[=:：][ ]?[\"'“]?([A-Za-z0-9_-]{3,64})", re.IGNORECASE)
_LABEL: Final = re.compile(r"call (\d+)")


@dataclass
class _Calls:
    """Calls of many cases, without their bodies, and which case and call of it each one is."""

    calls: list[Observation] = field(default_factory=list)
    places: list[tuple[str, int]] = field(default_factory=list)

    def extend(self, more: _Calls) -> None:
        self.calls += [call.told(label=f"call {number}") for number, call in enumerate(more.calls, len(self.calls) + 1)]
        self.places += more.places

    def add(self, case_id: str, number: int, call: Observation, canary: str = "") -> None:
        label = f"call {len(self.calls) + 1}"
        expected = {"canary": canary} if canary else {}
        slim = Observation(
            label,
            call.request,
            call.status,
            message=call.message,
            answer=call.answer,
            usage=call.usage,
            expected=expected,
        )
        self.calls.append(slim)
        self.places.append((case_id, number))

    def found(self, kind: str) -> Iterator[tuple[str, int, Finding]]:
        """The findings of a kind, each with the case and the number of the call in which it shows."""
        rules = [[rule for rule in rules if rule.kind == kind] for rules in run_rules()]
        for finding in find_faults(self.calls, rules) if len(self.calls) > 1 else ():
            match = _LABEL.match(finding.where)
            if match is None or finding.severity is Severity.INFO:
                continue
            told = replace(finding, where=finding.where[match.end() :].lstrip(": "), evidence=self._named(finding))
            yield (*self.places[int(match.group(1)) - 1], told)

    def _named(self, finding: Finding) -> Sentence:
        """The evidence, in which calls are named by their cases."""
        return Sentence(
            _LABEL.sub(lambda match: f"case {self._case(match)}", finding.evidence.en),
            _LABEL.sub(lambda match: f"用例 {self._case(match)}", finding.evidence.zh),
        )

    def _case(self, label: re.Match[str]) -> str:
        return self.places[int(label.group(1)) - 1][0]


class CaseSet:
    """The calls of all cases of a suite, as far as they are needed to hold them against each other."""

    def __init__(self) -> None:
        self._leaks = (_Calls(), _Calls())
        self._counts = (_Calls(), _Calls())
        self._shapes: dict[str, tuple[int, int]] = {}

    def add(self, case_id: str, source: Sequence[Observation | None], target: Sequence[Observation]) -> None:
        """Take the calls of one case in.

        Args:
            case_id: the case.
            source: by pass, a call or a recorded answer; None where there is neither.
            target: the target's calls.
        """
        if not target:
            return
        self._shapes[case_id] = (len(source), len(target))
        match = _CANARY.search(target[0].prompt.raw)
        for side, calls in enumerate((source, target)):
            present = [(number, call) for number, call in enumerate(calls) if call is not None]
            if match is not None:
                for number, call in present:
                    self._leaks[side].add(case_id, number, call, match.group(1))
            # The prompt of a case is counted alike in each of its calls.
            counted = next(((number, call) for number, call in present if call.usage is not None), None)
            if counted is not None:
                self._counts[side].add(case_id, *counted)

    def extend(self, more: CaseSet) -> None:
        """Take in what another set has, of cases that this one has not."""
        self._shapes |= more._shapes
        for calls, others in ((self._leaks, more._leaks), (self._counts, more._counts)):
            for side, other in zip(calls, others, strict=True):
                side.extend(other)

    def findings(self) -> Iterator[tuple[str, FaultPasses, Finding]]:
        """What is found, by case."""
        for kind, (source, target) in ((LEAK, self._leaks), (COUNTED_ALIKE, self._counts)):
            of_source = {(case_id, number) for case_id, number, _ in source.found(kind)}
            cases: dict[str, dict[int, Finding]] = {}
            for case_id, number, finding in target.found(kind):
                cases.setdefault(case_id, {})[number] = finding
            for case_id, found in cases.items():
                n, m = self._shapes[case_id]
                known = {number for case, number in source.places if case == case_id}
                # Two cases are counted alike, not one of them: the source shows it when any two of its cases are.
                anywhere = kind == COUNTED_ALIKE and bool(of_source)
                passes = FaultPasses(
                    kind,
                    next(iter(found.values())).severity,
                    tuple(number in found for number in range(m)),
                    tuple(
                        anywhere or (case_id, number) in of_source if number in known else None for number in range(n)
                    ),
                )
                yield case_id, passes, found[min(found)]

"""The faults of one case on both sides: what was found in the target's calls, and how often in the source's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.scoring.faults.catalogue import catalogue
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.registry import find_faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class CaseFault:
    """One kind of fault in the target's calls of one case."""

    finding: Finding
    """The gravest of them, the first where several are as grave."""
    target: int
    """Target calls in which the kind was found, at least 1."""
    target_calls: int
    source: int
    """Source calls in which it was found."""
    source_calls: int
    """Source calls that are known; 0 when the recording was made with another store."""

    @property
    def title(self) -> Sentence:
        """What it is, in a few words."""
        return catalogue().entries[self.finding.kind].title

    @property
    def sees(self) -> Sentence:
        """What a user of the application sees."""
        return catalogue().entries[self.finding.kind].sees

    @property
    def next_step(self) -> Sentence:
        """What to do."""
        return catalogue().entries[self.finding.kind].next_step

    @property
    def suspects(self) -> tuple[Sentence, ...]:
        """Likely causes, the likeliest first."""
        return tuple(catalogue().suspects[name] for name in self.finding.suspects)

    @property
    def more_often(self) -> bool:
        """Whether the share of calls is larger on the target."""
        return self.target * max(1, self.source_calls) > self.source * self.target_calls

    def to_json(self) -> JsonObject:
        """The entry in `compare --json`."""
        return {
            **self.finding.to_json(),
            "title": self.title.en,
            "title_zh": self.title.zh,
            "target": self.target,
            "target_calls": self.target_calls,
            "source": self.source,
            "source_calls": self.source_calls,
        }


def case_faults(source: Sequence[Observation], target: Sequence[Observation]) -> tuple[CaseFault, ...]:
    """The kinds that were found more often in the target's calls than in the source's, the gravest first.

    Notes (severity I) are left out: they tell of the server, not of the case.

    Args:
        source: the source's calls as the rules see them; empty where only their answers are known.
        target: the target's calls, each with what the source recorded as its golden.
    """
    of_source = [_kinds(call) for call in source]
    of_target = [_kinds(call) for call in target]
    faults = []
    for kind in sorted(set().union(*of_target)):
        findings = [kinds[kind] for kinds in of_target if kind in kinds]
        gravest = min(findings, key=lambda finding: _GRAVITY[finding.severity])
        known = sum(kind in kinds for kinds in of_source)
        fault = CaseFault(gravest, len(findings), len(target), known, len(source))
        if fault.more_often:
            faults.append(fault)
    return tuple(sorted(faults, key=lambda fault: (_GRAVITY[fault.finding.severity], fault.finding.kind)))


_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}


def _kinds(call: Observation) -> dict[str, Finding]:
    """The gravest finding of each kind in one call."""
    kinds: dict[str, Finding] = {}
    for finding in find_faults(call):
        if finding.severity is not Severity.INFO:
            kinds.setdefault(finding.kind, finding)
    return kinds

"""The faults of one case on both sides: what was found in the target's calls, and how often in the source's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from promptreg.answer.model import Usage
from promptreg.scoring.faults.catalogue import catalogue
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.registry import FAMILIES, find_faults, run_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.scoring.faults.catalogue import Entry
    from promptreg.scoring.faults.model import Finding, Observation, Rule
    from promptreg.text.sentence import Sentence

IN_THE_ANSWER: Final = frozenset({"F01", "F15", "F16", "F17", "F18", "F19", "F20", "F33"})
"""Kinds that the recorded answer alone shows, or shows to be absent: no raw call is needed."""


Kinds: TypeAlias = "Mapping[str, Severity]"
"""The kinds of faults that one call shows by itself, each at its gravest; empty for a clean call."""


@dataclass(frozen=True, slots=True)
class Noted:
    """What the rules found in the calls of a recording: of calls that are not at hand, nothing else is known."""

    calls: Mapping[int, Kinds] = field(default_factory=lambda: MappingProxyType({}))
    """By pass; a call that is not there is not known."""
    together: frozenset[str] | None = None
    """The kinds that all calls of the case show side by side; None where that is not known."""

    @classmethod
    def of(
        cls,
        calls: Mapping[int, Observation],
        *,
        repeated: bool = True,
        families: Sequence[Sequence[Rule]] = FAMILIES,
    ) -> Noted:
        """What is found in the calls of a recording, by pass.

        Args:
            calls: all of them, without a golden.
            repeated: see `case_faults`.
            families: the rules.
        """
        together = None
        if repeated and len(calls) > 1:
            in_order = [calls[index] for index in sorted(calls)]
            together = frozenset(finding.kind for finding in _run_findings(in_order, run_rules(families)))
        return cls({index: _severities(_kinds(call, families)) for index, call in calls.items()}, together)


NOTHING_NOTED: Final = Noted()


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
    """Source calls of whose faults is known; 0 where neither the store has them nor the baseline tells of them."""
    together: bool = False
    """True when no single call shows it, but all calls of the case side by side: then `target` is all of them."""
    own: Entry | None = None
    """What the project tells of a kind of its own."""
    shown_by: tuple[int, ...] = field(default=(), compare=False)
    """Places of these calls among all of the target's; empty where only all of them together show it."""

    @property
    def title(self) -> Sentence:
        """What it is, in a few words."""
        return self._entry.title

    @property
    def sees(self) -> Sentence:
        """What a user of the application sees."""
        return self._entry.sees

    @property
    def next_step(self) -> Sentence:
        """What to do."""
        return self._entry.next_step

    @property
    def _entry(self) -> Entry:
        return self.own or catalogue().entries[self.finding.kind]

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
            "together": self.together,
        }


@dataclass(frozen=True, slots=True)
class FaultPasses:
    """One kind of fault at one severity, call by call: which calls show it."""

    kind: str
    severity: Severity
    target: tuple[bool, ...]
    """By call of the target."""
    source: tuple[bool | None, ...]
    """By pass of the source; None where the call is not known and the recorded answer cannot tell."""
    together: bool = False
    """As in `CaseFault`: all calls of a side have the same value."""
    silent: bool = True
    """False when the server refused the call itself: nobody takes a refusal for an answer."""

    @property
    def never_on_source(self) -> bool:
        """Whether the source is known not to show it."""
        return False in self.source and True not in self.source


@dataclass(frozen=True, slots=True)
class CaseFaults:
    """Everything the rules found in the calls of one case, as plain data. Notes (severity I) are left out."""

    told: tuple[CaseFault, ...] = ()
    """What the target shows more often than the source, the gravest first."""
    passes: tuple[FaultPasses, ...] = ()
    """Every kind and severity that the target shows. The rules were told what the source recorded (its golden)."""
    blind: tuple[FaultPasses, ...] = ()
    """Every kind of severity E that either side shows, by rules that were *not* told what the source recorded. Empty
    unless every call of both sides is known. Such a finding depends on the call alone, so calls of both sides can be
    exchanged; a rule that is relative to the golden treats the two sides differently and cannot be permuted."""
    target_calls: int = 0
    """Target calls that hold an answer: what was not seen in a call without one says nothing."""
    source_calls: int = 0
    """Source calls of whose faults is known."""
    blind_told: tuple[CaseFault, ...] = ()
    """Of `blind` what the target shows more often than the source, as it would be told. `told` may lack it: with the
    golden in hand a rule may think it right. Where the regression test rejects for it, it is told all the same."""

    def with_passes(self, found: FaultPasses, finding: Finding, own: Entry | None = None) -> CaseFaults:
        """The same with one kind more, such as one that only the whole set of cases shows.

        A kind that is there already stays as it is: single calls tell more than several taken together.
        """
        if any(one.kind == found.kind for one in self.passes):
            return self
        fault = CaseFault(
            finding,
            sum(found.target),
            len(found.target),
            sum(value is True for value in found.source),
            sum(value is not None for value in found.source),
            found.together,
            own,
        )
        told = (*self.told, fault) if fault.more_often else self.told
        return replace(self, told=ordered(told), passes=(*self.passes, found))


NO_FAULTS: Final = CaseFaults()

_WARM_CACHE: Final = "F36"


def case_faults(
    source: Sequence[Observation | None],
    target: Sequence[Observation],
    *,
    recorded: Sequence[Observation | None] = (),
    noted: Noted = NOTHING_NOTED,
    repeated: bool = True,
    families: Sequence[Sequence[Rule]] = FAMILIES,
    own: Mapping[str, Entry] = MappingProxyType({}),
) -> CaseFaults:
    """What the rules find on both sides of a case.

    Args:
        source: the source's calls by pass, without a golden; None where a call is not known.
        target: the target's calls, each with what the source recorded as its golden.
        recorded: by pass, the recorded answer as the rules would see it; used where the call is not known. None where
            there is no answer.
        noted: what was found in the source's calls when they were recorded; used where they are not known.
        repeated: whether all calls of the case sent the very same prompt; only then can they be held against each
            other.
        families: the rules.
        own: what the project tells of its own kinds.
    """
    of_source = [
        noted.calls.get(index) if call is None else _severities(_kinds(call, families))
        for index, call in enumerate(source)
    ]
    of_recorded = [None if call is None else _kinds(call, families) for call in recorded] or [None] * len(source)
    of_target = [_kinds(call, families) for call in target]
    known = sum(kinds is not None for kinds in of_source)
    told = []
    passes = []
    for kind in sorted(set().union(*of_target)):
        findings = [kinds[kind] for kinds in of_target if kind in kinds]
        gravest = min(findings, key=lambda finding: _GRAVITY[finding.severity])
        shown = sum(kinds is not None and kind in kinds for kinds in of_source)
        by = tuple(index for index, kinds in enumerate(of_target) if kind in kinds)
        fault = CaseFault(gravest, len(by), len(target), shown, known, own=own.get(kind), shown_by=by)
        if fault.more_often:
            told.append(fault)
        on_source = tuple(_on_source(kind, *both) for both in zip(of_source, of_recorded, strict=True))
        for severity in sorted({finding.severity for finding in findings}, key=_GRAVITY.__getitem__):
            having = tuple(kind in kinds and kinds[kind].severity is severity for kinds in of_target)
            refused = all(finding.where == "status" for finding in findings if finding.severity is severity)
            passes.append(FaultPasses(kind, severity, having, on_source, silent=not refused))
    answered = sum(call.answered for call in target)
    blind, blind_told = _blind(of_source, target, families, own)
    found = CaseFaults(ordered(told), tuple(passes), blind, answered, known, blind_told)
    held = [call or answer for call, answer in zip(source, recorded or source, strict=True)]
    for finding, together in _of_runs(source, held, noted, target, run_rules(families)) if repeated else ():
        found = found.with_passes(together, finding, own.get(finding.kind))
    return found


def _on_source(kind: str, call: Kinds | None, recorded: Mapping[str, Finding] | None) -> bool | None:
    if call is not None:
        return kind in call
    if recorded is None or kind not in IN_THE_ANSWER:
        return None
    return kind in recorded


def _blind(
    of_source: Sequence[Kinds | None],
    target: Sequence[Observation],
    families: Sequence[Sequence[Rule]],
    own: Mapping[str, Entry],
) -> tuple[tuple[FaultPasses, ...], tuple[CaseFault, ...]]:
    """Freedom from each kind by rules that know no golden; see `CaseFaults.blind` and `CaseFaults.blind_told`.

    The target's calls go through the rules a second time for it, some 0.1 ms a call. The first time cannot stand for
    both: most rules look at the golden somewhere, and what they find beside it is what must not be permuted.
    """
    known = [kinds for kinds in of_source if kinds is not None]
    if not known or len(known) < len(of_source):
        return (), ()
    of_target = [_kinds(call.told(golden=None), families) for call in target]
    sides = [
        [{kind for kind, severity in kinds.items() if severity is Severity.ERROR} for kinds in side]
        for side in (known, map(_severities, of_target))
    ]
    # Which kinds are looked at depends on both sides alike: choosing them by what the target shows would favour it.
    blind = tuple(
        FaultPasses(
            kind,
            Severity.ERROR,
            tuple(kind in kinds for kinds in sides[1]),
            tuple(kind in kinds for kinds in sides[0]),
        )
        for kind in sorted(set().union(*sides[0], *sides[1]))
    )
    told = []
    for passes in blind:
        findings = [kinds[passes.kind] for kinds in of_target if passes.kind in kinds]
        shown = sum(found is True for found in passes.source)
        if findings:
            gravest = min(findings, key=lambda finding: _GRAVITY[finding.severity])
            by = tuple(index for index, found in enumerate(passes.target) if found)
            calls, known_own = len(target), own.get(passes.kind)
            told.append(CaseFault(gravest, len(by), calls, shown, len(known), own=known_own, shown_by=by))
    return blind, tuple(fault for fault in told if fault.target and fault.more_often)


def _shown_together(
    source: Sequence[Observation | None], noted: Noted, families: Sequence[Sequence[Rule]]
) -> Callable[[str], bool | None]:
    """Tells of a kind whether the source's calls show it, taken together; None where that is not known."""
    known = [call for call in source if call is not None]
    if len(known) < len(source) and noted.together is not None:
        return noted.together.__contains__
    of_source = {finding.kind for finding in _run_findings(known, families)}
    # One call shows nothing of the kind, and a recording of which a part is known shows only that part.
    whole = len(known) > 1 and len(known) == len(source)
    return lambda kind: kind in of_source or (False if whole else None)


def _of_runs(
    source: Sequence[Observation | None],
    held: Sequence[Observation | None],
    noted: Noted,
    target: Sequence[Observation],
    families: Sequence[Sequence[Rule]],
) -> list[tuple[Finding, FaultPasses]]:
    """What only several calls of a side show, taken together.

    Args:
        source: the source's calls by pass; None where a call is not known.
        held: the same, with the recorded answer where a call is not known.
        noted: what was found in the source's calls when they were recorded.
        target: the target's calls.
        families: the rules.
    """
    of_target = _run_findings(target, families)
    if not of_target:
        return []
    on_source = _shown_together(source, noted, families)
    answers = [call for call in held if call is not None]
    found: dict[str, tuple[Finding, FaultPasses]] = {}
    for finding in of_target:
        if finding.kind == _WARM_CACHE and not _beyond_the_source(answers, target, families):
            continue
        shown = on_source(finding.kind)
        passes = FaultPasses(finding.kind, finding.severity, (True,) * len(target), (shown,) * len(held), together=True)
        found.setdefault(finding.kind, (finding, passes))
    return list(found.values())


def _beyond_the_source(
    source: Sequence[Observation], target: Sequence[Observation], families: Sequence[Sequence[Rule]]
) -> bool:
    """Whether at least two answers from a warm cache are broken (F36), beside each of the source's answers too.

    Of a comparison's calls usually one is cold and the others are warm. One answer of a model that varies is a poor
    measure of what is broken, and one broken answer is most likely a warm one whatever broke it: told by the rule
    alone, every hundredth clean case of a small model has the fault. So every answer of the source takes the place of
    a cold call in turn, with the others beside it, and the fault must stay whichever warm call is left out.
    """
    request = target[0].request
    cold = [call for call in target if call.usage is not None and call.usage.cached_tokens == 0]
    warm = [call for call in target if call.usage is not None and call.usage.cached_tokens]
    good = [*cold, *(replace(call, request=request, usage=Usage(cached_tokens=0)) for call in source if call.answered)]
    rules = [[rule for rule in rules if rule.kind == _WARM_CACHE] for rules in families]
    return len(warm) > 1 and all(
        _run_findings([*good[first:], *good[:first], *warm[:left_out], *warm[left_out + 1 :]], rules)
        for first in range(len(good))
        for left_out in range(len(warm))
    )


def _run_findings(calls: Sequence[Observation], families: Sequence[Sequence[Rule]]) -> list[Finding]:
    if len(calls) < 2:
        return []
    # Names that say nothing: the rules read the roles of calls (cold, warm, alone) off their labels.
    named = [call.told(label=f"pass {number}") for number, call in enumerate(calls, 1)]
    return [finding for finding in find_faults(named, families) if finding.severity is not Severity.INFO]


_GRAVITY = {severity: rank for rank, severity in enumerate(Severity)}


def ordered(faults: Sequence[CaseFault]) -> tuple[CaseFault, ...]:
    """The faults, the gravest first."""
    return tuple(sorted(faults, key=lambda fault: (_GRAVITY[fault.finding.severity], fault.finding.kind)))


def _severities(kinds: Mapping[str, Finding]) -> Kinds:
    return {kind: finding.severity for kind, finding in kinds.items()}


def _kinds(call: Observation, families: Sequence[Sequence[Rule]]) -> dict[str, Finding]:
    """The gravest finding of each kind in one call."""
    kinds: dict[str, Finding] = {}
    for finding in find_faults(call, families):
        if finding.severity is not Severity.INFO:
            kinds.setdefault(finding.kind, finding)
    return kinds

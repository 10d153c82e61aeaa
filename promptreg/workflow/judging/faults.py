"""Serving faults in the stored calls of a comparison: the target's, beside the source's.

Of the source's calls the store knows everything, or the baseline tells what was found in them when they were recorded.

Every sample is read once, and what it answered goes to the scores while its faults go to the verdict. Cases come one
at a time, so memory does not grow with the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.scoring.checks.base import Measured
from promptreg.scoring.contract.moved import moved_reasoning
from promptreg.scoring.faults.case import NO_FAULTS, CaseFaults, case_faults
from promptreg.scoring.faults.reading.observe import observe_answer
from promptreg.scoring.faults.recorded import golden_of
from promptreg.scoring.faults.registry import families_with
from promptreg.scoring.faults.rules.over_cases import CaseSet
from promptreg.scoring.faults.rules.set_level import Outcome, passes_usually, task_class_losses
from promptreg.store.store import Store
from promptreg.workflow.context.sent import never_asked
from promptreg.workflow.judging.call_faults import Side, noted_of, present_rules
from promptreg.workflow.pairing import CLUSTER_TAG
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.running.stored import CaseSamples, GoldenSamples, packed_told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.baseline.model import Golden as StoredGolden
    from promptreg.baseline.model import GoldenCall
    from promptreg.config.model import Config
    from promptreg.scoring.extensions import Extensions
    from promptreg.scoring.faults.case import Noted
    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.golden import Golden
    from promptreg.scoring.score import CaseScores
    from promptreg.shelf import Kept, Shelf
    from promptreg.spread import Spread
    from promptreg.store.runs import RunRecord
    from promptreg.suite.model import Case
    from promptreg.verdict.model import CaseJudgement
    from promptreg.workflow.pairing import Pairing
    from promptreg.workflow.running.stored import ReadSample


@dataclass(frozen=True, slots=True)
class ReadCase:
    """One case as the baseline and the store have it, without the bodies of its calls."""

    source: tuple[Answer | None, ...]
    """By pass; None where the source gave no answer."""
    target: tuple[Answer | None, ...]
    source_calls: tuple[Measured | None, ...] = ()
    """By pass; None where the store does not have the very call that gave the recorded answer. Empty where not asked
    for."""
    target_calls: tuple[Measured | None, ...] = ()
    faults: CaseFaults = NO_FAULTS
    untold: bool = False
    """Whether there is a recorded answer of whose call neither the store nor the baseline tells what it shows."""
    told: Kept | None = None
    """How the calls of both sides went that the store has, those of later passes too (`told_samples`), put away."""


def read_cases(
    config: Config,
    store: Store,
    record: RunRecord,
    pairing: Pairing,
    passes: int,
    *,
    measured: bool = False,
    spread: Spread = map,
    shelf: Shelf,
) -> dict[str, ReadCase]:
    """Every case that has a recording, with the faults of its calls.

    Args:
        config: the project; its deployments tell what was sent.
        store: open.
        record: the target's run.
        pairing: the suite beside its baseline.
        passes: how many target passes are looked at.
        measured: whether what is known of each call (its time, its tokens) is wanted too.
        spread: shares the cases among processes.
        shelf: keeps how the calls went.

    Raises:
        ConfigError: the project's own rules are wrong.
        StoreError: a stored sample is damaged, or there is no room.
    """
    store.flush()
    reading = _Reading(config, store.path, record, pairing, passes, measured=measured)
    cases = sorted(pairing.known, key=lambda case: case.case_id)
    parts = [cases[start : start + READ_TOGETHER] for start in range(0, len(cases), READ_TOGETHER)]
    found: dict[str, ReadCase] = {}
    together = CaseSet()
    for some, calls in spread(reading, parts):
        found |= {case_id: replace(case, told=shelf.put(samples)) for case_id, (case, samples) in some.items()}
        together.extend(calls)
    for case_id, of_set, finding in together.findings():
        read = found[case_id]
        found[case_id] = replace(read, faults=read.faults.with_passes(of_set, finding))
    return found


READ_TOGETHER: Final = 256
"""Cases whose samples are read with one connection to the store."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads some cases of a run; see `read_cases`. Opens the store by itself, for it may run in another process."""

    config: Config
    path: Path
    record: RunRecord
    pairing: Pairing
    passes: int
    measured: bool

    def __call__(self, cases: Sequence[Case]) -> tuple[dict[str, tuple[ReadCase, bytes]], CaseSet]:
        """The cases, whose ids ascend, with how their calls went; and their calls, held against those of others."""
        header, name, since = self.pairing.baseline.header, self.pairing.suite.name, cases[0].case_id
        together = CaseSet()
        with Store.open(self.path, create=False) as store:
            source = GoldenSamples(store, header, since)
            target = CaseSamples(store, self.record.run_id, name, since)
            read = _CaseReader(self, load_extensions(self.config.root), together)
            found = {}
            for case in cases:
                kept, asked = source.of(self.golden(case)), target.of(case.case_id)
                found[case.case_id] = (read.case(case, kept, asked), packed_told(kept, asked))
        return found, together

    def golden(self, case: Case) -> StoredGolden:
        """What the baseline has of a case."""
        return self.pairing.baseline.goldens[case.case_id]


class _CaseReader:
    """Reads cases one by one."""

    def __init__(self, reading: _Reading, extensions: Extensions, together: CaseSet) -> None:
        self._reading, self._extensions, self._together = reading, extensions, together
        self._rules = present_rules(extensions)
        deployments, header, record = reading.config.deployments, reading.pairing.baseline.header, reading.record
        redaction = redaction_of(reading.config)
        self._sides = (
            Side(deployments.get(header.deployment), header.server, redaction),
            Side(deployments.get(record.deployment), record.server, redaction),
        )

    def case(self, case: Case, kept: Mapping[int, ReadSample], asked: Mapping[int, ReadSample]) -> ReadCase:
        """One case.

        Args:
            case: as the suite has it.
            kept: the source's calls that the store has, by pass.
            asked: the target's.
        """
        reading, golden = self._reading, self._reading.golden(case)
        answers = golden.by_pass(1 + golden.tried[-1])
        recorded = [_if_recorded(kept.get(index), answer) for index, answer in enumerate(answers)]
        samples = [asked.get(index) for index in range(reading.passes)]
        sent, of_case = (reading.pairing.source.sent(case), reading.pairing.target.sent(case)), self._sides
        if golden.approved is not None:  # these answers came from a target, to what a target was sent
            sent, of_case = (sent[1], sent[1]), (of_case[1], of_case[1])
        noted = noted_of(golden, reading.pairing.baseline.header, self._rules)
        calls = _Calls(answers, _asked(recorded), _asked(samples), golden.calls, noted)
        # Equal answers are kept once.
        same: dict[Answer | None, Answer | None] = {}
        target = (None if sample is None else sample.reading.answer for sample in samples)
        return ReadCase(
            answers,
            tuple(same.setdefault(answer, answer) for answer in target),
            tuple(map(_measured, recorded)) if reading.measured else (),
            tuple(map(_measured, samples)) if reading.measured else (),
            _faults(sent, calls, of_case, self._together, self._extensions),
            calls.untold,
        )


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls of one case, by pass, as far as they are known."""

    answers: Sequence[Answer | None]
    """As the source gave them."""
    recorded: Sequence[ReadSample | None]
    """The source's calls that the store has."""
    samples: Sequence[ReadSample | None]
    """The target's."""
    told: Mapping[int, GoldenCall]
    """What the baseline tells of the source's calls."""
    noted: Noted
    """The same, as far as the present rules found it."""

    @property
    def untold(self) -> bool:
        """See `ReadCase`."""
        return any(
            answer is not None and call is None and index not in self.noted.calls
            for index, (answer, call) in enumerate(zip(self.answers, self.recorded, strict=True))
        )


def _faults(
    sent: tuple[Case, Case], calls: _Calls, sides: tuple[Side, Side], together: CaseSet, extensions: Extensions
) -> CaseFaults:
    """What the rules find in the calls of one case, as each side was sent it; its calls are added to the others'."""
    case = sent[0]
    of_source, of_target = (side.request(each.request) for side, each in zip(sides, sent, strict=True))
    source = [None if sample is None else sides[0].observed(sample, of_source) for sample in calls.recorded]
    counts = {index: call.prompt_tokens for index, call in calls.told.items()}
    unseen = [
        None
        if call is not None or answer is None
        else observe_answer(answer, of_source, prompt_tokens=counts.get(index))
        for index, (call, answer) in enumerate(zip(source, calls.answers, strict=True))
    ]
    golden = _golden([call for call in source if call is not None], calls.answers, counts)
    if case.request.sha256 != sent[1].request.sha256:
        golden = replace(golden, prompt_tokens=frozenset())  # another prompt has another length
    target = [sides[1].observed(sample, of_target, golden) for sample in calls.samples if sample is not None]
    together.add(case.case_id, [call or answer for call, answer in zip(source, unseen, strict=True)], target)
    return case_faults(
        source,
        target,
        recorded=unseen,
        noted=calls.noted,
        repeated=case.noise == "none",
        families=families_with(extensions.faults),
        own=extensions.entries(),
    )


def _if_recorded(sample: ReadSample | None, answer: Answer | None) -> ReadSample | None:
    """The stored call of a pass, where it gave the very answer that is recorded."""
    return sample if sample is not None and sample.reading.answer == answer else None


def _asked(samples: Sequence[ReadSample | None]) -> list[ReadSample | None]:
    """The samples that say something of their deployment; None for those for which it was never asked."""
    return [sample if sample is None or not never_asked(sample.stored.attempts[-1]) else None for sample in samples]


def _measured(sample: ReadSample | None) -> Measured | None:
    if sample is None or sample.reading.answer is None:
        return None
    return Measured(sample.stored.attempts[-1].duration_s, sample.reading.first_token_s, sample.reading.usage)


def _golden(known: Sequence[Observation], answers: Sequence[Answer | None], counts: Mapping[int, int | None]) -> Golden:
    """What the source's calls tell and, where some are not known, what the baseline alone tells of them."""
    golden = golden_of(known)
    if len(known) == len(answers):
        return golden
    given = tuple(answer for answer in answers if answer is not None)
    finish_reasons = frozenset(answer.finish_reason for answer in given if answer.finish_reason is not None)
    fields = frozenset(answer.reasoning_field for answer in given if answer.reasoning_field is not None)
    lengths = [len(answer.reasoning) for answer in given]
    return replace(
        golden,
        contents=tuple(answer.content for answer in given),
        reasonings=tuple(answer.reasoning for answer in given) if given else None,
        answers=given,
        reasoning_fields=fields.intersection(REASONING_FIELDS) if given else None,
        reasoning_chars=(min(lengths), max(lengths)) if lengths else None,
        finish_reasons=finish_reasons or None,
        prompt_tokens=golden.prompt_tokens | {count for count in counts.values() if count is not None},
    )


def worse_classes(cases: Sequence[Case], scores: Sequence[CaseScores], alpha: float) -> tuple[Finding, ...]:
    """F40: the tags whose cases lost their checks on the target.

    Both sides are looked at through equally many passes: of ten passes against five, the majority of the ten is the
    steadier one, and a check that fails by chance would look like a loss.

    Args:
        cases: of the suite; tags of clusters are no classes.
        scores: of the cases that were compared.
        alpha: probability of naming any class although none got worse.
    """
    tags = {case.case_id: case.tags for case in cases}
    outcomes = []
    for scored in scores:
        if not scored.checks or scored.missing_source or scored.missing_target:
            continue
        passed = [rate.passed for rate in scored.checks]
        passes = min(scored.n, scored.m)
        before = passes_usually(passed, range(passes))
        now = passes_usually(passed, range(scored.n, scored.n + passes))
        classes = (tag for tag in dict.fromkeys(tags[scored.case_id]) if not tag.startswith(CLUSTER_TAG))
        outcomes += [Outcome(tag, before, now) for tag in classes]
    return task_class_losses(outcomes, alpha)


def with_moved_reasoning(judgement: CaseJudgement, read: ReadCase | None) -> CaseJudgement:
    """The judgement, saying that the reasoning stands in another place where it does: no text shows that."""
    if read is None:
        return judgement
    source = [answer for answer in read.source if answer is not None]
    target = [answer for answer in read.target if answer is not None]
    sentence = moved_reasoning([*source, *target], len(source))
    return judgement if sentence is None else replace(judgement, breaches=(*judgement.breaches, sentence))

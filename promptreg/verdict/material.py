"""Deterministic sources: what counts as drift when the source repeats itself exactly.

At temperature 0 a move to other hardware forks nearly every longer text at some near-tie, so different text proves
nothing there. Such a case drifts only with a material effect: a check that got worse, another language, a refusal,
another finish reason or tool call, a length beyond ±40 %, an embedding distance above `material_distance`, any
difference on a fact channel, or another form than all source answers have (JSON, fence, table, list, keys).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from promptreg.scoring.contract.features import FACT_KIND
from promptreg.verdict.statistics.contract import CONTRACT, LENGTH_SLACK
from promptreg.verdict.statistics.suite import CaseMeasures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.scoring.traits import AnswerTraits
    from promptreg.verdict.evidence import CaseEvidence

Floats = NDArray[np.float64]

WORDING_CHANNELS: Final = frozenset({"edit", "position", "reasoning"})
"""Channels that see only the wording, or how long the model thought. No distance on them is material by itself."""

STATED: Final = "stated"
"""Name of the channel of facts that all source answers state, or none."""

FORM: Final = "form"
"""Name of the channel of answer traits: how many of finish reason, tool calls, language and refusal differ."""


def case_channels(case: CaseEvidence, material_distance: float) -> dict[str, Floats]:
    """The distances with which a case enters the statistics.

    All channels, and the traits as one more. A *settled* case, in which some answer occurs at least n times among the
    n + m, enters through its material distances only. Every case with a deterministic source is settled. The rule asks
    about the pooled answers and not about the source's, so that it gives the same under every labelling: a rule that
    depends on which answers are the source's would have to be applied again inside each labelling to keep p exact.
    """
    channels = {**case.distances, FORM: trait_distances(case.traits)}
    frequent = settled_answers(case)
    if not frequent:
        return channels
    material = {name: values for name, values in channels.items() if name not in WORDING_CHANNELS}
    if "embedding" in material:
        material["embedding"] = np.where(material["embedding"] > material_distance, material["embedding"], 0.0)
    if "length" in material:
        changed = np.array([_length_changed(trait, frequent) for trait in case.traits])
        material["length"] = np.where(changed[:, None] | changed[None, :], material["length"], 0.0)
    if case.checks:
        material["checks"] = check_distances(case)
    return material


def case_measures(case: CaseEvidence, material_distance: float) -> CaseMeasures:
    """Everything with which a case enters the statistics: its distances, and what its answers state and hold to."""
    distances = case_channels(case, material_distance)
    if case.contract is None:
        return CaseMeasures(distances)
    stated = np.array([feature.kind == FACT_KIND for feature in case.contract.features], dtype=np.bool_)
    return CaseMeasures(
        distances,
        {STATED: case.contract.present[:, stated], CONTRACT: case.contract.present[:, ~stated]},
        case.contract.lengths,
    )


def settled_answers(case: CaseEvidence) -> tuple[AnswerTraits, ...]:
    """The answers that occur at least n times among all n + m; none for a source of one pass, which shows no noise."""
    if case.source_passes < 2:
        return ()
    counts = Counter(trait.text for trait in case.traits)
    by_text = {trait.text: trait for trait in case.traits}
    return tuple(by_text[text] for text, count in counts.items() if count >= case.source_passes)


def trait_distances(traits: Sequence[AnswerTraits]) -> Floats:
    """How many traits of two answers differ, 0 to 4. A language that cannot be told differs from none."""
    result = np.zeros((len(traits), len(traits)))
    for values in (
        [trait.finish_reason or "" for trait in traits],
        [trait.tool_calls for trait in traits],
        [str(trait.refusal) for trait in traits],
    ):
        array = np.array(values)
        result += array[:, None] != array[None, :]
    languages = np.array([trait.language or "" for trait in traits])
    known = languages != ""
    result += (languages[:, None] != languages[None, :]) & known[:, None] & known[None, :]
    return result


def check_distances(case: CaseEvidence) -> Floats:
    """How many checks come out differently for two answers; an answer that was not scored differs from none."""
    total = case.source_passes + case.target_passes
    result = np.zeros((total, total))
    for check in case.checks:
        passed = np.array([np.nan if value is None else float(value) for value in check.passed])
        difference = np.abs(passed[:, None] - passed[None, :])
        result += np.nan_to_num(difference)
    return result


def material_effects(case: CaseEvidence, channels: Mapping[str, Floats]) -> tuple[str, ...]:
    """Names of the material effects of the target against a deterministic source, in a fixed order.

    Args:
        case: a case whose source answers are all the same.
        channels: of that case, from `case_channels`.
    """
    n = case.source_passes
    source, answers = case.traits[0], case.traits[n:]
    found = [check.check for check in case.checks if got_worse(check.passed, n)][:1] and ["check"]
    if any(answer.finish_reason != source.finish_reason for answer in answers):
        found.append("finish_reason")
    if any(answer.tool_calls != source.tool_calls for answer in answers):
        found.append("tool_calls")
    if any(answer.language != source.language and answer.language and source.language for answer in answers):
        found.append("language")
    if any(answer.refusal != source.refusal for answer in answers):
        found.append("refusal")
    if any(_length_changed(answer, (source,)) for answer in answers):
        found.append("length")
    found += [
        name
        for name, values in channels.items()
        if name not in {*WORDING_CHANNELS, FORM, "checks", "length"} and values[:n, n:].any()
    ]
    return tuple(dict.fromkeys(found))


def got_worse(passed: Sequence[bool | None], n: int) -> bool:
    """True when the share of passes is lower on the target (from position n) than on the source; unscored left out."""
    source = [value for value in passed[:n] if value is not None]
    target = [value for value in passed[n:] if value is not None]
    return bool(source and target) and sum(target) * len(source) < sum(source) * len(target)


def _length_changed(answer: AnswerTraits, references: Sequence[AnswerTraits]) -> bool:
    return any(abs(answer.length - reference.length) > LENGTH_SLACK * reference.length for reference in references)

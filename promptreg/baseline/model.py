"""A baseline: what a deployment answered to the cases of one suite, pass by pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from promptreg.suite.model import NULL_PERTURBATION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json, JsonObject
    from promptreg.store.lacks import Lack
    from promptreg.suite.model import NoiseSource
    from promptreg.text.sentence import Sentence

SCHEMA = "promptreg.baseline/1"
"""Name and version of the file format."""


@dataclass(frozen=True, slots=True)
class FaultRules:
    """The rules that looked for faults in recorded calls. Other rules may see other faults in the very same call."""

    release: str
    """Of promptreg, whose own rules change with it."""
    own: tuple[str, ...] = ()
    """The project's own kinds that were looked for, sorted."""


@dataclass(frozen=True, slots=True)
class Header:
    """What holds for the whole baseline."""

    suite: str
    deployment: str
    recorded_at: str
    """ISO 8601, UTC."""
    run_id: str
    model: str
    passes: int
    """Passes recorded; their indices are 0 to passes - 1."""
    server: str | None = None
    fingerprint: JsonObject | None = None
    request_defaults: JsonObject = field(default_factory=dict)
    warnings: tuple[Sentence, ...] = ()
    provenance: JsonObject = field(default_factory=dict)
    exchangeable: bool | None = None
    """False when the first half of the passes differs from the second: then passes cannot be exchanged. None when that
    was not tested."""
    fault_rules: FaultRules | None = None
    """What found the faults that the goldens tell of; None where they tell of none."""
    in_flight: int | None = None
    """Calls in flight on the deployment when a typical recorded call was sent, itself included (the lower median);
    None where that is not known."""


@dataclass(frozen=True, slots=True)
class GoldenAnswer:
    """One distinct answer and the passes that gave it, ascending."""

    passes: tuple[int, ...]
    answer: Answer


@dataclass(frozen=True, slots=True)
class GoldenCall:
    """What a golden tells of a call beside its answer."""

    faults: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The kinds of serving faults that the call shows by itself, each with its severity, `E` or `W`."""
    prompt_tokens: int | None = None
    """As the server counted them."""


@dataclass(frozen=True, slots=True)
class Approval:
    """Whose answers a golden holds that a reviewer approved: a run of the target, not of the baseline's deployment."""

    run_id: str
    deployment: str
    reviewer: str
    decided_at: str
    """ISO 8601, UTC."""
    reason: str = ""
    despite: tuple[Lack, ...] = ()
    """What the answers failed and showed when they were approved all the same."""

    def to_json(self) -> JsonObject:
        """The object in a baseline's line and in `compare --json`; what is empty is left out."""
        despite: list[Json] = [lack.to_json() for lack in self.despite]
        return {
            "run_id": self.run_id,
            "deployment": self.deployment,
            "reviewer": self.reviewer,
            "decided_at": self.decided_at,
            **({"reason": self.reason} if self.reason else {}),
            **({"despite": despite} if despite else {}),
        }


@dataclass(frozen=True, slots=True)
class Golden:
    """The answers to one case; distinct ones in the order of their first pass."""

    case_id: str
    request_sha256: str
    answers: tuple[GoldenAnswer, ...]
    failed_passes: tuple[int, ...] = ()
    """Passes that were tried and gave no answer, ascending."""
    variants: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    """Of a case with `noise: null-perturbation`, how each pass varied the last user message; empty for any other."""
    approved: Approval | None = None
    """Set where a reviewer approved answers of a target run: they took the place of what was recorded."""
    calls: Mapping[int, GoldenCall] = field(default_factory=lambda: MappingProxyType({}))
    """By pass, of failed passes too. The call of a pass that is not there is not known."""
    together: tuple[str, ...] | None = None
    """The kinds of faults that no call shows by itself, but all calls of the case side by side, sorted; None where
    that is not known."""

    @property
    def noise(self) -> NoiseSource:
        """What the case was recorded with."""
        return NULL_PERTURBATION if self.variants else "none"

    @property
    def tried(self) -> tuple[int, ...]:
        """Every pass, those that failed too, ascending."""
        return tuple(sorted((*self.failed_passes, *(index for part in self.answers for index in part.passes))))

    def by_pass(self, passes: int) -> tuple[Answer | None, ...]:
        """The answer of each pass from 0 to `passes` - 1; None where there is none."""
        answers: list[Answer | None] = [None] * passes
        for golden_answer in self.answers:
            for pass_index in golden_answer.passes:
                if pass_index < passes:
                    answers[pass_index] = golden_answer.answer
        return tuple(answers)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A header and the goldens by case id."""

    header: Header
    goldens: Mapping[str, Golden]


def golden_of(
    case_id: str,
    request_sha256: str,
    answers: Mapping[int, Answer | None],
    variants: Mapping[int, str] | None = None,
) -> Golden:
    """The golden of one case from its answers by pass; None marks a failed pass. Their order in the mapping is free."""
    passes_of: dict[Answer, list[int]] = {}
    failed_passes = []
    for pass_index in sorted(answers):
        answer = answers[pass_index]
        if answer is None:
            failed_passes.append(pass_index)
        else:
            passes_of.setdefault(answer, []).append(pass_index)
    return Golden(
        case_id,
        request_sha256,
        tuple(GoldenAnswer(tuple(passes), answer) for answer, passes in passes_of.items()),
        tuple(failed_passes),
        MappingProxyType(dict(sorted((variants or {}).items()))),
    )

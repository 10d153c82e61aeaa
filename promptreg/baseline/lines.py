"""The two kinds of lines of a baseline file, as pydantic models: they validate, and they are the published schema."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field, JsonValue, TypeAdapter

from promptreg.answer.model import Answer, ToolCall
from promptreg.baseline.model import (
    SCHEMA,
    Approval,
    Baseline,
    FaultRules,
    Golden,
    GoldenAnswer,
    GoldenCall,
    Header,
)
from promptreg.canonical import sha256_of
from promptreg.store.lacks import Lack
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json, JsonObject

PassIndex = Annotated[int, Field(ge=0)]
Passes = Annotated[list[PassIndex], FailFast()]
"""Lists stop at their first wrong entry: validation remembers everything that is wrong, a kilobyte each."""
Variant = Literal["as_written", "space", "newline", "full_stop"]
"""Names of `replay.perturb.Variant`; a file that names another one is damaged."""

OwnFault = Annotated[str, Field(pattern="^X-[a-z0-9][a-z0-9-]{0,39}$")]
Fault = Annotated[str, Field(pattern="^(F[0-9]{2,3}|X-[a-z0-9][a-z0-9-]{0,39})$")]

Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Line(BaseModel):
    """Strict: a number in quotes is no number. Unknown keys are errors, because writing would lose them."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ToolCallPart(_Line):
    """One tool call; `arguments` is the text as the server sent it."""

    name: str
    arguments: str


class AnswerPart(_Line):
    """An answer; parts that are empty are left out."""

    content: str
    reasoning: str = ""
    reasoning_field: str | None = None
    tool_calls: Annotated[list[ToolCallPart], FailFast()] = []
    finish_reason: str | None = None
    flags: Annotated[list[str], FailFast()] = []

    def answer(self) -> Answer:
        """The same as a record."""
        return Answer(
            content=self.content,
            reasoning=self.reasoning,
            reasoning_field=self.reasoning_field,
            tool_calls=tuple(ToolCall(call.name, call.arguments) for call in self.tool_calls),
            finish_reason=self.finish_reason,
            flags=tuple(self.flags),
        )


class GoldenAnswerPart(_Line):
    """One distinct answer and the passes that gave it."""

    passes: Annotated[Passes, Field(min_length=1)]
    answer: AnswerPart


class CallsPart(_Line):
    """Calls of which the same is known, by their passes."""

    passes: Annotated[Passes, Field(min_length=1)]
    faults: dict[Fault, Literal["E", "W"]]
    prompt_tokens: int | None = None


class CheckLackPart(_Line):
    """A check that some of the approved answers fail."""

    check: str
    answers: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]


class FaultLackPart(_Line):
    """A serving fault that some of the approved answers show."""

    fault: str
    answers: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=1)]


class ApprovalPart(_Line):
    """Where approved answers came from, and who approved them when and why."""

    run_id: str
    deployment: str
    reviewer: str
    decided_at: str
    reason: str = ""
    despite: Annotated[list[CheckLackPart | FaultLackPart], FailFast()] = Field(
        default=[], description="What was wrong with the answers when they were approved; left out when nothing was."
    )

    def approval(self) -> Approval:
        """The same as a record."""
        despite = tuple(Lack.from_json(part.model_dump()) for part in self.despite)
        return Approval(self.run_id, self.deployment, self.reviewer, self.decided_at, self.reason, despite)


class CaseLine(_Line):
    """One line per case, sorted by case id."""

    case_id: Annotated[str, Field(min_length=1)]
    request_sha256: Sha256
    answers: Annotated[list[GoldenAnswerPart], FailFast()]
    failed_passes: Passes
    prompt_variants: dict[Variant, Passes] = Field(
        default_factory=dict,
        description="With `noise: null-perturbation`, the passes by what was sent as the last user message.",
    )
    approved: ApprovalPart | None = Field(
        None, description="Left out unless a reviewer approved these answers of a target run."
    )
    calls: Annotated[list[CallsPart], FailFast()] = Field(
        default_factory=list,
        description=(
            "The serving faults that each call shows by itself, and how many tokens the server counted in the prompt. "
            "The call of a pass that is not listed is not known."
        ),
    )
    together: Annotated[list[Fault], Field(fail_fast=True)] | None = Field(
        None,
        description=(
            "The serving faults that only all calls of the case show, side by side; left out where that is not known."
        ),
    )

    def golden(self) -> Golden:
        """The same as a record."""
        return Golden(
            case_id=self.case_id,
            request_sha256=self.request_sha256,
            answers=tuple(GoldenAnswer(tuple(part.passes), part.answer.answer()) for part in self.answers),
            failed_passes=tuple(self.failed_passes),
            variants=MappingProxyType(
                dict(sorted((index, name) for name, at in self.prompt_variants.items() for index in at))
            ),
            approved=None if self.approved is None else self.approved.approval(),
            calls=MappingProxyType(
                {
                    index: GoldenCall(MappingProxyType(part.faults), part.prompt_tokens)
                    for part in self.calls
                    for index in part.passes
                }
            ),
            together=None if self.together is None else tuple(sorted(set(self.together))),
        )


class FaultRulesPart(_Line):
    """The rules that found what the case lines say of calls."""

    release: Annotated[str, Field(min_length=1)]
    own: Annotated[list[OwnFault], FailFast()] = []

    def rules(self) -> FaultRules:
        """The same as a record."""
        return FaultRules(self.release, tuple(sorted(set(self.own))))


class HeaderLine(_Line):
    """The first line."""

    format: Literal["promptreg.baseline/1"] = Field(alias="schema")
    suite: Annotated[str, Field(min_length=1)]
    deployment: Annotated[str, Field(min_length=1)]
    recorded_at: str
    run_id: str
    model: str
    server: str | None
    fingerprint: dict[str, JsonValue] | None
    request_defaults: dict[str, JsonValue]
    passes: Annotated[int, Field(ge=1)]
    warnings: Annotated[list[str], FailFast()]
    provenance: dict[str, JsonValue]
    exchangeable: bool | None = Field(
        None, description="Whether the first half of the passes looks like the second; left out when not tested."
    )
    fault_rules: FaultRulesPart | None = Field(
        None,
        description=(
            "The release of promptreg whose rules found the faults in `calls` and `together`, and the project's own "
            "kinds that were looked for. What other rules found is not used."
        ),
    )
    warnings_zh: Annotated[list[str], FailFast()] = Field(
        [], description="The warnings in Chinese, in their order; left out where there are none."
    )
    in_flight: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description=(
            "Calls in flight on the deployment when a typical recorded call was sent, itself included (the lower "
            "median); left out where that is not known."
        ),
    )

    def _told(self) -> tuple[Sentence, ...]:
        # Older files, and files that somebody edited, may lack the Chinese text: English is better than nothing.
        zh = self.warnings_zh
        told = zip(self.warnings, zh if len(zh) == len(self.warnings) else self.warnings, strict=True)
        return tuple(Sentence(*pair) for pair in told)

    def header(self) -> Header:
        """The same as a record."""
        return Header(
            suite=self.suite,
            deployment=self.deployment,
            recorded_at=self.recorded_at,
            run_id=self.run_id,
            model=self.model,
            server=self.server,
            fingerprint=self.fingerprint,
            request_defaults=self.request_defaults,
            passes=self.passes,
            warnings=self._told(),
            provenance=self.provenance,
            exchangeable=self.exchangeable,
            fault_rules=None if self.fault_rules is None else self.fault_rules.rules(),
            in_flight=self.in_flight,
        )


def baseline_schema() -> dict[str, Any]:
    """JSON Schema of one line of a baseline file: the header, or a case."""
    schema = TypeAdapter(HeaderLine | CaseLine).json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        "description": "One line of baselines/<suite>/<deployment>.jsonl: the header first, then the cases by id.",
        **schema,
    }


def header_json(header: Header) -> JsonObject:
    """The header line's object."""
    rules = header.fault_rules
    return {
        "schema": SCHEMA,
        "suite": header.suite,
        "deployment": header.deployment,
        "recorded_at": header.recorded_at,
        "run_id": header.run_id,
        "model": header.model,
        "server": header.server,
        "fingerprint": header.fingerprint,
        "request_defaults": header.request_defaults,
        "passes": header.passes,
        "warnings": [said.en for said in header.warnings],
        "provenance": header.provenance,
        **({"warnings_zh": [said.zh for said in header.warnings]} if header.warnings else {}),
        **({} if header.exchangeable is None else {"exchangeable": header.exchangeable}),
        **({} if rules is None else {"fault_rules": {"release": rules.release, "own": list(rules.own)}}),
        **({} if header.in_flight is None else {"in_flight": header.in_flight}),
    }


def golden_sha256(golden: Golden) -> str:
    """Identity of a golden: of its request and its answers pass by pass.

    Who recorded or approved them, and what the rules of some release say of their calls, is no part of it: a decision
    outlives both.
    """
    return sha256_of(golden_json(replace(golden, approved=None, calls=MappingProxyType({}), together=None)))


def golden_json(golden: Golden) -> JsonObject:
    """A case line's object."""
    approved = golden.approved
    answers: list[Json] = [{"passes": list(part.passes), "answer": part.answer.to_json()} for part in golden.answers]
    return {
        "case_id": golden.case_id,
        "request_sha256": golden.request_sha256,
        "answers": answers,
        "failed_passes": list(golden.failed_passes),
        **({"prompt_variants": _by_variant(golden.variants)} if golden.variants else {}),
        **({} if approved is None else {"approved": approved.to_json()}),
        **({"calls": _alike(golden.calls)} if golden.calls else {}),
        **({} if golden.together is None else {"together": list(golden.together)}),
    }


def _alike(calls: Mapping[int, GoldenCall]) -> list[Json]:
    """Calls of which the same is known as one object, in the order of their first pass."""
    passes: dict[tuple[tuple[tuple[str, str], ...], int | None], list[Json]] = {}
    for index, call in sorted(calls.items()):
        passes.setdefault((tuple(sorted(call.faults.items())), call.prompt_tokens), []).append(index)
    return [
        {"passes": at, "faults": dict(faults), **({} if tokens is None else {"prompt_tokens": tokens})}
        for (faults, tokens), at in passes.items()
    ]


def _by_variant(variants: Mapping[int, str]) -> JsonObject:
    passes: dict[str, list[Json]] = {}
    for index, variant in sorted(variants.items()):
        passes.setdefault(variant, []).append(index)
    return dict(sorted(passes.items()))


def objects_of(baseline: Baseline) -> list[JsonObject]:
    """The objects of all lines in their order."""
    goldens = sorted(baseline.goldens.values(), key=lambda golden: golden.case_id)
    return [header_json(baseline.header), *map(golden_json, goldens)]

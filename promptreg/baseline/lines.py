"""The two kinds of lines of a baseline file, as pydantic models: they validate, and they are the published schema."""

from __future__ import annotations

from dataclasses import asdict, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from promptreg.answer.model import Answer, ToolCall
from promptreg.baseline.model import SCHEMA, Approval, Baseline, Golden, GoldenAnswer, Header
from promptreg.canonical import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json, JsonObject

PassIndex = Annotated[int, Field(ge=0)]
Variant = Literal["as_written", "space", "newline", "full_stop"]
"""Names of `replay.perturb.Variant`; a file that names another one is damaged."""

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
    tool_calls: list[ToolCallPart] = []
    finish_reason: str | None = None
    flags: list[str] = []

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

    passes: Annotated[list[PassIndex], Field(min_length=1)]
    answer: AnswerPart


class ApprovalPart(_Line):
    """Where approved answers came from, and who approved them when."""

    run_id: str
    deployment: str
    reviewer: str
    decided_at: str


class CaseLine(_Line):
    """One line per case, sorted by case id."""

    case_id: Annotated[str, Field(min_length=1)]
    request_sha256: Sha256
    answers: list[GoldenAnswerPart]
    failed_passes: list[PassIndex]
    prompt_variants: dict[Variant, list[PassIndex]] = Field(
        default_factory=dict,
        description="With `noise: null-perturbation`, the passes by what was sent as the last user message.",
    )
    approved: ApprovalPart | None = Field(
        None, description="Left out unless a reviewer approved these answers of a target run."
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
            approved=None if self.approved is None else Approval(**self.approved.model_dump()),
        )


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
    warnings: list[str]
    provenance: dict[str, JsonValue]
    exchangeable: bool | None = Field(
        None, description="Whether the first half of the passes looks like the second; left out when not tested."
    )

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
            warnings=tuple(self.warnings),
            provenance=self.provenance,
            exchangeable=self.exchangeable,
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
        "warnings": list(header.warnings),
        "provenance": header.provenance,
        **({} if header.exchangeable is None else {"exchangeable": header.exchangeable}),
    }


def golden_sha256(golden: Golden) -> str:
    """Identity of a golden: of its request and its answers pass by pass, whoever recorded or approved them."""
    return sha256_of(golden_json(replace(golden, approved=None)))


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
        **({} if approved is None else {"approved": asdict(approved)}),
    }


def _by_variant(variants: Mapping[int, str]) -> JsonObject:
    passes: dict[str, list[Json]] = {}
    for index, variant in sorted(variants.items()):
        passes.setdefault(variant, []).append(index)
    return dict(sorted(passes.items()))


def objects_of(baseline: Baseline) -> list[JsonObject]:
    """The objects of all lines in their order."""
    goldens = sorted(baseline.goldens.values(), key=lambda golden: golden.case_id)
    return [header_json(baseline.header), *map(golden_json, goldens)]

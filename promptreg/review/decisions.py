"""The decisions file: what a reviewer decided on the cases of one comparison, exported by the report or the terminal.

It comes from anywhere and is not trusted: it has a size limit, unknown keys are errors, and every text in it is only
ever compared and shown. A case id that looks like a path is a text like any other.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, WithJsonSchema

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.json_input import refuse_constant, unique_keys, why_unread
from promptreg.config.model import problem
from promptreg.config.problems import named_kind, sentences
from promptreg.errors import DecisionsError, Place, Problem
from promptreg.store.columns import plain_text
from promptreg.store.reviews import Decided
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from promptreg.canonical import JsonObject

DECISIONS_SCHEMA: Final = "promptreg.decisions/1"
"""Name and version of the format."""

MAX_BYTES: Final = 32 * 1024 * 1024
"""Largest file that is read: 50 000 decisions with long reasons."""

Verb: TypeAlias = Decided
VERBS: Final[tuple[Verb, ...]] = get_args(Verb)
"""What can be decided: the candidate becomes the golden; it is not accepted; it is accepted for a time; later; the
golden of a case that the suite no longer has leaves the baseline."""

CHINESE_VERBS: Final[Mapping[Verb, str]] = {
    "approve": "批准",
    "reject": "拒绝",
    "waive": "豁免",
    "defer": "暂缓",
    "remove": "移除",
}
"""How Chinese sentences name them."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HASH = re.compile(r"[0-9a-f]{64}")
_PROBLEMS_TOLD = 20


@dataclass(frozen=True, slots=True)
class Decision:
    """What one reviewer decided on one case."""

    suite: str
    case_id: str
    target: str
    golden_sha256: str | None
    """Of the golden that was shown; None where there was none."""
    candidate_sha256: str | None
    """Of the target's answers that were shown; None where there were none."""
    decision: Verb
    reason: str
    expires_on: date | None
    """The last day on which a waiver holds, UTC."""
    decided_at: str
    """ISO 8601 with its zone, as written."""

    @property
    def key(self) -> tuple[str, str]:
        """Suite and case id: what there can be one decision on."""
        return self.suite, self.case_id


@dataclass(frozen=True, slots=True)
class Decisions:
    """A decisions file as read."""

    run_id: str
    report_id: str
    baseline: str
    """The deployment whose baseline was shown."""
    reviewer: str
    exported_at: str
    decisions: tuple[Decision, ...]
    """The last one on each case, in the file's order."""
    replaced: tuple[Decision, ...] = ()
    """Earlier decisions on a case that the file decides again."""


def _calendar_day(text: str) -> str:
    try:
        if _DATE.fullmatch(text) and text.isascii():
            date.fromisoformat(text)
            return text
    except ValueError:
        pass
    raise problem(f"`expires_on` must be a day such as 2027-01-31, not {preview(text, 30)!r}.")


def _instant(text: str) -> str:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.utcoffset() is None or abs(at.utcoffset() or timedelta()) > timedelta(hours=14):
        raise problem(f"A time must have a zone, such as 2026-12-02T09:30:00Z, not {preview(text, 40)!r}.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise problem("`reviewer` is empty; every decision needs the name of who made it.")
    return text


def _sha256(text: str) -> str:
    if not _HASH.fullmatch(text):
        raise problem(f"A hash must be 64 digits 0-9 and a-f, as the report wrote it, not {preview(text, 20)!r}.")
    return text


Sha256 = Annotated[str, AfterValidator(_sha256), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})]
Instant = Annotated[str, AfterValidator(_instant), WithJsonSchema({"type": "string", "format": "date-time"})]
Day = Annotated[str, AfterValidator(_calendar_day), WithJsonSchema({"type": "string", "format": "date"})]
_Name = Annotated[str, Field(min_length=1, max_length=10_000)]


class Strict(BaseModel):
    """A number in quotes is no number, and unknown keys are errors: somebody meant something by them."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DecisionEntry(Strict):
    """One decision."""

    suite: _Name
    case_id: _Name
    target: _Name
    golden_sha256: Sha256 | None
    candidate_sha256: Sha256 | None
    decision: Verb
    reason: Annotated[str, Field(max_length=10_000)] | None = None
    expires_on: Day | None = None
    decided_at: Instant

    def record(self) -> Decision:
        """The same as a record."""
        return Decision(
            suite=self.suite,
            case_id=self.case_id,
            target=self.target,
            golden_sha256=self.golden_sha256,
            candidate_sha256=self.candidate_sha256,
            decision=self.decision,
            reason=(self.reason or "").strip(),
            expires_on=None if self.expires_on is None else date.fromisoformat(self.expires_on),
            decided_at=self.decided_at,
        )


class DecisionsDocument(Strict):
    """The whole file."""

    format: Literal["promptreg.decisions/1"] = Field(alias="schema")
    report_id: Annotated[str, Field(max_length=1_000)]
    run_id: _Name
    baseline: _Name = Field(description="The deployment whose baseline the report showed.")
    exported_at: Instant
    reviewer: Annotated[str, Field(max_length=1_000), AfterValidator(_not_blank)]
    decisions: list[DecisionEntry]


def decisions_schema() -> dict[str, Any]:
    """JSON Schema of a decisions file."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": DECISIONS_SCHEMA,
        "description": "What a reviewer decided, for `promptreg review apply`.",
        **TypeAdapter(DecisionsDocument).json_schema(),
    }


def read_decisions(path: Path, shown: str) -> Decisions:
    """Read a decisions file. A byte order mark and CRLF are accepted.

    Args:
        path: the file.
        shown: how messages name it.

    Raises:
        DecisionsError: with every problem of the file.
    """
    try:
        text = decode(read_limited(path, MAX_BYTES))
    except UnreadableTextError as error:
        raise DecisionsError(Problem(f"{error} Export it again from the report.", Place(shown, error.line))) from None
    return parse_decisions(text, shown)


def parse_decisions(text: str, shown: str) -> Decisions:
    """The decisions in the text of a file.

    Raises:
        DecisionsError: with every problem of the text.
    """
    value = _json(text, shown)
    found = value.get("schema")
    if found != DECISIONS_SCHEMA:
        raise DecisionsError(
            Problem(
                f'This is no decisions file: its "schema" must be {DECISIONS_SCHEMA!r}'
                + (f", not {preview(found, 60)!r}." if isinstance(found, str) else "."),
                Place(shown),
            )
        )
    document, entries = _validated(value, shown)
    latest: dict[tuple[str, str], Decision] = {}
    replaced: list[Decision] = []
    for each in (entry.record() for entry in entries):
        if each.key in latest:
            replaced.append(latest.pop(each.key))
        latest[each.key] = each
    return Decisions(
        run_id=document.run_id,
        report_id=document.report_id,
        baseline=document.baseline,
        reviewer=document.reviewer.strip(),
        exported_at=document.exported_at,
        decisions=tuple(latest.values()),
        replaced=tuple(replaced),
    )


def decisions_json(decisions: Decisions) -> JsonObject:
    """The object of the file."""
    return {
        "schema": DECISIONS_SCHEMA,
        "report_id": decisions.report_id,
        "run_id": decisions.run_id,
        "baseline": decisions.baseline,
        "exported_at": decisions.exported_at,
        "reviewer": decisions.reviewer,
        "decisions": [
            {
                "suite": each.suite,
                "case_id": each.case_id,
                "target": each.target,
                "golden_sha256": each.golden_sha256,
                "candidate_sha256": each.candidate_sha256,
                "decision": each.decision,
                "reason": each.reason,
                "expires_on": None if each.expires_on is None else each.expires_on.isoformat(),
                "decided_at": each.decided_at,
            }
            for each in decisions.decisions
        ],
    }


def _json(text: str, shown: str) -> dict[str, Any]:
    if not text.strip():
        raise DecisionsError(Problem("The file is empty. Export it again from the report.", Place(shown)))
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise DecisionsError(
            Problem(
                f"This is not whole JSON ({error.msg}, column {error.colno}); the file may be cut. Export it again "
                "from the report.",
                Place(shown, error.lineno),
            )
        ) from None
    except (ValueError, RecursionError) as error:
        raise DecisionsError(Problem(f"This cannot be read as JSON: {why_unread(error)}.", Place(shown))) from None
    if not isinstance(value, dict):
        raise DecisionsError(Problem("This is no decisions file: it must be one JSON object.", Place(shown)))
    return value


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    # Lone surrogates are replaced as they are in the store; pydantic refuses them.
    return unique_keys(
        [(plain_text(name), plain_text(item) if isinstance(item, str) else item) for name, item in pairs]
    )


def _validated(value: dict[str, Any], shown: str) -> tuple[DecisionsDocument, list[DecisionEntry]]:
    """The document without its decisions, and these. Validated one by one, because all that is wrong is remembered."""
    written = value.get("decisions")
    whole = {**value, "decisions": []} if isinstance(written, list) else value
    problems: list[Problem] = []
    document: DecisionsDocument | None = None
    try:
        document = DecisionsDocument.model_validate(whole)
    except ValidationError as error:
        # pydantic knows the key by the name of its field, which cannot be `schema`.
        found = [sentence.replace("`format`", "`schema`") for _, sentence in sentences(error, DecisionsDocument)]
        problems += [Problem(sentence, Place(shown)) for sentence in found]
    entries: list[DecisionEntry] = []
    for number, entry in enumerate(written if isinstance(written, list) else (), start=1):
        try:
            entries.append(DecisionEntry.model_validate(entry))
        except ValidationError as error:
            case_id = entry.get("case_id") if isinstance(entry, dict) else None
            where = f"Decision {number}{f' ({preview(case_id, 40)})' if isinstance(case_id, str) else ''}: "
            found = [sentence for _, sentence in sentences(error, DecisionEntry)]
            if not isinstance(entry, dict):
                found = [f"This entry must be a table of keys and values, not {named_kind(entry)}."]
            problems += [Problem(where + sentence, Place(shown)) for sentence in found]
        if len(problems) > _PROBLEMS_TOLD:
            problems[_PROBLEMS_TOLD:] = [Problem("There are more problems than these.", Place(shown))]
            break
    if problems or document is None:
        raise DecisionsError(problems)
    return document, entries

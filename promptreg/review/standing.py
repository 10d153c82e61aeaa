"""Decisions that must outlive a machine, in a small text file that is reviewed in git beside the baselines.

`baselines/<suite>/decisions/<target>.jsonl`: a header, then one line a case, sorted by case id, canonical JSON: the
waivers, rejections and deferrals that stand. CI has no store; from this file it knows them. An approval is not in it,
because it is the golden itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from promptreg.baseline.paths import safe_name
from promptreg.canonical import canonical_json, sha256_of
from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.json_input import finite, refuse_constant, unique_keys, why_unread
from promptreg.config.problems import sentences
from promptreg.errors import BaselineError, Place, Problem
from promptreg.review.decisions import Day, Instant, Sha256, Strict
from promptreg.store.columns import plain_text
from promptreg.verdict.standing import StandingDecision
from promptreg.verdict.verdicts import CaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.canonical import JsonObject

STANDING_SCHEMA: Final = "promptreg.standing-decisions/1"
"""Name and version of the format."""

StandingVerb: TypeAlias = Literal["waive", "reject", "defer"]
STANDING_VERBS: Final[tuple[StandingVerb, ...]] = get_args(StandingVerb)
"""What can stand in the file."""

_RESTORE = "Restore the file from git."
_MOST_PROBLEMS = 200


class StandingHeader(Strict):
    """The first line."""

    format: Literal["promptreg.standing-decisions/1"] = Field(alias="schema")
    suite: Annotated[str, Field(min_length=1)]
    target: Annotated[str, Field(min_length=1)]


class StandingLine(Strict):
    """One case."""

    case_id: Annotated[str, Field(min_length=1)]
    decision: StandingVerb
    source: str = Field(description="The deployment whose golden was shown.")
    golden_sha256: Sha256 | None = Field(description="A decision counts only while this is the golden.")
    candidate_sha256: Sha256 | None
    verdict: str = Field(description="What the case was when it was decided; a waiver covers nothing worse.")
    reason: str
    expires_on: Day | None = Field(None, description="Of a waiver, the last day on which it holds, UTC.")
    reviewer: str
    decided_at: Instant
    run_id: str
    answers: Annotated[list[Sha256], FailFast()] = Field(
        default=[], description="Of a rejection, the answers that were rejected."
    )


@dataclass(frozen=True, slots=True)
class StandingCase:
    """One line of the file."""

    case_id: str
    decision: StandingVerb
    source: str
    golden_sha256: str | None
    candidate_sha256: str | None
    verdict: CaseVerdict
    reason: str
    reviewer: str
    decided_at: str
    run_id: str
    expires_on: date | None = None
    answers: tuple[str, ...] = ()
    """Of a rejection, the identities of the answers rejected; see `answer_sha256`."""

    def of_verdict(self) -> StandingDecision | None:
        """What a verdict takes into account; None for a deferral, which changes nothing."""
        if self.decision == "defer":
            return None
        return StandingDecision(
            waived=self.decision == "waive",
            reviewer=self.reviewer,
            decided_at=self.decided_at,
            reason=self.reason,
            verdict=self.verdict,
            expires_on=self.expires_on,
        )

    def to_json(self) -> JsonObject:
        """The line's object."""
        return {
            "case_id": self.case_id,
            "decision": self.decision,
            "source": self.source,
            "golden_sha256": self.golden_sha256,
            "candidate_sha256": self.candidate_sha256,
            "verdict": self.verdict.value,
            "reason": self.reason,
            **({} if self.expires_on is None else {"expires_on": self.expires_on.isoformat()}),
            "reviewer": self.reviewer,
            "decided_at": self.decided_at,
            "run_id": self.run_id,
            **({"answers": list(self.answers)} if self.answers else {}),
        }


def answer_sha256(answer: Answer) -> str:
    """Identity of what a user of the application sees of an answer: reasoning is hardly ever the same twice."""
    return sha256_of({key: value for key, value in answer.to_json().items() if key in {"content", "tool_calls"}})


def standing_path(baselines: Path, suite: str, target: str) -> Path:
    """`<baselines>/<suite>/decisions/<target>.jsonl`, with both names made safe."""
    return baselines / safe_name(suite) / "decisions" / f"{safe_name(target)}.jsonl"


def standing_schema() -> dict[str, Any]:
    """JSON Schema of one line of the file: the header, or a case."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": STANDING_SCHEMA,
        "description": "One line of baselines/<suite>/decisions/<target>.jsonl: the header first, then cases by id.",
        **TypeAdapter(StandingHeader | StandingLine).json_schema(),
    }


def standing_bytes(suite: str, target: str, cases: Iterable[StandingCase]) -> bytes | None:
    """The file's bytes, the same for the same decisions; None when there are none, and so no file."""
    objects = [each.to_json() for each in sorted(cases, key=lambda each: each.case_id)]
    if not objects:
        return None
    header: JsonObject = {"schema": STANDING_SCHEMA, "suite": suite, "target": target}
    return "".join(plain_text(canonical_json(value)) + "\n" for value in [header, *objects]).encode()


def read_standing(path: Path, shown: str, suite: str, target: str) -> Mapping[str, StandingCase]:
    """The decisions that stand, by case id; none when there is no file.

    Args:
        path: as `standing_path` gives it.
        shown: how messages name it.
        suite: whose decisions are wanted.
        target: the same.

    Raises:
        BaselineError: the file is damaged, or another suite's or target's.
    """
    if not path.exists():
        return {}
    try:
        data = read_limited(path)
    except UnreadableTextError as error:
        raise BaselineError(Problem(str(error), Place(shown))) from None
    return parse_standing(data, shown, (suite, target))


def parse_standing(data: bytes, shown: str, of: tuple[str, str] | None = None) -> dict[str, StandingCase]:
    """The decisions in the bytes of a file, by case id.

    Args:
        data: the bytes.
        shown: how messages name the file.
        of: suite and target that it must be of; None for any.

    Raises:
        BaselineError: it is damaged, or another suite's or target's.
    """
    try:
        text = decode(data)
    except UnreadableTextError as error:
        raise BaselineError(Problem(f"{error} {_RESTORE}", Place(shown, error.line))) from None
    problems: list[Problem] = []
    found: dict[str, StandingCase] = {}
    # Only LF ends a line: JSON text may hold U+2028 and the like.
    lines = [(Place(shown, number), line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    for index, (place, line) in enumerate((place, line) for place, line in lines if line):
        if len(problems) >= _MOST_PROBLEMS:
            problems[_MOST_PROBLEMS:] = [Problem("The rest of this file was not read.", place)]
            break
        if not index:
            header = _validated(line, place, StandingHeader, problems)
            if header is not None and of is not None and (header.suite, header.target) != of:
                said = f"These are decisions on suite {header.suite!r} and target {header.target!r}, not on {of[0]!r} "
                problems.append(Problem(f"{said}and {of[1]!r}. Names that differ in case only share a file.", place))
            continue
        entry = _validated(line, place, StandingLine, problems)
        if entry is None:
            continue
        case = _case(entry, place, problems)
        if case is not None and case.case_id in found:
            problems.append(Problem(f"Case {case.case_id!r} stands here again. Remove one of its lines.", place))
        elif case is not None:
            found[case.case_id] = case
    if problems:
        raise BaselineError(problems)
    return found


def _validated(line: str, place: Place, model: type[Any], problems: list[Problem]) -> Any:
    if line.startswith(("<<<<<<<", "=======", ">>>>>>>", "|||||||")):
        problems.append(Problem("A git merge conflict is left here. Choose one side.", place))
        return None
    try:
        return model.model_validate(
            json.loads(line, object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=finite)
        )
    except ValidationError as error:
        said = [sentence.replace("`format`", "`schema`") for _, sentence in sentences(error, model)]
        problems += [Problem(f"{sentence} {_RESTORE}", place) for sentence in said]
    except (ValueError, RecursionError) as error:
        problems.append(Problem(f"This line is not a whole JSON object ({why_unread(error)}). {_RESTORE}", place))
    return None


def _case(entry: StandingLine, place: Place, problems: list[Problem]) -> StandingCase | None:
    if entry.verdict not in set(CaseVerdict):
        problems.append(Problem(f"{entry.verdict!r} is no verdict of a case. {_RESTORE}", place))
        return None
    if entry.decision == "waive" and (entry.expires_on is None or not entry.reason.strip()):
        problems.append(Problem("A waiver needs a reason and `expires_on`, such as 2027-01-31.", place))
        return None
    return StandingCase(
        case_id=entry.case_id,
        decision=entry.decision,
        source=entry.source,
        golden_sha256=entry.golden_sha256,
        candidate_sha256=entry.candidate_sha256,
        verdict=CaseVerdict(entry.verdict),
        reason=entry.reason,
        reviewer=entry.reviewer,
        decided_at=entry.decided_at,
        run_id=entry.run_id,
        expires_on=None if entry.expires_on is None else date.fromisoformat(entry.expires_on),
        answers=tuple(entry.answers),
    )

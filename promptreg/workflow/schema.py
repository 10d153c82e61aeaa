"""The JSON Schemas of what `compare`, `diff`, `review list`, `review apply` and `baseline diff` print with `--json`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.baseline.diff import ChangeKind
from promptreg.review.apply import Outcome
from promptreg.review.decisions import VERBS
from promptreg.review.standing import STANDING_VERBS
from promptreg.verdict.change import Change
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict
from promptreg.workflow.baselines.diff import BASELINE_DIFF_SCHEMA
from promptreg.workflow.comparison import COMPARISON_SCHEMA
from promptreg.workflow.review.apply import APPLIED_SCHEMA
from promptreg.workflow.review.waiting import REVIEW_SCHEMA
from promptreg.workflow.views.run_diff import RUN_DIFF_SCHEMA

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

_LOAD: Json = {"type": ["integer", "null"], "minimum": 1}
_RATE: Json = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_TEXT: Json = {"type": "string"}
_WRITTEN: JsonObject = {"type": "string"}
_COUNT: JsonObject = {"type": "integer", "minimum": 0}


def comparison_schema() -> JsonObject:
    """The JSON Schema of promptreg.comparison/1. Only what readers may rely on; the format grows by new keys."""
    return _printed(
        COMPARISON_SCHEMA,
        "compare",
        {
            "run_id": _TEXT,
            "verdict": {"enum": [verdict.value for verdict in SuiteVerdict]},
            "exit_code": {"type": "integer", "description": "What the command exits with."},
            "report": {"type": ["string", "null"], "description": "Path of the HTML report; null when none."},
            "warnings": {"type": "array", "items": _TEXT},
            "warnings_zh": {
                "type": "array",
                "items": _TEXT,
                "description": "The same in their order; in English where there is no Chinese text.",
            },
            "loads": {
                "type": "array",
                "items": _object({"suite": _TEXT, "source": _LOAD, "target": _LOAD}),
                "description": "Calls in flight when a typical call was sent; null where that is not known.",
            },
            "suites": {"type": "array", "items": _suite()},
            "contexts": {
                "type": "array",
                "items": _object({"sentence": _TEXT, "sentence_zh": _TEXT}),
                "description": "What was shortened for either window; empty when no case has a `context`.",
            },
        },
        markdown={**_WRITTEN, "description": "Path of the summary; left out where none was asked for."},
        junit={**_WRITTEN, "description": "Path of the JUnit file; left out where none was asked for."},
    )


def run_diff_schema() -> JsonObject:
    """The JSON Schema of promptreg.run-diff/1. Only what readers may rely on; the format grows by new keys."""
    said = _object({"sentence": _TEXT, "sentence_zh": _TEXT})
    verdict: JsonObject = {
        "enum": [*(verdict.value for verdict in CaseVerdict), None],
        "description": "null where the run does not have the case.",
    }
    change: JsonObject = {
        "enum": [change.value for change in Change],
        "description": "What became of it from run A to run B; fail, drift and error count as failing.",
    }
    value: JsonObject = {"type": ["string", "null"], "description": "null where the run does not have it."}
    case = _object(
        {
            "suite": _TEXT,
            "case_id": _TEXT,
            "change": change,
            "verdict_a": verdict,
            "verdict_b": verdict,
            "a": {"anyOf": [{"type": "null"}, said], "description": "What run A said of it."},
            "b": {"anyOf": [{"type": "null"}, said], "description": "What run B said of it."},
            "golden_moved": {"type": "boolean", "description": "It was judged against different goldens."},
            "asked_otherwise": {"type": "boolean", "description": "The runs sent different requests."},
            "checks": {
                "type": "array",
                "items": _object({"a": value, "b": value}),
                "description": "Checks by which only one of the runs judged it, or that changed between them.",
            },
            "answers": {
                "anyOf": [{"type": "null"}, said],
                "description": "How the most frequent answer changed; null for a case that is as before.",
            },
        }
    )
    return _printed(
        RUN_DIFF_SCHEMA,
        "diff",
        {
            "sentence": _TEXT,
            "sentence_zh": _TEXT,
            "exit_code": {"type": "integer", "description": "What the command exits with."},
            "run_a": _run(),
            "run_b": _run(),
            "suites": {"type": "array", "items": _TEXT, "description": "Those that both runs have."},
            "suites_left_out": {"type": "array", "items": _TEXT, "description": "Those that only one run has."},
            "notes": {"type": "array", "items": said},
            "counts": _object({change.value: _COUNT for change in Change}),
            "verdicts": {
                "type": "array",
                "items": _object({"verdict_a": verdict, "verdict_b": verdict, "cases": _COUNT}),
            },
            "settings": {
                "type": "array",
                "items": _object({"group": _TEXT, "name": _TEXT, "a": value, "b": value}),
                "description": "What is known of the deployments and differs between the runs.",
            },
            "rules": {
                "type": "array",
                "items": _object({"name": _TEXT, "a": _TEXT, "b": _TEXT}),
                "description": "Thresholds of the judgement that differ between the runs.",
            },
            "cases": {"type": "array", "items": case, "description": "Newly failing ones first."},
        },
    )


def review_schema() -> JsonObject:
    """The JSON Schema of promptreg.review/1. Only what readers may rely on; the format grows by new keys."""
    sha256: JsonObject = {"type": ["string", "null"], "pattern": "^[0-9a-f]{64}$"}
    decided: JsonObject = {"type": ["string", "null"], "description": "Of the last decision; null where there is none."}
    case = _object(
        {
            "key": {"type": "string", "description": "SUITE/CASE, which `review show` and `review decide` take."},
            "suite": _TEXT,
            "case_id": _TEXT,
            "target": _TEXT,
            "verdict": {"enum": [verdict.value for verdict in CaseVerdict]},
            "severity": {"type": "number", "description": "The higher the worse."},
            "sentence": _TEXT,
            "sentence_zh": _TEXT,
            "golden_sha256": {**sha256, "description": "null where the baseline has no golden of the case."},
            "candidate_sha256": {**sha256, "description": "null where the target was not asked."},
            "decision": {"enum": [*VERBS, None], "description": "The last one on exactly this golden and candidate."},
            "reviewer": decided,
            "reason": _TEXT,
            "expires_on": {**decided, "format": "date"},
            "expired": {"type": "boolean", "description": "A waiver past its last day, which decides nothing."},
        }
    )
    return _printed(
        REVIEW_SCHEMA,
        "review list",
        {
            "run_id": _TEXT,
            "report_id": {"type": "string", "description": "What a decisions file must name."},
            "source": _TEXT,
            "target": _TEXT,
            "cases": {"type": "array", "items": case, "description": "Worst first."},
        },
    )


def applied_schema() -> JsonObject:
    """The JSON Schema of promptreg.applied/1. Only what readers may rely on; the format grows by new keys."""
    decision = _object(
        {
            "suite": _TEXT,
            "case_id": _TEXT,
            "decision": {"enum": list(VERBS)},
            "outcome": {"enum": [outcome.value for outcome in Outcome]},
            "sentence": _TEXT,
            "sentence_zh": _TEXT,
        }
    )
    return _printed(
        APPLIED_SCHEMA,
        "review apply",
        {
            "run_id": _TEXT,
            "reviewer": _TEXT,
            "written": {"type": "boolean", "description": "Whether the files were changed."},
            "files": {"type": "array", "items": _TEXT, "description": "Paths that change, or would with --write."},
            "exit_code": {"enum": [0, 1], "description": "What the command exits with; 1 when one is refused."},
            "replaced": {**_COUNT, "description": "Decisions that a later one replaced."},
            "decisions": {"type": "array", "items": decision},
        },
    )


def baseline_diff_schema() -> JsonObject:
    """The JSON Schema of promptreg.baseline-diff/1. Only what readers may rely on; the format grows by new keys."""
    kinds = dict.fromkeys([*(kind.value for kind in ChangeKind), *STANDING_VERBS])
    case = _object({"case_id": _TEXT, "kind": {"enum": [*kinds]}, "sentence": _TEXT, "sentence_zh": _TEXT})
    file = _object({"path": _TEXT, "title": _TEXT, "title_zh": _TEXT, "cases": {"type": "array", "items": case}})
    return _printed(BASELINE_DIFF_SCHEMA, "baseline diff", {"files": {"type": "array", "items": file}})


def _run() -> JsonObject:
    return _object(
        {
            "run_id": _TEXT,
            "deployment": _TEXT,
            "model": _TEXT,
            "sources": {"type": "array", "items": _TEXT, "description": "Against whose baselines it was judged."},
            "started_at": {"type": "string", "format": "date-time"},
            "passes": _COUNT,
            "cases": _COUNT,
            "verdict": {"enum": [*(verdict.value for verdict in SuiteVerdict), None]},
        }
    )


def _suite() -> JsonObject:
    return _object(
        {
            "suite": _TEXT,
            "verdict": {"enum": [verdict.value for verdict in SuiteVerdict]},
            "p_value": _unit("How often chance alone gives as large a difference; null when nothing was compared."),
            "sentence": _TEXT,
            "sentence_zh": _TEXT,
            "clusters": {
                "type": "array",
                "items": _cluster(),
                "description": "The cases by cause, the worst cause first. A case may stand in several.",
            },
            "cases": {"type": "array", "items": _case()},
        }
    )


def _cluster() -> JsonObject:
    return _object(
        {
            "cause": {"type": "string", "description": "The same in every comparison, such as json:fenced, fault:F15."},
            "title": _TEXT,
            "title_zh": _TEXT,
            "next_step": _TEXT,
            "next_step_zh": _TEXT,
            "also": {
                "type": "array",
                "items": _object({"title": _TEXT, "title_zh": _TEXT}),
                "description": "Causes of exactly the same cases, and what follows from this cause.",
            },
            "verdict": {"enum": [verdict.value for verdict in CaseVerdict], "description": "Of its worst case."},
            "samples": {**_COUNT, "description": "Target answers or calls that show it."},
            "cases": {"type": "array", "items": _TEXT, "minItems": 1, "description": "Ids, worst first."},
        }
    )


def _case() -> JsonObject:
    number: Json = {"type": ["number", "null"]}
    channel = _object({"z": number, "ratio": number, "source_spread": number, "target_spread": number})
    check = _object({"check": _TEXT, "source_rate": _RATE, "target_rate": _RATE})
    return _object(
        {
            "case_id": _TEXT,
            "verdict": {"enum": [verdict.value for verdict in CaseVerdict]},
            "p_value": _unit("As for the suite; null when the case was not compared."),
            "sentence": _TEXT,
            "sentence_zh": _TEXT,
            "breaches": {
                "type": "array",
                "items": _object({"sentence": _TEXT, "sentence_zh": _TEXT}),
                "description": "What all source answers share and some target answers lack.",
            },
            "faults": {"type": "array", "items": _fault()},
            "context": _context(),
            "channels": {"type": "object", "additionalProperties": channel},
            "checks": {"type": "array", "items": check},
        },
        decision=_decision(),
    )


def _decision() -> JsonObject:
    return {
        "description": "The waiver or rejection that the verdict takes into account; left out where there is none.",
        **_object(
            {
                "decision": {"enum": ["waive", "reject"]},
                "reviewer": _TEXT,
                "decided_at": _TEXT,
                "reason": _TEXT,
                "verdict": {"enum": [verdict.value for verdict in CaseVerdict]},
                "expires_on": {"type": ["string", "null"], "format": "date"},
            }
        ),
    }


def _context() -> JsonObject:
    places: JsonObject = {"type": "array", "items": _COUNT}
    told: JsonObject = {"type": ["string", "null"]}
    side = _object(
        {
            "counter": {"type": "string", "description": "What counted the tokens."},
            "window": _COUNT,
            "reserve": {**_COUNT, "description": "Tokens kept free for the answer."},
            "budget": {"type": "integer", "description": "Tokens that the prompt may have."},
            "total": {"type": ["integer", "null"], "description": "Tokens of what is sent; null when nothing is."},
            "whole": {"type": ["integer", "null"], "description": "Tokens of the whole conversation."},
            "messages": {**_COUNT, "description": "Of the whole conversation."},
            "dropped": {**places, "description": "Places of the messages that are not sent, from 0."},
            "changed": {**places, "description": "Places of the messages that are sent cut or replaced."},
            "inserted": {**_COUNT, "description": "Messages that stand for others, such as a summary."},
            "provable": {"type": "boolean", "description": "Whether what goes out can be seen."},
            "problem": {**told, "description": "Why nothing was sent; null when something was."},
            "problem_zh": told,
        }
    )
    known = _object({"strategy": _TEXT, "source": side, "target": side})
    return {"anyOf": [{"type": "null"}, known], "description": "How the conversation was shortened for each window."}


def _fault() -> JsonObject:
    return _object(
        {
            "kind": {"type": "string", "pattern": "^(F[0-9]{2}|X-[a-z0-9-]+)$"},
            "severity": {"enum": ["E", "W"]},
            "where": _TEXT,
            "evidence": _TEXT,
            "suspects": {"type": "array", "items": _TEXT},
            "title": _TEXT,
            "title_zh": _TEXT,
            "target": _COUNT,
            "target_calls": _COUNT,
            "source": _COUNT,
            "source_calls": _COUNT,
        }
    )


def _unit(description: str) -> JsonObject:
    return {"type": ["number", "null"], "minimum": 0, "maximum": 1, "description": description}


def _printed(schema: str, command: str, properties: JsonObject, **optional: JsonObject) -> JsonObject:
    """The schema of what a command prints with `--json`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema,
        "title": f"The result of promptreg {command} --json",
        **_object({"schema": {"const": schema}, **properties}, **optional),
    }


def _object(properties: JsonObject, **optional: JsonObject) -> JsonObject:
    return {"type": "object", "required": list(properties), "properties": {**properties, **optional}}

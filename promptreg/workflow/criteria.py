"""What a run is judged with: the checks of each case, and the numbers of the judgement. Kept, so that two runs tell.

A check is told apart by the digest of all that it says, the contents of a schema file among it; labels are for readers.
"""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.canonical import canonical_json, sha256_of
from promptreg.config.encoding import UnreadableTextError, read_limited
from promptreg.errors import SuiteError
from promptreg.suite.files import resolve_project_file
from promptreg.suite.model import CheckSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.suite.model import Case
    from promptreg.text.redaction import Redaction
    from promptreg.verdict.rules import Rules

_LARGEST_FILE: Final = 1_000_000
"""Bytes of a schema file; larger ones are no schemas."""


class CheckChange(NamedTuple):
    """A check that two judgements do not share: its label before and after, None where it is not there."""

    old: str | None
    new: str | None


class RuleChange(NamedTuple):
    """A number of the judgement that two runs do not share, as text."""

    name: str
    old: str
    new: str


def criteria_of_case(case: Case, root: Path, redaction: Redaction) -> str:
    """The checks of a case, as canonical JSON: name, label and argument without private values, digest of it all.

    Args:
        case: as the suite has it now.
        root: the project's folder, from which the places of its suites are told.
        redaction: what is never kept.
    """
    return canonical_json({"checks": [_check(spec, root, redaction) for spec in case.checks], "infer": case.infer})


def _check(spec: CheckSpec, root: Path, redaction: Redaction) -> JsonObject:
    kept = redaction.json(spec.argument)
    digest = sha256_of([spec.name, spec.argument, _file_sha256(spec, root)])
    label = CheckSpec(spec.name, kept, spec.place).label
    if label == spec.name and isinstance(kept, str):
        label = f"{spec.name}: {kept}"
    return {"name": spec.name, "label": label, "argument": kept, "sha256": digest}


def _file_sha256(spec: CheckSpec, root: Path) -> str | None:
    """Of the schema file that a check names."""
    if spec.name.removeprefix("not_") != "json_schema" or not isinstance(spec.argument, str):
        return None
    try:
        path = resolve_project_file(root, spec.place.path, spec.argument, spec.place)
        return sha256(read_limited(path, _LARGEST_FILE)).hexdigest()
    except (UnreadableTextError, SuiteError):
        return None


def criteria_of_run(config: Config, rules: Rules) -> str:
    """The numbers of the judgement and the embedder, as canonical JSON."""
    return canonical_json(
        {
            "alpha": rules.alpha,
            "regression_alpha": rules.regression_alpha,
            "fdr": rules.fdr,
            "material_distance": rules.material_distance,
            "max_error_fraction": rules.max_error_fraction,
            "max_drifted_fraction": rules.max_drifted_fraction,
            "embedder": config.judging.embedder,
        }
    )


def check_changes(old: str | None, new: str | None) -> tuple[CheckChange, ...]:
    """The checks of a case that differ between two judgements; none where one of them is not known.

    Checks of one name whose arguments differ are one that changed, in the order in which they stand.
    """
    if old is None or new is None or old == new:
        return ()
    ours, theirs = (json.loads(text)["checks"] for text in (old, new))
    gone, come = _without(ours, theirs), _without(theirs, ours)
    changes: list[CheckChange] = []
    for check in list(gone):
        other = next((each for each in come if each["name"] == check["name"]), None)
        if other is not None:
            changes.append(CheckChange(check["label"], other["label"]))
            gone.remove(check)
            come.remove(other)
    changes += [CheckChange(check["label"], None) for check in gone]
    return (*changes, *(CheckChange(None, check["label"]) for check in come))


def _without(checks: Sequence[dict[str, str]], others: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    known = Counter(each["sha256"] for each in others)
    left: list[dict[str, str]] = []
    for check in checks:
        if known[check["sha256"]]:
            known[check["sha256"]] -= 1
        else:
            left.append(check)
    return left


def rule_changes(old: str | None, new: str | None) -> tuple[RuleChange, ...]:
    """The numbers that differ between two judgements; none where one of them is not known."""
    if old is None or new is None:
        return ()
    ours, theirs = (json.loads(text) for text in (old, new))
    return tuple(
        RuleChange(name, _text(ours.get(name)), _text(theirs.get(name)))
        for name in {**ours, **theirs}
        if ours.get(name) != theirs.get(name)
    )


def _text(value: Json) -> str:
    return "–" if value is None else str(value)

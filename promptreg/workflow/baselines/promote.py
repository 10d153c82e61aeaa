"""A target run becomes the baseline of its deployment: when the source is gone one day, the roles move on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.baseline.model import Baseline, Header
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.write import baseline_lines
from promptreg.errors import UsageError
from promptreg.review.write import replace_files
from promptreg.suite.files import shown_path
from promptreg.workflow.baselines.stored_goldens import stored_goldens
from promptreg.workflow.judging.call_faults import present_rules
from promptreg.workflow.load import typical_load
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.running.run_names import named_run
from promptreg.workflow.running.runs import iso_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.baseline.model import FaultRules
    from promptreg.config import Config
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store


@dataclass(frozen=True, slots=True)
class PromotedSuite:
    """One suite's new baseline."""

    suite: str
    path: str
    """From the project's folder."""
    cases: int
    passes: int
    replaces: bool
    """True when a baseline of this deployment was there before."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """What `baseline promote` did, or would do."""

    run_id: str
    deployment: str
    suites: tuple[PromotedSuite, ...]
    lacking: tuple[str, ...]
    """Cases that were left out because the run has no answer to them, as SUITE/CASE."""
    written: bool


def promote(config: Config, store: Store, name: str, *, write: bool) -> Promotion:
    """Make the answers of a stored run the baselines of its deployment.

    Args:
        config: the project.
        store: open.
        name: of a run of `compare` or `record`, as `named_run` takes it.
        write: False to change nothing.

    Raises:
        UsageError: there is no such run, it did not end, or it has no answer at all.
        OutputError: a file cannot be written; nothing was changed.
    """
    record = named_run(store, name)
    run_id = record.run_id
    if record.state in {"running", "interrupted"}:
        raise UsageError(
            f"Run {run_id} did not end ({record.state}): take the rest with `promptreg {record.kind} --resume` first."
        )
    files: dict[Path, bytes | None] = {}
    suites: list[PromotedSuite] = []
    lacking: list[str] = []
    rules = present_rules(load_extensions(config.root))
    for suite in record.suites:
        goldens = stored_goldens(config, store, record, suite)
        passes = 1 + max((golden.tried[-1] for golden in goldens.values()), default=0)
        lacking += [f"{suite}/{case_id}" for case_id, golden in goldens.items() if not golden.answers]
        goldens = {case_id: golden for case_id, golden in goldens.items() if golden.answers}
        if not goldens:
            continue
        baseline = Baseline(_header(record, suite, passes, rules, store.in_flight(run_id, suite)), goldens)
        path = baseline_path(config.root / config.paths.baselines, suite, record.deployment)
        files[path] = b"".join(baseline_lines(baseline))
        suites.append(PromotedSuite(suite, shown_path(path, config.root), len(goldens), passes, replaces=path.exists()))
    if not suites:
        raise UsageError(f"Run {run_id} has no answer at all, so there is nothing to promote.")
    if write:
        replace_files(files)
    return Promotion(run_id, record.deployment, tuple(suites), tuple(lacking), write)


def _header(record: RunRecord, suite: str, passes: int, rules: FaultRules, in_flight: Mapping[int, int]) -> Header:
    return Header(
        suite=suite,
        deployment=record.deployment,
        recorded_at=iso_time(record.started_at),
        run_id=record.run_id,
        model=record.model,
        passes=passes,
        server=record.server,
        fingerprint=record.fingerprint_after or record.fingerprint_before,
        request_defaults=record.request_defaults,
        warnings=record.warnings,
        provenance=record.provenance,
        fault_rules=rules,
        in_flight=typical_load(in_flight),
    )

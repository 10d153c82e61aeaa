"""`record`: passes on the source deployment, written down as the baseline of each suite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from promptreg.baseline.model import Baseline, Golden, Header, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import write_baseline
from promptreg.errors import ExitCode, UsageError
from promptreg.store.store import Store
from promptreg.workflow.collect import (
    Collected,
    OnProgress,
    Order,
    collect,
    finish,
    request_defaults,
)
from promptreg.workflow.estimate import Estimate, estimate
from promptreg.workflow.project import project_suites
from promptreg.workflow.resume import run_to_continue
from promptreg.workflow.runs import failed_calls, failure_summary
from promptreg.workflow.stored import stored_answers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.suite.model import Suite

RECORDING_SCHEMA = "promptreg.recording/1"


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """What `promptreg record` can be told. None means: as the configuration says."""

    suites: tuple[Path, ...] = ()
    """Suite files or folders; none for the project's own."""
    deployment: str | None = None
    passes: int | None = None
    select: str | None = None
    resume: bool = False


@dataclass(frozen=True, slots=True)
class RecordedSuite:
    """One suite's part of a recording."""

    suite: str
    baseline: Path | None
    """The file written; None when no case of the suite was answered at all."""
    cases: int
    failed_calls: int


@dataclass(frozen=True, slots=True)
class Recording:
    """A finished `record`."""

    run_id: str
    deployment: str
    passes: int
    answered: int
    """Samples stored with an answer, those of an earlier start of a resumed run included."""
    failed: int
    suites: tuple[RecordedSuite, ...]
    warnings: tuple[str, ...]
    failures: str | None = None
    """How many calls got no answer and what most of them said; None when none failed."""

    @property
    def exit_code(self) -> ExitCode:
        """FAILURE when a call got no answer after all its attempts."""
        return ExitCode.FAILURE if self.failed else ExitCode.EQUIVALENT

    def to_json(self, root: Path) -> JsonObject:
        """The object of `record --json`; paths relative to the project's folder."""
        suites: list[Json] = [
            {
                "suite": suite.suite,
                "baseline": None if suite.baseline is None else suite.baseline.relative_to(root).as_posix(),
                "cases": suite.cases,
                "failed_calls": suite.failed_calls,
            }
            for suite in self.suites
        ]
        return {
            "schema": RECORDING_SCHEMA,
            "run_id": self.run_id,
            "exit_code": int(self.exit_code),
            "deployment": self.deployment,
            "passes": self.passes,
            "answered": self.answered,
            "failed": self.failed,
            "warnings": list(self.warnings),
            "suites": suites,
        }


def record(
    config: Config,
    options: RecordOptions,
    *,
    on_progress: OnProgress = lambda _: None,
    on_notice: Callable[[str], None] = lambda _: None,
) -> Recording:
    """Record goldens on a deployment and write the baselines.

    Args:
        config: the project.
        options: what was asked for.
        on_progress: called as samples arrive.
        on_notice: called with sentences that a user should see before the calls begin.

    Raises:
        PromptregError: see `promptreg.errors`; samples stored before stay, and `resume` goes on from them.
        KeyboardInterrupt: after Ctrl-C; the run can be resumed.
    """
    suites, order = _plan(config, options)
    with Store.open(config.root / config.paths.store) as store:
        resumed = run_to_continue(store, order, resume=options.resume, on_notice=on_notice)
        collected = collect(config, store, order, resumed=resumed, on_progress=on_progress)
        recording = _write(config, store, order, suites, collected)
        finish(store, collected)
        return recording


def plan_record(config: Config, options: RecordOptions) -> Estimate:
    """What `record --dry-run` prints: calls, tokens and time. Nothing is sent."""
    _, order = _plan(config, options)
    return estimate(order)


def _plan(config: Config, options: RecordOptions) -> tuple[tuple[Suite, ...], Order]:
    deployment = config.deployment(options.deployment) if options.deployment is not None else config.role("source")
    passes = config.plan.record_passes if options.passes is None else options.passes
    if passes < 1:
        raise UsageError(f"--passes must be at least 1, got {passes}.")
    suites = project_suites(config, options.suites, options.select)
    cases = tuple(case for suite in suites for case in suite.cases)
    return suites, Order("record", deployment, cases, passes, config.plan.seed, {"select": options.select})


def _write(config: Config, store: Store, order: Order, suites: tuple[Suite, ...], collected: Collected) -> Recording:
    record = store.run(collected.run_id)
    written = []
    for suite in suites:
        answers = stored_answers(store, collected.run_id, suite.name)
        goldens = {
            case.case_id: golden_of(case.case_id, case.request.sha256, answers.get(case.case_id, {}))
            for case in suite.cases
        }
        failed = sum(len(golden.failed_passes) for golden in goldens.values())
        path = baseline_path(config.root / config.paths.baselines, suite.name, order.deployment.name)
        whole = order.options["select"] is None
        if any(golden.answers for golden in goldens.values()):
            write_baseline(path, _baseline(order, collected, suite, goldens, None if whole else path))
            written.append(RecordedSuite(suite.name, path, len(suite.cases), failed))
        else:
            written.append(RecordedSuite(suite.name, None, len(suite.cases), failed))
    return Recording(
        run_id=collected.run_id,
        deployment=order.deployment.name,
        passes=order.passes,
        answered=record.answered,
        failed=record.failed,
        suites=tuple(written),
        warnings=collected.warnings,
        failures=failure_summary(record, failed_calls(store, record)),
    )


def _baseline(
    order: Order, collected: Collected, suite: Suite, goldens: Mapping[str, Golden], kept_from: Path | None
) -> Baseline:
    warnings = list(collected.warnings)
    failed = sum(bool(golden.failed_passes) for golden in goldens.values())
    if failed:
        warnings.append(f"{failed} of {len(goldens)} cases lack an answer in at least one pass.")
    passes = order.passes
    if kept_from is not None and kept_from.exists():
        # `--select` records some cases again; the goldens of the others stay as they are, and the header says so.
        earlier = read_baseline(kept_from)
        others = {case_id: golden for case_id, golden in earlier.goldens.items() if case_id not in goldens}
        if others:
            warnings.append(f"{len(goldens)} cases were recorded apart from the other {len(others)}.")
            goldens = {**others, **goldens}
            passes = max(passes, earlier.header.passes)
    deployment = order.deployment
    header = Header(
        suite=suite.name,
        deployment=deployment.name,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
        run_id=collected.run_id,
        model=deployment.model,
        passes=passes,
        server=deployment.server,
        fingerprint=collected.fingerprint.to_json(),
        request_defaults=request_defaults(deployment),
        warnings=tuple(warnings),
        provenance=deployment.provenance,
    )
    return Baseline(header, goldens)

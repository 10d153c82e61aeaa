"""What a comparison is about: its suites beside their baselines, the calls to make, the files to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.baseline.paths import baseline_path
from promptreg.errors import BaselineError, OutputError, Problem, UsageError
from promptreg.report.new_file import unwritable
from promptreg.verdict.rules import plan_looks
from promptreg.workflow.context.contexts import contexts_of
from promptreg.workflow.pairing import Pairing, baseline_of, pair_with_baseline
from promptreg.workflow.project import project_suites
from promptreg.workflow.running.collect import Order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.suite.model import Suite
    from promptreg.workflow.compare_options import CompareOptions
    from promptreg.workflow.judging.judge_calls import Judges


def check_files(config: Config, options: CompareOptions) -> None:
    """Files that cannot be written are told before any call is paid for.

    Raises:
        OutputError: with every one of them.
    """
    report = options.report or config.root / config.paths.reports / "RUN.html"
    paths = (report, *(output.path for output in options.beside))
    problems = [problem for path in paths if (problem := unwritable(path)) is not None]
    if problems:
        raise OutputError(" ".join(dict.fromkeys(problems)))


def planned(config: Config, options: CompareOptions, judges: Judges) -> tuple[tuple[Pairing, ...], Order]:
    """The suites beside their baselines, and what the target is to be asked."""
    suites = project_suites(config, options.suites, options.select, options.cases)
    pairings = pairings_of(config, options, suites)
    judges.check_keys([case for pairing in pairings for case in pairing.known])
    return pairings, order_of(config, options, pairings)


def pairings_of(config: Config, options: CompareOptions, suites: tuple[Suite, ...]) -> tuple[Pairing, ...]:
    """Each suite beside the baseline of the source, before a run."""
    source = config.deployment(options.source) if options.source is not None else config.role("source")
    whole = options.select is None and options.cases is None
    return _paired(config, suites, source.name, _target(config, options).name, whole=whole)


def pairings_of_run(config: Config, options: CompareOptions, store: Store, record: RunRecord) -> tuple[Pairing, ...]:
    """Each suite of a stored run beside its baseline; what the command does not say is as it was for the run."""
    select = options.select if options.select is not None else _text(record, "select")
    cases = options.cases if options.cases is not None else _cases(record)
    paths = options.suites or tuple(config.root / path for path in _texts(record, "paths"))
    names = _texts(record, "suites") or record.suites
    suites = tuple(suite for suite in project_suites(config, paths, select, cases) if suite.name in names)
    source = options.source or _text(record, "source") or config.role("source").name
    asked: dict[str, dict[str, str]] = {}
    noise = {(case.suite, case.case_id): case.noise for suite in suites for case in suite.cases}
    for case in store.cases(record.run_id):
        if case.noise == noise.get((case.suite, case.case_id)):
            asked.setdefault(case.suite, {})[case.case_id] = case.request_sha256
    return _paired(config, suites, source, record.deployment, whole=select is None and cases is None, asked=asked)


def _text(record: RunRecord, option: str) -> str | None:
    value = record.options.get(option)
    return value if isinstance(value, str) else None


def _texts(record: RunRecord, option: str) -> tuple[str, ...]:
    values = record.options.get(option)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def _cases(record: RunRecord) -> dict[str, frozenset[str]] | None:
    """The cases that a stored run was narrowed to, by suite."""
    named = record.options.get("cases")
    if not isinstance(named, dict):
        return None
    return {suite: frozenset(map(str, ids)) for suite, ids in named.items() if isinstance(ids, list)}


def _paired(
    config: Config,
    suites: tuple[Suite, ...],
    source: str,
    target: str,
    *,
    whole: bool,
    asked: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Pairing, ...]:
    """Each suite beside its baseline.

    Raises:
        ConfigError: a case has a `context`, and the window of a deployment is not known.
        BaselineError: a suite without a baseline, or a damaged one; every suite's problems at once.
        UsageError: no suite is left.
    """
    of_source, of_target = contexts_of(config, suites, (source, target))
    problems: list[Problem] = []
    pairings: list[Pairing] = []
    for suite in suites:
        path = baseline_path(config.root / config.paths.baselines, suite.name, source)
        try:
            baseline = baseline_of(path, suite, source)
        except BaselineError as error:
            problems += error.problems
        else:
            of_run = None if asked is None else asked.get(suite.name, {})
            pairings.append(
                pair_with_baseline(suite, baseline, whole=whole, asked=of_run, source=of_source, target=of_target)
            )
    if problems:
        raise BaselineError(problems)
    if not pairings:
        raise UsageError("None of the suites belongs to this run.")
    return tuple(pairings)


def _target(config: Config, options: CompareOptions) -> Deployment:
    return config.deployment(options.target) if options.target is not None else config.role("target")


def order_of(config: Config, options: CompareOptions, pairings: tuple[Pairing, ...]) -> Order:
    """The calls of a new run, with what `--run` needs to judge the same cases again."""
    deployment = _target(config, options)
    looks = planned_looks(config, options)
    contexts = pairings[0].target
    cases = tuple(contexts.sent(case) for pairing in pairings for case in pairing.known)
    said: JsonObject = {
        "select": options.select,
        "source": pairings[0].baseline.header.deployment,
        "suites": [pairing.suite.name for pairing in pairings],
        "paths": [_from_root(config, path) for path in options.suites],
        "looks": list(looks),
    }
    if options.cases is not None:
        said = {**said, "cases": {suite: [*sorted(ids)] for suite, ids in sorted(options.cases.items())}}
    return Order("compare", deployment, cases, looks[-1], config.plan.seed, said, contexts=contexts.only(cases))


def planned_looks(config: Config, options: CompareOptions) -> tuple[int, ...]:
    """After how many passes the target is judged.

    Raises:
        UsageError: the looks are not increasing, or go beyond the number of passes.
    """
    if options.looks:
        plan_looks(options.looks)
        if options.passes is not None and options.looks[-1] > options.passes:
            raise UsageError(
                f"The last look is after {options.looks[-1]} passes, but only {options.passes} are to be taken. Leave "
                "--passes out to end with the last look."
            )
    return config.plan.looks_within(options.passes, options.looks)


def _from_root(config: Config, path: Path) -> str:
    path = path.resolve()
    return path.relative_to(config.root).as_posix() if path.is_relative_to(config.root) else str(path)

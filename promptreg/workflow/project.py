"""What every job begins with: the suites that the user means, checked against what promptreg knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.config.params import param_names
from promptreg.errors import UsageError
from promptreg.scoring.checks import registry
from promptreg.scoring.checks.base import Services
from promptreg.suite.load import load_suites
from promptreg.suite.select import select_cases
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from promptreg.config import Config
    from promptreg.suite.model import Suite


def project_suites(
    config: Config,
    paths: Sequence[Path],
    select: str | None,
    cases: Mapping[str, frozenset[str]] | None = None,
) -> tuple[Suite, ...]:
    """The suites at `paths`, or the project's own where none are given, narrowed by a `--select` expression.

    Args:
        config: the project.
        paths: suite files or folders.
        select: the expression; None for every case.
        cases: of what the expression leaves, only these, as ids by suite; None for all.

    Raises:
        ConfigError: when the project's hooks, or a plugin, are wrong.
        SuiteError: with every problem of every file: loading, unknown checks, parameters, judges and strategies,
            wrong check arguments.
        UsageError: when the expression is wrong or selects nothing, or none of `cases` is there.
    """
    own = load_extensions(config.root).checks
    suites = load_suites(
        paths or (config.root / config.paths.suites,),
        config.root,
        check_names=registry.check_names(own),
        param_names=param_names(),
        # Wrong arguments of checks must come out before the first call is paid for, not when the answers are judged.
        wrong_check=registry.argument_reader(config.root, Services(judges=config.deployments), own),
    )
    if any(case.context is not None for suite in suites for case in suite.cases):
        from promptreg.workflow.context.case_contexts import check_strategies  # noqa: PLC0415 - most projects have no context

        check_strategies(suites)
    selected = select_cases(suites, select)
    return selected if cases is None else _only(selected, cases)


def _only(suites: Sequence[Suite], cases: Mapping[str, frozenset[str]]) -> tuple[Suite, ...]:
    """The named cases; suites without any are left out."""
    named = ((suite, cases.get(suite.name, frozenset())) for suite in suites)
    kept = ((suite, tuple(case for case in suite.cases if case.case_id in ids)) for suite, ids in named)
    found = tuple(replace(suite, cases=some) for suite, some in kept if some)
    if not found:
        raise UsageError("The suites have none of the cases that were chosen; they may have been renamed since.")
    return found

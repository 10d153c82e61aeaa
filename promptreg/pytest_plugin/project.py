"""The project that a pytest session tests, and the package that would stand in its way."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import pytest

from promptreg.cli.checkup import NAMESAKE, namesake_sentence
from promptreg.config import load_config
from promptreg.config.load import project_root
from promptreg.errors import PromptregError
from promptreg.pytest_plugin.options import in_pytest
from promptreg.report.form import kind_of
from promptreg.suite.files import find_suite_files
from promptreg.suite.select import selection
from promptreg.workflow.project import project_suites

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.config import Config
    from promptreg.pytest_plugin.options import Asked
    from promptreg.suite.model import Suite

_SUFFIXES = (".yaml", ".yml")


def refuse_namesake() -> None:
    """An unrelated distribution with our import name cannot be installed beside this one.

    Raises:
        pytest.UsageError: it is installed; says what to do.
    """
    try:
        version = importlib.metadata.version(NAMESAKE)
    except importlib.metadata.PackageNotFoundError:
        return
    raise pytest.UsageError(namesake_sentence(version))


def project_config(path: Path | None, config: pytest.Config) -> Config:
    """The project's configuration.

    In this order: `path`; the nearest promptreg.toml from where pytest was started; that of pytest's root folder.

    Raises:
        pytest.UsageError: there is none, or it is wrong.
    """
    start = config.invocation_params.dir
    if path is None and project_root(start) is None:
        start = config.rootpath
    try:
        return load_config(path, start)
    except PromptregError as error:
        raise pytest.UsageError(in_pytest(str(error))) from None


def suites_path(project: Config) -> Path:
    """The project's suites: a folder, or one file."""
    return project.root / project.paths.suites


def is_suite_file(path: Path) -> bool:
    """Whether a file can be a suite by its name."""
    return path.suffix.lower() in _SUFFIXES


def check_suites(project: Config) -> None:
    """That there is anything to collect at the project's path of suites.

    Raises:
        pytest.UsageError: a gate that finds nothing to judge must not be green.
    """
    try:
        find_suite_files([suites_path(project)], project.root)
    except PromptregError as error:
        raise pytest.UsageError(
            f"{in_pytest(str(error))} To run Python tests alone, name them: `pytest --promptreg tests`."
        ) from None


def check_options(project: Config, asked: Asked) -> None:
    """What can be said of the options before anything is collected.

    Raises:
        pytest.UsageError: the target is not defined, or the suffix of the report says nothing.
    """
    try:
        if asked.target is not None:
            project.deployment(asked.target)
        if asked.report is not None:
            kind_of(asked.report)
        if asked.select is not None:
            selection(asked.select)
    except PromptregError as error:
        raise pytest.UsageError(in_pytest(str(error))) from None


def load_suite(project: Config, path: Path) -> Suite:
    """One suite.

    Raises:
        PromptregError: it, or what it needs, is wrong; every problem with file and line.
    """
    (suite,) = project_suites(project, (path,), None)
    return suite

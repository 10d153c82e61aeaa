"""The project that a pytest session tests, and the package that would stand in its way."""

from __future__ import annotations

import importlib.metadata
from typing import TYPE_CHECKING

import pytest

from promptreg.cli.checkup import NAMESAKE, namesake_sentence
from promptreg.config import load_config
from promptreg.config.load import project_root
from promptreg.errors import PromptregError
from promptreg.suite.files import files_below
from promptreg.workflow.project import project_suites

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.config import Config
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
        raise pytest.UsageError(str(error)) from None


def suites_path(project: Config) -> Path:
    """The project's suites: a folder, or one file."""
    return project.root / project.paths.suites


def is_suite_file(path: Path) -> bool:
    """Whether a file can be a suite by its name."""
    return path.suffix.lower() in _SUFFIXES


def has_suites(path: Path) -> bool:
    """Whether there is anything to collect at the project's path of suites."""
    return path.is_file() or (path.is_dir() and bool(files_below(path, _SUFFIXES)))


def load_suite(project: Config, path: Path) -> Suite:
    """One suite.

    Raises:
        PromptregError: it, or what it needs, is wrong; every problem with file and line.
    """
    (suite,) = project_suites(project, (path,), None)
    return suite

"""Suite files to suites; every problem of every file in one error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.hints import without_the_list
from promptreg.config.names import folded
from promptreg.errors import Place, Problem, SuiteError
from promptreg.suite.build import SuiteBuilder
from promptreg.suite.document import read_yaml
from promptreg.suite.files import find_suite_files, shown_path
from promptreg.suite.written import KnownNames

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from promptreg.suite.model import CheckSpec, Suite

MAX_BYTES = 16 * 1024 * 1024
"""Largest suite file: reading YAML takes a hundred times its size. Case files may be larger."""
_LISTED = 200
"""Problems listed per file; more are counted."""


def load_suites(
    paths: Sequence[Path],
    root: Path,
    *,
    check_names: frozenset[str],
    param_names: frozenset[str],
    wrong_check: Callable[[CheckSpec], str | None] | None = None,
) -> tuple[Suite, ...]:
    """The suites in `paths`.

    Args:
        paths: Suite files, or folders searched for *.yaml and *.yml.
        root: The project's root: places are named from it, and files named by suites must lie inside it.
        check_names: The checks there are.
        wrong_check: What is wrong with a check of one of these names, as a sentence; None when nothing is. It is asked
            while a file is read, so that wrong arguments stand beside all other problems of the file.
        param_names: The request parameters there are; `extra_body` is always allowed besides.

    Raises:
        SuiteError: with every problem of every file, each with its line.
    """
    names = KnownNames(check_names, param_names, wrong_check)
    suites: list[Suite] = []
    problems: list[Problem] = []
    taken: dict[str, Suite] = {}
    for path in find_suite_files(paths, root):
        suite, found = _load(path, root, names)
        problems += _ordered(found, shown_path(path, root))
        if suite is None:
            continue
        other = taken.setdefault(folded(suite.name), suite)
        if other is not suite:
            message = f"The suite name `{suite.name}` is taken by {other.path}; give each suite its own."
            problems.append(Problem(message, Place(suite.path)))
        suites.append(suite)
    if problems:
        raise SuiteError(problems)
    return tuple(suites)


def _load(path: Path, root: Path, names: KnownNames) -> tuple[Suite | None, list[Problem]]:
    shown = shown_path(path, root)
    try:
        text = decode(read_limited(path, MAX_BYTES))
    except UnreadableTextError as error:
        advice = " Save it as UTF-8." if error.line is not None else ""
        return None, [Problem(f"{error}{advice}", Place(shown, error.line))]
    document = read_yaml(text, shown)
    problems = list(document.problems)
    if document.data is None and problems:
        return None, problems
    builder = SuiteBuilder(path, root, names)
    suite = builder.build(document.data)
    return suite, problems + builder.problems


def _ordered(problems: Sequence[Problem], shown: str) -> list[Problem]:
    """Each problem once, those of the suite file first, by line."""

    def key(problem: Problem) -> tuple[bool, str, int]:
        place = problem.place or Place("")
        return place.path != shown, place.path, place.line or 0

    ordered = _listed_once(sorted(dict.fromkeys(problems), key=key))
    more = len(ordered) - _LISTED
    if more > 0:
        return [*ordered[:_LISTED], Problem(f"{more} more problems of this suite are not listed.", Place(shown))]
    return ordered


def _listed_once(problems: Sequence[Problem]) -> list[Problem]:
    """The problems; only the first unknown check comes with the list of all that there are."""
    told: list[Problem] = []
    listed = False
    for problem in problems:
        short = without_the_list(problem.message)
        told.append(Problem(short, problem.place) if listed else problem)
        listed = listed or short != problem.message
    return told

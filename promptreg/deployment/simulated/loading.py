"""Scripts in YAML: every problem of the file at once, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.hints import did_you_mean, listing
from promptreg.config.problems import allowed_keys
from promptreg.deployment.simulated.script import Script
from promptreg.errors import ConfigError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_INCLUDE = "include"


def load_script(path: Path, overrides: Mapping[str, Any] | None = None) -> Script:
    """A script from a YAML file; `overrides` replace its top-level keys (faults are added to its own).

    `include: other.yaml`, relative to the file, appends the rules of another script: a target can then be the source
    with some faults planted.

    Raises:
        ConfigError: with every problem of the file and its line.
    """
    return _load(path, overrides or {}, ())


def _load(path: Path, overrides: Mapping[str, Any], including: tuple[Path, ...]) -> Script:
    shown = str(path)
    try:
        text = decode(read_limited(path))
    except UnreadableTextError as problem:
        advice = " Save it as UTF-8." if problem.line is not None else ""
        place = Place(shown, problem.line)
        raise ConfigError(Problem(f"The script cannot be read: {problem}{advice}", place)) from None
    tree = _parse(text, shown)
    values = {key: value for key, value in tree.items() if key != _INCLUDE}
    for key, value in overrides.items():
        values[key] = [*(tree.get(key) or ()), *value] if key == "faults" else value
    try:
        script = Script.model_validate(values)
    except ValidationError as problem:
        raise ConfigError(_problems(problem, tree, shown)) from problem
    if _INCLUDE not in tree:
        return script
    place = Place(shown, _line(tree, (_INCLUDE,)))
    if not isinstance(tree[_INCLUDE], str):
        raise ConfigError(Problem("`include` is the name of one file.", place))
    other = path.parent / tree[_INCLUDE]
    if other.resolve() in (path.resolve(), *including):
        raise ConfigError(Problem(f"`include: {tree[_INCLUDE]}` leads back to a file that includes this one.", place))
    included = _load(other, {}, (*including, path.resolve()))
    return script.model_copy(
        update={"rules": (*script.rules, *included.rules), "answers": script.answers or included.answers}
    )


def _parse(text: str, shown: str) -> CommentedMap:
    yaml = YAML(typ="rt", pure=True)
    try:
        tree = yaml.load(text)
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        line = None if mark is None else mark.line + 1
        raise ConfigError(Problem(f"The script is not YAML: {problem.problem}.", Place(shown, line))) from problem
    except YAMLError as problem:
        raise ConfigError(Problem(f"The script is not YAML: {problem}", Place(shown))) from problem
    if tree is None:
        tree = CommentedMap()
    if not isinstance(tree, CommentedMap):
        raise ConfigError(Problem("A script is a mapping, beginning with `kind:` or `rules:`.", Place(shown, 1)))
    return tree


def _problems(error: ValidationError, tree: CommentedMap, shown: str) -> list[Problem]:
    problems = []
    for detail in error.errors(include_url=False):
        path = tuple(step for step in detail["loc"] if not str(step).startswith("function-"))
        where = ".".join(map(str, path))
        if detail["type"] == "extra_forbidden":
            key = str(path[-1])
            keys = [*allowed_keys(Script, path[:-1]), *((_INCLUDE,) if len(path) == 1 else ())]
            message = f"`{where}`: there is no key `{key}` here.{did_you_mean(key, keys)}"
            message += f" Allowed are {listing(keys)}." if keys else ""
        else:
            message = f"`{where}`: {detail['msg'].removeprefix('Value error, ').rstrip('.')}."
        problems.append(Problem(message, Place(shown, _line(tree, detail["loc"]))))
    return problems


def _line(tree: Any, steps: Sequence[int | str]) -> int | None:
    """The line of the deepest place on the way that the file has, counted from 1."""
    line: int | None = None
    for step in steps:
        if isinstance(tree, CommentedMap) and step in tree:
            line = tree.lc.key(step)[0] + 1
        elif isinstance(tree, CommentedSeq) and isinstance(step, int) and step < len(tree):
            line = tree.lc.item(step)[0] + 1
        else:
            break
        tree = tree[step]
    return line

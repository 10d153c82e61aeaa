"""Find the configuration file, read it, list every problem of it at once."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.lines import key_lines, line_of
from promptreg.config.model import Config, Judging, call_problem, unknown_deployment
from promptreg.config.names import folded, name_problem
from promptreg.config.params import EXTRA_BODY, validate_params
from promptreg.config.problems import KeyPath, sentences
from promptreg.errors import ConfigError, Place, Problem

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "promptreg.toml"
_SECTION = ("tool", "promptreg")
_KEY_ADVICE = (
    'Keys are never in this file: put the key into an environment variable and write its name, `api_key_env = "NAME"`.'
)
_OWN = ("root", "file")
"""Fields that the loader sets; in the file they are unknown keys."""
_NAMED = ("deployments", "embedders")
"""Sections of tables that are called by their names."""
_ADVICE = {
    **dict.fromkeys(("api_key", "apikey", "api-key", "key", "token", "password", "secret"), _KEY_ADVICE),
    "headers": 'Headers may hold keys: write `headers_env = {"Header-Name" = "VARIABLE"}`.',
    "name": "The table's own name is the name; remove this key.",
    **dict.fromkeys(_OWN, "The project's root is the folder of this file; remove this key."),
}


def load_config(path: Path | None, start: Path) -> Config:
    """The configuration at `path`, or the nearest one in `start` and the folders above it.

    In each folder promptreg.toml comes before a pyproject.toml with a [tool.promptreg] table.

    Raises:
        ConfigError: when there is none, or with every problem of the file, each with its line.
    """
    found = _find(start) if path is None else path
    if found.is_dir():
        found = _find_in(found) or found / FILE_NAME
    shown = _shown(found, start)
    text, values = _parse(found, shown)
    prefix = _SECTION if found.name == "pyproject.toml" else ()
    section = _section(values, prefix, shown)
    problems = _problems(section)
    if problems:
        lines = key_lines(text)
        placed = {(line_of(lines, (*prefix, *at)), sentence): None for at, sentence in problems}
        ordered = sorted(placed, key=lambda item: item[0] or 0)
        raise ConfigError([Problem(sentence, Place(shown, line)) for line, sentence in ordered])
    return _build(section).model_copy(update={"root": found.parent.resolve(), "file": shown})


def project_root(start: Path) -> Path | None:
    """The folder of the configuration that `load_config` would find from `start`, unread; None where there is none."""
    try:
        return _find(start).parent
    except ConfigError:
        return None


def _find(start: Path) -> Path:
    start = start.resolve()
    for folder in (start, *start.parents):
        found = _find_in(folder)
        if found is not None:
            return found
    raise ConfigError(
        f"No {FILE_NAME} and no pyproject.toml with [tool.promptreg] in {start} or a folder above it. "
        "Run `promptreg init` to write one, or pass --config PATH."
    )


def _find_in(folder: Path) -> Path | None:
    own = folder / FILE_NAME
    if own.is_file():
        return own
    shared = folder / "pyproject.toml"
    if shared.is_file():
        try:
            # Only a file that has the table counts; a broken one is for its owner's tools to report, unless it is ours.
            if re.search(rb"^[ \t]*\[+[ \t]*tool[ \t]*\.[ \t]*promptreg\b", read_limited(shared), re.MULTILINE):
                return shared
        except UnreadableTextError:
            return None
    return None


def _shown(path: Path, start: Path) -> str:
    """The file as messages name it: relative to where the user stands, when it is there or below."""
    resolved, here = path.resolve(), start.resolve()
    return resolved.relative_to(here).as_posix() if resolved.is_relative_to(here) else str(path)


def _parse(path: Path, shown: str) -> tuple[str, dict[str, Any]]:
    try:
        text = decode(read_limited(path))
    except UnreadableTextError as error:
        advice = " Save it as UTF-8." if path.is_file() and error.line else ""
        if not path.exists():
            advice = " Run `promptreg init` to write one, or pass another --config PATH."
        raise ConfigError(Problem(f"{error}{advice}", Place(shown, error.line))) from None
    # TOML counts a carriage return alone as no line end at all; tomllib refuses it with a clear message.
    try:
        return text.replace("\r\n", "\n"), tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = re.sub(r" \(at (?:line \d+, column \d+|end of document)\)$", "", str(error))
        at = re.search(r"\(at line (\d+), column \d+\)$", str(error))
        line = int(at[1]) if at else text.count("\n") + 1
        raise ConfigError(Problem(f"This is not valid TOML: {message}.", Place(shown, line))) from None
    except RecursionError:
        raise ConfigError(Problem("The brackets of this file are nested too deeply.", Place(shown))) from None


def _section(values: dict[str, Any], prefix: tuple[str, ...], shown: str) -> dict[str, Any]:
    section: Any = values
    for key in prefix:
        section = section.get(key) if isinstance(section, dict) else None
    if not isinstance(section, dict):
        raise ConfigError(Problem("There is no [tool.promptreg] table in this file.", Place(shown)))
    return section


def _problems(section: dict[str, Any]) -> list[tuple[KeyPath, str]]:
    problems: list[tuple[KeyPath, str]] = []
    try:
        _build(section)
    except ValidationError as error:
        problems += sentences(error, Config, _ADVICE)
    return problems + _cross_problems(section)


def _build(section: dict[str, Any]) -> Config:
    section = {key: value for key, value in section.items() if key not in _OWN}
    for kind in _NAMED:
        tables = section.get(kind)
        if isinstance(tables, dict):
            section[kind] = {
                name: {**table, "name": name} if isinstance(table, dict) else table for name, table in tables.items()
            }
    return Config.model_validate(section)


def _cross_problems(section: dict[str, Any]) -> list[tuple[KeyPath, str]]:
    """What concerns several keys: found also where single keys are wrong, so that everything is listed at once."""
    problems: list[tuple[KeyPath, str]] = [
        ((own,), f"Unknown key `{own}`. {_ADVICE[own]}") for own in _OWN if own in section
    ]
    tables = section.get("deployments", {})
    deployments = tables if isinstance(tables, dict) else {}
    seen: dict[str, str] = {}
    for name, table in deployments.items():
        at: KeyPath = ("deployments", name)
        why = name_problem(name)
        if why is not None:
            problems.append((at, f"The deployment name `{name}` {why}."))
        twin = seen.setdefault(folded(name), name)
        if twin != name:
            problems.append((at, f"`{name}` and `{twin}` would share a baseline file; give one another name."))
        if isinstance(table, dict):
            if "name" in table:
                problems.append(((*at, "name"), f"Unknown key `name`. {_ADVICE['name']}"))
            sentence = call_problem(
                base_url=table.get("base_url"), call=table.get("call"), model=table.get("model", "")
            )
            if sentence is not None:
                problems.append((at, sentence))
            problems += _param_problems(table, at)
    problems += _embedder_problems(section.get("embedders"))
    roles = section.get("roles", {})
    for role in ("source", "target"):
        wanted = roles.get(role) if isinstance(roles, dict) else None
        if isinstance(wanted, str) and wanted not in deployments:
            sentence = unknown_deployment(f"`roles.{role}` names the deployment", wanted, deployments)
            problems.append((("roles", role), sentence))
    return problems


def _embedder_problems(tables: object) -> list[tuple[KeyPath, str]]:
    problems: list[tuple[KeyPath, str]] = []
    for name, table in tables.items() if isinstance(tables, dict) else ():
        at: KeyPath = ("embedders", name)
        why = name_problem(name)
        if why is not None:
            problems.append((at, f"The embedder name `{name}` {why}."))
        elif name == Judging.model_fields["embedder"].default:
            problems.append((at, f"`{name}` is the name of the default embedder; give this endpoint another name."))
        if isinstance(table, dict) and "name" in table:
            problems.append(((*at, "name"), f"Unknown key `name`. {_ADVICE['name']}"))
    return problems


def _param_problems(table: dict[str, Any], at: KeyPath) -> list[tuple[KeyPath, str]]:
    """A misspelt parameter would be sent, and a lenient server would ignore it: found before any call instead."""
    problems: list[tuple[KeyPath, str]] = []
    request, extra = table.get("request"), table.get("extra_body")
    for name, value in request.items() if isinstance(request, dict) else ():
        problems += [((*at, "request", name), f"{sentence}.") for sentence in validate_params({name: value})]
    for name, value in extra.items() if isinstance(extra, dict) else ():
        wrong = validate_params({EXTRA_BODY: {name: value}})
        problems += [((*at, EXTRA_BODY, name), f"{sentence}.") for sentence in wrong]
    return problems

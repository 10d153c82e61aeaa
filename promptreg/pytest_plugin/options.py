"""Options of the plugin. Imports nothing of promptreg: pytest loads this in every session, also without --promptreg."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TAKEN_PATH = "PATH"
_NAMES: Mapping[str, str] = {
    "--config": "--promptreg-config",
    "--passes": "--promptreg-passes",
    "--resume": "--promptreg-resume",
    "--run": "--promptreg-run",
    "--select": "--promptreg-select",
    "--to": "--promptreg-target",
}
"""The command line's options by the names that they have here."""

_OPTION = re.compile(
    r"`promptreg [^`]*`|\bpromptreg (?:compare|record|review|runs) [^`\n]*|“[^”]*”|<code>[^<]*</code>"
    rf"|(?<![\w-])(?P<option>{'|'.join(_NAMES)})(?![\w-])"
)
"""An option, where it does not stand in a command of the command line or in what somebody else said."""

_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--promptreg-target": {"metavar": "NAME", "help": "the deployment to judge (default: the target role)"},
    "--promptreg-passes": {"metavar": "N", "type": int, "help": "samples of every case (default: plan.compare_passes)"},
    "--promptreg-run": {
        "metavar": "RUN",
        "help": "judge this stored run (an id, the beginning of one, or `latest`); nothing is called",
    },
    "--promptreg-resume": {
        "action": "store_true",
        "help": "go on with the last unfinished run of the same cases; calls that were answered are not repeated",
    },
    "--promptreg-select": {
        "metavar": "EXPR",
        "help": "only some cases, such as `tag:policy and not id:refund*`; the suite's verdict is then about these",
    },
    "--promptreg-report": {
        "metavar": _TAKEN_PATH,
        "help": "where to write the report (default: reports/RUN.html); .md, .xml, .csv and .jsonl are other kinds",
    },
    "--promptreg-junit-properties": {
        "action": "store_true",
        "help": "put verdict, p-value and effect of every item into the file of --junitxml",
    },
    "--promptreg-allow-inconclusive": {
        "action": "store_true",
        "help": "skip the item of a suite that could not be decided instead of failing it",
    },
    "--promptreg-no-calls": {
        "action": "store_true",
        "help": "fail instead of calling a deployment; with --promptreg-run nothing is called anyway",
    },
    "--promptreg-config": {
        "metavar": _TAKEN_PATH,
        "help": "the configuration file (default: the nearest promptreg.toml)",
    },
    "--promptreg-codequality": {
        "metavar": _TAKEN_PATH,
        "help": "write failures as a GitLab code-quality report (default in GitLab CI: gl-code-quality-report.json)",
    },
}
"""All but the switch itself. None of them has an effect, or a default, without it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks for. None means: as the configuration says."""

    target: str | None = None
    passes: int | None = None
    run: str | None = None
    resume: bool = False
    select: str | None = None
    report: Path | None = None
    junit_properties: bool = False
    allow_inconclusive: bool = False
    no_calls: bool = False
    config: Path | None = None
    codequality: Path | None = None


def in_pytest(text: str) -> str:
    """A sentence of the product with the options under the names that they have here.

    Commands that it names stay as they are, and so does what it quotes. Not for texts with a model's answers in them.
    """
    return _OPTION.sub(lambda found: _NAMES.get(found["option"] or "", found[0]), text)


def add_options(parser: pytest.Parser) -> None:
    """Adds the options and the one ini key; every name begins with `promptreg`."""
    group = parser.getgroup("promptreg", "prompt regression (promptreg)")
    group.addoption(
        "--promptreg", action="store_true", default=False, help="collect the suites and judge the target deployment"
    )
    for name, fields in _OPTIONS.items():
        group.addoption(name, default=None, **fields)
    parser.addini("promptreg_codequality", "where to write the GitLab code-quality report", default=None)


def is_on(config: pytest.Config) -> bool:
    """Whether --promptreg was given."""
    return bool(config.getoption("--promptreg"))


def refuse_alone(config: pytest.Config) -> None:
    """Options that would silently do nothing are an error.

    Raises:
        pytest.UsageError: one of them was given without --promptreg.
    """
    given = [name for name in _OPTIONS if config.getoption(name) is not None]
    if given:
        does, them = ("does", "it") if len(given) == 1 else ("do", "them")
        raise pytest.UsageError(f"{', '.join(given)} {does} nothing without --promptreg: add it, or leave {them} out.")


def asked_of(config: pytest.Config) -> Asked:
    """The options as they were given; paths are those that the user meant from where pytest was started.

    Raises:
        pytest.UsageError: two of them contradict each other, or a number makes no sense.
    """

    def path(text: str | None) -> Path | None:
        return None if text is None else config.invocation_params.dir / text

    # Precedence of the code-quality path: option, ini key (from the file that has it), GitLab's own environment.
    codequality = path(config.getoption("--promptreg-codequality"))
    ini: str | None = config.getini("promptreg_codequality")
    if codequality is None and ini:
        codequality = (config.inipath.parent if config.inipath is not None else config.rootpath) / ini
    asked = Asked(
        target=config.getoption("--promptreg-target"),
        passes=config.getoption("--promptreg-passes"),
        run=config.getoption("--promptreg-run"),
        resume=bool(config.getoption("--promptreg-resume")),
        select=config.getoption("--promptreg-select"),
        report=path(config.getoption("--promptreg-report")),
        junit_properties=bool(config.getoption("--promptreg-junit-properties")),
        allow_inconclusive=bool(config.getoption("--promptreg-allow-inconclusive")),
        no_calls=bool(config.getoption("--promptreg-no-calls")),
        config=path(config.getoption("--promptreg-config")),
        codequality=codequality,
    )
    beside_run = {
        "--promptreg-target": asked.target,
        "--promptreg-passes": asked.passes,
        "--promptreg-resume": asked.resume or None,
    }
    if asked.run is not None and (given := [name for name, value in beside_run.items() if value is not None]):
        raise pytest.UsageError(
            f"--promptreg-run judges a stored run as it was taken: leave {', '.join(given)} out, or leave "
            "--promptreg-run out to take a new run."
        )
    if asked.passes is not None and not 1 <= asked.passes <= 1000:
        raise pytest.UsageError(f"--promptreg-passes must be between 1 and 1000; got {asked.passes}.")
    return asked

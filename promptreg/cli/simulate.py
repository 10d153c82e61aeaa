"""promptreg simulate: an OpenAI-compatible server that answers from a script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptreg.cli.options import example
from promptreg.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

    from promptreg.deployment.simulated.script import Script

_KINDS = ("vllm", "vllm-ascend", "sglang", "mindie", "deepseek", "openai")
"""As `deployment.simulated.script.Kind`, written here so that --help loads no server."""


@click.command(
    epilog=example("promptreg simulate --kind vllm-ascend --port 8001 --fault think_tags:0.2 --fault status_503:0.1")
)
@click.argument("script", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address; by default only this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port; 0 picks a free one.")
@click.option("--kind", type=click.Choice(_KINDS), help="Server kind: its error shapes and stream shapes.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="Model name it serves (repeatable).")
@click.option("--window", type=click.IntRange(1), metavar="TOKENS", help="Context window; longer requests are refused.")
@click.option("--tokenizer", metavar="NAME", help="What counts prompts, such as v3.1. Default: by the model's name.")
@click.option("--latency", type=click.FloatRange(0), metavar="MS", help="Milliseconds before each answer.")
@click.option("--seed", type=int, help="Seed of its noise and faults.")
@click.option("--fault", "faults", multiple=True, metavar="NAME[:PROB]", help="Plant a fault (repeatable).")
@click.option("--faults", "list_faults", is_flag=True, help="List the faults that can be planted, and end.")
@click.option(
    "--ready-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Write the base URL to this file once it listens.",
)
def command(
    script: Path | None,
    *,
    host: str,
    port: int,
    kind: str | None,
    models: tuple[str, ...],
    window: int | None,
    tokenizer: str | None,
    latency: float | None,
    seed: int | None,
    faults: tuple[str, ...],
    list_faults: bool,
    ready_file: Path | None,
) -> None:
    """Serve a simulated deployment until Ctrl-C, answering from SCRIPT (a YAML file) or with short default answers.

    Options replace what the script says; faults are added to its own. The answers to a request depend only on the
    seed, its messages and how often it was asked, so two recordings are alike.
    """
    if list_faults:
        _list_faults()
        return
    fields: dict[str, Any] = {"kind": kind, "models": list(models) or None, "window": window, "seed": seed}
    fields["tokenizer"] = tokenizer
    fields |= {"latency": None if latency is None else {"first_ms": latency}, "faults": list(faults) or None}
    chosen = _script(script, {name: value for name, value in fields.items() if value is not None})

    from promptreg.deployment.simulated.server import serve  # noqa: PLC0415 - uvicorn only when it serves

    def ready(url: str) -> None:
        click.echo(f"Simulated {chosen.kind} deployment, models: {', '.join(chosen.models)}; window: {chosen.window}.")
        for note in _notes(chosen):
            click.echo(note)
        click.echo(f"Ready: {url}")
        if ready_file is not None:
            _write(ready_file, f"{url}\n")

    serve(chosen, host, port, ready)
    click.echo("Stopped.")


def _notes(script: Script) -> Iterator[str]:
    """Which planted faults some calls will not show, and how to ask for those that do."""
    from promptreg.deployment.simulated.faults.registry import FAULTS  # noqa: PLC0415 - not for --help

    plants = [*script.faults, *(plant for rule in script.rules for plant in rule.faults)]
    for fault in map(FAULTS.__getitem__, dict.fromkeys(plant.name for plant in plants)):
        if fault.only == "bodies":
            yield (
                f"Note: {fault.name} cannot be planted in streamed answers. promptreg asks for streams; set "
                "`stream = false` for the deployment."
            )
        elif fault.only == "streams":
            yield f"Note: {fault.name} is planted in streamed answers only, as promptreg asks for them by default."


def _script(path: Path | None, fields: dict[str, Any]) -> Script:
    from pydantic import ValidationError  # noqa: PLC0415 - not for --help

    from promptreg.deployment.simulated.loading import load_script  # noqa: PLC0415 - not for --help
    from promptreg.deployment.simulated.script import Script  # noqa: PLC0415 - not for --help

    if path is not None:
        return load_script(path, fields)
    try:
        return Script.model_validate(fields)
    except ValidationError as problem:
        raise UsageError(_wrong_option(problem.errors(include_url=False)[0], fields)) from problem


def _wrong_option(problem: ErrorDetails, fields: Mapping[str, Any]) -> str:
    where = [step for step in problem["loc"] if not str(step).startswith("function-")]
    option = f"--{str(where[0]).removesuffix('s')}" if where else "The options"
    if len(where) > 1 and isinstance(where[1], int):
        option += f" {fields[str(where[0])][where[1]]}"
    if where[-1:] == ["probability"]:
        return f"{option}: after the colon stands a probability, a number from 0 to 1, such as think_tags:0.2."
    return f"{option}: {problem['msg'].removeprefix('Value error, ').rstrip('.')}."


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as problem:
        raise OutputError(f"Cannot write {path}: {problem.strerror or problem}.") from problem


def _list_faults() -> None:
    from promptreg.deployment.simulated.faults.registry import FAULTS  # noqa: PLC0415 - not for --help

    width = max(map(len, FAULTS))
    for fault in FAULTS.values():
        kinds = f" ({', '.join(fault.kinds)})" if fault.kinds else ""
        only = f" Only in {fault.only}." if fault.only else ""
        click.echo(f"{fault.name:{width}}  {fault.about}{only}{kinds}")

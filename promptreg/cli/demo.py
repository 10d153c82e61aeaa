"""promptreg demo: the main job on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import example

if TYPE_CHECKING:
    from promptreg.demo.run import DemoResult

_FOLDERS = {"model": Path("promptreg-demo"), "simulated": Path("promptreg-demo-simulated")}


@click.command("demo", epilog=example("promptreg demo --simulated"))
@click.option("--simulated", is_flag=True, help="Two simulated deployments instead of a real model.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write the demo project. Default: promptreg-demo, or promptreg-demo-simulated.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say only the verdict and errors.")
def command(*, simulated: bool, folder: Path | None, quiet: bool) -> None:
    """Record on a source, compare on a target, write the report: the whole job, on this machine, in about a minute.

    Source and target are one small real model served twice by llama.cpp (extra `local`), the target with a 4-bit KV
    cache. Exits with 0 when the job ran through, whatever the verdict.
    """
    from promptreg.demo.run import run_demo  # noqa: PLC0415 - not for --help
    from promptreg.replay.progress import renderer_for  # noqa: PLC0415 - not for --help

    result = run_demo(
        "simulated" if simulated else "model",
        (folder or _FOLDERS["simulated" if simulated else "model"]).absolute(),
        on_step=(lambda _: None) if quiet else click.echo,
        renderer=lambda title: renderer_for(sys.stderr, title, quiet=quiet),
    )
    _print(result, quiet=quiet)


def _print(result: DemoResult, *, quiet: bool) -> None:
    from promptreg.cli.verdicts import print_comparison  # noqa: PLC0415 - not for --help

    click.echo()
    print_comparison(result.compared, result.config, quiet=quiet, verbose=False)
    if quiet:
        return
    verdict = _IN_PLAIN_WORDS[result.compared.comparison.verdict.value]
    click.echo(f"\nThe demo ran through in {result.seconds:.0f} s. {verdict}")
    click.echo(f"Open {result.compared.report} in a browser; the project is in {result.config.root}.")


_IN_PLAIN_WORDS = {
    "EQUIVALENT": "The target answers as the source does.",
    "DRIFT": "The target answers differently from the source, by more than the source differs from itself.",
    "REGRESSION": "The target answers worse than the source: checks that passed there fail here.",
    "INCONCLUSIVE": "The answers do not show a difference, but there are too few of them to call both sides equal.",
    "ERROR": "Too many calls failed to judge the target.",
}

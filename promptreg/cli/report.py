"""`promptreg report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import common_options, example

if TYPE_CHECKING:
    from promptreg.report.html import Details


@click.command("report", epilog=example("promptreg report 20261201-231502-ascend-9c1e -o reports/again.html"))
@click.argument("run_id", metavar="RUN")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Default: reports/RUN.html.")
@click.option(
    "--details",
    type=click.Choice(["auto", "all", "changed", "none"]),
    default="auto",
    show_default=True,
    help="Whose details the report holds. auto: all of up to 500 cases, else of those that did not pass.",
)
@common_options
def command(
    run_id: str, output: Path | None, details: Details, config_path: Path | None, verbose: bool, quiet: bool
) -> int:
    """Write the report of a stored RUN again, judged against the baseline as it is now. No calls are made."""
    from promptreg.cli.verdicts import print_comparison  # noqa: PLC0415 - loaded when the command runs, not for --help
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above
    from promptreg.workflow.compare import CompareOptions, compare  # noqa: PLC0415 - see above

    if output is not None and output.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"A report is an HTML file: {output} must end in .html.")
    config = load_config(config_path, Path.cwd())
    result = compare(config, CompareOptions(run_id=run_id, report=output, details=details, ask_judges=False))
    print_comparison(result, config, quiet=quiet, verbose=verbose)
    return 0

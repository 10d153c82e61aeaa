"""`promptreg report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import common_options, example

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.report.form import Kind
    from promptreg.report.html import Assets, Details


@click.command("report", epilog=example("promptreg report 20261201-231502-ascend-9c1e -o reports/again.html"))
@click.argument("run_id", metavar="RUN")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to; the suffix decides on the kind: .html (default: reports/RUN.html), .md (summary for a merge "
    "request), .xml (JUnit), .csv (a row per case, formulas made harmless) or .jsonl (all there is of each case).",
)
@click.option(
    "--against",
    metavar="RUN",
    help="Hold it against this earlier run: what became of each case since. Default: the run of the same target before "
    "it.",
)
@click.option(
    "--details",
    type=click.Choice(["auto", "all", "changed", "none"]),
    default="auto",
    show_default=True,
    help="Of a page: whose details it holds. auto: all of up to 500 cases, else of those that did not pass.",
)
@click.option(
    "--assets",
    type=click.Choice(["inline", "files"]),
    default="inline",
    show_default=True,
    help="Of a page: code and style in it, or in two files beside it, for hosts whose policy forbids inline code.",
)
@click.option("--force", is_flag=True, help="Of a page: write it also where it is larger than 100 MB.")
@click.option("--excel", is_flag=True, help="Of a .csv: begin with the mark without which Excel garbles Chinese.")
@common_options
def command(
    run_id: str,
    output: Path | None,
    against: str | None,
    details: Details,
    assets: Assets,
    force: bool,
    excel: bool,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Write the report of a stored RUN again, judged against the baseline as it is now. No calls are made.

    Says the verdict and where the report is; -v prints the whole summary as `compare` does.

    A run is named by its id, by the beginning of it, or by its age: latest is the newest comparison, latest~1 the one
    before.
    """
    from promptreg.cli.console import reader_language  # noqa: PLC0415 - loaded when the command runs, not for --help
    from promptreg.cli.verdicts import print_comparison, print_written  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.report.form import Form, kind_of  # noqa: PLC0415 - see above
    from promptreg.workflow.compare import compare  # noqa: PLC0415 - see above
    from promptreg.workflow.compare_options import CompareOptions  # noqa: PLC0415 - see above

    kind = "html" if output is None else kind_of(output)
    _refuse_of_others(kind, {"--details": details != "auto", "--assets": assets != "inline", "--force": force}, "html")
    _refuse_of_others(kind, {"--excel": excel}, "csv")
    config = load_config(config_path, Path.cwd())
    form = Form(reader_language(config.language), details, assets, force, excel)
    result = compare(
        config,
        CompareOptions(run_id=run_id, against=against, report=output, report_kind=kind, form=form, ask_judges=False),
    )
    if verbose or quiet:
        print_comparison(result, config, quiet=quiet, verbose=verbose)
    else:
        print_written(result, config)
    return 0


def _refuse_of_others(kind: Kind, given: Mapping[str, bool], owner: Kind) -> None:
    """Options of one kind of report, given for another."""
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above

    for name, used in given.items():
        if used and kind != owner:
            raise UsageError(f"{name} is of reports that end in .{owner}: leave it out, or give -o such a name.")

"""`promptreg review show`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example


@click.command("show", epilog=example("promptreg review show support/refund"))
@click.argument("case")
@click.option("--run", "run_id", metavar="RUN", help="The comparison that shows it. Default: the newest.")
@common_options
def command(case: str, run_id: str | None, config_path: Path | None, verbose: bool, quiet: bool) -> int:
    """Show CASE: the golden beside the candidate, the facts that differ first.

    What only the golden says stands in [-…-], what only the candidate says in {+…+}. -v shows every answer of both
    sides and folds nothing.
    """
    del quiet  # there is nothing to leave out; the option is there because every command has it
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.review.text import case_lines  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.review.case import CaseBook  # noqa: PLC0415 - see above
    from promptreg.workflow.review.waiting import reviewed_run  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    language, out = reader_language(config.language), console()
    with Store.open(config.root / config.paths.store, create=False) as store:
        run = reviewed_run(config, store, run_id)
        sides = CaseBook(config, store, run).sides(run.named([case])[0])
    for line in case_lines(sides, language, everything=verbose):
        out.print(line)
    return 0

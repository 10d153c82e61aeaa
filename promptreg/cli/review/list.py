"""`promptreg review list`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example, json_option


@click.command("list", epilog=example("promptreg review list --json > waiting.json"))
@click.argument("run_id", required=False, metavar="[RUN]")
@click.option("--all", "everything", is_flag=True, help="All cases, those too that passed or are decided.")
@json_option
@common_options
def command(
    run_id: str | None, everything: bool, as_json: bool, config_path: Path | None, verbose: bool, quiet: bool
) -> int:
    """List the cases of RUN (default: the newest comparison) that wait for a decision, worst first.

    A case's name, SUITE/CASE, is what `show` and `decide` take. -v shows whole sentences; `--json` holds all that a
    decisions file needs.
    """
    del quiet  # there is nothing to leave out; the option is there because every command has it
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.review.text import case_line, counts_line  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.text.terminal import json_for_terminal  # noqa: PLC0415 - see above
    from promptreg.workflow.review.waiting import reviewed_run  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        run = reviewed_run(config, store, run_id)
    cases = run.cases if everything else run.waiting
    if as_json:
        click.echo(json_for_terminal(run.to_json(cases)))
        return 0
    language, out = reader_language(config.language), console()
    for case in cases:
        out.print(case_line(case, language, whole=verbose))
    out.print(counts_line(run, language))
    return 0

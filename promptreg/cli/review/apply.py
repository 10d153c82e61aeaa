"""`promptreg review apply`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example, json_option


@click.command(
    "apply",
    epilog=example("promptreg review apply decisions.json && promptreg review apply decisions.json --write"),
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--write", is_flag=True, help="Change the files. Without it, nothing is changed.")
@json_option
@common_options
def command(file: Path, write: bool, as_json: bool, config_path: Path | None, verbose: bool, quiet: bool) -> int:
    """Let the decisions in FILE, an export of the report, take effect: all of them or none.

    Approved answers become the golden, byte for byte as the report showed them. A decision is refused where the golden
    or the answers are others by now, where a waiver has no reason or has expired, and where the case is an error. Exit
    codes: 0 all decisions hold, 1 some are refused and nothing was changed, 2 FILE is no decisions file or the project
    is wrong.
    """
    del verbose
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.review.text import applied_json, applied_lines  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.review.decisions import read_decisions  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.text.terminal import json_for_terminal  # noqa: PLC0415 - see above
    from promptreg.workflow.review.apply import apply_decisions  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    decisions = read_decisions(file, str(file))
    with Store.open(config.root / config.paths.store, create=False) as store:
        applied = apply_decisions(config, store, decisions, write=write)
    if as_json:
        click.echo(json_for_terminal(applied_json(applied)))
    else:
        for line in applied_lines(applied, reader_language(config.language), quiet=quiet):
            console().print(line)
    return 1 if applied.review.refused else 0

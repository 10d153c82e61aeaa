"""`promptreg review decide`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import common_options, example

if TYPE_CHECKING:
    from datetime import datetime

    from promptreg.review.decisions import Verb


@click.command(
    "decide",
    epilog=example(
        "promptreg review decide approve support/refund support/hours --write\n"
        '  promptreg review decide waive support/gift --reason "wording only" --until 2027-01-31 --write'
    ),
)
@click.argument("verb", type=click.Choice(["approve", "reject", "waive", "defer", "remove"]))
@click.argument("cases", nargs=-1, required=True)
@click.option("--run", "run_id", metavar="RUN", help="The comparison that shows them. Default: the newest.")
@click.option("--reviewer", metavar="NAME", help="Who decides. Default: git's user.name.")
@click.option("--reason", default="", help="Why; a waiver needs it.")
@click.option("--until", type=click.DateTime(["%Y-%m-%d"]), metavar="DAY", help="The last day of a waiver, UTC.")
@click.option("--write", is_flag=True, help="Change the files. Without it, nothing is changed.")
@common_options
def command(
    verb: Verb,
    cases: tuple[str, ...],
    run_id: str | None,
    reviewer: str | None,
    reason: str,
    until: datetime | None,
    write: bool,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Decide on CASES of a comparison: approve, reject, waive, defer or remove them, all or none.

    The same as a decisions file with these decisions on what the run shows, with the same rules and exit codes as
    `promptreg review apply`.
    """
    del verbose
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.review.text import applied_lines  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.git import reviewer_name  # noqa: PLC0415 - see above
    from promptreg.workflow.review.apply import apply_decisions  # noqa: PLC0415 - see above
    from promptreg.workflow.review.waiting import decided_now, reviewed_run  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        run = reviewed_run(config, store, run_id)
        day = None if until is None else until.date()
        chosen = [(case.shown, verb, reason.strip(), day) for case in run.named(cases)]
        decisions = decided_now(run, reviewer or reviewer_name(config.root), chosen)
        applied = apply_decisions(config, store, decisions, write=write)
    for line in applied_lines(applied, reader_language(config.language), quiet=quiet):
        console().print(line)
    return 1 if applied.review.refused else 0

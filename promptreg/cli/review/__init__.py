"""`promptreg review`: decide on the cases of a comparison, one by one or with a decisions file."""

from __future__ import annotations

import sys
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click

from promptreg.cli.lazy import PartsGroup
from promptreg.cli.options import common_options, example

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "list": "List the cases of a comparison that wait for a decision, worst first.",
        "show": "Show one case: golden and candidate, the facts that differ first.",
        "apply": "Let a decisions file take effect; without --write, say what it would do.",
        "decide": "Decide on cases by name, without a terminal or a file.",
        "serve": "Serve the report on this machine; what is decided on it is saved at once.",
    }
)
"""Its subcommands and the line that `--help` shows for each; `promptreg.cli.review.<name>` holds the rest."""


class Parts(PartsGroup):
    """The subcommands of `promptreg review`."""

    commands_by_name = PARTS
    modules = "promptreg.cli.review."
    command_name = "review"


@click.command(
    "review",
    cls=Parts,
    invoke_without_command=True,
    epilog=example(
        "promptreg review\n"
        "  promptreg review list\n"
        "  promptreg review apply decisions.json\n"
        "  promptreg review apply decisions.json --write"
    ),
)
@click.option("--run", "run_id", metavar="RUN", help="The comparison to review. Default: the newest.")
@click.option("--reviewer", metavar="NAME", help="Who decides. Default: git's user.name.")
@common_options
@click.pass_context
def command(
    context: click.Context,
    run_id: str | None,
    reviewer: str | None,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Decide on what a comparison found: approve, reject, waive for a time, or defer.

    Approved answers become the golden in baselines/; waivers and rejections stand in baselines/SUITE/decisions/. Both
    are files to commit. Without a subcommand, in a terminal, the waiting cases are shown one by one.
    """
    if context.invoked_subcommand is not None:
        _refuse_before(
            context.invoked_subcommand,
            {"--run": run_id, "--reviewer": reviewer, "--config": config_path, "-v": verbose, "-q": quiet},
        )
        return 0
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.review.keys import review_by_keys  # noqa: PLC0415 - see above
    from promptreg.cli.review.text import commands_instead  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.git import reviewer_name  # noqa: PLC0415 - see above
    from promptreg.workflow.review.waiting import reviewed_run  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    language = reader_language(config.language)
    with Store.open(config.root / config.paths.store, create=False) as store:
        run = reviewed_run(config, store, run_id)
        if sys.stdin.isatty() and sys.stdout.isatty():
            who = reviewer or reviewer_name(config.root)
            return review_by_keys(config, store, run, who, language)
        for line in commands_instead(run, language):
            console().print(line)
    return 0


def _refuse_before(part: str, given: Mapping[str, object]) -> None:
    """Options of the subcommands stand after them: taken here, they would be lost."""
    names = [name for name, value in given.items() if value]
    if names:
        raise click.UsageError(
            f"{names[0]} stands after the command, such as `promptreg review {part} … {names[0]}`; `promptreg review "
            f"{part} --help` shows which options it has."
        )

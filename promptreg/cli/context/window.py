"""`promptreg context window`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import config_option, example, html_option, json_option
from promptreg.errors import ExitCode, UsageError
from promptreg.text.terminal import json_for_terminal

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.context.change import WindowReport
    from promptreg.workflow.context.servers import Servers
    from promptreg.workflow.context.sides import Side, Wanted


@click.command(
    "window",
    epilog=example(
        "promptreg context window --from gpu --to ascend conversations/ --html reports/window.html\n"
        "  promptreg context window --from-window 32768 --to-window 8192 conversations.jsonl --json"
    )
    + "\n\nExit codes: 0 when every conversation fits the target's window for as long as the source's, 1 when one does "
    "not, 2 for a file or an option that is wrong, 4 when a server that is to count cannot be asked.",
)
@click.argument(
    "conversations",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="CONVERSATIONS…",
)
@click.option("--from", "source", metavar="NAME", help="The deployment they come from. Default: the source of [roles].")
@click.option("--to", "target", metavar="NAME", help="The deployment they go to. Default: the target of [roles].")
@click.option("--from-window", type=click.IntRange(min=1), metavar="N", help="The source's window in tokens instead.")
@click.option("--to-window", type=click.IntRange(min=1), metavar="N", help="The target's window in tokens instead.")
@click.option(
    "--reserve",
    type=click.IntRange(min=0),
    metavar="N",
    help="Tokens kept free for the answer on both sides. Default: each deployment's max_tokens, else 1024, at most a "
    "quarter of the window.",
)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    help="What to try, + between strategies that follow each other; `context fit --strategies` lists them. Default: "
    "eight of them.",
)
@click.option(
    "--pin", "pinned", type=int, multiple=True, metavar="N", help="A message of each conversation that stays, from 0."
)
@click.option(
    "--counter",
    metavar="NAME",
    help="What counts on both sides; server: the deployments' own. Default: each deployment's tokenizer.",
)
@click.option("--encoder", metavar="FORMAT", help="Prompt format on both sides: v3, r1, v3.1, v3.2, v4, a template.")
@json_option
@html_option
@config_option
@click.option("-v", "--verbose", is_flag=True, help="List every conversation, not only the first twenty.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the sentence that sums it up.")
def command(
    conversations: tuple[Path, ...],
    source: str | None,
    target: str | None,
    from_window: int | None,
    to_window: int | None,
    reserve: int | None,
    strategies: tuple[str, ...],
    pinned: tuple[int, ...],
    counter: str | None,
    encoder: str | None,
    as_json: bool,
    html: Path | None,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Look at recorded CONVERSATIONS against the windows of two deployments. No model is called.

    What every prompt needs, the first turn that no longer fits, how many conversations are affected and by what they
    grew, what the target's server does with such prompts, and what each strategy would lose. CONVERSATIONS are files of
    JSON Lines or JSON, or folders of them.
    """
    from promptreg.cli.console import reader_language, users_prints_apart  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.context.window_tables import print_window  # noqa: PLC0415 - see above
    from promptreg.context.conversations import read_recordings  # noqa: PLC0415 - see above
    from promptreg.workflow.context.servers import Servers  # noqa: PLC0415 - see above
    from promptreg.workflow.context.sides import Wanted  # noqa: PLC0415 - see above
    from promptreg.workflow.context.window import WindowOptions, window_report  # noqa: PLC0415 - see above

    config = _config(config_path, needed=from_window is None or to_window is None or bool(source or target))
    language = reader_language("auto" if config is None else config.language)
    recordings = read_recordings(conversations, Path.cwd())
    options = WindowOptions(strategies, pinned) if strategies else WindowOptions(pinned=pinned)
    with Servers(None if config is None else config.root) as servers, users_prints_apart():
        here = _side(Wanted(source, from_window, reserve, counter, encoder), config, "source", servers)
        there = _side(Wanted(target, to_window, reserve, counter, encoder), config, "target", servers)
        report = window_report(recordings, here, there, options, config=config)
    if html is not None:
        from promptreg.report.context.window_page import write_window_page  # noqa: PLC0415 - see above

        write_window_page(report, html, "auto" if config is None else config.language)
    if as_json:
        click.echo(json_for_terminal(report.to_json()))
    else:
        print_window(report, language, html, quiet=quiet, verbose=verbose)
    return _code(report)


def _code(report: WindowReport) -> int:
    if not report.sessions:
        return ExitCode.USAGE
    return ExitCode.DRIFT if report.worse else ExitCode.EQUIVALENT


def _config(path: Path | None, *, needed: bool) -> Config | None:
    from promptreg.config import load_config  # noqa: PLC0415 - see above

    return load_config(path, Path.cwd()) if needed or path is not None else None


def _side(wanted: Wanted, config: Config | None, role: str, servers: Servers) -> Side:
    from promptreg.workflow.context.sides import side_of  # noqa: PLC0415 - see above

    if config is not None and wanted.deployment is None and wanted.window is None:
        name = config.roles.source if role == "source" else config.roles.target
        if name is None:
            option = "--from" if role == "source" else "--to"
            raise UsageError(f"The {role} is not known. Name a deployment with {option}, or give {option}-window N.")
        wanted = replace(wanted, deployment=name)
    return side_of(wanted, config, role, servers)

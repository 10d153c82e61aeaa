"""`promptreg context`: what a smaller window does to conversations, tests of strategies, one conversation fitted."""

from __future__ import annotations

import importlib
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click

from promptreg.cli.options import example

if TYPE_CHECKING:
    from collections.abc import Mapping

PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "window": "Look at recorded conversations against a smaller window.",
        "test": "Test strategies, or a function of your own, on conversations.",
        "fit": "Shorten one conversation until it fits a window.",
    }
)
"""Its subcommands and the line that `--help` shows for each; `promptreg.cli.context_<name>` holds the rest."""


class LazyParts(click.Group):
    """A group that imports a subcommand only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names in the order of a user's day."""
        return list(PARTS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, or None for an unknown name."""
        if cmd_name not in PARTS:
            return None
        command: click.Command = importlib.import_module(f"promptreg.cli.context_{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of commands, from `PARTS` alone."""
        with formatter.section("Commands"):
            formatter.write_dl(list(PARTS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the closest command named for a misspelt one."""
        if args and args[0] not in PARTS and not args[0].startswith("-"):
            from promptreg.config.hints import did_you_mean, listing  # noqa: PLC0415 - only for a misspelt command

            raise click.UsageError(
                f"There is no command `context {args[0]}`.{did_you_mean(args[0], PARTS)} Allowed: {listing(PARTS)}.",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.command(
    "context",
    cls=LazyParts,
    epilog=example(
        "promptreg context window --from gpu --to ascend conversations/\n"
        "  promptreg context test conversations/ --window 8192\n"
        "  promptreg context fit conversation.jsonl --window 8192 --strategy hysteresis"
    ),
)
def command() -> None:
    """What happens to conversations when the window shrinks: look at many, test strategies, shorten one."""

"""Groups of commands that import a command only when it is asked for, so that `--help` loads nothing."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, ClassVar

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """A group whose commands are known by name and line of help; their modules hold the rest as `command`."""

    commands_by_name: ClassVar[Mapping[str, str]]
    """Every command and the line that `--help` shows for it, in the order of a user's day."""

    modules: ClassVar[str]
    """What the name of a command's module begins with; the command's name follows, with _ for -."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names in the order in which they are listed."""
        return list(self.commands_by_name)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command, or None for an unknown name (click then says so)."""
        if cmd_name not in self.commands_by_name:
            return None
        module = importlib.import_module(self.modules + cmd_name.replace("-", "_"))
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.commands_by_name.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the closest command named for a misspelt one."""
        if args and args[0] not in self.commands_by_name and not args[0].startswith("-"):
            raise click.UsageError(self.unknown(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def unknown(self, name: str) -> str:
        """What is said of a command that does not exist."""
        raise NotImplementedError


class PartsGroup(LazyGroup):
    """A command of `promptreg` that has subcommands of its own."""

    command_name: ClassVar[str]
    """The command's name."""

    def unknown(self, name: str) -> str:
        """Names the closest subcommand, and all of them."""
        from promptreg.config.hints import did_you_mean, listing  # noqa: PLC0415 - only for a misspelt command

        names = self.commands_by_name
        hint = did_you_mean(name, names)
        return f"There is no command `{self.command_name} {name}`.{hint} Allowed: {listing(names)}."

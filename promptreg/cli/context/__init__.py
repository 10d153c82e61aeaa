"""`promptreg context`: what a smaller window does to conversations, tests of strategies, one conversation fitted."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import click

from promptreg.cli.lazy import PartsGroup
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
"""Its subcommands and the line that `--help` shows for each; `promptreg.cli.context.<name>` holds the rest."""


class Parts(PartsGroup):
    """The subcommands of `promptreg context`."""

    commands_by_name = PARTS
    modules = "promptreg.cli.context."
    command_name = "context"


@click.command(
    "context",
    cls=Parts,
    epilog=example(
        "promptreg context window --from gpu --to ascend conversations/\n"
        "  promptreg context test conversations/ --window 8192\n"
        "  promptreg context fit conversation.jsonl --window 8192 --strategy hysteresis"
    ),
)
def command() -> None:
    """What happens to conversations when the window shrinks: look at many, test strategies, shorten one."""

"""`promptreg baseline`: what changed in the goldens, and a target run that becomes the new baseline."""

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
        "diff": "Say in words which goldens changed since the last commit.",
        "promote": "Make a stored run the baseline of its deployment.",
        "recheck": "Look for serving faults again in the stored calls of the baselines.",
    }
)
"""Its subcommands and the line that `--help` shows for each; `promptreg.cli.baseline.<name>` holds the rest."""


class Parts(PartsGroup):
    """The subcommands of `promptreg baseline`."""

    commands_by_name = PARTS
    modules = "promptreg.cli.baseline."
    command_name = "baseline"


@click.command(
    "baseline",
    cls=Parts,
    epilog=example("promptreg baseline diff\n  promptreg baseline promote 20261201-231502-ascend-9c1e --write"),
)
def command() -> None:
    """Look at goldens before a commit, or move on to another deployment's."""

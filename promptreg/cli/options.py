"""Options that every command shares, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Function = TypeVar("Function", bound=Callable[..., Any])


def common_options(function: Function) -> Function:
    """Add `--config PATH`, `-v` and `-q` to a command. Handed over as config_path, verbose, quiet."""
    for option in reversed(
        (
            click.option(
                "--config",
                "config_path",
                type=click.Path(path_type=Path, dir_okay=False),
                help="The project's promptreg.toml. Default: looked for from here upwards.",
            ),
            click.option("-v", "--verbose", is_flag=True, help="Say more: every retry, every file."),
            click.option("-q", "--quiet", is_flag=True, help="Say only the verdict and errors."),
        )
    ):
        function = option(function)
    return function


def example(text: str) -> str:
    r"""The epilog of a command: one example, kept on its own lines by click's \b mark."""
    return f"\b\nExample:\n  {text}"

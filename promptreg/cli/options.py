"""Options that every command shares, and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from promptreg.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])


class Share(click.FloatRange):
    """A number between 0 and 1, neither of them included; not-a-number, which is no larger than either, is none."""

    def __init__(self) -> None:
        """The range."""
        super().__init__(0, 1, min_open=True, max_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, checked."""
        number = super().convert(value, param, ctx)
        if number != number:  # noqa: PLR0124 - what a not-a-number is known by
            self.fail(f"{value!r} is not a number between 0 and 1.", param, ctx)
        return number


config_option = click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The project's promptreg.toml. Default: looked for from here upwards.",
)
"""`--config PATH`, handed over as config_path."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else on stdout.")
"""`--json`, handed over as as_json."""

reserve_option = click.option(
    "--reserve",
    type=click.IntRange(min=0),
    metavar="N",
    help="Tokens kept free for the answer. Default: the deployment's max_tokens, else 1024, at most a quarter of the "
    "window.",
)
"""`--reserve N` of one window."""


def _page(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in {".html", ".htm"}:
        raise UsageError(f"The page is an HTML file: {path} must end in .html.")
    return path


html_option = click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_page,
    help="Write the report as one HTML page.",
)
"""`--html PATH`, handed over as html."""


summariser_option = click.option(
    "--summariser",
    metavar="NAME",
    help="The deployment that writes the summaries of summary-on-cut and summary-and-recent. Default: none, the "
    "summaries are extracts.",
)
"""`--summariser NAME` of a deployment."""


def common_options(function: Function) -> Function:
    """Add `--config PATH`, `-v` and `-q` to a command. Handed over as config_path, verbose, quiet."""
    for option in reversed(
        (
            config_option,
            click.option("-v", "--verbose", is_flag=True, help="Say more: every retry, every file."),
            click.option("-q", "--quiet", is_flag=True, help="Say only the verdict and errors."),
        )
    ):
        function = option(function)
    return function


def example(text: str) -> str:
    r"""The epilog of a command: one example, kept on its own lines by click's \b mark."""
    return f"\b\nExample:\n  {text}"

"""The command line: one thin module per command; each parses, calls one function and prints."""

from __future__ import annotations

from typing import NoReturn


def app() -> NoReturn:
    """What the command of the unrelated distribution `promptreg` calls when that was installed over this one.

    Its script asks this package for `app` and calls it. Ours is made for `promptreg.cli.app`, the module.

    Raises:
        SystemExit: always, with what to do.
    """
    from importlib.metadata import version  # noqa: PLC0415 - no session but a broken one needs them

    import click  # noqa: PLC0415 - see above

    from promptreg.cli.checkup import NAMESAKE, namesake_sentence  # noqa: PLC0415 - see above
    from promptreg.errors import ExitCode  # noqa: PLC0415 - see above

    click.echo(f"Error: {namesake_sentence(version(NAMESAKE))}", err=True)
    raise SystemExit(int(ExitCode.USAGE))

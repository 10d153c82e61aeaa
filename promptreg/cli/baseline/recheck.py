"""`promptreg baseline recheck`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example


@click.command("recheck", epilog=example("promptreg baseline recheck --write"))
@click.argument("suites", nargs=-1)
@click.option("--write", is_flag=True, help="Write the files. Without it, nothing is changed.")
@common_options
def command(suites: tuple[str, ...], write: bool, config_path: Path | None, verbose: bool, quiet: bool) -> int:
    """Look for serving faults again in the stored calls that the baselines of SUITES (default: all) came from.

    A baseline tells which faults the source's own calls show, so that CI knows them without the store. What another
    release of promptreg found is not used: after an upgrade, run this where the store of the recording is. Nobody is
    called, and the answers stay as they are.
    """
    del verbose
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.baselines.recheck import recheck  # noqa: PLC0415 - see above
    from promptreg.workflow.baselines.recheck_words import rechecked  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        done = recheck(config, store, suites, write=write)
    language, out = reader_language(config.language), console()
    for sentence in rechecked(done):
        if not quiet:
            out.print(sentence.text(language))
    return 0

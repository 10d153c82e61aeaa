"""`promptreg baseline promote`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example


@click.command("promote", epilog=example("promptreg baseline promote 20261201-231502-ascend-9c1e --write"))
@click.argument("run_id", metavar="RUN")
@click.option("--write", is_flag=True, help="Write the files. Without it, nothing is changed.")
@common_options
def command(run_id: str, write: bool, config_path: Path | None, verbose: bool, quiet: bool) -> int:
    """Make the answers of a stored RUN the baselines of the deployment that gave them.

    For the day when the source is gone: the target's baseline takes its place, and [roles] in promptreg.toml moves on.
    The baselines of the source stay as they are. RUN is an id, the beginning of one, or latest, latest~1 and so on.
    """
    del verbose
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.baselines.promote import promote  # noqa: PLC0415 - see above
    from promptreg.workflow.baselines.promote_words import promoted  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        done = promote(config, store, run_id, write=write)
    language, out = reader_language(config.language), console()
    for sentence in promoted(done):
        if not quiet:
            out.print(sentence.text(language))
    return 0

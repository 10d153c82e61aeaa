"""`promptreg suggest-checks`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example
from promptreg.text.counted import counted


@click.command(
    "suggest-checks",
    epilog=example("promptreg suggest-checks suites/support.yaml --select tag:policy > suggested.yaml"),
)
@click.argument("suites", nargs=-1, type=click.Path(path_type=Path))
@click.option("--on", "deployment", metavar="NAME", help="Whose baseline to read. Default: the source role.")
@click.option("--select", metavar="EXPR", help="Only some cases, such as `tag:policy and not id:refund*`.")
@common_options
def command(
    suites: tuple[Path, ...],
    deployment: str | None,
    select: str | None,
    config_path: Path | None,
    verbose: bool,  # noqa: ARG001 - every command takes it
    quiet: bool,
) -> int:
    """Print checks that all recorded answers of a case pass, as YAML to copy into the suite.

    Read off the baselines: JSON and its schema, language, refusals, length, facts and whatever else all answers of a
    case share. Every check was tried on every recorded answer. What recorded answers share need not be what they must
    do: keep what is meant. SUITES are files, folders or names of suites; without any, the project's own suites are
    read. Nothing is sent, nothing is written.
    """
    from promptreg.cli.console import notices, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.workflow.suggest import suggest  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    language = reader_language(config.language)
    notice = notices(quiet=quiet)
    texts = []
    for suggested in suggest(config, suites, deployment=deployment, select=select):
        if suggested.not_recorded:
            listed = ", ".join(suggested.not_recorded[:5]) + (", …" if len(suggested.not_recorded) > 5 else "")
            notice(
                f"{suggested.suite}: no recorded answers to the present request of "
                f"{counted(len(suggested.not_recorded), 'case')} ({listed}); `promptreg record --top-up` takes them."
            )
        text = suggested.yaml(language)
        if text:
            texts.append(text)
        else:
            notice(f"{suggested.suite}: the recorded answers share nothing that the suite does not check already.")
    # Several suites are several documents of YAML.
    click.echo("---\n".join(texts), nl=False)
    return 0

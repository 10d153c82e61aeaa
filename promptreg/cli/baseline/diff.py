"""`promptreg baseline diff`."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.options import common_options, example, json_option


@click.command("diff", epilog=example("promptreg baseline diff support"))
@click.argument("suites", nargs=-1)
@click.option(
    "--against",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="An older baseline file to hold the suite's only one against. Default: the last git commit.",
)
@json_option
@common_options
def command(
    suites: tuple[str, ...], against: Path | None, as_json: bool, config_path: Path | None, verbose: bool, quiet: bool
) -> int:
    """Say in words which goldens, waivers and rejections of SUITES (default: all) changed since the last commit.

    For each golden: who approved it, or that it was recorded again; its most frequent answer before and after, and the
    facts that differ. Exit code 0, whether or not anything changed.
    """
    del verbose
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.text.preview import preview  # noqa: PLC0415 - see above
    from promptreg.text.terminal import json_for_terminal, safe_for_terminal  # noqa: PLC0415 - see above
    from promptreg.workflow.baselines.diff import BASELINE_DIFF_SCHEMA, baseline_changes  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    changes = baseline_changes(config, suites, against)
    if as_json:
        value = {"schema": BASELINE_DIFF_SCHEMA, "files": [change.to_json() for change in changes]}
        click.echo(json_for_terminal(value))
        return 0
    language, out = reader_language(config.language), console()
    for change in changes:
        out.print(safe_for_terminal(f"{change.path}: {change.title.text(language)}"), style="bold")
        for case in () if quiet else change.cases:
            out.print(f"  {preview(case.case_id, 60)}: {safe_for_terminal(case.sentence.text(language))}")
    if not changes:
        out.print({"en": "Nothing changed.", "zh": "没有改动。"}[language])
    return 0

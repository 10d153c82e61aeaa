"""`promptreg diff`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from promptreg.cli.options import common_options, example, json_option


@click.command(
    "diff",
    epilog=example(
        "promptreg diff latest~1 latest\n  promptreg diff 20261201-2315 20261203-0810 --suite support\n"
        "  promptreg diff latest~1 latest -o reports/since.html"
    ),
)
@click.argument("run_a", metavar="RUN_A")
@click.argument("run_b", metavar="RUN_B")
@click.option("--suite", "suites", metavar="SUITE", multiple=True, help="Only this suite; may be given several times.")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write it to a file too: .json, what --json prints; .html, the report of RUN_B, which judges it again, with "
    "what became of each case since RUN_A.",
)
@json_option
@common_options
def command(
    run_a: str,
    run_b: str,
    suites: tuple[str, ...],
    output: Path | None,
    as_json: bool,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Say what changed from RUN_A to RUN_B, two stored comparisons of the same suites. No calls are made.

    A run is named by its id, by the beginning of it, or by its age: latest is the newest comparison, latest~1 the one
    before. A case fails where its verdict is fail, drift or error; one that went from drift to fail newly fails too.
    Exit codes: 1 when a case newly fails, 0 when none does, 2 when there is nothing to compare.
    """
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.cli.diff_text import print_diff  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above
    from promptreg.report.new_file import new_file  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.text.terminal import json_for_terminal  # noqa: PLC0415 - see above
    from promptreg.workflow.compare import compare  # noqa: PLC0415 - see above
    from promptreg.workflow.compare_options import CompareOptions  # noqa: PLC0415 - see above
    from promptreg.workflow.running.run_names import named_comparison  # noqa: PLC0415 - see above
    from promptreg.workflow.views.run_diff import run_diff, run_diff_json  # noqa: PLC0415 - see above

    kind = None if output is None else output.suffix.lower()
    if kind not in {None, ".json", ".html"}:
        raise UsageError(f"The suffix of {output} says nothing about what to write: end it in .json or .html.")
    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        old, new = (named_comparison(store, name) for name in (run_a, run_b))
        diff = run_diff(store, old, new, suites)  # what cannot be compared is said before a page is written
    if output is not None and kind == ".html":
        page = CompareOptions(run_id=new.run_id, against=old.run_id, reported=suites, ask_judges=False)
        compare(config, replace(page, report=output))
    with Store.open(config.root / config.paths.store, create=False) as store:
        if kind == ".html":  # the page judged the later run again
            diff = run_diff(store, store.run(old.run_id), store.run(new.run_id), suites)
        text = json_for_terminal(run_diff_json(store, diff)) if as_json or kind == ".json" else ""
        if output is not None and kind == ".json":
            with new_file(output) as out:
                out.write(text + "\n")
        if as_json:
            click.echo(text)
        else:
            print_diff(console(), store, diff, reader_language(config.language), everything=verbose, quiet=quiet)
    return diff.exit_code

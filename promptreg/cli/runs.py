"""`promptreg runs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import common_options, example, json_option
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from promptreg.canonical import JsonObject
    from promptreg.store.runs import RunCase, RunRecord
    from promptreg.workflow.running.runs import TroubledCall


CALLS_SHOWN = 20
"""Lines of each kind without `-v`."""


@click.command("runs", epilog=example("promptreg runs 20261201-231502-gpu-3f2a"))
@click.argument("run_id", required=False, metavar="[RUN]")
@json_option
@common_options
def command(run_id: str | None, as_json: bool, config_path: Path | None, verbose: bool, quiet: bool) -> int:
    """List stored runs, newest first, or show one RUN with the calls that failed in it."""
    del quiet  # there is nothing to leave out; the option is there because every command has it
    from promptreg.config import load_config  # noqa: PLC0415 - loaded when the command runs, not for --help
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.running.run_names import named_run  # noqa: PLC0415 - see above
    from promptreg.workflow.running.runs import failed_calls, retried_calls, run_json  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    with Store.open(config.root / config.paths.store, create=False) as store:
        if run_id is None:
            records = store.runs()
            if as_json:
                click.echo(
                    json_for_terminal({"schema": "promptreg.runs/1", "runs": [run_json(each) for each in records]})
                )
            else:
                _print_list(records)
            return 0
        record = named_run(store, run_id)
        failures, retried = failed_calls(store, record), retried_calls(store, record)
        contexts = [case for case in store.cases(record.run_id) if case.context is not None]
    if as_json:
        details: JsonObject = {
            "schema": "promptreg.run/1",
            **run_json(record),
            "failures": [call.to_json() for call in failures],
            "retried": [call.to_json() for call in retried],
            "contexts": [{"suite": case.suite, "case_id": case.case_id, **(case.context or {})} for case in contexts],
        }
        click.echo(json_for_terminal(details))
    else:
        _print_one(record, failures, retried, everything=verbose)
        _print_contexts(contexts, everything=verbose)
    return 0


def _print_list(records: tuple[RunRecord, ...]) -> None:
    from rich.measure import Measurement  # noqa: PLC0415 - see above
    from rich.table import Table  # noqa: PLC0415 - see above

    from promptreg.cli.console import PIPE_WIDTH, console  # noqa: PLC0415 - see above
    from promptreg.workflow.running.runs import planned_calls  # noqa: PLC0415 - see above

    if not records:
        click.echo("No runs yet. `promptreg record` makes the first.")
        return
    table = Table(box=None, pad_edge=False)
    for column in ("run", "kind", "state", "verdict", "deployment", "samples", "failed", "suites"):
        table.add_column(column, no_wrap=True, justify="right" if column in {"samples", "failed"} else "left")
    for record in records:
        table.add_row(
            record.run_id,
            record.kind,
            record.state,
            record.verdict or "",
            record.deployment,
            f"{record.answered}/{planned_calls(record)}",
            str(record.failed),
            ", ".join(record.suites),
        )
    out = console()
    # A narrow terminal wraps the lines itself; cutting the cells would hide the verdicts. The width is the table's own:
    # that of the console does not count on a dumb terminal, which rich takes to be 80 wide.
    table.width = Measurement.get(out, out.options.update(width=PIPE_WIDTH), table).maximum
    out.print(table)


def _print_one(
    record: RunRecord, failures: tuple[TroubledCall, ...], retried: tuple[TroubledCall, ...], *, everything: bool
) -> None:
    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.workflow.running.runs import local_time, planned_calls  # noqa: PLC0415 - see above

    out = console()
    total = planned_calls(record)
    facts = {
        "run": record.run_id,
        "kind": record.kind,
        "state": record.state,
        "verdict": record.verdict,
        "deployment": record.deployment,
        "model": record.model,
        "server": record.server,
        "address": record.base_url,
        "started": local_time(record.started_at),
        "ended": None if record.ended_at is None else local_time(record.ended_at),
        "suites": ", ".join(record.suites),
        "cases": record.cases,
        "passes": record.passes,
        "seed": record.seed,
        "samples": f"{record.answered} of {total} answered, {record.failed} failed, {len(retried)} answered only at a "
        "later attempt",
    }
    for name, value in facts.items():
        if value is not None:
            out.print(safe_for_terminal(f"{name:<11} {value}"))
    for warning in record.warnings:
        out.print(safe_for_terminal(f"warning     {warning.en}"), style="yellow")
    _print_calls(out, "failed", failures, "red", everything=everything)
    _print_calls(out, "retried", retried, "yellow", everything=everything)


def _print_contexts(cases: Sequence[RunCase], *, everything: bool) -> None:
    """The conversations that were shortened, or not sent at all."""
    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.workflow.running.runs import context_line  # noqa: PLC0415 - see above

    out = console()
    lines = [line for case in cases if (line := context_line(case)) is not None]
    for line in lines if everything else lines[:CALLS_SHOWN]:
        out.print(safe_for_terminal(f"{'shortened':<11} {line}"))
    if len(lines) > CALLS_SHOWN and not everything:
        out.print(f"            … and {len(lines) - CALLS_SHOWN} more; -v shows them all")


def _print_calls(out: Console, what: str, calls: Sequence[TroubledCall], style: str, *, everything: bool) -> None:
    shown = calls if everything else calls[:CALLS_SHOWN]
    for call in shown:
        tries = f", {call.attempts} attempts" if call.attempts > 1 else ""
        line = f"{what:<11} {call.suite}/{call.case_id}, pass {call.pass_index + 1}{tries}: {call.message}"
        out.print(safe_for_terminal(line), style=style)
    if len(shown) < len(calls):
        out.print(f"            … and {len(calls) - len(shown)} more; -v shows them all")

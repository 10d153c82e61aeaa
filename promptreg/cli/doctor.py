"""promptreg doctor: a table of what is well and what is not."""

from __future__ import annotations

from pathlib import Path

import click

from promptreg.cli.checkup import Finding, State, examine, exit_code_of
from promptreg.cli.console import console
from promptreg.cli.options import common_options, example
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

DOCTOR_SCHEMA = "promptreg.doctor/1"

_STYLES = {State.OK: "green", State.WARNING: "yellow", State.PROBLEM: "bold red"}


@click.command(epilog=example("promptreg doctor --no-network"))
@click.option("--no-network", "no_network", is_flag=True, help="Leave out whether the deployments can be reached.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@common_options
def command(*, config_path: Path | None, verbose: bool, quiet: bool, no_network: bool, as_json: bool) -> int:
    """Check this installation, the project's files and its deployments. Changes nothing.

    Ends with 0 when there is no problem, else with the exit code of the first one. Warnings do not count.
    """
    del verbose
    findings: list[Finding] = []
    for finding in examine(config_path, Path.cwd(), network=not no_network):
        findings.append(finding)
        if not as_json and (not quiet or finding.state is State.PROBLEM):
            _show(finding)
    code = exit_code_of(findings)
    if as_json:
        _print_json(findings, int(code))
    return int(code)


def _show(finding: Finding) -> None:
    from rich.text import Text  # noqa: PLC0415 - not for --help

    line = Text.assemble(
        (f"{finding.state.value:<8}", _STYLES[finding.state]),
        f" {safe_for_terminal(finding.about):<20}  {safe_for_terminal(finding.sentence)}",
    )
    console().print(line)


def _print_json(findings: list[Finding], code: int) -> None:
    items = [
        {"about": finding.about, "state": finding.state.value, "sentence": finding.sentence} for finding in findings
    ]
    click.echo(json_for_terminal({"schema": DOCTOR_SCHEMA, "exit_code": code, "findings": items}, indent=2))

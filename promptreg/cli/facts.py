"""`promptreg facts`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import example, json_option
from promptreg.errors import UsageError
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

if TYPE_CHECKING:
    from promptreg.text.facts.model import Fact


@click.command("facts", epilog=example('promptreg facts "Refunds take 3 to 5 days, not 30. 退款需三至五天。"'))
@click.argument("text")
@json_option
def command(text: str, as_json: bool) -> int:
    """Print what is read as a fact in TEXT: numbers, dates, negations, names, and how each was read.

    With - as TEXT, standard input is read. The channels numbers, negation, entities and order compare answers by these
    facts; code and list numbering are none.
    """
    from promptreg.text.facts.read import LONGEST, read_facts  # noqa: PLC0415 - loaded when the command runs

    if text == "-":
        text = _standard_input()
    facts = read_facts(text)
    if as_json:
        click.echo(_json(facts))
        return 0
    if facts:
        _print_table(facts)
    else:
        click.echo("No facts were found.")
    if len(text) > LONGEST:
        click.echo(f"Only the first {LONGEST} of {len(text)} characters were read.", err=True)
    return 0


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"Standard input is not UTF-8 (byte {error.start}). Convert it to UTF-8 first.") from error


def _json(facts: tuple[Fact, ...]) -> str:
    listed = [_fact_json(fact) for fact in facts]
    return json_for_terminal({"schema": "promptreg.facts/1", "facts": listed})


def _fact_json(fact: Fact) -> dict[str, str | int]:
    from promptreg.text.facts.model import GROUP_OF  # noqa: PLC0415 - see above

    return {
        "channel": GROUP_OF[fact.kind],
        "kind": fact.kind.value,
        "text": fact.text,
        "normal": fact.normal,
        "start": fact.start,
        "end": fact.end,
    }


def _print_table(facts: tuple[Fact, ...]) -> None:
    from rich.table import Table  # noqa: PLC0415 - see above

    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.text.facts.model import GROUP_OF  # noqa: PLC0415 - see above

    table = Table(box=None, pad_edge=False)
    for column in ("kind", "as written", "read as", "channel"):
        table.add_column(column, overflow="fold")
    for fact in facts:
        written = safe_for_terminal(" ".join(fact.text.split()))
        table.add_row(fact.kind.value, written, safe_for_terminal(fact.normal), GROUP_OF[fact.kind])
    console().print(table)

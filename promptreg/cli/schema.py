"""promptreg schema: the JSON Schemas of the formats that people and machines read and write."""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, NamedTuple, cast

import click

from promptreg.cli.options import example
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.canonical import JsonObject


class _Source(NamedTuple):
    """Where the schema of a format comes from: a function without arguments, imported only when asked for."""

    function: str
    describes: str


SCHEMAS = {
    "config": _Source("promptreg.config.schema:config_schema", "promptreg.toml, [tool.promptreg]"),
    "suite": _Source("promptreg.suite.schema:suite_schema", "suites/*.yaml"),
    "baseline": _Source("promptreg.baseline.lines:baseline_schema", "a line of baselines/<suite>/<deployment>.jsonl"),
    "standing-decisions": _Source(
        "promptreg.review.standing:standing_schema", "a line of baselines/<suite>/decisions/<target>.jsonl"
    ),
    "decisions": _Source("promptreg.review.decisions:decisions_schema", "what `promptreg review apply` reads"),
    "payload": _Source(
        "promptreg.scoring.faults.captured.schema:payload_schema", "a line of what `promptreg diagnose` reads"
    ),
    "comparison": _Source("promptreg.workflow.schema:comparison_schema", "what `promptreg compare --json` prints"),
    "run-diff": _Source("promptreg.workflow.schema:run_diff_schema", "what `promptreg diff --json` prints"),
    "review": _Source("promptreg.workflow.schema:review_schema", "what `promptreg review list --json` prints"),
    "applied": _Source("promptreg.workflow.schema:applied_schema", "what `promptreg review apply --json` prints"),
    "baseline-diff": _Source(
        "promptreg.workflow.schema:baseline_diff_schema", "what `promptreg baseline diff --json` prints"
    ),
    "case": _Source(
        "promptreg.report.writers.jsonl:case_schema", "a line of what `promptreg report RUN -o FILE.jsonl` writes"
    ),
}
"""Every published schema by name. The folder that owns a format owns its schema."""


def schema_of(name: str) -> JsonObject:
    """The JSON Schema of a format.

    Raises:
        UsageError: no schema has this name; names those there are.
    """
    if name not in SCHEMAS:
        from promptreg.config.hints import did_you_mean  # noqa: PLC0415 - only a misspelt name pays for this import

        raise UsageError(
            f"There is no schema {name!r}.{did_you_mean(name, SCHEMAS)} The schemas are: {', '.join(SCHEMAS)}."
        )
    module, _, function = SCHEMAS[name].function.partition(":")
    make = cast("Callable[[], JsonObject]", getattr(importlib.import_module(module), function))
    return make()


@click.command(epilog=example("promptreg schema suite > suite.schema.json"))
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Print the JSON Schema of the format NAME; without NAME, list the names."""
    if name is None:
        width = max(map(len, SCHEMAS))
        for known, source in SCHEMAS.items():
            click.echo(f"{known:<{width}}  {source.describes}")
        return
    click.echo(json.dumps(schema_of(name), ensure_ascii=False, indent=2))

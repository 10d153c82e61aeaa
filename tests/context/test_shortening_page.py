"""docs/shortening.md is run as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

from promptreg.context.adapters.registry import LISTED
from promptreg.context.strategies.registry import STRATEGIES

PAGE = (Path(__file__).parents[2] / "docs/shortening.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_blocks_run_one_after_another_and_print_what_they_say(capsys):
    names = {}
    for block in BLOCKS:
        exec(compile(block, "docs/shortening.md", "exec"), names)

        assert capsys.readouterr().out.splitlines() == re.findall(r"^# (.*)$", block, re.MULTILINE)
    assert len(BLOCKS) == 4


def test_every_strategy_stands_in_the_table():
    assert set(re.findall(r"^\| `([\w-]+)` \|", PAGE, re.MULTILINE)) == set(STRATEGIES)


def test_every_adapter_stands_in_the_table_with_its_options():
    rows = dict(re.findall(r"^\| `([\w-]+:[\w:-]+)` \| (.*) \|$", PAGE, re.MULTILINE))

    assert set(rows) - {"function:my_context:shorten"} == set(LISTED) - {"function:MODULE:CALLABLE"}
    for name in set(rows) & set(LISTED):
        assert set(LISTED[name].options) <= set(re.findall(r"`(\w+)`", rows[name]))

"""What the reference says of checks is what they take."""

from __future__ import annotations

import re

import pytest

from promptreg.scoring.checks.catalogue import TAKES
from promptreg.scoring.checks.registry import CHECK_NAMES

FIELDS = re.compile(r"Fields are (.*?)\.$")


@pytest.fixture(autouse=True)
def users_function(tmp_path):
    (tmp_path / "my_checks.py").write_text("def polite(text):\n    return True\n", encoding="utf-8")


def test_every_check_is_there():
    assert TAKES.keys() == {name for name in CHECK_NAMES if not name.startswith("not_")}


@pytest.mark.parametrize("name", TAKES)
def test_the_example_is_right(build, name):
    assert build(name, TAKES[name].example).rule.en.startswith("The answer must ")


@pytest.mark.parametrize("name", [name for name, takes in TAKES.items() if takes.fields])
def test_the_fields_are_those_that_the_check_knows(refused, name):
    said = FIELDS.search(refused(name, {"no such field": 1}))

    assert said is not None
    assert re.findall("`([a-z_]+)`", said[1]) == list(TAKES[name].fields)


@pytest.mark.parametrize("name", [name for name, takes in TAKES.items() if not takes.fields and name != "json_schema"])
def test_checks_without_fields_take_no_table(refused, name):
    assert refused(name, {"a": 1})


@pytest.mark.parametrize("name", [name for name, takes in TAKES.items() if not takes.argument])
def test_checks_that_need_fields_say_so(refused, name):
    assert f"`{name}` needs fields" in refused(name, "x")


@pytest.mark.parametrize("name", [name for name, takes in TAKES.items() if takes.argument.startswith("nothing")])
def test_checks_that_need_nothing_are_written_alone(build, name):
    assert build(name).rule.en

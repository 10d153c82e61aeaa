"""promptreg schema: every published schema is one, and describes what the product really writes."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest

from promptreg.cli.app import run
from promptreg.cli.init import write_project
from promptreg.cli.schema import SCHEMAS, schema_of


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_valid_and_refuses_something(name):
    schema = schema_of(name)
    validator = jsonschema.validators.validator_for(schema)
    assert validator.META_SCHEMA["$id"] == schema.get("$schema", validator.META_SCHEMA["$id"])
    validator.check_schema(schema)
    assert not validator(schema).is_valid(17)


def test_the_config_schema_accepts_what_init_writes(tmp_path):
    write_project(tmp_path)
    values = tomllib.loads((tmp_path / "promptreg.toml").read_text(encoding="utf-8"))
    jsonschema.validate(values, schema_of("config"))


def test_the_suite_schema_accepts_what_init_writes(tmp_path):
    from ruamel.yaml import YAML

    write_project(tmp_path)
    values = YAML(typ="safe").load((tmp_path / "suites/support.yaml").read_text(encoding="utf-8"))
    jsonschema.validate(values, schema_of("suite"))


def test_without_a_name_the_names_are_listed(capsys):
    assert run(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(SCHEMAS)


def test_the_command_prints_json(capsys):
    assert run(["schema", "config"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(schema_of("config")))


def test_an_unknown_name_is_a_usage_error_that_lists_the_names(capsys):
    assert run(["schema", "suit"]) == 2
    error = capsys.readouterr().err
    assert "'suit'" in error
    assert all(name in error for name in SCHEMAS)

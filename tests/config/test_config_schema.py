from __future__ import annotations

import tomllib

import pytest
from jsonschema import Draft202012Validator, ValidationError

from promptreg.config import config_schema

EXAMPLE = """
language = "auto"
[deployments.gpu]
base_url = "http://127.0.0.1:8000/v1"
model = "m"
server = "mindie"
timeout_s = 30.5
provenance = {cann = "8.0", tp = 8}
[deployments.b]
call = "a:b"
timeout_s = {idle = 3}
[roles]
source = "gpu"
[judging]
max_drifted_fraction = 0.02
"""


def test_the_schema_is_one_and_accepts_the_example():
    schema = config_schema()
    assert schema["$schema"].endswith("2020-12/schema")
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(tomllib.loads(EXAMPLE))


@pytest.mark.parametrize(
    "change",
    [
        'langage = "zh"',
        "[deployments.x]\ncall = 'a:b'\nkeyy = 1",
        "[deployments.x]\ncall = 'a:b'\nname = 'y'",
        "[deployments.x]\ncall = 'a:b'\nserver = 'vlm'",
        "[deployments.x]\ncall = 'a:b'\ntimeout_s = {foo = 1}",
        "root = '/'",
        "[plan]\nrecord_passes = 0",
    ],
)
def test_the_schema_rejects(change):
    with pytest.raises(ValidationError):
        Draft202012Validator(config_schema()).validate(tomllib.loads(change))

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator, ValidationError
from ruamel.yaml import YAML

from promptreg.suite.schema import suite_schema

EXAMPLE = """\
suite: support
defaults:
  request: {temperature: 0.7, max_tokens: 256}
  checks: [{language: zh}, not_refusal]
  tags: [all]
prompts:
  reply:
    - system: "你是{{ company }}的客服，只用 JSON 回答。"
    - {role: user, content: "{{ question }}"}
cases:
  - id: refund-window
    prompt: reply
    vars: {company: 长河, question: "退货期限是几天？", list: [1, {a: null}]}
    tags: [policy, 7]
    checks:
      - json_schema: schemas/answer.json
      - contains: "7天"
  - id: 007
    messages: [user: hi, {role: assistant, tool_calls: [{id: a, type: function, function: {name: f, arguments: "{}"}}]}]
    request: {extra_body: {top_k: 1}}
  - cases_from: questions.csv
    prompt: reply
    encoding: gb18030
    id: 编号
"""


def validate(text):
    Draft202012Validator(suite_schema()).validate(YAML(typ="safe", pure=True).load(text))


def test_the_schema_is_one_and_accepts_the_example():
    Draft202012Validator.check_schema(suite_schema())
    assert suite_schema()["$schema"].endswith("2020-12/schema")
    validate(EXAMPLE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("suite: support", "suit: support"),
        ("  tags: [all]", "  tagz: [all]"),
        ("    prompt: reply\n    vars", "    promt: reply\n    vars"),
        ("    encoding:", "    encodin:"),
        ("    - system:", "    - sytem:"),
        ("{role: user, content", "{role: user, contnt"),
        ("cases:", "cases: []\nother:"),
        ("{language: zh}", "{language: zh, a: b}"),
    ],
)
def test_the_schema_rejects_unknown_keys(old, new):
    assert old in EXAMPLE
    with pytest.raises(ValidationError):
        validate(EXAMPLE.replace(old, new, 1))

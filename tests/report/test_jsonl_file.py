"""JSONL: everything that is known of each case, one object a line, as its schema says."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import jsonschema
import pytest

from promptreg.report.payload import CaseView, to_json
from promptreg.report.sample import sample_payload
from promptreg.report.writers.jsonl import CASE_SCHEMA, case_schema, write_jsonl
from promptreg.text.sentence import Sentence


@pytest.fixture(scope="module")
def validator():
    schema = case_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def lines(payload, tmp_path):
    return write_jsonl(payload, tmp_path / "cases.jsonl").path.read_text(encoding="utf-8").splitlines()


def test_every_case_is_a_line_with_all_there_is(tmp_path, validator):
    payload = sample_payload()
    written = [json.loads(line) for line in lines(payload, tmp_path)]
    assert len(written) == 15
    for line, case in zip(written, payload.cases, strict=True):
        validator.validate(line)
        head = {name: line.pop(name) for name in ("schema", "run_id", "source", "target")}
        assert head == {"schema": CASE_SCHEMA, "run_id": payload.run_id, "source": "gpu", "target": "ascend"}
        assert line == json.loads(json.dumps(to_json(case)))


def test_the_schema_knows_every_field(validator):
    schema = validator.schema
    assert set(schema["properties"]) == {
        "schema",
        "run_id",
        "source",
        "target",
        *(each.name for each in fields(CaseView)),
    }
    assert {"suite", "case_id", "verdict", "severity", "sentence"} < set(schema["required"])
    assert "tags" not in schema["required"]
    assert schema["$defs"]["AttemptView"]["properties"]["duration_s"] == {"type": ["number", "null"]}
    assert schema["properties"]["verdict"]["enum"][:3] == ["pass", "changed", "drift"]
    assert not validator.is_valid({"schema": CASE_SCHEMA})
    line = {"schema": CASE_SCHEMA, "run_id": "r", "source": "a", "target": "b"}
    case = to_json(CaseView("s", "c", "pass", 0.0, Sentence("", "")))
    assert validator.is_valid(line | case)
    assert not validator.is_valid(line | case | {"tags": [1]})
    assert not validator.is_valid(line | case | {"golden": [{"passes": [0], "content": 7}]})


def test_hostile_texts_in_every_field(tmp_path, filled, hostile_texts, validator):
    for name, text in {**hostile_texts, "ends": "a\u2028b\u2029c\x85d\ne\x0bf\x1cg\x9bh"}.items():
        # Texts of megabytes in every field at once would only measure patience.
        case = filled(CaseView, text) if len(text) < 10_000 else replace(filled(CaseView, "x"), case_id=text)
        payload = replace(sample_payload(), run_id=text, cases=(case, case))
        found = lines(payload, tmp_path)
        assert len(found) == 2, name
        assert not set("".join(found)) & set("\x00\x1b\x9b\x85\u2028"), name
        line = json.loads(found[0])
        validator.validate(line)
        assert line["case_id"] == text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), name


def test_numbers_that_json_does_not_have_are_null(tmp_path, validator):
    case = CaseView("s", "c", "drift", float("nan"), Sentence("", ""), noise_multiple=float("inf"))
    (line,) = lines(replace(sample_payload(), cases=(case,)), tmp_path)
    assert json.loads(line)["noise_multiple"] is None
    assert json.loads(line)["severity"] is None
    validator.validate(json.loads(line))


def test_no_cases_are_no_lines(tmp_path):
    assert lines(replace(sample_payload(), cases=iter(())), tmp_path) == []

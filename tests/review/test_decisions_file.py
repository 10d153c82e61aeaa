"""The decisions file: what is read, and one clear sentence with its place for everything that is not."""

from __future__ import annotations

import json
from datetime import date

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.errors import DecisionsError
from promptreg.review import decisions as module
from promptreg.review.decisions import decisions_json, decisions_schema, parse_decisions, read_decisions
from promptreg.store.columns import plain_text

GOLDEN, CANDIDATE = "0" * 64, "1" * 64


def entry(**changes):
    return {
        "suite": "support",
        "case_id": "refund",
        "target": "ascend",
        "golden_sha256": GOLDEN,
        "candidate_sha256": CANDIDATE,
        "decision": "approve",
        "reason": None,
        "expires_on": None,
        "decided_at": "2026-12-02T09:30:00Z",
        **changes,
    }


def document(*entries, **changes):
    return {
        "schema": "promptreg.decisions/1",
        "report_id": "f00d",
        "run_id": "20261202-094417-ascend-ecad",
        "baseline": "gpu",
        "exported_at": "2026-12-02T09:31:00Z",
        "reviewer": "李伟",
        "decisions": list(entries),
        **changes,
    }


def problem_of(value):
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(DecisionsError) as caught:
        parse_decisions(text, "d.json")
    return str(caught.value)


def test_a_whole_file_is_read():
    waived = entry(case_id="礼品卡", decision="waive", reason=" 只是措辞 ", expires_on="2027-01-31")
    read = parse_decisions(json.dumps(document(entry(), waived)), "d.json")
    assert (read.run_id, read.baseline, read.reviewer) == ("20261202-094417-ascend-ecad", "gpu", "李伟")
    first, second = read.decisions
    assert (first.key, first.decision, first.reason, first.expires_on) == (("support", "refund"), "approve", "", None)
    assert (second.case_id, second.reason, second.expires_on) == ("礼品卡", "只是措辞", date(2027, 1, 31))
    assert parse_decisions(json.dumps(decisions_json(read)), "d.json") == read


def test_the_later_decision_on_a_case_wins_and_is_noted():
    earlier, later = entry(decision="approve"), entry(decision="reject", reason="wrong")
    other = entry(suite="billing")
    read = parse_decisions(json.dumps(document(earlier, other, later)), "d.json")
    assert [(each.suite, each.decision) for each in read.decisions] == [("billing", "approve"), ("support", "reject")]
    assert [each.decision for each in read.replaced] == ["approve"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "d.json: The file is empty. Export it again from the report."),
        (" \r\n\t", "The file is empty."),
        ("[]", "it must be one JSON object"),
        ("17", "it must be one JSON object"),
        ("null", "it must be one JSON object"),
        ('{"schema": "promptreg.decisions/1", "dec', "d.json:1: This is not whole JSON"),
        ('{\n"a": 1,\n', "d.json:3: This is not whole JSON"),
        ("<!doctype html>", "d.json:1: This is not whole JSON"),
        ("[" * 200_000, "This cannot be read as JSON: it is nested too deeply."),
        ('{"schema": NaN}', "NaN is not JSON"),
        ('{"schema": 1, "schema": 2}', "the key `schema` stands twice in one object"),
        ('{"schema": ' + "9" * 5000 + "}", "This cannot be read as JSON: a number has too many digits."),
        ('{"schema": "promptreg.report/1"}', "not 'promptreg.report/1'"),
        ('{"schema": ["promptreg.decisions/1"]}', "This is no decisions file"),
        ("{}", "This is no decisions file"),
    ],
)
def test_what_is_no_decisions_file_is_said_in_one_sentence(text, said):
    problem = problem_of(text)
    assert said in problem
    assert "\n" not in problem
    assert len(problem) < 300


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"decision": "aprove"}, "`decision` must be one of"),
        ({"decision": "APPROVE"}, "`decision` must be one of"),
        ({"golden_sha256": "abc"}, "A hash must be 64 digits"),
        ({"candidate_sha256": CANDIDATE.upper().replace("1", "A")}, "A hash must be 64 digits"),
        ({"candidate_sha256": CANDIDATE + "\n"}, "A hash must be 64 digits"),
        ({"golden_sha256": 0}, "must be a text, not the number 0"),
        ({"expires_on": "2027-02-30"}, "must be a day such as 2027-01-31"),
        ({"expires_on": "20270131"}, "must be a day such as 2027-01-31"),
        ({"expires_on": "２０２７-01-31"}, "must be a day such as 2027-01-31"),
        ({"expires_on": "2027-01-31T00:00:00Z"}, "must be a day such as 2027-01-31"),
        ({"expires_on": ""}, "must be a day such as 2027-01-31"),
        ({"decided_at": "2026-12-02"}, "A time must have a zone"),
        ({"decided_at": "2026-12-02T09:30:00"}, "A time must have a zone"),
        ({"decided_at": "gestern"}, "A time must have a zone"),
        ({"case_id": ""}, "`case_id` must be a text that is not empty"),
        ({"case_id": None}, "`case_id` must be a text"),
        ({"case_id": ["refund"]}, "`case_id` must be a text, not a list"),
        ({"path": "/etc/passwd"}, "Unknown key `path`"),
        ({"reason": 5}, "`reason` must be a text, not the number 5"),
        ({"reason": "x" * 10_001}, "`reason`"),
    ],
)
def test_a_wrong_decision_is_named_by_its_number(changes, said):
    problem = problem_of(document(entry(), entry(case_id="hours") | changes))
    assert problem.startswith("d.json: Decision 2")
    assert said in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"reviewer": " \u3000"}, "`reviewer` is empty"),
        ({"decisions": {}}, "`decisions` must be a list"),
        ({"decisions": [17]}, "Decision 1: This entry must be a table"),
        ({"note": "x"}, "Unknown key `note`. Allowed are `baseline`"),
        ({"exported_at": 5}, "`exported_at` must be a text"),
        ({"run_id": ""}, "`run_id` must be a text that is not empty"),
    ],
)
def test_a_wrong_document_is_refused(changes, said):
    assert said in problem_of(document(entry()) | changes)


def test_a_missing_key_is_named_and_many_problems_are_cut():
    whole = document()
    del whole["reviewer"]
    assert "The key `reviewer` is missing." in problem_of(whole)
    lines = problem_of(document(*[{}] * 50)).splitlines()
    assert len(lines) == 21
    assert "more problems" in lines[-1]


def test_a_byte_order_mark_and_crlf_are_accepted(tmp_path):
    path = tmp_path / "d.json"
    text = json.dumps(document(entry()), ensure_ascii=False, indent=1)
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert read_decisions(path, "d.json").decisions[0].case_id == "refund"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "gb18030"])
def test_another_encoding_is_named(tmp_path, encoding):
    path = tmp_path / "d.json"
    path.write_bytes(json.dumps(document(entry(reason="只是措辞不同，可以接受")), ensure_ascii=False).encode(encoding))
    with pytest.raises(DecisionsError, match="not UTF-8"):
        read_decisions(path, "d.json")


def test_what_is_no_file_or_too_large_is_refused(tmp_path, monkeypatch):
    with pytest.raises(DecisionsError, match=r"d\.json: The file does not exist"):
        read_decisions(tmp_path / "none.json", "d.json")
    with pytest.raises(DecisionsError, match="This is a folder, not a file"):
        read_decisions(tmp_path, "d.json")
    path = tmp_path / "large.json"
    path.write_text(json.dumps(document(*[entry()] * 100)), encoding="utf-8")
    monkeypatch.setattr(module, "MAX_BYTES", 1024)
    with pytest.raises(DecisionsError, match="larger than 0 MB"):
        read_decisions(path, "d.json")


def test_hostile_ids_are_text(hostile_text):
    hostile = hostile_text[:5000]
    (decision,) = parse_decisions(json.dumps(document(entry(case_id=f"x{hostile}", reason=hostile))), "d").decisions
    assert decision.case_id == plain_text(f"x{hostile}")
    assert decision.reason == plain_text(hostile).strip()


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_sentence(text):
    with pytest.raises(DecisionsError) as caught:
        parse_decisions(text, "d.json")
    assert str(caught.value).startswith("d.json")


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(sorted(entry())), inner),
    max_leaves=6,
)


@given(ANY_JSON)
def test_anything_else_in_the_place_of_a_decision_is_refused(value):
    with pytest.raises(DecisionsError, match=r"d\.json: Decision 1"):
        parse_decisions(json.dumps(document(value)), "d.json")


def test_the_published_schema_says_the_same():
    validator = jsonschema.Draft202012Validator(decisions_schema())
    assert validator.is_valid(document(entry(), entry(decision="waive", reason="x", expires_on="2027-01-31")))
    for wrong in (document(entry(extra=1)), document(entry(decision="x")), document(entry(golden_sha256="x"))):
        assert not validator.is_valid(wrong)


@pytest.mark.parametrize("entry", ["{}", "0", "[]", '{"a":0}'])
def test_of_a_file_that_is_wrong_all_over_little_is_said(entry):
    """Validation remembers everything that is wrong: a file of one megabyte took gigabytes."""
    head = json.dumps(document())[:-2]
    lines = problem_of(head + ",".join([entry] * 100_000) + "]}").splitlines()
    assert len(lines) == 21
    assert lines[-1] == "d.json: There are more problems than these."


def test_too_many_keys_are_refused_before_each_is_looked_at():
    text = json.dumps(document())[:-1] + "".join(f', "{number}": 0' for number in range(20_000)) + "}"
    assert "an object has 20007 keys, and at most 10000 are read" in problem_of(text)

"""The decisions beside the baselines: stable bytes, read back exactly, refused with a place when damaged."""

from __future__ import annotations

import json
from datetime import date

import jsonschema
import pytest

from promptreg.answer.model import Answer, ToolCall
from promptreg.errors import BaselineError
from promptreg.review.standing import (
    StandingCase,
    answer_sha256,
    read_standing,
    standing_bytes,
    standing_path,
    standing_schema,
)
from promptreg.verdict.verdicts import CaseVerdict

G, C = "a" * 64, "b" * 64


def case(case_id="refund", decision="waive", **changes):
    fields = {
        "source": "gpu",
        "golden_sha256": G,
        "candidate_sha256": C,
        "verdict": CaseVerdict.DRIFT,
        "reason": "只是措辞",
        "reviewer": "李伟",
        "decided_at": "2026-12-02T09:30:00Z",
        "run_id": "r",
        "expires_on": date(2027, 1, 31) if decision == "waive" else None,
        **changes,
    }
    return StandingCase(case_id, decision, **fields)


def read_back(path, data):
    path.write_bytes(data)
    return read_standing(path, "decisions/ascend.jsonl", "support", "ascend")


def problem(path, data):
    with pytest.raises(BaselineError) as caught:
        read_back(path, data)
    return str(caught.value)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ascend.jsonl"


def test_the_same_decisions_give_the_same_bytes_in_any_order(path):
    cases = [case("礼品卡👩‍🚀"), case("a", "reject", answers=(G, C)), case("b", "defer")]
    data = standing_bytes("support", "ascend", cases)
    assert data == standing_bytes("support", "ascend", reversed(cases))
    lines = data.decode().splitlines()
    assert [json.loads(line).get("case_id") for line in lines] == [None, "a", "b", "礼品卡👩‍🚀"]
    assert read_back(path, data) == {each.case_id: each for each in cases}
    validator = jsonschema.Draft202012Validator(standing_schema())
    assert all(validator.is_valid(json.loads(line)) for line in lines)


def test_no_decisions_are_no_file(path):
    assert standing_bytes("support", "ascend", []) is None
    assert read_standing(path, "x", "support", "ascend") == {}


def test_hostile_ids_are_read_back(path, hostile_text):
    written = case("x" + hostile_text[:2000], reason="r" + hostile_text[:2000])
    (read,) = read_back(path, standing_bytes("support", "ascend", [written])).values()
    assert read.case_id == written.case_id.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_crlf_and_a_byte_order_mark_are_accepted(path):
    data = standing_bytes("support", "ascend", [case()])
    assert read_back(path, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")) == {"refund": case()}


def test_what_is_damaged_is_said_with_its_line(path):
    data = standing_bytes("support", "ascend", [case(), case("z")])
    header, first, second, _ = data.split(b"\n")
    assert "jsonl:2" in problem(path, b"\n".join([header, first[:-20]]))
    assert "stands here again" in problem(path, b"\n".join([header, first, first]))
    assert "merge conflict" in problem(path, b"\n".join([header, b"<<<<<<< ours", second]))
    assert "Unknown key `x`" in problem(
        path, b"\n".join([header, first.replace(b'"answers"', b'"x"').replace(b'{"', b'{"x":1,"', 1)])
    )
    assert "is no verdict" in problem(path, b"\n".join([header, first.replace(b'"drift"', b'"fine"')]))
    assert "needs a reason" in problem(path, b"\n".join([header, first.replace("只是措辞".encode(), b"")]))
    assert "must be a day" in problem(path, b"\n".join([header, first.replace(b"2027-01-31", b"2027-13-31")]))
    assert "not on 'support'" in problem(path, data.replace(b'"support"', b'"billing"'))
    assert "`schema` must be" in problem(path, data.replace(b"decisions/1", b"decisions/9"))
    assert "not UTF-8" in problem(path, data.decode().encode("utf-16"))


def test_names_become_file_names_that_stay_in_their_folder(tmp_path):
    for name in ("..", "../../etc", "a/b", "CON", "🦊" * 200, "decisions"):
        path = standing_path(tmp_path, name, name)
        assert path.resolve().is_relative_to(tmp_path.resolve())
        assert path.parent.parent.parent == tmp_path


def test_an_answer_is_known_by_what_the_user_sees():
    answer = Answer("7天", reasoning="hm", finish_reason="stop")
    assert answer_sha256(answer) == answer_sha256(Answer("7天", reasoning="ha", flags=("x",)))
    assert answer_sha256(answer) != answer_sha256(Answer("30天"))
    assert answer_sha256(answer) != answer_sha256(Answer("7天", tool_calls=(ToolCall("f", "{}"),)))


@pytest.mark.parametrize(
    "line", ["17", "null", '"x"', "[]", '{"case_id": "a", "case_id": "b"}', '{"case_id": NaN}', "["]
)
def test_a_line_that_is_no_decision_is_said_with_its_line(path, line):
    header, _ = standing_bytes("support", "ascend", [case()]).decode().split("\n", 1)
    assert problem(path, f"{header}\n{line}\n".encode()).startswith("decisions/ascend.jsonl:2: ")
    assert problem(path, f"{line}\n".encode()).startswith("decisions/ascend.jsonl:1: ")


def test_after_many_problems_nothing_more_is_read(path):
    lines = problem(path, b"{\n" * 10_000).splitlines()
    assert len(lines) == 201
    assert lines[-1] == "decisions/ascend.jsonl:201: The rest of this file was not read."

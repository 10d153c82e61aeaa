"""A target that refuses every call: `compare` says so in one object, as of any other calls that failed."""

from __future__ import annotations

import pytest

STATUSES = {401: "api_key_env", 403: "api_key_env", 404: "`model`"}


@pytest.mark.parametrize("status", sorted(STATUSES))
def test_every_call_refused_is_one_object_with_the_reason(pair_of, status):
    pair = pair_of(target={"seed": 1, "faults": [f"status_{status}"]})
    pair.record()
    done = pair.run("compare", "--json")
    assert done.exit_code == 4
    said = done.json
    (suite,) = said["suites"]
    assert (said["verdict"], said["exit_code"]) == ("ERROR", 4)
    assert {case["verdict"] for case in suite["cases"]} == {"error"}
    (told,) = [text for text in said["warnings"] if "refuses every call" in text]
    assert f"HTTP {status}" in told
    assert STATUSES[status] in told
    assert [cluster["cause"] for cluster in suite["clusters"]] == [f"error:status:{status}"]
    kinds = {fault["kind"] for case in suite["cases"] for fault in case["faults"]}
    assert ("F46" in kinds) == (status == 404)
    assert "calls got no answer" in done.stderr
    again = pair.run("compare", "--run", said["run_id"], "--json")
    assert (again.exit_code, again.json["warnings"]) == (4, said["warnings"])


def test_only_few_calls_are_sent_and_resume_takes_the_rest(pair_of):
    pair = pair_of(target={"seed": 1, "faults": [{"name": "status_404", "at_most": 1}]})
    pair.record()
    done = pair.run("compare", "--json", "--passes", "2", "--looks", "1,2")
    assert done.exit_code == 4
    run = done.json["run_id"]
    sent = next(each for each in pair.run("runs", "--json").json["runs"] if each["run_id"] == run)
    assert sent["failed"] < 12
    assert sent["state"] == "failed"
    left = pair.run("compare", "--resume", "--json", "--passes", "2", "--looks", "1,2")
    assert left.exit_code in {0, 1, 3}
    assert left.json["run_id"] == run


def test_a_refused_request_is_not_advised_to_be_asked_again(pair_of):
    pair = pair_of(target={"seed": 1, "rules": [{"match": "book", "faults": ["status_400"]}]})
    pair.record("--passes", "1")
    done = pair.run("compare", "--json", "--passes", "1", "--looks", "1")
    (suite,) = done.json["suites"]
    (case,) = [case for case in suite["cases"] if case["verdict"] == "error"]
    assert case["sentence"].startswith("Not judged: 1 of 1 target answer is missing. The calls failed at their only")
    for told in (case["sentence"], suite["sentence"], done.stderr):
        assert "HTTP 400" in told or told is suite["sentence"]
        assert "resume" not in told
        assert "again" in told
    assert "同样的调用会再次失败" in suite["sentence_zh"]
    again = pair.run("compare", "--json", "--passes", "1", "--looks", "1")
    assert "To go on with the old one" not in again.stderr

"""What users of other tools tripped over in a run (docs/design/report-issues.md), as far as no other test has it."""

from __future__ import annotations

import json

import pytest

from promptreg.workflow import compare_report

CHUNKED = {"object": "chat.completion", "created": 1, "model": "simulated", "id": "1"}


@pytest.fixture(autouse=True)
def english(monkeypatch):
    monkeypatch.setenv("LC_ALL", "C.UTF-8")


def replying(status, body):
    """A deployment that gives every chat this answer."""

    async def app(scope, receive, send):
        while (await receive()).get("more_body", False):
            pass
        chat = scope["path"].endswith("/chat/completions")
        said = body if chat else b'{"data": [{"id": "simulated", "max_model_len": 32768}]}'
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status if chat else 200, "headers": headers})
        await send({"type": "http.response.body", "body": said})

    return app


def test_a_report_that_browsers_open_slowly_is_told(pair, monkeypatch):
    pair.record("--passes", "1")
    monkeypatch.setattr(compare_report, "WARN_BYTES", 10_000)
    done = pair.run("compare", "--passes", "1")
    assert "which browsers open slowly" in done.stdout + done.stderr
    assert "--details changed" in done.stdout + done.stderr
    monkeypatch.setattr(compare_report, "WARN_BYTES", 100_000_000)
    again = pair.run("compare", "--passes", "1")
    assert "open slowly" not in again.stdout + again.stderr


def test_a_lone_surrogate_is_replaced_with_a_flag_and_the_run_goes_on(pair):
    pair.project.deployment("ascend", pair.target.base_url, role="target", stream=False)
    pair.record("--passes", "2")
    choice = {"index": 0, "message": {"role": "assistant", "content": "坏\udc9d字"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    pair.target.app = replying(200, json.dumps({**CHUNKED, "choices": [choice], "usage": usage}).encode())
    code, said = pair.compare("--passes", "2")
    assert code != 4
    assert {case["verdict"] for case in said["suites"][0]["cases"]}.isdisjoint({"error", "missing", "new"})
    done = pair.run("report", said["run_id"], "-o", "r.jsonl")
    assert done.exit_code == 0
    lines = [json.loads(line) for line in (pair.folder / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    groups = [group for line in lines for group in line["candidate"]]
    assert {group["content"] for group in groups} == {"坏\ufffd字"}
    assert {flag for group in groups for flag in group["flags"]} >= {"lone_surrogate"}


def test_the_text_of_a_failed_call_is_never_checked(pair):
    """The message of a refusal satisfies the check's expression, and the case is an error all the same."""
    pair.project.suite("support", pair.questions, checks=[{"regex": "."}, {"contains": "days"}])
    pair.record("--passes", "2")
    pair.target.app = replying(400, b'{"error": {"message": "You have 7 days. 7 days.", "type": "bad_request"}}')
    code, said = pair.compare("--passes", "2")
    assert (code, said["verdict"]) == (4, "ERROR")
    for case in said["suites"][0]["cases"]:
        assert case["verdict"] == "error"
        assert {check["target_rate"] for check in case["checks"]} <= {None}


def test_what_was_shown_is_approved_whatever_the_target_would_say_by_now(pair_of):
    shown = {"noise": {}, "rules": [{"match": "book", "answers": ["You have 30 days."]}]}
    pair = pair_of(source={"noise": {}}, target=shown)
    pair.record("--passes", "2")
    pair.compare("--passes", "2")
    pair.target.requests.clear()
    pair.target.becomes(1, noise={}, rules=[{"match": "book", "answers": ["You have 99 days."]}])
    done = pair.run("review", "decide", "approve", "refund", "--reviewer", "Ann", "--write")
    assert (done.exit_code, pair.target.requests) == (0, [])
    golden = next(line for line in map(json.loads, pair.case_lines().splitlines()) if line["case_id"] == "refund")
    assert [part["answer"]["content"] for part in golden["answers"]] == ["You have 30 days."]

"""The `judge` check from suite to verdict: a third deployment is asked, once for each question."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer

RUBRIC = "Is the answer polite and does it name a deadline?"
PASS = "The deadline is there.\nVERDICT: PASS"
FAIL = "No deadline.\n\n**VERDICT:** FAIL"
KEY = "sk-judge-4f9b2c7d81"


@pytest.fixture
def judge_of():
    """A function that starts a judge from the fields of its script."""
    servers = []

    def start(**fields):
        server = SimulatedServer(**{"answers": [PASS], **fields}).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


def judged_by(pair, server, check=None, **fields):
    """The project's suite gets the check, and its configuration the judge."""
    pair.project.deployment("judge", server.base_url, max_retries=0, **fields)
    check = check or {"judge": {"by": "judge", "rubric": RUBRIC}}
    pair.project.suite("support", pair.questions, request={"temperature": 0.7}, checks=[check])


def prompts(server):
    return [chat["messages"][-1]["content"] for chat in server.chats]


def checks_of(compared):
    return [check for case in compared["suites"][0]["cases"] for check in case["checks"]]


def test_each_question_is_asked_once_over_record_compare_and_rejudging(pair, judge_of):
    judge = judge_of()
    judged_by(pair, judge)
    pair.record()
    at_record = prompts(judge)
    assert len(at_record) == len(set(at_record)) > len(pair.questions)

    code, compared = pair.compare()
    asked = prompts(judge)
    assert code == 0, compared["suites"][0]["sentence"]
    assert len(asked) == len(set(asked)) > len(at_record)
    assert {check["target_rate"] for check in checks_of(compared)} == {1}
    assert not [text for text in compared["warnings"] if "not scored" in text]

    run_id = compared["run_id"]
    again = [pair.run("compare", "--json", "--run", run_id) for _ in range(2)]
    assert again[0].stdout == again[1].stdout
    assert again[0].json["suites"] == compared["suites"]
    assert pair.run("report", run_id).exit_code == 0
    assert len(prompts(judge)) == len(asked)

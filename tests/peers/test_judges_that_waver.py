"""Row 37: a judge that says yes now and no then decides by rates of both sides, never by one reply, and is kept."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer

QUESTIONS = {f"case-{number}": f"Question {number}?" for number in range(6)}
CHECK = {"judge": {"by": "judge", "rubric": "Is the answer polite?"}}
YES, NO = "Polite.\nVERDICT: PASS", "Curt.\nVERDICT: FAIL"
NOISE = {"noise": {"wording": 0.6}}


@pytest.fixture
def judged_twice(moved, cases_of):
    """A function: rates of the check on both sides, and the verdict; judged again, nothing changes or is asked."""
    doubts = [{"match": word, "answers": [NO]} for word in ("Certainly", "Sure", "Of course")]
    with SimulatedServer(rules=doubts, answers=[YES]) as judge:

        def judged(source, target):
            project = moved(source, target)
            project.deployment("judge", judge.base_url)
            project.section("plan", record_passes=10, compare_passes=5, looks=[5])
            project.suite("orders", QUESTIONS, request={"temperature": 0.7}, checks=[CHECK])
            _, said = project.judged()
            asked = [chat["messages"][-1]["content"] for chat in judge.chats]
            assert len(asked) == len(set(asked))
            again = project.run("compare", "--run", said["run_id"], "--json")
            assert again.json["suites"] == said["suites"]
            assert len(judge.chats) == len(asked)
            checks = [check for case in cases_of(said).values() for check in case["checks"]]
            return said["verdict"], [(check["source_rate"], check["target_rate"]) for check in checks]

        yield judged


def test_the_same_doubt_on_both_sides_is_no_regression(judged_twice):
    verdict, rates = judged_twice(NOISE, NOISE)
    assert verdict == "EQUIVALENT"
    assert any(0 < source < 1 and 0 < target < 1 for source, target in rates)


def test_more_doubt_than_before_is_one(judged_twice):
    verdict, rates = judged_twice({}, {"noise": {"wording": 1.0}})
    assert verdict == "REGRESSION"
    assert all(source == 1 > target for source, target in rates)

"""The `judge` check from suite to verdict: a third deployment is asked, once for each question."""

from __future__ import annotations

import pytest

from promptreg.deployment.simulated.script import Script
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
        port = fields.pop("port", 0)
        server = SimulatedServer(Script.model_validate({"answers": [PASS], **fields}), port=port).start()
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.stop()


def judged_by(pair, server, check=None, questions=None, **fields):
    """The project's suite gets the check, and its configuration the judge."""
    pair.project.deployment("judge", server.base_url, **{"max_retries": 0, **fields})
    check = check or {"judge": {"by": "judge", "rubric": RUBRIC}}
    pair.project.suite("support", questions or pair.questions, request={"temperature": 0.7}, checks=[check])


FEW = {"refund": "How many days do I have to return a book?", "shipping": "订单多久能送到？"}


def prompts(server):
    return [chat["messages"][-1]["content"] for chat in server.chats]


def checks_of(compared):
    return [check for case in compared["suites"][0]["cases"] for check in case["checks"] if "judge" in check["check"]]


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


def few(pair, server, check=None, **fields):
    """Two cases, two passes on each side."""
    judged_by(pair, server, check, FEW, **fields)
    pair.project.section("plan", record_passes=2, compare_passes=2, looks=[2])
    return pair


def said(compared):
    return " ".join(compared["warnings"])


def test_what_the_judge_fails_on_the_target_is_a_regression(pair_of, judge_of):
    polite, rude = "请在 30 天内退货，谢谢。", "30 天，自己看。"
    pair = pair_of({"answers": [polite], "noise": {}}, {"answers": [rude], "noise": {}})
    judge = judge_of(rules=[{"match": rude, "answers": ["不礼貌。\n结论：不通过"]}], answers=["很好。\n结论：通过"])
    judged_by(pair, judge, {"judge": {"by": "judge", "rubric": "回答是否礼貌？"}})
    pair.record()
    code, compared = pair.compare()

    assert code == 1
    assert compared["verdict"] == "REGRESSION"
    assert {(check["source_rate"], check["target_rate"]) for check in checks_of(compared)} == {(1, 0)}
    assert len(judge.chats) == 2
    assert all("回答是否礼貌？" in prompt for prompt in prompts(judge))


def test_a_question_is_one_message_at_temperature_0_unless_the_deployment_says_otherwise(pair, judge_of):
    judge = judge_of()
    few(pair, judge, request={"max_tokens": 300})
    pair.record()
    bodies = judge.chats
    assert {(body["temperature"], body["max_tokens"], len(body["messages"])) for body in bodies} == {(0, 300, 1)}

    few(pair, judge, request={"max_tokens": 300, "temperature": 1.0})
    assert pair.run("compare").exit_code in (0, 3)
    fresh = judge.chats[len(bodies) :]
    assert {body["temperature"] for body in fresh} == {1.0}
    assert {body["messages"][0]["content"] for body in bodies} < {body["messages"][0]["content"] for body in fresh}


@pytest.mark.parametrize(
    ("script", "fields", "reason"),
    [
        ({"answers": ["I like it."]}, {}, "judge gave no verdict that can be read"),
        ({"faults": ["status_500"]}, {}, "judge gave no reply: HTTP 500"),
        (
            {"faults": ["stall_at_head"]},
            {"timeout_s": {"first_byte": 0.3}},
            "judge gave no reply: No byte of the answer within 0.3 s",
        ),
        ({"answers": ["word " * 80], "max_output": 16}, {}, "the reply of judge was cut off by its token limit"),
        ({"faults": ["status_401"]}, {}, "HTTP 401"),
        ({"faults": ["gateway_page_200"]}, {}, "judge gave no reply"),
    ],
)
def test_an_answer_without_a_verdict_is_unscored_with_the_reason(pair, judge_of, script, fields, reason):
    few(pair, judge_of(**script), **fields)
    recorded = pair.record()
    assert "answers were not scored by a `judge` check" in recorded.stderr.replace("\n", " ")
    code, compared = pair.compare()

    assert code == 3
    assert {(check["source_rate"], check["target_rate"]) for check in checks_of(compared)} == {(None, None)}
    assert "Suite support: 8 of 8 answers were not scored by a `judge` check." in said(compared)
    assert "测试集 support：8 条回答中有 8 条没有得到 `judge` 检查项的评分。" in " ".join(compared["warnings_zh"])
    assert reason in said(compared)


def test_a_judge_that_prefers_a_place_scores_nothing(pair, judge_of):
    judge = judge_of(answers=["Better.\nVERDICT: A"])
    few(pair, judge, {"judge": {"by": "judge", "rubric": RUBRIC, "to": "You have 30 days."}})
    pair.record()
    _, compared = pair.compare()

    asked = prompts(judge)
    assert len(asked) == len(set(asked))
    assert len(asked) % 2 == 0
    assert "judge changed its mind when the two texts changed places" in said(compared)


def test_a_call_that_succeeds_at_the_second_try_counts(pair, judge_of):
    judge = judge_of(faults=[{"name": "status_500", "at_most": 1}])
    few(pair, judge, max_retries=1)
    pair.record()
    _, compared = pair.compare()

    assert {(check["source_rate"], check["target_rate"]) for check in checks_of(compared)} == {(1, 1)}
    assert len(judge.chats) == 2 * len(set(prompts(judge)))


def test_only_what_failed_is_asked_again(pair_of, judge_of):
    pair = pair_of({"answers": ["30 days."], "noise": {}}, {"answers": ["Thirty days."], "noise": {}})
    judge = judge_of(rules=[{"match": "Thirty", "faults": ["status_500"]}])
    few(pair, judge)
    pair.record()
    _, compared = pair.compare()
    run_id = compared["run_id"]
    assert f"`promptreg compare --run {run_id}` asks those again whose call failed." in said(compared)
    assert [(check["source_rate"], check["target_rate"]) for check in checks_of(compared)] == [(1, None)] * 2

    judge.stop()
    mended = judge_of(port=judge.port)
    _, again = pair.compare("--run", run_id)
    assert ["Thirty days." in prompt for prompt in prompts(mended)] == [True]
    assert [(check["source_rate"], check["target_rate"]) for check in checks_of(again)] == [(1, 1)] * 2
    assert not said(again)


def test_a_judge_that_is_gone_does_not_make_a_suite_equivalent(pair, judge_of):
    judge = judge_of()
    judged_by(pair, judge)
    judge.stop()
    pair.record()
    code, compared = pair.compare()
    assert code == 3, compared["suites"][0]["sentence"]
    assert compared["suites"][0]["sentence"].startswith(
        "Undecided: in 6 of 6 cases (the first is gift) a `judge` check"
    )
    assert "refused the connection" in said(compared)

    judge.start()
    assert pair.compare("--run", compared["run_id"])[0] == 0


def test_an_unknown_judge_is_an_error_of_the_suite_before_any_call(pair, judge_of):
    judge = judge_of()
    few(pair, judge, {"not_judge": {"by": "jugde", "rubric": RUBRIC}})
    for arguments in (["record"], ["record", "--dry-run"], ["compare"], ["compare", "--dry-run"]):
        done = pair.run(*arguments)
        assert done.exit_code == 2
        assert "suites/support.yaml:" in done.stderr
        said = done.stderr.replace("\n", " ")
        assert "`by` of `not_judge` names the deployment `jugde`, which is not defined. Did you mean `judge`?" in said
    assert not pair.source.chats
    assert not judge.chats


def test_a_key_that_is_not_set_costs_no_call(pair, judge_of, monkeypatch):
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    few(pair, judge_of(), api_key_env="JUDGE_KEY")
    done = pair.run("record")

    assert done.exit_code == 2
    assert "JUDGE_KEY (deployment `judge`, api_key_env) is not set" in done.stderr.replace("\n", " ")
    assert not pair.source.chats


def test_dry_runs_count_the_calls_of_judges_apart(pair, judge_of):
    judge = judge_of(answers=["VERDICT: TIE"])
    few(pair, judge, {"judge": {"by": "judge", "rubric": RUBRIC, "to": "You have 30 days."}})
    estimate = pair.run("record", "--dry-run", "--json").json
    assert (estimate["calls"], estimate["judge_calls"]) == (4, {"judge": 8})
    shown = pair.run("record", "--dry-run").stdout
    assert "`judge` checks take at most 8 calls on judge beside them." in shown
    assert pair.run("record", "--dry-run", "--passes", "1", "--json").json["judge_calls"] == {}

    pair.record()
    # The recorded answers are judged already.
    assert pair.run("compare", "--dry-run", "--json").json["judge_calls"] == {"judge": 8}
    asked = len(judge.chats)
    (pair.folder / ".promptreg" / "store.db").unlink()
    assert pair.run("compare", "--dry-run", "--json").json["judge_calls"] == {"judge": 8 + asked}
    assert len(judge.chats) == asked


def test_report_asks_no_judge(pair, judge_of):
    judge = judge_of()
    few(pair, judge)
    pair.record()
    _, compared = pair.compare()
    asked = len(judge.chats)
    few(pair, judge, {"judge": {"by": "judge", "rubric": "Another rubric."}})
    done = pair.run("report", compared["run_id"])

    assert done.exit_code == 0
    assert "no reply of judge is stored" in (done.stdout + done.stderr).replace("\n", " ")
    assert len(judge.chats) == asked


def test_the_judges_key_is_in_no_artefact(pair, judge_of, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", KEY)
    few(pair, judge_of(api_key=KEY, faults=["key_echo"]), api_key_env="JUDGE_KEY")
    recorded = pair.record()
    done = pair.run("compare", "--json")

    assert KEY not in recorded.stdout + recorded.stderr + done.stdout + done.stderr
    report = pair.report_payload(done.json["run_id"])
    assert not [text for text in report if KEY in text]
    assert not [path for path in pair.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]

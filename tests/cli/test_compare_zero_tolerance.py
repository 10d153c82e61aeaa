"""promptreg compare: one reply with a serving fault that is not tolerated is a regression, without any test."""

from __future__ import annotations

import json

ONCE = {"name": "special_tokens", "at_most": 1}
"""The first answer to each request shows the end-of-sentence token, the other answers are clean."""

ALL_PASSES = ("--looks", "5")


def cases_of(said):
    (suite,) = said["suites"]
    return suite["cases"]


def test_one_reply_in_five_is_a_regression(pair_of):
    pair = pair_of(target={"seed": 2, "faults": [ONCE]})
    pair.record()
    code, said = pair.compare(*ALL_PASSES)
    (suite,) = said["suites"]
    assert code == said["exit_code"] == 1
    assert suite["verdict"] == "REGRESSION"
    assert len(suite["regression"]["not_tolerated"]) == len(pair.questions)
    for case in suite["cases"]:
        assert (case["verdict"], case["not_tolerated"]) == ("fail", ["F33"])
        assert "was seen in 1 of 5 target calls and in none of the 10 source calls" in case["sentence"]
        assert "出现 1 次，源部署 10 次调用中从未出现；此类故障零容忍" in case["sentence_zh"]
    assert suite["fault_calls"] == 5 * len(pair.questions)


def test_the_terminal_says_so_in_both_languages(pair_of, monkeypatch):
    pair = pair_of(target={"seed": 2, "faults": [ONCE]})
    pair.record()
    done = pair.run("compare", *ALL_PASSES)
    told = " ".join(done.stdout.split())
    assert done.exit_code == 1
    assert "there is no tolerance for this kind, so no test was needed" in told
    assert "No other kind of serving fault was seen in 30 target calls, so each is in fewer than 9.5 %" in told
    run = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("Run:"))
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    zh = " ".join(pair.run("compare", "--run", run).stdout.split())
    assert "此类故障零容忍，无需检验" in zh
    assert "目标部署 30 次调用中没有出现其他服务故障" in zh
    texts = pair.report_payload(run)
    assert any("No other kind of serving fault was seen in 30 target calls" in text for text in texts)


def test_the_first_look_ends_the_run(pair_of):
    pair = pair_of(target={"seed": 2, "faults": [ONCE]})
    pair.record()
    code, said = pair.compare("--looks", "1,3,5")
    assert code == 1
    assert said["suites"][0]["facts"]["decided_at"] == 1
    assert pair.target.requests.chats() == len(pair.questions)


def test_judging_again_gives_the_same_bytes_without_a_call(pair_of):
    pair = pair_of(target={"seed": 2, "faults": [ONCE]})
    pair.record()
    _, said = pair.compare()
    calls = pair.target.requests.chats(), pair.source.requests.chats()
    again = [pair.run("compare", "--json", "--run", said["run_id"]).stdout for _ in range(2)]
    assert again[0] == again[1]
    assert json.loads(again[0])["suites"] == said["suites"]
    assert calls == (pair.target.requests.chats(), pair.source.requests.chats())


def test_the_same_fault_on_both_sides_fails_nothing_at_once(pair_of):
    pair = pair_of(source={"seed": 1, "faults": [ONCE]}, target={"seed": 1, "faults": [ONCE]})
    pair.record()
    _, said = pair.compare(*ALL_PASSES)
    assert said["suites"][0]["verdict"] != "REGRESSION"
    assert all(not case["not_tolerated"] and case["verdict"] != "fail" for case in cases_of(said))


def test_without_the_source_s_calls_its_recorded_answers_tell(pair_of):
    pair = pair_of(target={"seed": 2, "faults": [ONCE]})
    pair.record()
    pair.forget_calls()
    code, said = pair.compare(*ALL_PASSES)
    assert code == 1
    assert all("none of the 10 recorded answers of the source" in case["sentence"] for case in cases_of(said))


def test_without_its_calls_a_source_that_showed_it_is_excused(pair_of):
    pair = pair_of(source={"seed": 1, "faults": [ONCE]}, target={"seed": 1, "faults": [ONCE]})
    pair.record()
    pair.forget_calls()
    _, said = pair.compare(*ALL_PASSES)
    assert all(not case["not_tolerated"] for case in cases_of(said))


def test_a_warning_changes_no_verdict(pair_of):
    clean = pair_of(target={"seed": 2})
    clean.record()
    _, before = clean.compare(*ALL_PASSES)
    pair = pair_of(target={"seed": 2, "faults": ["usage_zeros"]}, folder=clean.folder / "other")
    pair.record()
    _, now = pair.compare(*ALL_PASSES)
    assert {fault["severity"] for case in cases_of(now) for fault in case["faults"]} == {"W"}
    assert now["suites"][0]["verdict"] == before["suites"][0]["verdict"]
    assert [case["verdict"] for case in cases_of(now)] == [case["verdict"] for case in cases_of(before)]


def test_another_error_is_named_and_no_pass(pair_of):
    quiet = {"seed": 1, "noise": {}}
    pair = pair_of(source=quiet, target={**quiet, "faults": [{"name": "done_missing", "at_most": 1}]})
    pair.record()
    _, said = pair.compare(*ALL_PASSES)
    assert {case["verdict"] for case in cases_of(said)} == {"changed"}
    assert all("F41" in case["sentence"] and "F41" in case["sentence_zh"] for case in cases_of(said))
    assert "Nothing to do" not in said["suites"][0]["sentence"]


def test_another_error_in_every_reply_is_a_regression_by_the_test(pair_of):
    quiet = {"seed": 1, "noise": {}}
    pair = pair_of(source=quiet, target={**quiet, "faults": ["done_missing"]})
    pair.record()
    code, said = pair.compare(*ALL_PASSES)
    (suite,) = said["suites"]
    assert (code, suite["regression"]["rejected"], suite["regression"]["not_tolerated"]) == (1, True, [])
    assert {case["verdict"] for case in suite["cases"]} == {"fail"}
    assert all(check["check"] == "free of F41" for case in suite["cases"] for check in case["checks"])


def test_a_class_of_cases_that_lost_its_checks_is_told_and_decides_nothing(pair_of):
    quiet = {"seed": 1, "noise": {}}
    pair = pair_of(source={**quiet, "rules": [{"match": "", "answers": ["30 days"]}]}, target=quiet)
    cases = "".join(
        f"  - id: c{number}\n    tags: [numbers, 'cluster:one']\n    checks: [{{contains: '30 days'}}]\n"
        f"    messages: [{{role: user, content: 'Question {number}?'}}]\n"
        for number in range(9)
    )
    pair.project.write("suites/support.yaml", f"suite: support\ncases:\n{cases}")
    pair.record()
    _, said = pair.compare(*ALL_PASSES)
    (fault,) = said["suites"][0]["faults"]
    assert (fault["kind"], fault["where"]) == ("F40", "numbers")
    assert "9 of 9 cases got worse" in fault["evidence"]
    assert fault["title_zh"]
    told = " ".join(pair.run("compare", "--run", said["run_id"]).stdout.split())
    assert "over all cases: numbers: 9 of 9 cases got worse" in told
    assert "It changes no verdict." in told

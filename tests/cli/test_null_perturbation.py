"""`noise: null-perturbation`, from the calls that a server receives to the sentences of the report."""

from __future__ import annotations

import json
from collections import Counter

import pytest

TEXTS = {
    "refund": "How many days do I have to return a book",
    "shipping": "订单多久能送到",
    "gift": "礼品卡的有效期是多久？",
    "json": '{"order": 1042}',
}
FORMS = {
    "refund": ["", " ", "\n", "."],
    "shipping": ["", " ", "\n", "。"],
    "gift": ["", " ", "\n"],
    "json": ["", " ", "\n"],
}


def suite_text(noise="null-perturbation", **own):
    lines = ["suite: support", "defaults:", "  request: {temperature: 0.7}", f"  noise: {noise}", "cases:"]
    for case_id, text in TEXTS.items():
        lines += [f"  - id: {case_id}", *([f"    noise: {own[case_id]}"] if case_id in own else [])]
        lines += ["    messages:", f"      - user: {json.dumps(text, ensure_ascii=False)}"]
    return "\n".join(lines) + "\n"


@pytest.fixture
def varied(pair):
    pair.project.write("suites/support.yaml", suite_text())
    return pair


def sent(server):
    """By case id, what was added to the text in each call."""
    found = {case_id: [] for case_id in TEXTS}
    for chat in server.chats:
        content = chat["messages"][-1]["content"]
        (case_id,) = [name for name, text in TEXTS.items() if content.startswith(text)]
        found[case_id].append(content.removeprefix(TEXTS[case_id]))
    return found


def goldens(pair):
    return {line["case_id"]: line for line in map(json.loads, pair.case_lines().decode().splitlines())}


def test_both_sides_send_variants_and_the_baseline_keeps_them(varied):
    varied.record("--passes", "20")
    for case_id, added in sent(varied.source).items():
        assert set(added) == set(FORMS[case_id])
        passes = goldens(varied)[case_id]["prompt_variants"]
        by_name = {"as_written": "", "space": " ", "newline": "\n", "full_stop": FORMS[case_id][-1]}
        assert Counter(added) == {by_name[name]: len(indices) for name, indices in passes.items()}
        assert sorted(index for indices in passes.values() for index in indices) == list(range(20))

    code, compared = varied.compare()
    assert code in {0, 3}
    assert sum(map(len, sent(varied.target).values())) == 5 * len(TEXTS)
    assert len({added for case in sent(varied.target).values() for added in case}) > 1
    (suite,) = compared["suites"]
    assert "The prompts were varied on purpose: in each pass of both sides" in suite["sentence"]
    assert "提示词是有意变化的" in suite["sentence_zh"]
    case = next(case for case in suite["cases"] if case["case_id"] == "shipping")
    assert "Its prompt was varied on purpose; on the source: " in case["sentence"]
    assert "其提示词是有意变化的；源部署：" in case["sentence_zh"]

    texts = "".join(varied.report_payload(compared["run_id"]))
    assert '"variant":"full_stop"' in texts
    assert "The prompts were varied on purpose" in texts


def test_the_recorded_request_is_the_unchanged_one(varied):
    varied.record("--passes", "4")
    with_noise = {case_id: line["request_sha256"] for case_id, line in goldens(varied).items()}
    varied.project.write("suites/support.yaml", suite_text("none"))
    varied.record("--passes", "4")
    assert {case_id: line["request_sha256"] for case_id, line in goldens(varied).items()} == with_noise
    assert all("prompt_variants" not in line for line in goldens(varied).values())


def test_judging_again_says_the_same(varied):
    varied.record()
    _, compared = varied.compare()
    calls = len(varied.target.chats)
    _, again = varied.compare("--run", compared["run_id"])
    assert again["suites"] == compared["suites"]
    assert len(varied.target.chats) == calls


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("none", "null-perturbation", "recorded with its prompt as written, and the suite now asks for varied ones"),
        ("null-perturbation", "none", "recorded with varied prompts (`noise: null-perturbation`), and the suite now"),
    ],
)
def test_a_baseline_recorded_otherwise_is_told_and_topping_up_records_it_again(pair, before, after, said):
    pair.project.write("suites/support.yaml", suite_text(before))
    pair.record()
    pair.project.write("suites/support.yaml", suite_text(after))
    code, compared = pair.compare()
    assert code == 3
    (suite,) = compared["suites"]
    assert {case["verdict"] for case in suite["cases"]} == {"new"}
    assert all(said in case["sentence"] and "--top-up" in case["sentence"] for case in suite["cases"])
    assert any("4 cases were recorded with" in text and "not compared" in text for text in compared["warnings"])
    assert any("有 4 个用例录制时" in text and "因此未作比较" in text for text in compared["warnings_zh"])
    assert pair.target.chats == []

    calls = len(pair.source.chats)
    pair.record("--top-up")
    assert len(pair.source.chats) == calls + 10 * len(TEXTS)
    assert all(("prompt_variants" in line) == (after != "none") for line in goldens(pair).values())
    code, compared = pair.compare()
    assert code in {0, 3}
    assert all(case["verdict"] in {"pass", "changed"} for case in compared["suites"][0]["cases"])


def test_one_case_can_ask_for_it_alone(pair):
    pair.project.write("suites/support.yaml", suite_text("none", refund="null-perturbation"))
    pair.record()
    assert {case_id for case_id, line in goldens(pair).items() if "prompt_variants" in line} == {"refund"}
    _, compared = pair.compare()
    (suite,) = compared["suites"]
    assert "The prompts of 1 of 4 cases were varied" in suite["sentence"]
    assert "4 个用例中有 1 个的提示词是有意变化的" in suite["sentence_zh"]
    assert [case["case_id"] for case in suite["cases"] if "varied on purpose" in case["sentence"]] == ["refund"]


def test_a_dry_run_counts_the_same_calls(varied):
    dry = varied.run("record", "--dry-run", "--passes", "7").stdout
    assert f"{7 * len(TEXTS)} calls" in dry.replace(",", "")
    assert varied.source.chats == []


def test_topping_up_keeps_the_passes_that_are_there(varied):
    varied.record("--passes", "4")
    before = goldens(varied)
    varied.record("--top-up", "--passes", "9")
    assert len(varied.source.chats) == 9 * len(TEXTS)
    for case_id, line in goldens(varied).items():
        after = {index: name for name, at in line["prompt_variants"].items() for index in at}
        assert sorted(after) == list(range(9))
        assert all(after[index] == name for name, at in before[case_id]["prompt_variants"].items() for index in at)


def test_a_resumed_run_sends_what_the_whole_would_have_sent(pair_of, tmp_path):
    whole, halved = pair_of(folder=tmp_path / "whole"), pair_of(folder=tmp_path / "halved")
    for pair in (whole, halved):
        pair.project.write("suites/support.yaml", suite_text())
    whole.record("--passes", "6")
    # Refused after 11 calls, and well again for the second start.
    halved.source.becomes(11, api_key="sk-fake-other-0123456789")
    assert halved.run("record", "--passes", "6").exit_code == 4
    halved.source.app = None
    halved.source.stop()
    halved.source.requests.clear()
    halved.source.start()
    assert halved.run("record", "--passes", "6", "--resume").exit_code == 0
    assert {name: line["prompt_variants"] for name, line in goldens(whole).items()} == {
        name: line["prompt_variants"] for name, line in goldens(halved).items()
    }


def test_resuming_with_another_noise_is_told(varied):
    varied.source.becomes(7, api_key="sk-fake-other-0123456789")
    assert varied.run("record", "--passes", "3").exit_code == 4
    varied.project.write("suites/support.yaml", suite_text("none"))
    done = varied.run("record", "--passes", "3", "--resume")
    assert done.exit_code == 2
    assert "varied the prompts of other cases than the suites ask for now" in done.stderr.replace("\n", " ")


def test_cases_that_changed_both_ways_are_one_warning(pair):
    pair.project.write("suites/support.yaml", suite_text("none", refund="null-perturbation"))
    pair.record("--passes", "3")
    pair.project.write("suites/support.yaml", suite_text("none", gift="null-perturbation"))
    _, compared = pair.compare("--passes", "3")
    (said,) = [text for text in compared["warnings"] if "`noise`" in text]
    assert "2 cases were recorded with another `noise` than the suite asks for now" in said
    verdicts = {case["case_id"]: case["verdict"] for case in compared["suites"][0]["cases"]}
    assert {name for name, verdict in verdicts.items() if verdict == "new"} == {"refund", "gift"}

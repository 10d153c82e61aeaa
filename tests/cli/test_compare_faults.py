"""promptreg compare names the serving faults that were planted into a simulated target, in both languages."""

from __future__ import annotations

import pytest

# Faults that one call shows, by what `promptreg simulate` calls them.
KINDS = {
    "bang_run": "F01",
    "replacement_characters": "F07",
    "special_tokens": "F33",
    "think_tags": "F09",
    "think_end": "F09",
    "content_null": "F11",
    "wrong_language": "F05",
    "empty": "F51",
}


def kinds_of(said):
    return {fault["kind"] for suite in said["suites"] for case in suite["cases"] for fault in case["faults"]}


@pytest.mark.parametrize(("fault", "kind"), KINDS.items(), ids=KINDS)
def test_a_planted_fault_is_named(pair_of, fault, kind):
    pair = pair_of(target={"seed": 1, "faults": [fault]})
    pair.record()
    _, said = pair.compare("--looks", "3")
    assert kind in kinds_of(said)
    entry = next(
        found
        for suite in said["suites"]
        for case in suite["cases"]
        for found in case["faults"]
        if found["kind"] == kind
    )
    assert entry["source"] == 0
    assert entry["source_calls"] == 10
    assert 1 <= entry["target"] <= entry["target_calls"] == 3


def test_a_clean_target_has_none(pair):
    pair.record()
    _, said = pair.compare()
    assert kinds_of(said) == set()


def test_the_terminal_and_the_report_name_it_in_both_languages(pair_of, monkeypatch):
    pair = pair_of(target={"seed": 1, "faults": ["think_end"]})
    pair.record()
    done = pair.run("compare", "--looks", "3")
    told = " ".join(done.stdout.split())
    assert "F09 E Think tags in the answer:" in told
    run = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("Run:"))
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    zh = pair.run("compare", "--run", run)
    assert "F09 E 回答中出现思考标签" in " ".join(zh.stdout.split())
    texts = pair.report_payload(run)
    assert any('"F09"' in text and "回答中出现思考标签" in text and "Think tags" in text for text in texts)


def test_reasoning_in_another_field_is_told_and_is_no_drift(pair_of):
    reasoned = {
        "seed": 1,
        "rules": [{"match": "", "answers": [{"content": "30 天内。", "reasoning": "规定是 30 天。"}]}],
    }
    pair = pair_of(source=reasoned, target={**reasoned, "faults": ["reasoning_renamed"]})
    pair.record()
    _, said = pair.compare()
    (suite,) = said["suites"]
    assert suite["drift_rejected"] is False
    assert all("`reasoning`" in case["breaches"][-1]["sentence"] for case in suite["cases"])
    assert kinds_of(said) == {"F10"}

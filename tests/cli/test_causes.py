"""promptreg compare groups its findings by cause: on the terminal in both languages, in JSON and in the report."""

from __future__ import annotations

from promptreg.cli.causes import CAUSES_SHOWN, cause_lines
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.cluster import Cluster
from promptreg.verdict.verdicts import CaseVerdict

OBJECTS = [f'{{"days": {number}, "unit": "day", "note": "退货说明 {number}"}}' for number in range(30, 34)]
JSON_ANSWERS = {"seed": 1, "rules": [{"match": "", "answers": OBJECTS}]}


def cluster(name, *, cases=1, also=(), title=None):
    said = title or f"Cause {name}"
    return Cluster(
        ("channel", str(name)),
        Sentence(said, f"原因 {name}"),
        Sentence("Do this.", "这样做。"),
        tuple(f"case-{name}-{number}" for number in range(cases)),
        cases,
        CaseVerdict.DRIFT,
        tuple(Sentence(title, title) for title in also),
    )


def lines(*clusters, language="en", everything=False):
    return [line.plain for line in cause_lines(clusters, language, everything=everything)]


def unbroken(text):
    return " ".join(text.split())


def test_fenced_json_is_one_cause_of_all_cases(pair_of, monkeypatch):
    pair = pair_of(source=JSON_ANSWERS, target={**JSON_ANSWERS, "seed": 2, "faults": ["fenced_json"]})
    pair.record()
    done = pair.run("compare")
    told = unbroken(done.stdout)
    assert "Causes 6 cases JSON now in a code block" in told
    assert "→ Ask for JSON through response_format" in told
    run = next(line.split()[1] for line in done.stdout.splitlines() if line.startswith("Run:"))
    _, said = pair.compare("--run", run)
    (suite,) = said["suites"]
    (found,) = [each for each in suite["clusters"] if each["cause"] == "json:fenced"]
    assert sorted(found["cases"]) == sorted(pair.questions)
    assert found["samples"] == suite["facts"]["target_passes"] * len(pair.questions)
    assert found["next_step_zh"]
    assert any('"title":{"en":"JSON now in a code block"' in text for text in pair.report_payload(run))
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    zh = unbroken(pair.run("compare", "--run", run).stdout)
    assert "原因 6 个用例 JSON 现在放在代码块中" in zh
    assert "→ 在目标部署上用 response_format 要求 JSON" in zh


def test_moved_reasoning_is_a_cause_though_no_case_moved(pair_of):
    reasoned = {
        "seed": 1,
        "rules": [{"match": "", "answers": [{"content": "30 天内。", "reasoning": "规定是 30 天。"}]}],
    }
    pair = pair_of(source=reasoned, target={**reasoned, "faults": ["reasoning_renamed"]})
    pair.record()
    _, said = pair.compare()
    (found,) = said["suites"][0]["clusters"]
    assert found["cause"] == "moved:reasoning"
    assert len(found["cases"]) == 6
    assert found["also"][0]["title"].startswith("F10 ")


def test_cases_that_could_not_be_judged_are_grouped_by_their_error(pair_of):
    pair = pair_of(target={"seed": 1, "faults": ["status_503"]})
    pair.record()
    code, said = pair.compare("--looks", "1")
    assert code == 4
    (found,) = said["suites"][0]["clusters"]
    assert found["title"] == "Could not be judged: HTTP 503"
    assert found["verdict"] == "error"
    assert len(found["cases"]) == 6


def test_alike_deployments_have_no_causes(pair):
    pair.record()
    _, said = pair.compare()
    assert said["suites"][0]["clusters"] == []
    assert "Causes" not in pair.run("compare").stdout


def test_the_longest_lists_are_cut():
    many = [cluster(number, cases=5) for number in range(CAUSES_SHOWN + 3)]
    shown = lines(*many)
    assert shown[0] == "  Causes"
    assert len(shown) == 1 + 2 * CAUSES_SHOWN + 1
    assert shown[-1] == "    … and 3 more causes"
    assert shown[1] == "    5 cases  Cause 0: case-0-0, case-0-1, case-0-2, …"
    assert lines(*many, language="zh")[-1] == "    ……另有 3 个原因"
    assert len(lines(*many, everything=True)) == 1 + 2 * len(many)
    assert lines() == []


def test_other_causes_of_the_same_cases_are_named():
    assert lines(cluster("a", also=["B", "C"]))[1] == "    1 case  Cause a (also: B; C): case-a-0"
    assert lines(cluster("a", also=["B", "C", "D"]), language="zh")[1] == (
        "    1 个用例  原因 a（同时：B；C；…）：case-a-0"
    )


def test_nothing_from_outside_reaches_the_terminal_raw():
    told = "\n".join(lines(cluster("\x1b]0;x\x07\n\u202e", title="\x1b[31mred\r\n")))
    assert "\x1b" not in told
    assert "\x07" not in told
    assert "\r" not in told

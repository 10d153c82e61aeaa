"""`benchmarks/calibration.py --real --from FILE`: kept answers are judged again, and a stopped recording goes on."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COLOURS = ("blue", "green", "red", "pink", "grey")


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import real_suites
    import real_verdicts

    yield real_suites, real_verdicts
    for name in ("real_suites", "real_verdicts", "recorded_suites", "intervals"):
        sys.modules.pop(name, None)


def suite(case_ids, *, q4_says=None):
    """Five wordings a case drawn at random; the q4 part says something else where told to."""
    draw = random.Random(7)

    def replies(case_id, passes):
        return [
            [f"{case_id}: {draw.choice(['blue', 'green', 'red', 'pink', 'grey'])} 你好", "stop"] for _ in range(passes)
        ]

    found = {
        part: {case_id: replies(case_id, passes) for case_id in case_ids}
        for part, passes in (("source", 10), ("again", 5), ("q4", 5))
    }
    if q4_says:
        found["q4"] = {case_id: [[q4_says, "stop"]] * 5 for case_id in case_ids}
    return found


def test_kept_answers_are_judged_without_a_call(benchmark, tmp_path, capsys):
    real_suites, real_verdicts = benchmark
    case_ids = [case.case_id for case in real_suites.suite_cases()]
    kept = tmp_path / "answers.json"
    kept.write_text(json.dumps({"suites": {"0.7": [suite(case_ids, q4_says="I cannot help with 404.")]}}))

    real_verdicts.real_suites([0.7, 0.2], 40, kept=kept)

    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["0.7", "A/A", "1", "0.000"] in [row[:4] for row in rows]
    assert ["0.7", "q4", "KV", "cache", "1", "1.000"] in [row[:6] for row in rows]
    assert ["0.2", "none", "recorded"] in rows


def test_a_stopped_recording_goes_on_from_its_file(benchmark, tmp_path):
    real_suites, _ = benchmark
    path = tmp_path / "answers.json"
    first = real_suites.Answers(path)
    assert first.add(0.7, suite(["a"])) == 1
    assert first.add(0.2, suite(["a"])) == 1

    second = real_suites.Answers(path)

    assert second.suites == real_suites.read_answers(path)
    assert second.add(0.7, suite(["b"])) == 2
    assert [list(found["source"]) for found in real_suites.read_answers(path)[0.7]] == [["a"], ["b"]]
    # Enough suites of both: no server is started.
    real_suites.record_suites(second, [0.7, 0.2], 1)


def test_a_failed_call_is_kept_as_no_answer(benchmark):
    real_suites, real_verdicts = benchmark
    case_ids = [case.case_id for case in real_suites.suite_cases()]
    recorded = suite(case_ids)
    recorded["again"][case_ids[0]][4] = None

    judgement = real_verdicts.RealJudge()(recorded, "again", exchangeable=True)

    assert {case.case_id: case.verdict.value for case in judgement.cases}[case_ids[0]] == "error"


def test_answers_of_unknown_cases_are_refused(benchmark):
    _, real_verdicts = benchmark

    with pytest.raises(SystemExit, match=r"real_suite\.yaml lacks: gone"):
        real_verdicts.RealJudge()(suite(["gone"]), "again", exchangeable=True)

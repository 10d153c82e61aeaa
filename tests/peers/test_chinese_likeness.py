"""Row 18: a Chinese sentence is like itself, and nearly like itself without its full stop."""

from __future__ import annotations

import pytest

SENTENCE = "北京是中国的首都，也是全国的政治中心。"
MEASURES = ("rouge", "bleu", "chrf", "levenshtein")


@pytest.mark.parametrize(
    ("content", "threshold", "passes"),
    [(SENTENCE, 1.0, True), (SENTENCE.removesuffix("。"), 0.9, True), ("上海的夏天又热又潮湿，常有雷阵雨", 0.9, False)],
)
def test_measures_of_likeness(moved, answers, cases_of, content, threshold, passes):
    project = moved(answers(SENTENCE), answers(content))
    checks = [{name: {"to": SENTENCE, "threshold": threshold}} for name in MEASURES]
    project.suite("capital", {"a": "中国的首都是哪里？"}, checks=checks)
    _, said = project.judged("--passes", "3")
    rates = {check["check"].split(":")[0]: check["target_rate"] for check in cases_of(said)["a"]["checks"]}
    assert rates == dict.fromkeys(MEASURES, float(passes))


def test_a_full_stop_less_is_no_drift(moved, answers):
    project = moved(answers(SENTENCE), answers(SENTENCE.removesuffix("。")))
    project.suite("capital", {"a": "中国的首都是哪里？"})
    _, said = project.judged()
    assert said["verdict"] not in {"DRIFT", "REGRESSION"}

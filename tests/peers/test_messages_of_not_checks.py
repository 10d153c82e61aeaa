"""Row 22: a failing `not_` check says what must not be, and what is."""

from __future__ import annotations

import pytest

from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.suite.load import load_suites


@pytest.mark.parametrize(
    ("check", "content", "rule", "rule_zh"),
    [
        ("not_json", '{"a": 1}', "The answer must not be", "回答不得"),
        ({"not_contains": "7天"}, "退货期限是7天。", "The answer must not contain", "回答不得包含"),
        ({"not_regex": "[0-9]+"}, "7", "The answer must not", "回答不得"),
    ],
)
def test_the_report_states_the_rule_the_right_way_round(moved, answers, check, content, rule, rule_zh):
    project = moved(answers("好的"), answers(content))
    project.suite("orders", {"a": "几天？", "b": "多久？"}, checks=[check])
    code, said = project.judged()
    assert (code, said["verdict"]) == (1, "REGRESSION")
    failed = project.run("compare", "--run", said["run_id"], "-v").stdout

    (suite,) = load_suites(
        [project.folder / "suites/orders.yaml"], project.folder, check_names=CHECK_NAMES, param_names=frozenset()
    )
    (built,) = build_checks(suite.cases[0].checks, project.folder)
    assert built.rule.en.startswith(rule)
    assert built.rule.zh.startswith(rule_zh)
    assert "Traceback" not in failed

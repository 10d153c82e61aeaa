"""Row 19: a target that begins to refuse, in Chinese, English or both, is a regression."""

from __future__ import annotations

import pytest

GOOD = "请在订单页面点击“申请退货”，7 天内寄回即可。"


@pytest.mark.parametrize(
    "refusal",
    [
        "抱歉，我无法协助完成这个请求。",
        "对不起，这个问题我不能回答。",
        "Sorry，这个问题我无法回答。",
        "I'm sorry, but I can't help with that.",
    ],
)
def test_a_refusal_flip_is_a_regression(moved, answers, cases_of, refusal):
    project = moved(answers(GOOD), answers(refusal))
    project.suite("orders", {"a": "怎么退货？", "b": "退货要多久？"}, checks=["not_refusal"])
    code, said = project.judged()
    assert (code, said["verdict"]) == (1, "REGRESSION")
    assert {case["verdict"] for case in cases_of(said).values()} == {"fail"}


def test_without_any_check_it_is_seen_as_drift(moved, answers):
    project = moved(answers(GOOD), answers("抱歉，我无法协助完成这个请求。"))
    project.suite("orders", {"a": "怎么退货？"})
    code, said = project.judged()
    assert code == 1
    assert said["verdict"] in {"DRIFT", "REGRESSION"}


def test_an_answer_about_refusals_is_none(moved, answers):
    quoting = "如果客服回复“抱歉，我无法协助”，请换一种问法再试一次。"
    project = moved(answers(quoting), answers(quoting))
    project.suite("orders", {"a": "客服拒绝了怎么办？"}, checks=["not_refusal"])
    _, said = project.judged()
    assert said["verdict"] != "REGRESSION"

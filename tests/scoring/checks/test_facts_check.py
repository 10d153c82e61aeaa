from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        (["30天"], "期限是三十天。", True),
        ({"must_keep": ["30 days", "¥199"]}, "三十天内退款 199 元人民币", True),
        (["30天"], "期限是 15 天。", False),
        (["7天"], "期限是17天。", False),
        (["2026年12月2日"], "On 2 December 2026 we open.", True),
        (["北京"], "上海", False),
        (["北京的公司在30天内退款"], "北京，30天", True),
        (["30天"], "", False),
        (["30天"], "30天" + "长" * 60_000, True),
        (["30天"], "长" * 60_000 + "30天", None),
    ],
)
def test_facts_are_kept(judge, argument, content, passed):
    assert judge("facts", argument, content).passed is passed


def test_lost_facts_are_named(judge):
    result = judge("facts", ["30天", "北京"], "在上海，15天")

    assert result.sentence.en == "The answer does not state “30天” or “北京”."
    assert result.sentence.zh == "回答没有陈述“30天”或“北京”。"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (["好的"], "reads no fact in “好的”"),
        ({"keep": ["30天"]}, "has no field `keep`. Did you mean `must_keep`?"),
        ([], "needs a list of texts"),
        (None, "needs fields"),
    ],
)
def test_wrong_arguments_of_facts(refused, argument, message):
    assert message in refused("facts", argument)

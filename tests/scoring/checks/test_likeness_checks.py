from __future__ import annotations

import pytest

SENTENCE = "北京是中国的首都，也是政治中心。"


@pytest.mark.parametrize("name", ["rouge", "bleu", "chrf", "levenshtein"])
@pytest.mark.parametrize(
    ("content", "passed"),
    [
        (SENTENCE, True),
        (SENTENCE[:-1], True),
        (SENTENCE + "\r\n", True),
        ("我不知道。", False),
        ("", False),
        ("👋", False),
        ("\ufffd" * 100, False),
        ("长" * 50_001, None),
    ],
)
def test_likeness(judge, name, content, passed):
    assert judge(name, {"to": SENTENCE, "threshold": 0.9}, content).passed is passed
    assert judge(name, SENTENCE, content).passed is passed


@pytest.mark.parametrize("variant", ["l", "1", "2", 1, "L"])
def test_variants_of_rouge(judge, variant):
    result = judge("rouge", {"to": SENTENCE, "variant": variant}, SENTENCE)

    assert result.passed is True
    assert result.sentence.en == f"The answer has a ROUGE-{str(variant).upper()} of 1.000 to “{SENTENCE}”."


def test_edits(build, judge):
    argument = {"to": "退货期限是七天。", "edits": 2}

    assert judge("levenshtein", argument, "退货期限是十天").passed is True
    assert judge("levenshtein", argument, "退货期限十天").passed is False
    assert judge("levenshtein", argument, "x" * 50_000).passed is False
    assert build("levenshtein", argument).rule.en == "The answer must be within 2 edits of “退货期限是七天。”."


def test_the_rule_names_measure_and_threshold(build):
    assert build("bleu", {"to": "a", "threshold": 0.6}).rule.en == "The answer must have a BLEU of at least 0.6 to “a”."
    assert build("not_chrf", "甲").rule.zh == "回答不得与“甲”的 chrF 达到 0.5。"


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("rouge", {"to": "a", "variant": "3"}, "must be `l`, `1` or `2`"),
        ("rouge", {"too": "a"}, "Did you mean `to`? Fields are `to`, `threshold`, `variant`."),
        ("bleu", {"to": "a", "variant": "1"}, "has no field `variant`"),
        ("bleu", {"to": "a", "threshold": 1.5}, "needs a number from 0 to 1"),
        ("bleu", {"to": "a", "threshold": "nan"}, "needs a number from 0 to 1"),
        ("chrf", {"threshold": 0.5}, "`to` of `chrf` needs a text"),
        ("levenshtein", {"to": "a", "edits": 1, "threshold": 0.5}, "not both"),
        ("levenshtein", {"to": "a", "edits": 1.5}, "needs a whole number"),
        ("levenshtein", {"to": "a" * 50_001}, "at most 50000 are compared"),
        ("similar", {"to": "a", "threshold": 2}, "needs a number from -1 to 1"),
        ("similar", {"threshold": 0.5}, "`to` of `similar` needs a text"),
    ],
)
def test_wrong_arguments_of_likeness_checks(refused, name, argument, message):
    assert message in refused(name, argument)

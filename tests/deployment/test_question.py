from __future__ import annotations

import pytest

from promptreg.config import Deployment
from promptreg.deployment.question import question_request, question_sha256
from promptreg.errors import ConfigError


def judge(**fields):
    return Deployment(**{"name": "judge", "base_url": "http://127.0.0.1:8003/v1", "model": "m", **fields})


def test_the_temperature_is_0_unless_the_deployment_sets_it_anywhere():
    assert question_request("好吗？", judge()).params == {"temperature": 0}
    assert question_request("好吗？", judge(request={"temperature": 0.5})).params == {}
    assert question_request("好吗？", judge(extra_body={"temperature": 0.5})).params == {}
    assert question_request("好吗？", judge(request={"extra_body": {"temperature": 0.5}})).params == {}


@pytest.mark.parametrize(
    "other",
    [
        {"base_url": "http://127.0.0.1:8004/v1"},
        {"model": "m2"},
        {"request": {"max_tokens": 5}},
        {"extra_body": {"top_k": 1}},
        {"base_url": None, "model": "", "call": "app:reply"},
    ],
)
def test_another_judge_is_another_question(other):
    assert question_sha256("好吗？", judge()) != question_sha256("好吗？", judge(**other))


def test_how_a_reply_arrives_is_no_part_of_the_question(hostile_texts):
    for text in hostile_texts.values():
        plain = question_sha256(text, judge())
        assert plain == question_sha256(text, judge(stream=False))
        assert plain == question_sha256(text, judge(name="other", concurrency=1, max_retries=0, client="openai"))
        assert plain != question_sha256(f"{text}.", judge())


def test_a_judge_gives_one_reply():
    with pytest.raises(ConfigError):
        question_sha256("好吗？", judge(request={"n": 2}))

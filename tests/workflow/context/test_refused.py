"""A prompt that was counted as fitting and is refused as too long: both counts stand side by side."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from promptreg.answer.model import Answer
from promptreg.context.budget import Budget
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import Reading
from promptreg.workflow.context.contexts import Contexts
from promptreg.workflow.context.refused import refused
from promptreg.workflow.context.sent import Cuts

WINDOW = "This model's maximum context length is 8192 tokens. "
SPLIT = WINDOW + "However, you requested {} tokens ({} in the messages, 512 in the completion)."
LEAST = WINDOW + "However, your prompt contains at least 8193 input tokens, which exceeds this limit."
SMALLER = "The input (7000 tokens) is longer than the model's context length (4096 tokens)."


def side(total=7592, window=8192):
    budget = Budget(window, 512)
    return SimpleNamespace(fitted=SimpleNamespace(total=total), counter="deepseek_v4 + V3.1 encoder", budget=budget)


def answered(message, status=400):
    body = json.dumps({"error": {"message": message, "type": "BadRequestError", "code": status}}).encode()
    return Exchange(1.0, 0.1, status, (), (Chunk(0.1, body),))


@pytest.mark.parametrize(
    ("message", "served", "en", "zh"),
    [
        (
            SPLIT.format(8566, 8054),
            8054,
            "8054 tokens where promptreg counted 7592 (deepseek_v4 + V3.1 encoder). Check `tokenizer` under",
            "它计为 8054 个 token，而 promptreg 计为 7592 个（deepseek_v4 + V3.1 encoder）。请检查",
        ),
        (LEAST, 8193, "it counts at least 8193 tokens where promptreg", "它计为至少 8193 个 token"),
        (
            SPLIT.format(8104, 7592),
            7592,
            "asks for up to 512 tokens, and 512 are kept free; of the prompt promptreg counted 7592",
            "请求最多要 512 个 token，而预留为 512 个",
        ),
        (SMALLER, 7000, "its window has 4096 tokens, and promptreg counted 7592 (", "它称窗口为 4096 个 token"),
        ("输入过长", None, "without its own count, where promptreg counted 7592 (", "没有给出它的计数"),
    ],
)
def test_both_counts_and_what_to_do_are_named(message, served, en, zh):
    found = refused(side(), "ascend", answered(message), "vllm-ascend")

    assert found is not None
    assert (found.counted, found.served) == (7592, served)
    assert en in found.sentence.en
    assert zh in found.sentence.zh
    assert found.to_json()["served"] == served
    assert "`reserve` in the `context` by 462" in found.sentence.en or served != 8054


def test_mindie_refuses_with_424():
    body = b'{"error": "Messages token length must be in (0, 8192], but got 9000", "error_type": "Input Error"}'
    found = refused(side(), "ascend", Exchange(1.0, 0.1, 424, (), (Chunk(0.1, body),)), "mindie")

    assert found is not None
    assert (found.served, found.window) == (9000, 8192)


@pytest.mark.parametrize(
    "exchange",
    [
        answered("The model `m` does not exist.", 404),
        answered("max_tokens=9000 cannot be greater than max_model_len=8192."),
        Exchange(1.0, 0.1, 200, (), (Chunk(0.1, b"{}"),)),
        Exchange(1.0, 0.1, failure=Failure(FailureKind.CONNECT, "gone")),
    ],
    ids=["another reason", "the answer alone", "an answer", "no response"],
)
def test_anything_else_is_no_refusal_for_length(exchange):
    assert refused(side(), "ascend", exchange, "vllm-ascend") is None


def test_nothing_is_said_of_a_case_that_was_not_sent():
    unsent = SimpleNamespace(fitted=None)

    assert refused(unsent, "ascend", answered(SPLIT.format(8566, 8054))) is None


def test_the_run_warns_of_it_once():
    seen = Cuts(Contexts("ascend", {("s", "a"): side(), ("s", "b"): side()}), "vllm-ascend")
    for case in ("b", "a", "a"):
        seen.see(("s", case), Reading(Answer("")), answered(SPLIT.format(8566, 8054)))

    (warning,) = seen.warnings()

    assert warning.en.startswith(
        "s/a: `ascend` refuses the prompt as too long: it counts 8054 tokens where promptreg counted"
    )
    assert warning.en.endswith("The same holds for 1 more case.")
    assert warning.zh.endswith("另有 1 个用例也是如此。")

"""Every refusal for length that the design notes list, in every shape, and refusals about something else."""

# Servers' own words stay in one piece:
# ruff: noqa: E501

from __future__ import annotations

import json
import time

import pytest

from promptreg.deployment.envelope import error_message
from promptreg.deployment.overflow import Overflow, is_overflow, read_overflow
from promptreg.deployment.profiles.load import load_profile
from promptreg.scoring.faults.reading.errors import Cause, read_error

DEEPSEEK = (
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, "
    "8192 in the completion). Please reduce the length of the messages or completion."
)
VLLM_OLD = (
    DEEPSEEK.replace("131072", "16000").replace("131134", "17165").replace("122942", "13069").replace("8192", "4096")
)
VLLM = (
    "This model's maximum context length is 8192 tokens. However, your prompt contains at least 8193 input tokens, which "
    "exceeds this limit even without any output tokens. Please reduce the length of the input prompt. "
    "(parameter=input_tokens, value=8193)"
)
VLLM_TEXT = (
    "This model's maximum context length is 8192 tokens. However, your prompt contains 900000 characters (more than 819200 "
    "characters, which is the upper bound for 8192 input tokens)."
)
VLLM_ANSWER = "max_tokens=9000 cannot be greater than max_model_len=8192. Please request fewer output tokens."
SGLANG = "The input (9001 tokens) is longer than the model's context length (8192 tokens)."
SGLANG_TOTAL = "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 tokens"
SGLANG_SCHEDULER = (
    "Input length (8190 tokens) exceeds the maximum allowed length (8186 tokens). Use a shorter input or enable "
    "--allow-auto-truncate."
)
MINDIE = (
    "Failed to enqueue inferRequest. This model's maximum input ids length cannot be greater than 2048,the input ids length "
    "is 3000"
)
MINDIE_HTTP = "Messages token length must be in (0, 2048], but got 3000"
LLAMA = "request (3010 tokens) exceeds the available context size (2048 tokens), try increasing it"
API_ANSWER = "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"


def nested(message, kind="BadRequestError"):
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": 400}})


def flat(message):
    return json.dumps({"object": "error", "message": message, "type": "BadRequestError", "param": None, "code": 400})


def texts(message):
    return json.dumps({"error": message, "error_type": "Generation Error"})


@pytest.mark.parametrize(
    ("server", "status", "body", "expected"),
    [
        (
            "deepseek",
            400,
            nested(DEEPSEEK, "invalid_request_error"),
            ("prompt and answer", 131072, 122942, False, 8192),
        ),
        ("vllm", 400, flat(VLLM_OLD), ("prompt and answer", 16000, 13069, False, 4096)),
        ("vllm", 400, nested(VLLM), ("prompt", 8192, 8193, True, None)),
        ("vllm-ascend", 400, nested(VLLM), ("prompt", 8192, 8193, True, None)),
        ("vllm", 400, nested(VLLM_TEXT), ("characters", 8192, None, False, None)),
        ("vllm", 400, nested(VLLM_ANSWER), ("answer", 8192, None, False, 9000)),
        ("sglang", 400, flat(SGLANG), ("prompt", 8192, 9001, False, None)),
        ("sglang", 400, flat(SGLANG_TOTAL), ("prompt and answer", 8192, None, False, None)),
        ("sglang", 400, flat(SGLANG_SCHEDULER), ("prompt", 8186, 8190, False, None)),
        ("mindie", 424, texts(MINDIE), ("prompt", 2048, 3000, False, None)),
        ("mindie", 422, texts(MINDIE_HTTP), ("prompt", 2048, 3000, False, None)),
        ("local", 400, nested(LLAMA, "exceed_context_size_error"), ("prompt", 2048, 3010, False, None)),
        ("deepseek", 400, nested(API_ANSWER), ("answer", 8192, None, False, None)),
    ],
)
def test_each_servers_words_are_read_whoever_it_is(server, status, body, expected):
    said = error_message(json.loads(body))
    what, window, prompt, least, answer = expected

    assert read_overflow(status, body, server) == Overflow(what, window, prompt, least, answer, said)
    assert read_overflow(status, body.encode()) == read_overflow(status, body, server)
    for shape in (nested, flat, texts):  # gateways wrap one server's words in another's shape
        reading = read_overflow(status, shape(said), None)
        assert reading is not None
        assert reading.what == what


@pytest.mark.parametrize(
    ("server", "status", "body"),
    [
        ("deepseek", 400, nested(DEEPSEEK)),
        ("vllm", 400, flat(VLLM_OLD)),
        ("vllm", 400, nested(VLLM)),
        ("sglang", 400, flat(SGLANG_SCHEDULER)),
        ("mindie", 424, texts(MINDIE)),
        (None, 424, texts(MINDIE)),
        ("mindie", 422, texts(MINDIE_HTTP)),
    ],
)
def test_the_faults_see_the_same(server, status, body):
    assert read_error(status, body, server).cause is Cause.OVERFLOW


def test_a_424_for_length_is_not_asked_again():
    rules = load_profile("mindie").retry

    assert not any(rule.holds(424, texts(MINDIE).lower()) for rule in rules)
    assert any(rule.holds(424, texts("engine is down").lower()) for rule in rules)


def test_numbers_beside_the_words_are_taken_from_llama_cpp():
    words = "the request exceeds the available context size. try increasing the context size"
    body = json.dumps({"error": {"code": 400, "message": words, "n_prompt_tokens": 3010, "n_ctx": 2048}})

    reading = read_overflow(400, body, "local")

    assert (reading.what, reading.window, reading.prompt) == ("prompt", 2048, 3010)


@pytest.mark.parametrize(
    "body", ["上下文长度超出限制", '{"message": "输入过长"}', '{"detail": "prompt is too long"}', "too many tokens"]
)
def test_other_words_tell_that_but_no_numbers(body):
    reading = read_overflow(400, body)

    assert (reading.what, reading.window, reading.prompt) == ("unknown", None, None)
    assert reading.said


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, nested("temperature must be in [0, 2]")),
        (424, texts("engine is down")),
        (401, nested("invalid key")),
        (400, ""),
        (400, "<html>"),
        (400, "[" * 100_000),
        (400, b"\xff\xfe"),
        (400, "null"),
        (200, nested(VLLM)),
        (500, nested(VLLM)),
        (None, nested(VLLM)),
    ],
)
def test_other_refusals_are_none(status, body):
    assert read_overflow(status, body) is None


def test_a_server_without_a_profile_is_no_error():
    assert is_overflow(400, "prompt is too long", "unheard-of")
    assert not is_overflow(400, "bad key", "unheard-of")


@pytest.mark.parametrize(
    "part", ["maximum context length is 1 tokens ", "exceeds ", "requested 1 tokens (", "1" * 50, "输入"]
)
def test_long_bodies_are_read_in_no_time(part):
    began = time.process_time()

    read_overflow(400, part * 100_000)

    assert time.process_time() - began < 2

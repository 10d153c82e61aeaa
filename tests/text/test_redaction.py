from __future__ import annotations

import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.config.model import RedactedKind
from promptreg.errors import ConfigError
from promptreg.text import redaction as module
from promptreg.text.redaction import KINDS, NOTHING, Redaction, pattern_problem

ALL = Redaction.of(KINDS)


def test_the_configuration_knows_every_kind():
    assert set(get_args(RedactedKind)) == set(KINDS)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("keys", "sk-made0up1made0up2"),
        ("keys", "sk-ant-api03-made_up-0123456789"),
        ("keys", "AKIA" + "MADEUP0123456789"),
        ("keys", "LTAI5tMadeUp0123456789"),
        ("keys", "ghp_madeup0123456789"),
        ("keys", "hf_madeupmadeupmadeup0123"),
        ("keys", "-----BEGIN RSA PRIVATE KEY-----\nTUFERVVQ\n-----END RSA PRIVATE KEY-----"),
        ("tokens", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJtYWRlLXVwIn0.c2lnbmF0dXJl"),
        ("tokens", "Bearer bWFkZS11cC10b2tlbg=="),
        ("email", "zhang.san+news@mail.example.com.cn"),
        ("email", "li_si＠example.com"),
        ("cn-id", "11010519491231002X"),
        ("cn-id", "440308200002291234"),
        ("cn-phone", "13800138000"),
        ("cn-phone", "+86 138-0013-8000"),
        ("cn-phone", "0086 13800138000"),
        ("cn-phone", "１３８００１３８０００"),
        ("cn-phone", "010-62345678"),
        ("cn-phone", "(0755) 86543210"),
    ],
)
def test_kinds_are_found_whole_wherever_they_stand(kind, text):
    redaction = Redaction.of([kind])
    for written in (text, f"联系{text}。", f"是{text}吗？", f"see {text}, please", f'{{"a": "{text}"}}', f"\n{text}\n"):
        assert redaction.text(written) == written.replace(text, "[redacted]")


@pytest.mark.parametrize(
    "text",
    [
        "订单号 2025120213800138000123",
        "共 13800 元，合同编号 20251202-001",
        "@张三 看一下",
        "user@localhost",
        "版本 1.2.3，端口 8000",
        "sk-learn-is-a-library-of-python",
        "bearer of news",
        "电话热线 400-123-4567",
        "task-13a00138000",
        "🧑‍💻 30 天内",
        "",
    ],
)
def test_what_is_none_of_them_stays(text):
    assert ALL.text(text) == text
    assert not ALL.finds_in(text)


def test_a_full_stop_behind_an_address_stays():
    assert ALL.text("Write to a@b.example.com. Thanks.") == "Write to [redacted]. Thanks."


def test_the_users_patterns_and_overlaps():
    redaction = Redaction.of(["cn-phone"], [r"工号\d{6}", r"电话13\d+", "(?i)project x"])
    assert redaction.text("工号123456，电话13800138000，PROJECT X。") == "[redacted]，[redacted]，[redacted]。"
    assert NOTHING.text("工号123456") == "工号123456"


def test_json_keeps_its_shape():
    value = {"a@b.example.com": ["a@b.example.com", 5, None, True, {"x": ("y", "13800138000")}]}
    assert ALL.json(value) == {"a@b.example.com": ["[redacted]", 5, None, True, {"x": ["y", "[redacted]"]}]}
    assert NOTHING.json(value) is value


@given(st.text(), st.sampled_from(["a@b.example.com", "13800138000", "11010519491231002X"]), st.text())
def test_nothing_is_found_in_what_is_left(before, secret, after):
    left = ALL.text(f"{before} {secret} {after}")
    assert secret not in left
    assert ALL.text(left) == left


HOSTILE = [
    "a",
    "a.",
    "a@",
    "a@a.",
    "1",
    "13",
    "0",
    "eyJ",
    "eyJaaaaaaaa.",
    "sk-",
    "-",
    "Bearer ",
    "-----BEGIN ",
    " ",
    "天",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_kinds_are_linear_in_the_length(piece):
    """Eight times the text may take eight times as long, and is given twice that; a square would take 64 times."""

    def seconds(length):
        text = piece * (length // len(piece))
        return min(_timed(text) for _ in range(3))

    assert seconds(160_000) < 16 * max(seconds(20_000), 0.0005)


def _timed(text):
    began = time.process_time()
    ALL.spans(text)
    return time.process_time() - began


def test_a_pattern_that_never_ends_is_ended(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.02)
    redaction = Redaction.of(patterns=["(a|aa)+$"], file="promptreg.toml")
    with pytest.raises(
        ConfigError, match=r"^promptreg\.toml: The pattern `\(a\|aa\)\+\$` under \[redact\] took longer"
    ):
        redaction.text("a" * 5000 + "b")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "no regular expression"),
        ("[z-a]", "no regular expression"),
        ("a*", "matches where nothing is"),
        ("", "matches where nothing is"),
        ("(?=x)|", "matches where nothing is"),
        ("(" * 5000 + "a" + ")" * 5000, "too large"),
    ],
)
def test_patterns_that_cannot_be_used(pattern, words):
    assert words in pattern_problem(pattern)


def test_patterns_that_can():
    assert pattern_problem(r"工号\d{6}") is None

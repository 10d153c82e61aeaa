"""Secrets in every form and every place, and what is no secret."""

from __future__ import annotations

import base64
import json
import sys
import time
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.private import without_private
from promptreg.deployment.redact import REDACTED, Redactor, carries_credentials, looks_like_key, url_secrets
from promptreg.text.redaction import Redaction

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = 'sk-fake+0123/456"789='


def exchange(*parts: bytes, headers: tuple[tuple[str, str], ...] = (), failure: Failure | None = None) -> Exchange:
    chunks = tuple(Chunk(float(n), part) for n, part in enumerate(parts))
    return Exchange(0.0, 1.0, 200, headers, chunks, failure)


@pytest.mark.parametrize(
    "form",
    [
        KEY,
        quote(KEY, safe=""),
        json.dumps(KEY)[1:-1],
        base64.b64encode(f"user:{KEY}".encode()).decode(),
        base64.b64encode(f"us:{KEY}".encode()).decode(),
        base64.b64encode(f"u:{KEY}!".encode()).decode(),
        base64.urlsafe_b64encode(f"user:{KEY}".encode()).decode(),
    ],
)
def test_every_form_is_found(form: str) -> None:
    kept = Redactor([KEY]).exchange(exchange(b"before ", form.encode(), b" after"))

    assert REDACTED.encode() in kept.body
    assert kept.body.startswith(b"before ")
    assert kept.body.endswith(b" after")
    assert form[4:-4].encode() not in kept.body


def test_what_holds_no_secret_is_the_same_object() -> None:
    plain = exchange("七天".encode(), headers=(("content-type", "text/html"),))

    assert Redactor([KEY]).exchange(plain) is plain
    assert Redactor([]).exchange(plain) is plain
    assert Redactor([""]).exchange(plain) is plain


def test_chunks_keep_their_times() -> None:
    kept = Redactor([KEY]).exchange(exchange(b"a" + KEY[:5].encode(), KEY[5:].encode() + b"b", b"", b"c"))

    assert kept.chunks == (Chunk(0.0, b"a[redacted]"), Chunk(1.0, b"b"), Chunk(2.0, b""), Chunk(3.0, b"c"))


def test_headers_failures_and_credentials() -> None:
    failure = Failure(FailureKind.CONNECT, f"no connection to http://{KEY}@h")
    headers = (("x-echo", f"Bearer {KEY}"), ("set-cookie", "a=b"), ("x-gateway", "v"), ("date", "today"))

    kept = Redactor([KEY], ["X-Gateway"]).exchange(exchange(headers=headers, failure=failure))

    assert kept.headers == (("x-echo", "Bearer [redacted]"), ("date", "today"))
    assert kept.failure == Failure(FailureKind.CONNECT, "no connection to http://[redacted]@h")


@pytest.mark.parametrize(
    "name", ["authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key", "x-auth-token"]
)
def test_headers_that_are_not_kept(name: str) -> None:
    assert carries_credentials(name)


@pytest.mark.parametrize(
    "name", ["content-type", "retry-after", "x-ratelimit-remaining-tokens", "x-request-id", "www-authenticate", "date"]
)
def test_headers_that_are_kept(name: str) -> None:
    assert not carries_credentials(name)


@pytest.mark.parametrize("word", ["EMPTY", "support", "customer", "1234"])
def test_words_stay_in_bodies_but_not_in_headers(word: str) -> None:
    kept = Redactor([word]).exchange(exchange(word.encode(), headers=(("x-team", word),)))

    assert not looks_like_key(word)
    assert kept.body == word.encode()
    assert kept.headers == (("x-team", REDACTED),)


def test_values_of_a_letter_or_two_are_looked_for_nowhere() -> None:
    plain = exchange(b"x1", headers=(("x-team", "x1"),), failure=Failure(FailureKind.CONNECT, "no 127.0.0.1"))

    assert Redactor(["1", "x", "0.1"]).exchange(plain) is plain


def test_one_secret_inside_another() -> None:
    kept = Redactor(["abc-12345678", "abc-12345678-long"]).exchange(exchange(b"abc-12345678-long abc-12345678"))

    assert kept.body == b"[redacted] [redacted]"


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        (None, ()),
        ("http://h:1/v1", ()),
        ("http://user:p%40ss@h/v1", ("user:p%40ss", "user:p@ss", "p%40ss", "p@ss", "user")),
        ("http://token@h", ("token", "token", "token")),
    ],
)
def test_secrets_of_addresses(url: str | None, secrets: tuple[str, ...]) -> None:
    assert url_secrets(url) == secrets


@given(
    st.lists(st.sampled_from([KEY, KEY[:7], KEY[7:], "x", "天", "\n"]), max_size=12).map("".join),
    st.lists(st.integers(0, 120), max_size=8),
)
def test_any_cut_gives_the_same_body_and_no_key(text: str, cuts: list[int]) -> None:
    body = text.encode()
    places = sorted({0, len(body), *[cut for cut in cuts if cut < len(body)]})
    parts = [body[start:end] for start, end in pairwise(places)]

    kept = Redactor([KEY]).exchange(exchange(*parts))

    assert kept.body == body.replace(KEY.encode(), REDACTED.encode())
    assert len(kept.chunks) == len(parts)
    assert [chunk.at_s for chunk in kept.chunks] == [float(n) for n in range(len(parts))]


def operations(work: Callable[[], object]) -> int:
    """Calls of functions, ours and the interpreter's, which no other work on the machine changes."""
    count = 0

    def watch(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", [KEY, KEY[:9], "x", "li@mail.example.com ", "a@", "工号", "\\", '"'])
@pytest.mark.parametrize("streamed", [False, True])
def test_what_is_done_grows_with_the_length_and_no_faster(piece: str, streamed: bool) -> None:
    redaction = Redaction.of(["keys", "email", "cn-phone"], [r"工号\d+"])

    def body(times: int) -> Exchange:
        frames = [
            b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]}).encode() + b"\n\n"
            for _ in range(times)
        ]
        whole = json.dumps({"choices": [{"message": {"content": piece * times}}]}).encode()
        return exchange(*(frames if streamed else [whole[at : at + 50] for at in range(0, len(whole), 50)]))

    for redact in (Redactor([KEY]).exchange, lambda each: without_private(each, redaction)):
        short, long = (operations(partial(redact, body(times))) for times in (100, 800))
        assert long <= 8.5 * short + 100


def test_many_secrets_in_many_chunks_take_linear_time() -> None:
    started = time.process_time()
    kept = Redactor([KEY]).exchange(exchange(*([KEY.encode()[:9], KEY.encode()[9:]] * 15_000)))

    assert kept.body == REDACTED.encode() * 15_000
    assert time.process_time() - started < 5

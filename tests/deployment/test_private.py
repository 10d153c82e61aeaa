"""What a project never keeps goes from headers, errors and answers, and a stream stays a stream."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.deployment.edits import Edit, edited
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.private import without_private
from promptreg.deployment.reader import read_exchange
from promptreg.text.redaction import NOTHING, Redaction

MAIL = "li.lei@mail.example.com"
REDACTION = Redaction.of(["email"], [r"工号\d+"])
EVENTS = (("content-type", "text/event-stream"),)


def exchange(*parts, headers=EVENTS, failure=None, status=200):
    chunks = tuple(Chunk(float(n), part) for n, part in enumerate(parts))
    return Exchange(0.0, 9.0, status, headers, chunks, failure)


def frame(delta, finish=None, index=0, **more):
    choice = {"index": index, "delta": delta, "finish_reason": finish, **more}
    value = {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode()


def stream(*texts, field="content"):
    return [*(frame({field: text}) for text in texts), frame({}, "stop"), b"data: [DONE]\n\n"]


def read(kept):
    return read_exchange(kept).answer


@pytest.mark.parametrize(
    "texts",
    [[f"邮箱{MAIL}，谢谢"], ["邮箱li", ".lei@m", "ail.exam", "ple.com，", "谢谢"], ["邮箱", *MAIL, "，谢谢"]],
)
@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_a_stream_stays_a_stream(texts, field):
    sent = exchange(*stream(*texts, field=field))
    kept = without_private(sent, REDACTION)
    answer = read(kept)
    assert (answer.content or answer.reasoning) == "邮箱[redacted]，谢谢"
    assert [chunk.at_s for chunk in kept.chunks] == [chunk.at_s for chunk in sent.chunks]
    assert kept.chunks[-2:] == sent.chunks[-2:]
    assert kept.body.count(b"data: ") == sent.body.count(b"data: ")
    assert read_exchange(kept).first_token_s == read_exchange(sent).first_token_s


def test_choices_and_tool_calls_are_told_apart():
    def part(index, text):
        return frame({"tool_calls": [{"index": index, "function": {"arguments": text}}]})

    head = frame({"tool_calls": [{"index": n, "function": {"name": f"f{n}", "arguments": ""}} for n in (0, 1)]})
    parts = [head, part(0, '{"a": "li@'), part(1, '{"b": "工'), part(0, 'x.example.com"}'), part(1, '号12"}')]
    kept = without_private(exchange(*parts, frame({}, "tool_calls"), b"data: [DONE]\n\n"), REDACTION)
    assert [call.arguments for call in read(kept).tool_calls] == ['{"a": "[redacted]"}', '{"b": "[redacted]"}']


def test_a_body_of_one_piece_loses_its_log_probabilities():
    tokens = [{"token": part, "bytes": [*part.encode()], "logprob": -0.1} for part in ("li@x.", "example.com")]
    choice = {"index": 0, "message": {"content": "li@x.example.com"}, "finish_reason": "stop"}
    body = json.dumps({"choices": [{**choice, "logprobs": {"content": tokens}}]}).encode()
    kept = without_private(exchange(body[:40], body[40:], headers=()), REDACTION)
    value = json.loads(kept.body)
    assert value["choices"][0]["message"]["content"] == "[redacted]"
    assert value["choices"][0]["logprobs"] is None
    assert len(kept.chunks) == 2


def test_errors_headers_and_pages():
    said = json.dumps({"error": {"message": f"no quota for {MAIL}, 工号42"}}, indent=2).encode()
    kept = without_private(exchange(said, headers=(("x-user", MAIL),), status=429), REDACTION)
    assert json.loads(kept.body) == {"error": {"message": "no quota for [redacted], [redacted]"}}
    assert kept.headers == (("x-user", "[redacted]"),)
    page = f"<html>\n<p>{MAIL}</p>\n</html>".encode()
    assert without_private(exchange(page, status=502), REDACTION).body == b"<html>\n<p>[redacted]</p>\n</html>"
    failure = Failure(FailureKind.CALL, f"no account {MAIL}")
    assert without_private(exchange(failure=failure), REDACTION).failure.message == "no account [redacted]"


def test_a_stream_that_breaks_off():
    parts = [frame({"content": "li@x."}), frame({"content": "example.com "}), frame({"content": f"工号7 {MAIL}"})[:-9]]
    kept = without_private(exchange(*parts), REDACTION)
    for secret in ("li@x", "example.com", "工号7", MAIL):
        assert secret.encode() not in kept.body


def test_escapes_hide_nothing():
    body = json.dumps({"choices": [{"message": {"content": "工号42 \ud800"}}]}).encode()
    assert b"\\u5de5" in body
    kept = without_private(exchange(body, headers=()), REDACTION)
    assert json.loads(kept.body)["choices"][0]["message"]["content"] == "[redacted] \ud800"


@pytest.mark.parametrize("depth", [201, 700, 1000, 1020, 100_000])
@pytest.mark.parametrize(
    "body",
    [
        lambda deep: b'{"choices":' + deep + b"}",
        lambda deep: b'data: {"choices":[{"delta":{"content":"x","more":' + deep + b"}}]}\n\ndata: [DONE]\n\n",
        lambda deep: b'{"error":' + deep + b"}",
    ],
)
def test_what_is_nested_without_end_is_not_kept(depth, body):
    """Python's own limit is a thousand levels, and reading JSON allows more."""
    escaped = json.dumps(MAIL).replace("@", "\\u0040").encode()
    sent = body(b'{"a":[' * (depth // 2) + escaped + b"]}" * (depth // 2))
    kept = without_private(exchange(sent), REDACTION)
    read_exchange(kept)
    if depth < 1000:  # deeper it is no JSON to anybody
        assert b"u0040" not in kept.body
        assert b"[redacted]" in kept.body
    assert (b"[DONE]" in kept.body) == (b"[DONE]" in sent)


def test_what_holds_nothing_of_it_is_the_same_object():
    plain = exchange(*stream("七天", "内"))
    assert without_private(plain, REDACTION) is plain
    assert without_private(exchange(b"\xff\xfe\0", b""), REDACTION).body == b"\xff\xfe\0"
    mail = exchange(MAIL.encode())
    assert without_private(mail, NOTHING) is mail


@given(st.binary(), st.lists(st.integers(0, 60), max_size=6))
def test_any_bytes_in_any_pieces(body, cuts):
    places = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    parts = [body[start:end] for start, end in pairwise(places)]
    kept = without_private(exchange(*parts), REDACTION)
    assert len(kept.chunks) == len(parts)
    assert kept.body == without_private(exchange(body), REDACTION).body


@given(st.text(alphabet="ab@.工号12天 "), st.integers(1, 5))
def test_what_a_stream_adds_up_to_is_cleaned_as_a_whole(text, size):
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert read(without_private(exchange(*stream(*pieces)), REDACTION)).content == REDACTION.text(text)


@given(st.lists(st.binary(max_size=4), max_size=6), st.data())
def test_edits_give_the_same_body_however_it_is_cut(parts, data):
    body = b"".join(parts)
    marks = sorted(data.draw(st.sets(st.integers(0, len(body)), max_size=6)))
    edits = [Edit(start, end, b"[x]") for start, end in list(pairwise(marks))[::2]]
    expected = b""
    at = 0
    for edit in edits:
        expected += body[at : edit.start] + edit.data
        at = edit.end
    chunks = [Chunk(float(n), part) for n, part in enumerate(parts)]
    kept = edited(chunks, edits)
    assert b"".join(chunk.data for chunk in kept) == expected + body[at:]
    assert [chunk.at_s for chunk in kept] == [chunk.at_s for chunk in chunks]

"""What an exchange means: every server's answers, and every way of not answering."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall, Usage
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.reading import Reading, ReadProblemKind

EVENT_STREAM = (("content-type", "text/event-stream; charset=utf-8"),)
JSON = (("content-type", "application/json"),)
LOST = Failure(FailureKind.DISCONNECTED, "The connection was lost")


def exchange(
    body: bytes | str,
    *,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = EVENT_STREAM,
    failure: Failure | None = None,
) -> Exchange:
    data = body.encode("utf-8") if isinstance(body, str) else body
    return Exchange(0.0, 1.0, status, headers, (Chunk(0.25, data),) if data else (), failure)


def stream(*frames: Any, done: bool = True) -> bytes:
    texts = [frame if isinstance(frame, str) else json.dumps(frame, ensure_ascii=False) for frame in frames]
    if done:
        texts.append("[DONE]")
    return "".join(f"data: {text}\n\n" for text in texts).encode("utf-8", "surrogatepass")


def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"model": "ds", "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def tool(index: int | None, name: str | None = None, arguments: Any = None, identifier: str | None = None) -> Any:
    call: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    if index is not None:
        call["index"] = index
    if identifier is not None:
        call["id"] = identifier
    return delta(tool_calls=[call])


def body(message: Any = None, **fields: Any) -> str:
    value = {"model": "ds", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **fields}
    return json.dumps(value, ensure_ascii=False)


def answer_of(reading: Reading) -> Answer:
    assert reading.problem is None, reading.problem
    assert reading.answer is not None
    return reading.answer


def problem_of(reading: Reading) -> tuple[ReadProblemKind, str]:
    assert reading.answer is None
    assert reading.problem is not None
    return reading.problem.kind, reading.problem.message


def test_a_stream_as_vllm_sends_it() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 18, "total_tokens": 30}
    reading = read_exchange(
        exchange(
            stream(
                delta(role="assistant", content=""),
                delta(reasoning="先"),
                delta(reasoning="算"),
                delta(content="七"),
                delta(content="天"),
                delta("stop", content=""),
                {"model": "ds", "system_fingerprint": "fp_1", "choices": [], "usage": usage},
            )
        )
    )

    assert answer_of(reading) == Answer("七天", "先算", "reasoning", finish_reason="stop")
    assert reading == Reading(reading.answer, None, Usage(12, 18, 30), "ds", "fp_1", 0.25, ())


def test_a_stream_as_mindie_sends_it() -> None:
    last = {**delta("stop", role="assistant", content="天"), "usage": {"prompt_tokens": 12}, "full_text": "七天"}
    reading = read_exchange(exchange(stream(delta(role="assistant", content="七"), last)))

    assert answer_of(reading).content == "七天"
    assert reading.usage == Usage(prompt_tokens=12)


def test_the_first_token_is_the_first_chunk_with_text() -> None:
    chunks = (
        Chunk(0.1, stream(delta(role="assistant", content=""), done=False)),
        Chunk(0.2, b": keep-alive\n\n"),
        Chunk(0.3, stream(delta(reasoning_content="a"), done=False)),
        Chunk(0.4, stream(delta("stop", content="b"))),
    )
    reading = read_exchange(Exchange(0.0, 1.0, 200, EVENT_STREAM, chunks))

    assert reading.first_token_s == 0.3
    assert reading.notes == ("keep_alive",)


@pytest.mark.parametrize(
    "message", [{"content": "51", "reasoning_content": "17*3", "tool_calls": None}, {"content": "51", "tool_calls": []}]
)
def test_plain_bodies_are_read(message: dict[str, Any]) -> None:
    reading = read_exchange(exchange(body(message, usage={"total_tokens": 30}), headers=JSON))

    assert answer_of(reading).content == "51"
    assert answer_of(reading).finish_reason == "stop"
    assert reading.usage == Usage(total_tokens=30)
    assert reading.first_token_s is None


def test_the_bytes_decide_and_the_content_type_only_where_they_do_not() -> None:
    as_json = read_exchange(exchange(stream(delta("stop", content="a")), headers=JSON))
    as_stream = read_exchange(exchange(body({"content": "a"})))
    without = read_exchange(exchange(stream(delta("stop", content="a")), headers=()))

    assert answer_of(as_json).content == answer_of(as_stream).content == answer_of(without).content == "a"
    assert as_json.notes == ("json_as_event_stream",)
    assert as_stream.notes == ("event_stream_as_json",)


def test_blank_lines_before_a_body_are_keep_alive_of_the_deepseek_api() -> None:
    assert answer_of(read_exchange(exchange("\n\n\n" + body({"content": "a"}), headers=JSON))).content == "a"


def test_one_choice_is_read() -> None:
    several = {"choices": [{"index": 1, "message": {"content": "b"}}, {"index": 0, "message": {"content": "a"}}]}

    reading = read_exchange(exchange(json.dumps(several), headers=JSON))

    assert (answer_of(reading).content, reading.notes) == ("a", ("several_choices",))


def test_lone_surrogates_and_not_a_number_are_read() -> None:
    frame = b'{"choices":[{"delta":{"content":"a\\ud83d"},"logprobs":NaN,"finish_reason":"stop"}]}'
    sent = b"data: " + frame + b"\n\ndata: [DONE]\n\n"

    answer = answer_of(read_exchange(exchange(sent)))

    assert (answer.content, answer.flags) == ("a\ufffd", ("lone_surrogate",))


def test_a_pair_of_surrogates_split_over_two_deltas_is_one_character() -> None:
    sent = (
        b'data: {"choices":[{"delta":{"content":"\\ud83d"}}]}\n\n'
        b'data: {"choices":[{"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    )

    assert answer_of(read_exchange(exchange(sent))) == Answer("😀", finish_reason="stop")


@pytest.mark.parametrize(
    ("frames", "calls", "notes"),
    [
        (
            [tool(0, "find", "", "a"), tool(0, None, '{"id"'), tool(0, None, ": 7}"), tool(1, "stop", "{}", "b")],
            [("find", '{"id": 7}'), ("stop", "{}")],
            (),
        ),
        (
            [tool(0, "find", "{}", "a"), tool(0, "stop", "{}", "b")],
            [("find", "{}"), ("stop", "{}")],
            ("tool_index_reused",),
        ),
        ([tool(0, "find", "{", "a"), tool(0, None, "}", "b")], [("find", "{}")], ()),
        ([tool(0, "find", "{", "a"), tool(0, "find", "}", "a")], [("find", "{}")], ("tool_name_repeated",)),
        (
            [tool(None, "find", "{", "a"), tool(None, None, "}"), tool(None, "stop", "{}", "b")],
            [("find", "{}"), ("stop", "{}")],
            ("tool_index_missing",),
        ),
        (
            [tool(None, "find", "{}"), tool(None, "stop", "{}")],
            [("find", "{}"), ("stop", "{}")],
            ("tool_index_missing",),
        ),
        ([tool(1, "b", "{}", "b"), tool(0, "a", "{}", "a")], [("b", "{}"), ("a", "{}")], ()),
    ],
)
def test_tool_calls_are_assembled(frames: list[Any], calls: list[tuple[str, str]], notes: tuple[str, ...]) -> None:
    reading = read_exchange(exchange(stream(*frames, delta("tool_calls"))))

    assert answer_of(reading).tool_calls == tuple(ToolCall(*call) for call in calls)
    assert reading.notes == notes


def test_arguments_sent_as_an_object_are_flagged() -> None:
    answer = answer_of(read_exchange(exchange(stream(tool(0, "f", {"城": 1}, "a"), delta("tool_calls")))))

    assert answer == Answer(
        tool_calls=(ToolCall("f", '{"城": 1}'),), finish_reason="tool_calls", flags=("arguments_object",)
    )


def test_the_old_function_call_is_assembled() -> None:
    frames = [delta(function_call={"name": "f", "arguments": "{"}), delta(function_call={"arguments": "}"})]

    answer = answer_of(read_exchange(exchange(stream(*frames, delta("function_call")))))

    assert answer.tool_calls == (ToolCall("f", "{}"),)


def test_a_message_in_the_last_frame_does_not_double_the_answer() -> None:
    summary = {"choices": [{"index": 0, "message": {"content": "ab"}, "finish_reason": "stop"}]}

    doubled = read_exchange(exchange(stream(delta(content="ab"), summary)))
    alone = read_exchange(exchange(stream(summary)))

    assert answer_of(doubled).content == answer_of(alone).content == "ab"


@pytest.mark.parametrize(
    ("sent", "note"),
    [
        (stream(delta("stop", content="a"), done=False), "done_missing"),
        (stream(delta(content="a")), "finish_missing"),
        (stream(delta("stop", content="a")) + b"data: {}\n\n", "data_after_done"),
        (stream(delta("stop", content="a"), delta("length")), "several_finish_reasons"),
        (stream(delta("stop", content="a"), {"heartbeat": 1}), "unknown_frame"),
        (stream("", delta("stop", content="a")), "empty_event"),
        (stream(delta("stop", content="a"), 7), "unknown_frame"),
    ],
)
def test_oddities_do_not_prevent_reading(sent: bytes, note: str) -> None:
    reading = read_exchange(exchange(sent))

    assert answer_of(reading).content == "a"
    assert note in reading.notes


@pytest.mark.parametrize(
    ("sent", "kind", "words"),
    [
        (stream(delta(content="a"), done=False), ReadProblemKind.STREAM_CUT, "neither a finish reason nor [DONE]"),
        (stream(delta(content="a"), done=False)[:-9], ReadProblemKind.STREAM_CUT, "within a frame"),
        (b"", ReadProblemKind.STREAM_CUT, "before its first event"),
        (b": keep-alive\n\n", ReadProblemKind.STREAM_CUT, "before its first event"),
        (
            stream(delta(content="a"), {"error": {"message": "engine dead", "type": "InternalServerError"}}),
            ReadProblemKind.ERROR_IN_STREAM,
            "engine dead (InternalServerError)",
        ),
        (stream({"object": "error", "message": "no"}), ReadProblemKind.ERROR_IN_STREAM, "no"),
        (b'event: error\ndata: {"message": "busy"}\n\n', ReadProblemKind.ERROR_IN_STREAM, "busy"),
        (
            stream(delta(content="a"), done=False) + b"Engine callback timeout: 1",
            ReadProblemKind.ERROR_IN_STREAM,
            "Engine",
        ),
        (b"Engine callback timeout.", ReadProblemKind.ERROR_IN_STREAM, "Engine callback timeout."),
        (
            stream(delta(content="a"), done=False) + b'{"error":"x","error_type":"y"}',
            ReadProblemKind.ERROR_IN_STREAM,
            "x (y)",
        ),
        (stream("Internal Server Error"), ReadProblemKind.ERROR_IN_STREAM, "Internal Server Error"),
        (stream({"data": delta(content="a"), "success": True}), ReadProblemKind.NO_CHOICES, "inside `data`"),
        (stream({"choices": []}), ReadProblemKind.NO_CHOICES, "no frame of the stream has choices"),
        (stream({"code": 500, "msg": "后端超时"}), ReadProblemKind.ERROR_IN_STREAM, "后端超时"),
    ],
)
def test_streams_without_an_answer(sent: bytes, kind: ReadProblemKind, words: str) -> None:
    found, message = problem_of(read_exchange(exchange(sent)))

    assert found is kind
    assert words in message


@pytest.mark.parametrize(
    ("sent", "kind", "words"),
    [
        ("", ReadProblemKind.NOT_JSON, "the body is empty"),
        ("<!DOCTYPE html><html><title>Log\nin</title>", ReadProblemKind.NOT_JSON, "HTML page titled “Log in”"),
        ("<html><body>hi", ReadProblemKind.NOT_JSON, "the body is an HTML page"),
        ("busy, try later", ReadProblemKind.NOT_JSON, "begins “busy, try later”"),
        ('{"choices": [', ReadProblemKind.NOT_JSON, "not JSON"),
        ("[1]", ReadProblemKind.NO_CHOICES, "another kind than an object"),
        ("{}", ReadProblemKind.NO_CHOICES, "its fields are none"),
        ('{"id": 1, "output": "x"}', ReadProblemKind.NO_CHOICES, "its fields are id, output"),
        ('{"choices": []}', ReadProblemKind.NO_CHOICES, "an empty list of choices"),
        ('{"choices": [{"text": "a"}]}', ReadProblemKind.NO_CHOICES, "holds no message"),
        ('{"choices": [7]}', ReadProblemKind.NO_CHOICES, "holds no message"),
        (
            '{"error": {"message": "no model", "code": "404"}}',
            ReadProblemKind.NO_CHOICES,
            "is an error: no model (404)",
        ),
        ('{"data": {"choices": [{}]}, "success": true}', ReadProblemKind.NO_CHOICES, "inside `data`"),
        ('{"success": false, "msg": "未登录"}', ReadProblemKind.NO_CHOICES, "says: 未登录"),
        ("[" * 100_000, ReadProblemKind.NOT_JSON, "not JSON"),
        (b"\xff\xfe\x00", ReadProblemKind.NOT_JSON, "not JSON"),
    ],
)
def test_bodies_without_an_answer(sent: str | bytes, kind: ReadProblemKind, words: str) -> None:
    found, message = problem_of(read_exchange(exchange(sent, headers=JSON)))

    assert found is kind
    assert words in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ('{"error":{"message":"The model `x` does not exist.","type":"NotFoundError","code":404}}', "The model `x`"),
        ('{"object":"error","message":"The input (9 tokens) is longer","type":"Bad Request"}', "(Bad Request)"),
        ('{"error":"Parameter temperature","error_type":"Input Validation Error"}', "(Input Validation Error)"),
        ('{"message":"Payload too large"}', "Payload too large"),
        ('{"detail":[{"loc":["body"],"msg":"field required"}]}', "field required"),
        ('{"error":{"code":7}}', '{"code":7}'),
        ("<html><title>404 Not Found</title>", "HTML page titled “404 Not Found”"),
        ("", "the body is empty"),
        ("plain \x1b[31mred\x07", "plain [31mred"),
    ],
)
def test_errors_are_told_in_the_server_s_own_words(sent: str, words: str) -> None:
    reading = read_exchange(exchange(sent, status=404, headers=JSON))

    kind, message = problem_of(reading)

    assert kind is ReadProblemKind.HTTP_STATUS
    assert message.startswith("HTTP 404: ")
    assert words in message
    assert reading.problem is not None
    assert reading.problem.status == 404


def test_a_redirect_names_the_place() -> None:
    reading = read_exchange(exchange("", status=307, headers=(("location", "https://b.invalid/v1"),)))

    assert "https://b.invalid/v1" in problem_of(reading)[1]


def test_a_long_error_is_shortened() -> None:
    _, message = problem_of(read_exchange(exchange("很" * 1_000_000, status=500)))

    assert len(message) < 320


def test_failures_of_the_transport() -> None:
    lost = exchange(stream(delta(content="a"), done=False), failure=LOST)
    at_head = Exchange(0.0, 1.0, failure=LOST)
    half_json = exchange('{"choices": [', headers=JSON, failure=LOST)
    half_error = exchange('{"error":', status=500, headers=JSON, failure=LOST)

    for one in (lost, at_head, half_json, half_error):
        assert problem_of(read_exchange(one)) == (ReadProblemKind.TRANSPORT, "The connection was lost")


@pytest.mark.parametrize("done", [True, False])
def test_a_connection_lost_after_the_finish_reason_loses_nothing(done: bool) -> None:
    reading = read_exchange(exchange(stream(delta("stop", content="a"), done=done), failure=LOST))

    assert answer_of(reading).content == "a"
    assert reading.notes == ("lost_after_finish",)


FRAMES = st.sampled_from(
    [
        delta(role="assistant", content=""),
        delta(content="七天😀"),
        delta(reasoning_content="思"),
        tool(0, "f", '{"a":', "a"),
        tool(0, None, "1}"),
        delta("stop"),
        {"choices": [], "usage": {"total_tokens": 3}},
        {"error": "x"},
        "text",
        "",
    ]
)
ENDS = st.sampled_from([b"", b"data: [DONE]\n\n", b"data: [DONE]", b'data: {"choi', b"bare text", b": c\n\n"])


@given(st.lists(FRAMES, max_size=6), ENDS, st.sampled_from([b"\n", b"\r\n"]), st.lists(st.integers(0, 400), max_size=8))
def test_any_chunking_of_any_stream_gives_the_same_reading(
    frames: list[Any], end: bytes, line_end: bytes, cuts: list[int]
) -> None:
    sent = (stream(*frames, done=False) + end).replace(b"\n", line_end)
    places = sorted({0, len(sent), *[cut for cut in cuts if cut < len(sent)]})
    cut = tuple(Chunk(0.25, sent[start:stop]) for start, stop in pairwise(places))
    bytewise = tuple(Chunk(0.25, sent[n : n + 1]) for n in range(len(sent)))

    whole = read_exchange(exchange(sent))

    assert read_exchange(Exchange(0.0, 1.0, 200, EVENT_STREAM, cut)) == whole
    assert read_exchange(Exchange(0.0, 1.0, 200, EVENT_STREAM, bytewise)) == whole


PIECES = st.sampled_from(["七天", "", 'a"b', "\\", '\\"', "\ud83d", "\n\ndata: ", '"},"finish_reason":"stop"}', "😀"])
ROWS = st.tuples(st.sampled_from(["content", "reasoning"]), st.lists(PIECES, max_size=12)).map(
    lambda row: [delta(**{row[0]: piece}) for piece in row[1]]
)


@given(
    st.lists(ROWS | st.lists(FRAMES | st.just("[DONE]"), max_size=3), max_size=5).map(
        lambda parts: list(chain.from_iterable(parts))
    ),
    st.lists(st.integers(0, 600), max_size=8),
    st.booleans(),
)
def test_the_fast_way_reads_what_the_slow_way_reads(frames: list[Any], cuts: list[int], done: bool) -> None:
    sent = stream(*frames, done=done)
    places = sorted({0, len(sent), *[cut for cut in cuts if cut < len(sent)]})
    chunks = tuple(Chunk(float(n), sent[start:stop]) for n, (start, stop) in enumerate(pairwise(places)))
    comment = Chunk(0.0, b": this keeps the stream from being read the fast way\n\n")

    fast = read_exchange(Exchange(0.0, 1.0, 200, EVENT_STREAM, chunks))
    slow = read_exchange(Exchange(0.0, 1.0, 200, EVENT_STREAM, (comment, *chunks)))

    assert replace(slow, notes=tuple(note for note in slow.notes if note != "keep_alive")) == fast


@given(st.binary(max_size=300), st.sampled_from([200, 201, 204, 302, 404, 500]), st.booleans())
def test_any_bytes_give_exactly_one_of_answer_and_problem(sent: bytes, status: int, declared: bool) -> None:
    reading = read_exchange(exchange(sent, status=status, headers=EVENT_STREAM if declared else ()))

    assert (reading.answer is None) != (reading.problem is None)

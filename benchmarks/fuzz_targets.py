"""What fuzzing feeds to the readers of untrusted bytes, and what may come out of them.

Bytes are made from whole files: parts are cut out, doubled, replaced by pieces that mean something to the reader, or
repeated a thousand times. A value may come out, or the reader's own error, every problem of it with the file and a line
that the file has; nothing else, whatever the bytes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.baseline.model import Approval, Baseline, FaultRules, GoldenCall, Header, golden_of
from promptreg.baseline.read import parse_baseline, peek_header, read_baseline
from promptreg.baseline.write import baseline_lines
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.private import without_private
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.sse import plain_payloads, read_events
from promptreg.errors import LONGEST_PROBLEM, BaselineError, DecisionsError, ProjectError, SuiteError
from promptreg.review.decisions import Decisions, decisions_json, parse_decisions, read_decisions
from promptreg.review.standing import parse_standing, read_standing, standing_bytes
from promptreg.scoring.faults.captured.golden import UnreadablePayload
from promptreg.scoring.faults.captured.lines import read_payload
from promptreg.scoring.faults.registry import find_faults
from promptreg.suite.load import load_suites
from promptreg.text.redaction import Redaction
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

MOST_PROBLEMS = 210
"""Of one file in one error; more are counted, not listed."""
LONGEST_SENTENCE = LONGEST_PROBLEM + 100
_SCALE = 1000
_TIMES = (1, 1, 1, 1, 2, 40, 1000)
_SHA = "a" * 64


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, what it is fed, and what is looked at."""

    title: str
    examples: st.SearchStrategy[Any]
    run: Callable[[Any, Path], None]
    """Given an example and an empty folder; raises where something else came out than may come out."""


class WrongResultError(AssertionError):
    """A reader gave back what it must not."""


def require(condition: object, what: str) -> None:
    """Raise where the condition does not hold."""
    if not condition:
        raise WrongResultError(what)


@st.composite
def damaged(draw: st.DrawFn, whole: Sequence[bytes], pieces: Sequence[bytes]) -> bytes:
    """One of the whole files after up to six edits, or anything put together from pieces."""
    piece = st.sampled_from(list(pieces)) | st.binary(max_size=6)
    if draw(st.integers(0, 5)) == 0:
        return b"".join(draw(st.lists(piece, max_size=30)))
    data = draw(st.sampled_from(list(whole)))
    edits = draw(
        st.lists(
            st.tuples(
                st.sampled_from(("cut", "put", "swap", "twice", "end")),
                st.integers(0, _SCALE),
                st.integers(0, 40),
                piece,
                st.sampled_from(_TIMES),
            ),
            max_size=6,
        )
    )
    for kind, place, length, put, times in edits:
        at = len(data) * place // _SCALE
        head, part, tail = data[:at], data[at : at + length], data[at + length :]
        if kind == "cut":
            data = head + tail
        elif kind == "put":
            data = head + put * times + part + tail
        elif kind == "swap":
            data = head + put + tail
        elif kind == "twice":
            data = head + part * (1 + times) + tail
        else:
            data = head
    return data


def outcome(error: type[ProjectError], files: Mapping[str, bytes], read: Callable[[], Any]) -> Any:
    """What the reader gives; None where it gave its error, which is looked at."""
    try:
        return read()
    except error as raised:
        require(0 < len(raised.problems) <= MOST_PROBLEMS * len(files), f"an error of {len(raised.problems)} problems")
        for problem in raised.problems:
            place = problem.place
            length = len(problem.message)
            require(length <= LONGEST_SENTENCE, f"{length} characters: {problem.message[:200]}")
            require(place is not None and place.path in files, f"a problem at {place}: {problem.message[:200]}")
            if place is not None and place.line is not None:
                lines = files[place.path].count(b"\n") + files[place.path].count(b"\r") + 1
                require(1 <= place.line <= lines, f"a problem at {place}, of {lines} lines")
        return None


# Event streams

_STREAMS = (
    (
        b'data: {"model":"ds","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"\xe5\x85\x88"}}]}\n\n'
        b'data: {"choices":[{"index":0,"delta":{"content":"\xe4\xb8\x83\xe5\xa4\xa9"},"finish_reason":"stop"}]}\n\n'
        b'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n'
    ),
    (
        b'event: message\r\nid: 1\r\ndata: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c",'
        b'"function":{"name":"f","arguments":"{\\"a\\""}}]}}]}\r\n\r\n: ping\r\n\r\ndata: {"choices":[{"index":0,'
        b'"delta":'
        b'{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}\r\n\r\n'
    ),
    (
        b'{"choices":[{"index":0,"message":{"role":"assistant","content":"<think>a</think>b"},"finish_reason":"stop"}],'
        b'"usage":{"prompt_tokens":1}}'
    ),
    b'data: {"error":{"message":"Engine callback timeout","code":500}}\n\n',
    b'data: {"choices":[{"index":0,"delta":{"content":"a@mail.example.com","x":'
    + b"[" * 990
    + b"]" * 990
    + b"}}]}\n\n",
)
_STREAM_PIECES = (
    b'data: ~data:~\n~\n\n~\r~\r\n~: c~event: e~id: 1~retry: 9~[DONE]~{~}~[~]~"'
    b'~{"choices":[{"delta":{"content":"x"}}]}~"choices"~null~NaN~1e999~"\\ud83d"~\xef\xbb\xbf~\xe4\xb8~\x00'
    b'~"delta":~"index":~-1~999999999999999999999999999999~true~"":~<think>~</think>~<!doctype html>~[[[['
).split(b"~")
_REDACTION = Redaction.of(["email", "cn-phone"], [r"\d{6}"])
_HEADERS = ((("content-type", "text/event-stream"),), (("content-type", "application/json"),), ())


def _read_stream(example: tuple[bytes, Sequence[int], int], folder: Path) -> None:
    del folder
    data, cuts, headers = example
    places = sorted({0, len(data), *(cut * len(data) // _SCALE for cut in cuts)})
    chunks = tuple(Chunk(float(number), data[start:end]) for number, (start, end) in enumerate(pairwise(places)))
    events, notes = read_events(chunks)
    whole, same = read_events((Chunk(0.0, data),) if data else ())
    require([event[1:] for event in events] == [event[1:] for event in whole], "cutting a stream changes its events")
    require(notes == same, "cutting a stream changes its notes")
    require(sum(len(event.data) for event in events) <= len(data), "events hold more than the stream")
    payloads = plain_payloads(data)
    require(payloads is None or payloads == [event.data for event in whole], "the fast reader sees other events")
    exchange = Exchange(0.0, 1.0, 200, _HEADERS[headers], chunks)
    for kept in (exchange, without_private(exchange, _REDACTION)):
        reading = read_exchange(kept)
        require((reading.answer is None) != (reading.problem is None), "neither an answer nor a problem, or both")


# Suites

_SUITE = b"""suite: support
defaults: &d
  request: {temperature: 0.7, max_tokens: 256}
  checks: [{language: zh}, not_refusal]
prompts:
  reply:
    - system: "\xe4\xbd\xa0\xe6\x98\xaf{{ company }}"
    - user: "{{ question }}{% for x in tags %}{{ x | upper }}{% endfor %}"
cases:
  - id: refund
    prompt: reply
    vars: {company: \xe9\x95\xbf\xe6\xb2\xb3, question: |, tags: [a, b]}
    tags: [policy]
    checks: [{contains: "7"}]
  - id: chat
    messages: [{user: hi}, {assistant: ho}, {user: "?"}]
  - cases_from: rows.csv
    prompt: reply
  - cases_from: rows.jsonl
    prompt: reply
"""
_SUITES = (
    _SUITE.replace(b"|,", b"a,"),
    (
        b'{"suite":"s","cases":[{"id":"a","messages":[{"user":"x"}]},{"cases_from":"rows.jsonl","prompt":"p"}],'
        b'"prompts":{"p":[{"user":"{{ question }}"}]}}'
    ),
    b"suite: a\r\ncases:\r\n- &a {id: x, messages: [{user: y}]}\r\n- {<<: *a, id: z}\r\n",
)
_CSV = (b'id,company,question,tags\n1,a,b,c\n2,"a ""q"" b","l\nm",\n',)
_JSONL = (
    (
        b'{"id": "j1", "company": "a", "question": "b", "tags": ["c"]}\n'
        b'{"id": "j2", "messages": [{"role": "user", "content": "x"}], "checks": [{"contains": "a"}]}\n'
    ),
)
_SUITE_PIECES = (
    b"\n~\r~\t~ ~  - ~: ~- ~? ~&a ~*a ~*d~<<: *a~!!python/object:x ~{~}~[~]~\"~'~|~>~#~---\n~...\n~%YAML 1.1\n"
    b"~!!binary ~!!null~{{ x }}~{% for a in b %}~{% endfor %}~{{ ''.__class__ }}~{# ~{%~{{ question * 99 }}"
    b"~cases_from: ~rows.csv~../~/~encoding: utf-16~id: ~null~007~1e3~0x1~.nan~\xe2\x80\xa8~\xc2\x85~\x00"
    b'~\xef\xbb\xbf~\xff\xfe~\\ud83d~"\\ud800"~9999999999999999999999999999999999999999~{"a":~{"a":1,"a":2}~NaN'
    b'~""~,~;~messages: ~checks: ~contains~request: '
).split(b"~")


def _read_suite(example: tuple[str, bytes], folder: Path) -> None:
    name, data = example
    files = {"a.yaml": _SUITES[0], "rows.csv": _CSV[0], "rows.jsonl": _JSONL[0], name: data}
    for each, content in files.items():
        (folder / each).write_bytes(content)
    names = frozenset({"contains", "language", "not_refusal"})
    params = frozenset({"temperature", "max_tokens"})
    outcome(SuiteError, files, lambda: load_suites([folder / "a.yaml"], folder, check_names=names, param_names=params))


# Baselines

_ANSWERS: tuple[Answer | None, ...] = (
    Answer("可以，7天内。🙂", finish_reason="stop"),
    Answer("不行", "想…", "reasoning", (ToolCall("f", '{"a": 1}'),), "tool_calls", ("cut",)),
    None,
)
_GOLDENS = (
    replace(
        golden_of("a", _SHA, dict(enumerate(_ANSWERS))),
        approved=Approval("r", "ascend", "李伟", "2026-12-02T09:30:00Z", "ok"),
        calls=MappingProxyType({0: GoldenCall(MappingProxyType({"F01": "E"}), 7), 2: GoldenCall()}),
        together=("F12",),
    ),
    golden_of("b", _SHA, dict(enumerate(_ANSWERS)), {0: "as_written", 1: "space", 2: "newline"}),
)
_HEADER = Header(
    suite="客服",
    deployment="gpu",
    recorded_at="2026-12-01T23:15:02Z",
    run_id="20261201-231502-gpu-3f2a",
    model="deepseek-v3",
    passes=3,
    server="vllm",
    fingerprint={"models": ["deepseek-v3"], "version": 0.5},
    request_defaults={"temperature": 0.7},
    warnings=(Sentence("The model changed.", "模型变了。"),),
    exchangeable=True,
    fault_rules=FaultRules("1.0", ("X-own",)),
    in_flight=3,
)
_BASELINES = (b"".join(baseline_lines(Baseline(_HEADER, {each.case_id: each for each in _GOLDENS}))),)
_JSON_PIECES = (
    b'\n~\r\n~{~}~[~]~"~,~:~null~true~-1~0~1e400~NaN~\\u~"case_id":~"case_id":"a",~"passes":~"answers":'
    b'~"schema":~"calls":~"prompt_variants":~"space":[0]~"failed_passes":[0]~"together":["F01"]'
    b'~"approved":null,~"x":1,~{"a":1,"a":2}~<<<<<<< HEAD\n~=======\n~999999999999999999999999999999'
    b'~\xef\xbb\xbf~\xff~\x00~"\\ud800"~\xe2\x80\xa8~[[[[~{"a":~"decision":~"waive"~"expires_on":~"2027-02-30"'
    b'~"reviewer":""~"reason":~"candidate_sha256":~"golden_sha256":null~"suite":~"decided_at":"x"~"verdict":"y"'
).split(b"~")


def _read_baseline(data: bytes, folder: Path) -> None:
    path = folder / "gpu.jsonl"
    path.write_bytes(data)
    peek_header(path)
    read = outcome(BaselineError, {str(path): data}, lambda: read_baseline(path))
    if read is not None:
        written = b"".join(baseline_lines(read))
        require(parse_baseline(written, "again") == read, "what was read is not what is written")


# Decisions: what a reviewer exports, and what stands in git

_ENTRY = {
    "suite": "support",
    "case_id": "退款",
    "target": "ascend",
    "golden_sha256": _SHA,
    "candidate_sha256": None,
    "decision": "waive",
    "reason": "ok",
    "expires_on": "2027-01-31",
    "decided_at": "2026-12-02T09:30:00Z",
}
_DOCUMENT = {
    "schema": "promptreg.decisions/1",
    "report_id": "f00d",
    "run_id": "20261202-094417-ascend-ecad",
    "baseline": "gpu",
    "exported_at": "2026-12-02T09:31:00Z",
    "reviewer": "李伟",
    "decisions": [_ENTRY, {**_ENTRY, "case_id": "hours", "decision": "approve", "expires_on": None}],
}
_EXPORTED = tuple(json.dumps(_DOCUMENT, ensure_ascii=False, indent=indent).encode() for indent in (None, 1))
_STANDING = (
    b'{"schema":"promptreg.standing-decisions/1","suite":"support","target":"ascend"}\n'
    b'{"candidate_sha256":null,"case_id":"a","decided_at":"2026-12-02T09:30:00Z","decision":"waive",'
    b'"expires_on":"2027-01-31","golden_sha256":null,"reason":"ok","reviewer":"x","run_id":"r","source":"gpu",'
    b'"verdict":"drift"}\n'
    b'{"answers":["' + _SHA.encode() + b'"],"candidate_sha256":null,"case_id":"b","decided_at":"2026-12-02T09:30:00Z",'
    b'"decision":"reject","golden_sha256":null,"reason":"","reviewer":"x","run_id":"r","source":"gpu","verdict":"fail"}\n',
)


def _read_decisions(example: tuple[bool, bytes], folder: Path) -> None:
    stands, data = example
    path = folder / "decisions"
    path.write_bytes(data)
    if stands:
        read = outcome(BaselineError, {"d": data}, lambda: read_standing(path, "d", "support", "ascend"))
        written = None if read is None else standing_bytes("support", "ascend", read.values())
        require(written is None or parse_standing(written, "again") == read, "what was read is not what is written")
        return
    exported: Decisions | None = outcome(DecisionsError, {"d": data}, lambda: read_decisions(path, "d"))
    if exported is not None:
        again = parse_decisions(json.dumps(decisions_json(exported)), "again")
        require(again == replace(exported, replaced=()), "what was read is not what is written")


# Captured responses

_PAYLOADS = (
    (
        b'{"id":"a","request":{"messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"f",'
        b'"parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"type":"string"}}}}}]},'
        b'"status":200,"body":{"choices":[{"message":{"content":"\xe4\xb8\x83<think>","tool_calls":[{"function":{"name":"f",'
        b'"arguments":"{\\"a\\":1}"}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}},"golden":{"content":"a"}}'
    ),
    (
        b'{"id":"b","request":{},"status":200,"sse":[{"choices":[{"delta":{"content":"x"}}]},"[DONE]"],"expect_values":'
        b'{"needle":"x","client_token_estimate":3}}'
    ),
    b'{"request":{},"runs":[{"status":500,"raw":"<html>"},{"error":"reset"},{"status":200,"raw_stream":"data: {}"}]}',
)


def _read_payload(data: bytes, folder: Path) -> None:
    del folder
    try:
        payload = read_payload(data)
    except UnreadablePayload as error:
        require(len(error.reason.en) < LONGEST_SENTENCE, f"a reason of {len(error.reason.en)} characters")
        return
    find_faults(payload.calls)


TARGETS = {
    "sse": Target(
        "event streams",
        st.tuples(
            damaged(_STREAMS, _STREAM_PIECES),
            st.lists(st.integers(0, _SCALE), max_size=8),
            st.integers(0, len(_HEADERS) - 1),
        ),
        _read_stream,
    ),
    "suite": Target(
        "suites and case files",
        st.tuples(st.just("a.yaml"), damaged(_SUITES, _SUITE_PIECES))
        | st.tuples(st.just("rows.csv"), damaged(_CSV, _SUITE_PIECES))
        | st.tuples(st.just("rows.jsonl"), damaged(_JSONL, _SUITE_PIECES)),
        _read_suite,
    ),
    "captured": Target("captured responses", damaged(_PAYLOADS, _STREAM_PIECES), _read_payload),
    "baseline": Target("baselines", damaged(_BASELINES, _JSON_PIECES), _read_baseline),
    "decisions": Target(
        "decisions files",
        st.tuples(st.just(value=False), damaged(_EXPORTED, _JSON_PIECES))
        | st.tuples(st.just(value=True), damaged(_STANDING, _JSON_PIECES)),
        _read_decisions,
    ),
}

"""Builders of samples and runs for the tests of the store, handed out as the fixture `make`."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from promptreg.answer.model import Answer
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import Reading, ReadProblem, ReadProblemKind
from promptreg.errors import Place
from promptreg.replay.sample import Call, Sample
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store
from promptreg.suite.model import Case, Request

BODY = 'data: {"choices":[{"delta":{"content":"7天🙂"}}]}\r\n\r\n'.encode()


def case(case_id="退款", suite="客服"):
    request = Request(({"role": "user", "content": f"{case_id}?"},), {"temperature": 0.7})
    return Case(suite, case_id, request, Place("suites/客服.yaml", 3), tags=("policy",))


def exchange(body=BODY, **changes):
    made = Exchange(
        sent_at=1_750_000_000.25,
        duration_s=0.5,
        status=200,
        headers=(("content-type", "text/event-stream"), ("x-request-id", "7")),
        chunks=(Chunk(0.050001, body[:7]), Chunk(0.25, body[7:])),
    )
    return replace(made, **changes)


def answered(case, pass_index=0, attempts=None):
    return Sample(Call(case, pass_index), attempts or (exchange(),), Reading(Answer("7天🙂")), in_flight=8)


def failed(case, pass_index=0, message="HTTP 503: busy"):
    problem = ReadProblem(ReadProblemKind.HTTP_STATUS, message, 503)
    attempt = exchange(b"busy", status=503)
    refused = Exchange(1.0, 0.1, failure=Failure(FailureKind.CONNECT, "connection refused"))
    return Sample(Call(case, pass_index), (refused, attempt), Reading(None, problem), in_flight=3)


def spec(cases=(), **changes):
    made = RunSpec(
        kind="record",
        deployment="gpu",
        model="deepseek-v3",
        passes=10,
        seed=0,
        suites=("客服",),
        cases=tuple(cases),
        server="vllm",
        base_url="http://127.0.0.1:1/v1",
        provenance={"hardware": "8×H20", "tp": 8},
        request_defaults={"temperature": 0.7},
        options={"select": None},
    )
    return replace(made, **changes)


@pytest.fixture
def make():
    return SimpleNamespace(body=BODY, case=case, exchange=exchange, answered=answered, failed=failed, spec=spec)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "资料 夹" / "store.db") as opened:
        yield opened

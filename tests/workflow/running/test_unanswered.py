"""Why a case has no answers: what the calls said, how often they were tried, and whether asking again can help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reader import read_exchange
from promptreg.store.samples import StoredSample
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.words import case_sentences
from promptreg.verdict.words.suite_sentences import why_failed
from promptreg.workflow.judging.judge import JudgedSuite
from promptreg.workflow.running.stored import ReadSample
from promptreg.workflow.running.unanswered import unanswered, with_reasons

REFUSED = b'{"error":{"message":"The role tool is not supported.","code":400}}'


RECORD = Sentence(
    "Record the missing source answers with `promptreg record --top-up`.",
    "请用 `promptreg record --top-up` 补录源部署缺失的回答。",
)
MINDIE = (
    b"Failed to enqueue inferRequest. This model's maximum input ids length cannot be greater than 8191,the input ids "
    b"length is 9001"
)


def sample(*statuses, failure=None, body=REFUSED):
    attempts = [Exchange(0.0, 1.0, status, chunks=(Chunk(0.5, body),)) for status in statuses]
    attempts += [] if failure is None else [Exchange(0.0, 1.0, failure=Failure(failure, "It broke"))]
    return ReadSample(StoredSample("s", "c", 0, "", 1, tuple(attempts)), read_exchange(attempts[-1]))


@pytest.mark.parametrize(
    ("lost", "cause", "stays", "resume"),
    [
        (sample(400), "status 400", True, False),
        (sample(422), "status 422", True, False),
        (sample(400, 400), "status 400", True, False),  # resumed once
        (sample(424, body=b'{"error":"' + MINDIE + b'","error_type":"Generation Error"}'), "status 424", True, False),
        (sample(424, 424, 424, 424, body=b"Prefill instance is not ready"), "status 424", False, True),
        (sample(401), "status 401", False, True),
        (sample(404), "status 404", False, True),
        (sample(429, 429), "status 429", False, True),
        (sample(503, 503, 503, 503), "status 503", False, True),
        (sample(200, body=b"<html>gateway</html>"), "unreadable", False, False),
        (sample(failure=FailureKind.NOT_FITTED), "not_fitted", True, False),
        (sample(failure=FailureKind.CONNECT), "connection", False, False),
        (sample(failure=FailureKind.FIRST_BYTE_TIMEOUT), "timeout", False, True),
        (sample(failure=FailureKind.TLS), "tls", False, True),
        (sample(failure=FailureKind.CALL), "call", False, True),
        (sample(failure=FailureKind.TOO_LARGE), "too_large", False, False),
    ],
)
def test_what_can_help_follows_from_what_happened(lost, cause, stays, resume):
    why = unanswered([lost])
    assert why is not None
    assert (why.cause, why.stays) == (("error", *cause.split()), stays)
    assert ("--resume" in why.sentence.en, "--resume" in why.sentence.zh) == (resume, resume)
    retried = why.attempts > 1
    assert ("attempts" in why.sentence.en, "最多尝试" in why.sentence.zh) == (retried, retried)


def test_a_refusal_is_quoted_and_never_called_a_retry():
    why = unanswered([sample(400), sample(400), sample(503, 503)])
    assert why is not None
    assert why.calls == 2
    assert why.sentence.en == (
        "The calls failed at their only attempt: “HTTP 400: The role tool is not supported”. The same request would be "
        "refused again: correct it, or a limit of the deployment, and compare again."
    )
    assert why.sentence.zh.startswith("调用失败，只尝试了一次：“HTTP 400: The role tool is not supported”。")
    assert "同样的请求会再次被拒绝" in why.sentence.zh


def test_a_prompt_that_is_too_long_wants_a_context():
    body = (
        b'{"error":{"message":"This model\'s maximum context length is 8192 tokens. However, you requested 8582 tokens'
    )
    why = unanswered([sample(400, body=body + b' (8070 in the messages, 512 in the completion)."}}')])
    assert why is not None
    assert why.cause == ("error", "status", "400")
    assert "give the case a `context`" in why.sentence.en
    assert "请为用例写上 `context`" in why.sentence.zh


def test_calls_that_were_answered_give_no_reason():
    answered = sample(200, body=b'{"choices":[{"message":{"content":"Yes."},"finish_reason":"stop"}]}')
    assert unanswered([answered]) is None
    assert unanswered([]) is None


@pytest.mark.parametrize(
    ("missing", "en", "zh"),
    [
        ((0, 3), "Not judged: 3 of 3 target answers are missing.", "未作判定：目标部署 3 条回答中缺 3 条。"),
        ((0, 1), "Not judged: 1 of 3 target answers is missing.", "未作判定：目标部署 3 条回答中缺 1 条。"),
        (
            (2, 1),
            f"Not judged: 2 of 8 source answers and 1 of 3 target answers are missing. {RECORD.en}",
            f"未作判定：源部署 8 条回答中缺 2 条，目标部署 3 条回答中缺 1 条。{RECORD.zh}",
        ),
    ],
)
def test_only_the_side_that_lacks_answers_is_told(missing, en, zh):
    said = case_sentences.case_error(8, missing[0], 3, missing[1])
    assert (said.en, said.zh) == (en, zh)


@pytest.mark.parametrize(("staying", "resume", "again"), [(0, True, False), (3, False, True), (1, True, True)])
def test_the_suite_says_whether_resuming_helps(staying, resume, again):
    said = why_failed(3, staying)
    assert ("--resume" in said.en, "would fail again" in said.en) == (resume, again)
    assert ("--resume" in said.zh, "再次失败" in said.zh) == (resume, again)


def test_what_helps_ends_the_sentence_of_a_suite_once_and_after_a_blank():
    suite = judge_suite("support", [CaseEvidence("a", 10, 5, missing_target=5)])
    suite = replace(suite, sentence=Sentence(f"{suite.sentence.en} And more.", f"{suite.sentence.zh}还有别的。"))
    said = with_reasons(JudgedSuite(None, suite, {}, {}, {}), {"b": None}).sentence
    assert said.en == (
        "1 of 1 case could not be judged because answers are missing; at most 10 % may. And more. "
        "See why the calls failed, then take the missing answers again with --resume."
    )
    assert said.zh == (
        "1 个用例中有 1 个因缺少回答而无法判定，允许的上限是 10 %。还有别的。"
        "请查看调用失败的原因，再用 --resume 补采缺失的回答。"
    )

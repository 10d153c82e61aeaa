"""Whether what went out is what was returned, and what a server counted of it."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.model import Answer, Usage
from promptreg.deployment.exchange import Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.reading import Reading
from promptreg.errors import Place
from promptreg.replay.sample import Call, Sample
from promptreg.suite.model import Case, Request
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.contexts import Contexts
from promptreg.workflow.context.sent import Cuts, context_warnings, difference, never_asked, proved, unsent_sample

MESSAGES = (
    {"role": "system", "content": "你是客服。"},
    {"role": "user", "content": "退货期限？\r\n🙂"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False, width=16) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def body(messages, **more):
    return json.dumps({"model": "m", "messages": list(messages), **more}, ensure_ascii=False).encode()


def sample(*bodies, messages=MESSAGES):
    case = Case("s", "a", Request(tuple(messages), {}), Place("s.yaml"))
    attempts = tuple(Exchange(1.0, 0.5, 200, (), (Chunk(0.1, b"{}"),), sent=sent) for sent in bodies)
    return Sample(Call(case, 0), attempts, Reading(Answer("好")), 1)


@given(st.lists(st.dictionaries(st.just("content"), JSON), min_size=1, max_size=4))
def test_the_same_messages_do_not_differ_however_they_are_written(contents):
    messages = [{"role": "user", **content} for content in contents]
    assert difference(body(messages), messages) is None
    escaped = json.dumps({"messages": messages, "extra": 1}, indent=1, sort_keys=True).encode()
    assert difference(escaped, messages) is None


@given(st.lists(TEXTS, min_size=1, max_size=5), st.data())
def test_the_first_message_that_differs_is_named(texts, data):
    messages = [{"role": "user", "content": text} for text in texts]
    place = data.draw(st.integers(0, len(texts) - 1))
    changed = [*messages[:place], {"role": "user", "content": texts[place] + " "}, *messages[place + 1 :]]
    assert difference(body(changed), messages) == f"message {place} (user) is another one"


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (b"", "the body is no JSON"),
        (b"{", "the body is no JSON"),
        (b"[]", "the body has no messages"),
        (b'{"messages": {"role": "user"}}', "the body has no messages"),
        (body(MESSAGES[:-1]), "2 messages went out, not 3"),
        (body((*MESSAGES, MESSAGES[0])), "4 messages went out, not 3"),
        (body(({**MESSAGES[0], "name": "x"}, *MESSAGES[1:])), "message 0 (system) is another one"),
        (body(({**MESSAGES[0], "role": "user"}, *MESSAGES[1:])), "message 0 (system) is another one"),
        (body((*MESSAGES[:2], {"role": "assistant"})), "message 2 (assistant) is another one"),
    ],
)
def test_what_a_body_lacks_or_has_more(sent, told):
    assert difference(sent, MESSAGES) == told


def test_one_is_not_true_and_a_number_is_not_its_text():
    assert difference(body([{"role": "user", "content": True}]), [{"role": "user", "content": 1}]) is not None
    assert difference(body([{"role": "user", "content": "1"}]), [{"role": "user", "content": 1}]) is not None


def test_a_proven_sample_stays_answered_and_keeps_no_body():
    found = proved(sample(body(MESSAGES), body(MESSAGES)))
    assert found.reading.answer is not None
    assert [attempt.sent for attempt in found.attempts] == [None, None]
    assert found.attempts[0].chunks


def test_a_tampered_sample_is_a_failure_without_the_answer_to_another_prompt():
    found = proved(sample(body(MESSAGES), body(MESSAGES[:-1])))
    assert found.reading.answer is None
    assert found.attempts[-1].failure.kind is FailureKind.SENT_OTHERWISE
    assert found.attempts[-1].body == b""
    assert found.reading.problem.message == (
        "What went out is not what the context returned: 2 messages went out, not 3."
    )
    assert never_asked(found.attempts[-1])


def test_an_earlier_attempt_that_was_tampered_with_counts_too():
    assert proved(sample(body(MESSAGES[:1]), body(MESSAGES))).reading.answer is None


def test_what_cannot_be_seen_is_left_as_it_is():
    assert proved(sample(None)).reading.answer is not None


def test_a_sample_that_was_never_sent_says_why():
    call = sample(None).call
    found = unsent_sample(call, Sentence("Too long.", "太长。"))
    assert found.reading.answer is None
    assert found.reading.problem.message == "Too long."
    assert never_asked(found.attempts[0])
    assert not never_asked(Exchange(1.0, 0.1, failure=Failure(FailureKind.CONNECT, "gone")))


def cuts(total, *, exact):
    case = SimpleNamespace(fitted=SimpleNamespace(total=total), counter="counter", exact=exact)
    return Cuts(Contexts("ascend", {("s", "a"): case, ("s", "b"): case}))


def usage(tokens):
    return Reading(Answer("好"), usage=Usage(prompt_tokens=tokens))


@pytest.mark.parametrize(
    ("exact", "served", "cut"),
    [
        (True, 10_000, False),
        # V4's preamble of up to 92 tokens is missing where the server's thinking is off.
        (True, 9_908, False),
        (True, 9_600, True),
        (False, 7_600, False),
        (False, 7_300, True),
    ],
)
def test_a_count_clearly_below_what_was_sent_is_a_cut(exact, served, cut):
    seen = cuts(10_000, exact=exact)
    seen.see(("s", "a"), usage(served))
    assert bool(seen.warnings()) is cut


def test_a_short_prompt_without_the_preamble_of_thinking_is_whole():
    seen = cuts(500, exact=True)
    seen.see(("s", "a"), usage(500 - 92))
    assert seen.warnings() == []


def test_several_cut_cases_are_one_warning_and_servers_that_do_not_count_none():
    seen = cuts(1000, exact=True)
    seen.see(("s", "b"), usage(100))
    seen.see(("s", "b"), usage(50))
    seen.see(("s", "a"), usage(100))
    seen.see(("s", "other"), usage(1))
    (warning,) = seen.warnings()
    assert warning.en.startswith("s/a: The prompt has 1,000 tokens (counter), the server counted 100")
    assert warning.en.endswith("The same holds for 1 more case.")
    assert warning.zh.startswith("s/a：")
    quiet = cuts(1000, exact=True)
    quiet.see(("s", "a"), usage(None))
    quiet.see(("s", "a"), usage(0))
    quiet.see(("s", "a"), Reading(Answer("好")))
    assert quiet.warnings() == []


def fitted_like(*, window=2048, provable=True, guessed=None):
    return SimpleNamespace(budget=SimpleNamespace(window=window), provable=provable, guessed=guessed)


def test_what_a_reader_must_know_of_how_conversations_were_shortened():
    guess = Sentence("Tokens are estimated.", "为估算值。")
    cases = {("s", "a"): fitted_like(guessed=guess), ("s", "b"): fitted_like(guessed=guess, provable=False)}
    estimated, window, blind = context_warnings(Contexts("ascend", cases), 1024)
    assert estimated is guess
    assert window.en == (
        "Conversations were shortened for a window of 2048 tokens, but `ascend` says that its window has 1024. Correct "
        "`window`."
    )
    assert window.zh == "对话按 2048 个 token 的窗口缩短，但 `ascend` 说它的窗口是 1024。请更正 `window`。"
    assert blind.en.endswith("which got them for 1 case.")
    assert "有 1 个用例" in blind.zh
    assert context_warnings(Contexts("ascend", {("s", "a"): fitted_like()}), None) == []
    assert context_warnings(Contexts("ascend", {("s", "a"): fitted_like()}), 2048) == []

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.errors import Place
from promptreg.replay.perturb import Variant, variant_of, variants_of, varied_request, varied_text
from promptreg.replay.plan import plan_passes
from promptreg.suite.model import Case, Request

BLANKS = (Variant.AS_WRITTEN, Variant.SPACE, Variant.NEWLINE)
ALL = (*BLANKS, Variant.FULL_STOP)


def case(text="How long may I return a book", case_id="c", noise="null-perturbation"):
    request = Request(({"role": "system", "content": "Be short"}, {"role": "user", "content": text}), {})
    return Case("support", case_id, request, Place("s.yaml", 1), noise=noise)


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("How long may I return a book", "How long may I return a book."),
        ("退货期限是几天", "退货期限是几天。"),
        ("请使用 Python", "请使用 Python。"),
        ("日本語で答えてください", "日本語で答えてください。"),
        ("```\nx = 1\n```\nExplain this code", "```\nx = 1\n```\nExplain this code."),
        ("Naïve café", "Naïve café."),
        ("a\r\nb", "a\r\nb."),
    ],
)
def test_prose_may_end_in_a_full_stop(text, sent):
    assert variants_of(text) == ALL
    assert varied_text(text, Variant.FULL_STOP) == sent


@pytest.mark.parametrize(
    "text",
    [
        "How long?",
        "退货期限是几天？",
        "退货期限是三十天。",
        "Say hello…",
        'Return JSON: {"days": 7}',
        '{"question": "how"}',
        "[1, 2]",
        "true",
        "null",
        "What is 9.11",
        "def f(x):\n    return x",
        "for x in y:\n\tprint",
        "```python\nprint",
        "~~~\nopen fence",
        "Explain `x`",
        "SELECT name FROM users",
        "See https://example.org/a",
        "Write to me@example.org",
        "Open C:\\temp\\file",
        "key:value",
        "<b>bold</b>",
        "{{ name }}",
        "a -> b",
        "Ends in a newline\n",
        "Ends in a blank ",
        "สวัสดีครับ",
        "नमस्ते",
        "👍",
        "\ud800",
    ],
)
def test_punctuation_numbers_json_code_and_addresses_get_blanks_only(text):
    assert variants_of(text) == BLANKS


def test_an_empty_text_is_sent_as_it_is():
    assert variants_of("") == (Variant.AS_WRITTEN,)


@given(st.text(max_size=300))
def test_nothing_but_the_end_ever_changes(text):
    for variant in variants_of(text):
        sent = varied_text(text, variant)
        assert sent.startswith(text)
        assert sent[len(text) :] in {"", " ", "\n", ".", "。"}


@given(
    st.recursive(
        st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_stays_the_same_value(value):
    text = json.dumps(value, ensure_ascii=False)
    for variant in variants_of(text):
        assert json.loads(varied_text(text, variant)) == value


@pytest.mark.parametrize("piece", ["`", "```\n", "[", '{"a":', " \n", "中", "    a\n", "a:", "\t"])
def test_hostile_texts_take_no_time(piece):
    text = piece * 200_000 + "a"
    started = time.process_time()
    assert variants_of(text)[:3] == BLANKS
    assert time.process_time() - started < 2


def test_a_draw_depends_on_seed_case_side_and_pass_alone():
    drawn = [variant_of(case(), seed=1, side="source", pass_index=index) for index in range(40)]

    assert drawn == [variant_of(case(), seed=1, side="source", pass_index=index) for index in range(40)]
    for other in (
        [variant_of(case(), seed=2, side="source", pass_index=index) for index in range(40)],
        [variant_of(case(), seed=1, side="target", pass_index=index) for index in range(40)],
        [variant_of(case(case_id="d"), seed=1, side="source", pass_index=index) for index in range(40)],
    ):
        assert other != drawn


def test_every_variant_comes_about_as_often():
    counts = Counter(variant_of(case(), seed=0, side="target", pass_index=index) for index in range(4000))

    assert set(counts) == set(ALL)
    # Four standard deviations of a binomial with a quarter of 4000.
    assert all(abs(count - 1000) < 4 * 27.4 for count in counts.values())


def test_a_case_that_asks_for_nothing_is_sent_as_written():
    plain = case(noise="none")
    assert variant_of(plain, seed=0, side="source", pass_index=0) is None
    (call,) = plan_passes([plain], [0], 0)
    assert call.variant is None
    assert call.request is plain.request


def test_the_last_user_message_is_varied_and_the_case_keeps_its_hash():
    messages = (
        {"role": "user", "content": "First"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "退货"},
        {"role": "tool", "content": "7", "tool_call_id": "a"},
    )
    request = Request(messages, {"temperature": 0})
    sent = varied_request(request, Variant.FULL_STOP)

    assert [message["content"] for message in sent.messages] == ["First", "Yes", "退货。", "7"]
    assert sent.params == request.params
    assert request.messages[2]["content"] == "退货"
    assert sent.sha256 != request.sha256
    assert varied_request(request, Variant.AS_WRITTEN) is request


def test_of_parts_the_last_text_is_varied():
    parts = [
        {"type": "text", "text": "What"},
        {"type": "text", "text": "is it"},
        {"type": "image_url", "image_url": {}},
    ]
    request = Request(({"role": "user", "content": parts},), {})
    sent = varied_request(request, Variant.NEWLINE)

    assert sent.messages[0]["content"][1] == {"type": "text", "text": "is it\n"}
    assert [sent.messages[0]["content"][index] for index in (0, 2)] == [parts[0], parts[2]]
    assert parts[1]["text"] == "is it"


def test_a_plan_that_is_continued_draws_the_same():
    cases = [case(case_id="a"), case(case_id="b"), replace(case(case_id="c"), noise="none")]
    whole = {call.key: call.variant for call in plan_passes(cases, range(6), 3, "target")}
    rest = {call.key: call.variant for call in plan_passes(list(reversed(cases)), range(4, 6), 3, "target")}

    assert rest == {key: variant for key, variant in whole.items() if key[2] >= 4}
    assert whole != {call.key: call.variant for call in plan_passes(cases, range(6), 3, "source")}

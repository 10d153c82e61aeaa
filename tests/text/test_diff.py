from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import LCSseq

from promptreg.text.diff import Diff, Operation, OperationKind, diff
from promptreg.text.myers import Budget, shortest_edit

# Few different characters, so that examples have repetitions, joins and near-equal texts.
PIECES = st.sampled_from(
    [
        *("a", "b", "word", "字", "退货", "，", "。", ". ", " ", "\n", "\r\n", "\r", "1", "3.5"),
        *("e\u0301", "\u0301", "👨‍👩‍👧", "👍🏽", "\u200d", "🇨🇳"),
    ],
)
TEXTS = st.one_of(st.lists(PIECES, max_size=30).map("".join), st.text(max_size=20))


def side(result: Diff, *kinds: OperationKind) -> str:
    return "".join(operation.text for operation in result.operations if operation.kind in kinds)


def first(result: Diff) -> str:
    return side(result, OperationKind.EQUAL, OperationKind.DELETE)


def second(result: Diff) -> str:
    return side(result, OperationKind.EQUAL, OperationKind.INSERT)


def changed(result: Diff) -> int:
    return sum(len(operation.text) for operation in result.operations if operation.kind is not OperationKind.EQUAL)


@given(TEXTS, TEXTS)
def test_operations_turn_the_first_text_into_the_second(a, b):
    result = diff(a, b)

    assert (first(result), second(result)) == (a, b)
    assert all(operation.text for operation in result.operations)
    for left, right in zip(result.operations, result.operations[1:], strict=False):
        assert left.kind is not right.kind
        assert (left.kind, right.kind) != (OperationKind.INSERT, OperationKind.DELETE)


@given(TEXTS, TEXTS)
def test_no_operation_begins_inside_a_grapheme(a, b):
    result = diff(a, b)

    for text, kind in ((a, OperationKind.DELETE), (b, OperationKind.INSERT)):
        boundaries = {0, *(match.end() for match in regex.finditer(r"\X", text))}
        position = 0
        for operation in result.operations:
            if operation.kind in (OperationKind.EQUAL, kind):
                assert position in boundaries
                position += len(operation.text)


@given(TEXTS)
def test_equal_texts_have_no_edit(text):
    result = diff(text, text)

    assert result.complete
    assert changed(result) == 0


@given(st.lists(st.sampled_from("abc"), max_size=14), st.lists(st.sampled_from("abc"), max_size=14))
def test_edit_scripts_are_shortest(a, b):
    matches = shortest_edit(a, b, 100, Budget(1_000_000))

    assert matches is not None
    assert sum(match.length for match in matches) == LCSseq.similarity(a, b)
    for match in matches:
        assert a[match.a_start : match.a_start + match.length] == b[match.b_start : match.b_start + match.length]


def test_chinese_is_compared_by_character_and_latin_by_word():
    assert diff("退货期限是30天，请保留发票。", "退货期限是15天，请保留发票。").operations == (
        Operation(OperationKind.EQUAL, "退货期限是"),
        Operation(OperationKind.DELETE, "30"),
        Operation(OperationKind.INSERT, "15"),
        Operation(OperationKind.EQUAL, "天，请保留发票。"),
    )
    assert diff("Your refund takes seven days in all.", "Your refund takes several days in all.").operations == (
        Operation(OperationKind.EQUAL, "Your refund takes "),
        Operation(OperationKind.DELETE, "seven"),
        Operation(OperationKind.INSERT, "several"),
        Operation(OperationKind.EQUAL, " days in all."),
    )


def test_a_single_equal_blank_between_two_replaced_words_joins_them():
    result = diff("We ship on Monday morning every week.", "We ship on Friday evening every week.")

    assert Operation(OperationKind.DELETE, "Monday morning") in result.operations
    assert Operation(OperationKind.INSERT, "Friday evening") in result.operations


def test_repeated_sentences_are_not_aligned_with_the_wrong_copy():
    """Measured for the design: difflib deletes and inserts whole sentences where 8 characters change."""
    text = "感谢您的咨询，我们会尽快处理您的订单问题，请耐心等待客服人员与您联系。" * 5
    other = text.replace("尽快", "马上", 1)
    other = other[:100] + "们们" + other[100:200] + "好好" + other[200:]

    assert changed(diff(text, other)) == 8


def test_unrelated_texts_are_replaced_whole_and_say_so(random_han):
    a, b = random_han(3000, seed=1), random_han(3000, seed=2)

    assert diff(a, b) == Diff((Operation(OperationKind.DELETE, a), Operation(OperationKind.INSERT, b)), complete=False)


def test_short_unrelated_sentences_show_no_accidental_matches():
    result = diff("这款手机支持防水。", "请于周一联系我们")

    assert [operation.kind for operation in result.operations] == [OperationKind.DELETE, OperationKind.INSERT]
    assert result.complete


def test_each_changed_line_of_a_long_list_is_marked_by_itself():
    a = "".join(f"{number}. item {number} is ready\n" for number in range(3000))
    b = "".join(f"{number}. item {number} is {'ready' if number % 10 else 'late'}\n" for number in range(3000))
    result = diff(a, b)

    assert result.complete
    assert [operation.text for operation in result.operations if operation.kind is OperationKind.INSERT] == [
        "late"
    ] * 300


@pytest.fixture
def random_han():
    import random

    def make(length, seed):
        source = random.Random(seed)
        return "".join(chr(0x4E00 + source.randrange(3000)) for _ in range(length))

    return make


def repetitive(length):
    half = "ab" * (length // 4)
    return half + half, half + "x" + half


def long_line(length):
    line = "退货期限是三十天，请保留发票，" * (length // 15)
    return line, line[: length // 2] + "新" + line[length // 2 :]


def letters(length):
    return "a" * length, "a" * (length - 100_000)


def decimals(length):
    count = length // 18
    return "".join(f"{n / 7}\n" for n in range(count)), "".join(f"{n / 11}\n" for n in range(count))


@pytest.mark.parametrize(
    ("texts", "length"),
    [(repetitive, 8_000), (long_line, 200_000), (long_line, 1_500_000), (letters, 1_500_000), (decimals, 1_500_000)],
)
def test_hostile_sizes_are_bounded(texts, length):
    a, b = texts(length)
    before = time.process_time()
    result = diff(a, b)

    # Twenty times what it takes, so that a busy machine does not fail; without bounds it takes minutes or all memory.
    assert time.process_time() - before < 30
    assert (first(result), second(result)) == (a, b)


def test_every_hostile_text_can_be_compared_with_every_other(hostile_texts):
    texts = [text[:3000] for text in hostile_texts.values()]
    for a in texts:
        for b in texts[::3]:
            result = diff(a, b)
            assert (first(result), second(result)) == (a, b)

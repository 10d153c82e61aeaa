from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.text.script import LANGUAGES, language_of, script_counts, without_code, writes_beyond_latin


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("退货期限是三十天，请保留发票。", "zh"),
        ("退貨期限為三十天。", "zh"),
        ("请使用 Kubernetes 的 Deployment 对象", "zh"),
        ("请用 kubectl get pods 命令查看 Pod 状态", "zh"),
        ("The refund window is 30 days.", "en"),
        ("The Chinese for 'refund window' is 退货期限是三十天", "en"),
        ("Yes", "en"),
        ("返品期限は30日です。", "ja"),
        ("カタカナ", "ja"),
        ("반품 기간은 30일입니다", "ko"),
        ("Срок возврата — 30 дней", "ru"),
        ("Термін повернення є", "uk"),
        ("Die Rückgabe ist nicht möglich.", "de"),
        ("Les retours sont possibles pour vous.", "fr"),
        ("El plazo de devolución es de 30 días", "es"),
        ("مدة الإرجاع ثلاثون يوما", "ar"),
        ("ระยะเวลาคืนสินค้า", "th"),
        ("वापसी अवधि", "hi"),
        ("Η προθεσμία", "el"),
        ("תקופת ההחזרה", "he"),
        ("https://example.com/a/long/path/in/latin 好的", "zh"),
        ("`kubectl get pods --all-namespaces`：列出全部", "zh"),
        ("```python\nprint('hello world and more')\n```\n以上是代码。", "zh"),
    ],
)
def test_language_of_prose(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["", "  \n", "123 4.5 %", "```\nprint(1)\n```", "`x`", "👍", "https://a.example"])
def test_there_may_be_nothing_to_judge(text):
    assert language_of(text) is None


@given(st.text(max_size=60))
def test_every_answer_is_a_known_code(text):
    assert language_of(text) in LANGUAGES | {None}


def test_letters_are_counted_per_script_outside_code():
    assert dict(script_counts("abc 中文 のカ 한 Д `def` ÉÀ")) == {
        "Latin": 5,
        "Han": 2,
        "Cyrillic": 1,
        "Hangul": 1,
        "Hiragana": 1,
        "Katakana": 1,
    }


@given(st.text(max_size=40) | st.text("aé`责かЖ1 ×", max_size=12))
def test_letters_beyond_latin_are_those_that_are_counted(text):
    assert writes_beyond_latin(text) == bool(script_counts(text).keys() - {"Latin"})


def test_code_is_put_aside():
    assert without_code("a\n```py\nx\n```\nb `c` d") == "a\nb   d"
    assert without_code("a\n~~~\nx ```\n~~~\nb") == "a\nb"
    assert without_code("a\n````\n```\nx\n````\nb") == "a\nb"
    assert without_code("a\n```\nnever closed") == "a\n"
    assert without_code("no code") == "no code"


@pytest.mark.parametrize("unit", ["`", "`a", "a@", "a.", "~~~\n", "www.", "http://", "`a``"])
def test_hostile_text_takes_linear_time(unit):
    before = time.process_time()
    language_of(unit * (300_000 // len(unit)))

    assert time.process_time() - before < 10

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.text.normalise import Normalisation, invisibles, normalisations_between, normalise

TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(["a", " ", "\t", "\n", "\r\n", "\r", "\u0085", "\u2028", "e\u0301", "\xa0", "字"])).map(
        "".join
    ),
)


@given(TEXTS)
def test_normalising_twice_changes_nothing_more(text):
    assert normalise(normalise(text)) == normalise(text)


@given(TEXTS, TEXTS)
def test_equal_after_normalisation_exactly_when_some_steps_make_it_so(a, b):
    steps = normalisations_between(a, b)

    assert (steps is not None) == (normalise(a) == normalise(b))
    assert (steps == ()) == (a == b)


@pytest.mark.parametrize(
    ("a", "b", "steps"),
    [
        ("a\nb", "a\r\nb", (Normalisation.LINE_ENDS,)),
        ("a\nb", "a \nb", (Normalisation.TRAILING_BLANKS,)),
        ("a", "\na ", (Normalisation.OUTER_BLANKS,)),
        ("é", "e\u0301", (Normalisation.UNICODE_FORM,)),
        ("é\n", "e\u0301", (Normalisation.UNICODE_FORM, Normalisation.OUTER_BLANKS)),
        ("a", "a", ()),
        ("a", "b", None),
        ("退货", "退货\u200b", None),
    ],
)
def test_what_makes_texts_equal_is_named(a, b, steps):
    assert normalisations_between(a, b) == steps


def test_invisible_characters_are_named_and_emoji_left_alone():
    marks = invisibles("a\u200bb\xa0c\u202ed\x07 👨‍👩‍👧 \u3000\n\t")

    assert [mark.label for mark in marks] == [
        "U+200B ZERO WIDTH SPACE",
        "U+00A0 NO-BREAK SPACE",
        "U+202E RIGHT-TO-LEFT OVERRIDE",
        "U+0007 CONTROL CHARACTER",
    ]
    assert [mark.offset for mark in marks] == [1, 3, 5, 7]
    assert [mark.label for mark in invisibles("a\u200db")] == ["U+200D ZERO WIDTH JOINER"]


def test_hostile_texts_are_normalised(hostile_texts):
    for text in hostile_texts.values():
        assert "\r" not in normalise(text)
        invisibles(text)

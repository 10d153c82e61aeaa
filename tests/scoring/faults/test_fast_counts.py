"""What is counted fast in ASCII parts of a text is what the letters of every script by themselves give."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.scoring.faults.reading.views import Text
from promptreg.text import script

LETTERS = st.text(st.sampled_from("aZ'’ é́ıİK\u212aＡ責任、。カ1_-\n|"), max_size=60)


@settings(max_examples=300, deadline=None)
@given(LETTERS)
def test_letters_and_words_are_those_of_the_patterns(text):
    latin = sum(map(len, script._FREQUENT["Latin"].findall(text)))
    assert script._counts(text).get("Latin", 0) == latin
    assert script._latin_words(text) == Counter(map(str.lower, script._LATIN_WORD.findall(text)))


@settings(max_examples=200, deadline=None)
@given(
    st.text(st.sampled_from(["a", "任", *(chr(code) for code in range(0x3001) if chr(code).isspace())]), max_size=60)
)
def test_visible_characters_are_those_between_blanks(text):
    assert Text(text).visible == sum(map(len, text.split()))

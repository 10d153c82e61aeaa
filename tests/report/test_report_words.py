from __future__ import annotations

import pytest

from promptreg.report.words import noise_multiple_in_words, p_value_in_words


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (1.0, "chance alone nearly always gives as much (p = 1.00)"),
        (0.34, "about 3 times in 10 (p = 0.34)"),
        (0.04, "about 4 times in 100 (p = 0.04)"),
        (0.0013, "about 1 time in 1000 (p = 0.0013)"),
        (0.0003, "about 3 times in 10000 (p = 0.0003)"),
        (0.0, "about 1 time in 10000"),
    ],
)
def test_p_values_are_told_as_frequencies(p, said):
    assert said in p_value_in_words(p).en


def test_both_languages_give_the_same_numbers():
    said = p_value_in_words(0.004)
    assert "1000 次中有 4 次" in said.zh
    assert "4 times in 1000" in said.en


def test_noise_multiples():
    assert "3.1 times as far" in noise_multiple_in_words(3.14).en
    assert "3.1 倍" in noise_multiple_in_words(3.14).zh
    assert "no farther" in noise_multiple_in_words(0.9).en
    assert "same answer every time" in noise_multiple_in_words(float("inf")).en
    assert noise_multiple_in_words(float("nan")) is None

"""ROUGE, BLEU, chrF and edit distance: against sacrebleu, and on Chinese."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF

from promptreg.scoring.checks.reading import overlap

SENTENCES = [
    "北京是中国的首都。",
    "北京是中国的首都，也是全国的政治、文化中心。",
    "好。",
    "退货期限是七天，运费由买家承担……。",
    "今日は良い天気です。",
    "Beijing is the capital of China.",
]
SCORES = {
    "rouge-1": lambda a, b: overlap.rouge_n(a, b, 1),
    "rouge-2": lambda a, b: overlap.rouge_n(a, b, 2),
    "rouge-l": overlap.rouge_l,
    "bleu": overlap.bleu,
    "chrf": overlap.chrf,
    "levenshtein": overlap.likeness,
}
_VOCABULARY = ["北", "京", "是", "的", "首", "都", "a", "bc", "def"]
WORDS = st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=12).map(" ".join)


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_identical_sentence_scores_one_and_without_its_full_stop_nearly_so(name, sentence):
    score = SCORES[name]

    assert score(sentence, sentence) == pytest.approx(1.0, abs=1e-12)
    assert score(sentence[:-1], sentence) > 0.9
    assert score(sentence, sentence[:-1]) > 0.9


@pytest.mark.parametrize("name", SCORES)
def test_unrelated_chinese_scores_low_and_related_between(name):
    score = SCORES[name]

    assert score("我喜欢吃苹果", "退货期限是七天") < 0.2
    assert 0.3 < score("退货的期限是七天，请注意。", "退货期限是七天。") < 0.95


@given(WORDS, WORDS)
def test_bleu_and_chrf_are_those_of_sacrebleu(first, second):
    bleu = BLEU(tokenize="none", effective_order=True).sentence_score(first, [second]).score / 100
    chrf = CHRF().sentence_score(first, [second]).score / 100

    assert overlap.bleu(first, second) == pytest.approx(bleu, abs=1e-9)
    assert overlap.chrf(first, second) == pytest.approx(chrf, abs=1e-9)


def test_rouge_by_hand():
    # Shared in order: the, cat, mat. Precision 3/4, recall 3/5.
    assert overlap.rouge_l("the cat mat sat", "the cat on the mat") == pytest.approx(2 * 3 / 9)
    # Bigrams: "the cat" is shared, of 3 and 4.
    assert overlap.rouge_n("the cat mat sat", "the cat on the mat", 2) == pytest.approx(2 * 1 / 7)


@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
def test_scores_are_between_zero_and_one(first, second):
    for name, score in SCORES.items():
        assert 0 <= score(first, second) <= 1 + 1e-9, name
        assert score(second, second) == pytest.approx(1.0, abs=1e-9), name


def test_edits_are_counted_as_they_are():
    assert overlap.edits("退货期限是七天", "退货期限是七天。") == 1
    assert overlap.edits("a\r\nb ", "a\nb") == 0
    assert overlap.edits("e\u0301", "é") == 0

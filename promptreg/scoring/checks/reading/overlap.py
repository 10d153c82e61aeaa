"""How much two texts overlap: ROUGE, BLEU, chrF and edit distance, for texts in Chinese and English alike.

Chinese is taken character by character, so no score depends on blanks between words. Upper and lower case are the same,
and a full stop that only one of the texts ends with does not count. Identical texts score 1. Everything is linear in
the longer text but `rouge_l` and `edits`, which take bit-parallel steps of length · length / 64.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Final

from rapidfuzz.distance import LCSseq, Levenshtein

from promptreg.text.segment import tokens, words

if TYPE_CHECKING:
    from collections.abc import Sequence

_FULL_STOPS: Final = frozenset("。．｡.")
_BLEU_ORDER: Final = 4
_CHRF_ORDER: Final = 6
_CHRF_BETA: Final = 2.0


def comparable(text: str) -> str:
    """A text without outer blanks, without its last full stop, in one Unicode form, case folded."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n")).casefold().strip()
    if len(text) > 1 and text[-1] in _FULL_STOPS and text[-2] not in _FULL_STOPS:
        text = text[:-1].rstrip()
    return text


def rouge_n(candidate: str, reference: str, order: int) -> float:
    """F1 of the shared word n-grams (Lin 2004, ROUGE-N), 0 to 1.

    Texts with fewer words than `order` are compared by the n-grams of their length.
    """
    first, second = _words(candidate), _words(reference)
    order = min(order, max(1, min(len(first), len(second))))
    a, b = _ngrams(first, order), _ngrams(second, order)
    return _f1((a & b).total(), a.total(), b.total())


def rouge_l(candidate: str, reference: str) -> float:
    """F1 of the longest common subsequence of words (Lin 2004, ROUGE-L), 0 to 1."""
    first, second = _words(candidate), _words(reference)
    return _f1(LCSseq.similarity(first, second), len(first), len(second))


def bleu(candidate: str, reference: str) -> float:
    """Sentence BLEU with up to 4-grams of words (Papineni et al. 2002), 0 to 1.

    Orders longer than the candidate are left out, and orders without a match count as a half, a quarter, … of one
    (exponential smoothing, Chen and Cherry 2014, method 3), as sacrebleu does for sentences.
    """
    first, second = _words(candidate), _words(reference)
    if not first or not second:
        return float(first == second)
    logs: list[float] = []
    smoothing = 1.0
    for order in range(1, min(_BLEU_ORDER, len(first)) + 1):
        a, b = _ngrams(first, order), _ngrams(second, order)
        matches = (a & b).total()
        if matches == 0 and order == 1:
            return 0.0
        if matches == 0:
            smoothing *= 2
        logs.append(math.log((matches or 1 / smoothing) / a.total()))
    penalty = min(0.0, 1 - len(second) / len(first))
    return math.exp(penalty + sum(logs) / len(logs))


def chrf(candidate: str, reference: str) -> float:
    """F2 of the shared character n-grams of orders 1 to 6, blanks left out (chrF, Popović 2015), 0 to 1."""
    first, second = "".join(comparable(candidate).split()), "".join(comparable(reference).split())
    precisions: list[float] = []
    recalls: list[float] = []
    for order in range(1, min(_CHRF_ORDER, len(first), len(second)) + 1):
        a = Counter(first[start : start + order] for start in range(len(first) - order + 1))
        b = Counter(second[start : start + order] for start in range(len(second) - order + 1))
        matches = (a & b).total()
        precisions.append(matches / a.total())
        recalls.append(matches / b.total())
    if not precisions or not any(precisions):
        return float(first == second)
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    weight = _CHRF_BETA**2
    return (1 + weight) * precision * recall / (weight * precision + recall)


def likeness(candidate: str, reference: str) -> float:
    """1 minus the edit distance over the length of the longer text, 0 to 1."""
    return float(Levenshtein.normalized_similarity(comparable(candidate), comparable(reference)))


def edits(candidate: str, reference: str) -> int:
    """Characters to insert, delete or replace (Levenshtein); outer blanks, line ends and Unicode forms do not count."""
    first, second = (
        unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip() for text in (candidate, reference)
    )
    return int(Levenshtein.distance(first, second))


def _words(text: str) -> list[str]:
    """The words; of a text that has none, such as a row of symbols, all that is not blank."""
    text = comparable(text)
    return words(text) or [token for token in tokens(text) if not token.isspace()]


def _ngrams(sequence: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(sequence[start:] for start in range(order)), strict=False))


def _f1(matches: int, first: int, second: int) -> float:
    return 2 * matches / (first + second) if first + second else 1.0

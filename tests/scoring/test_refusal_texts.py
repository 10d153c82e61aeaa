"""How often the refusal rules are right; run with -s to see the table."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

from promptreg.scoring.checks.refusal_text import refuses

TEXTS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/refusals/texts.jsonl").read_text(encoding="utf-8").splitlines()
]

# Measured: 221 of 223 and 0 of 386 for the part known to the rules; 25 of 35 and 3 of 51 for the part written later.
LEAST_RECALL = {"rules": 0.98, "later": 0.7}
MOST_FALSE_ALARMS = {"rules": 0.003, "later": 0.06}


def _rates(part):
    found = defaultdict(lambda: [0, 0])
    for text in TEXTS:
        if text["part"] == part:
            for language in (text["language"], "all"):
                counts = found[text["refuses"], language]
                counts[0] += refuses(text["text"])
                counts[1] += 1
    return found


@pytest.mark.parametrize("part", ["rules", "later"])
def test_recall_and_false_alarms_keep_their_floors(part):
    rates = _rates(part)
    for (refusal, language), (fired, total) in sorted(rates.items()):
        row = f"{part:6} {language:6} {'recall' if refusal else 'false alarms':13} {fired}/{total}"
        print(row)  # noqa: T201 - the table is what -s is for
    assert rates[True, "all"][0] / rates[True, "all"][1] >= LEAST_RECALL[part]
    assert rates[False, "all"][0] / rates[False, "all"][1] <= MOST_FALSE_ALARMS[part]


def test_there_are_enough_texts_in_each_language_and_none_twice():
    assert sum(text["refuses"] for text in TEXTS) >= 120
    assert sum(not text["refuses"] for text in TEXTS) >= 200
    assert {text["language"] for text in TEXTS} == {"zh", "en", "mixed"}
    assert len({text["text"] for text in TEXTS}) == len(TEXTS)


def test_curly_and_straight_apostrophes_are_the_same():
    for text in TEXTS:
        assert refuses(text["text"].replace("'", "’")) == refuses(text["text"].replace("’", "'")), text["text"]


@pytest.mark.parametrize(
    "unit",
    [
        *("I am sorry I ", "as an AI I ", "this request ", "it would be ", "dear "),
        *("抱歉我", "作为AI，", "这个请求我", "我理解", "超出了我"),
    ],
)
def test_the_time_does_not_grow_with_hostile_text(unit):
    before = time.process_time()
    refuses(unit * 200_000 + "not 不能")
    assert time.process_time() - before < 1

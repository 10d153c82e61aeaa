"""How often the refusal rules are right; run with -s to see the table."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

from promptreg.scoring.checks.reading.refusal_text import refuses

DATA = Path(__file__).parents[1] / "data"
TEXTS = [json.loads(line) for line in (DATA / "refusals/texts.jsonl").read_text(encoding="utf-8").splitlines()]

# Measured: 253 of 258 and 1 of 437 for the part known to the rules; 28 of 34 and 0 of 47 for the part written later.
LEAST_RECALL = {"rules": 0.975, "later": 0.8}
MOST_FALSE_ALARMS = {"rules": 0.003, "later": 0.03}


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


def test_answers_of_a_real_model_fire_only_where_it_refuses():
    answers = {
        answer
        for name in ("smollm2_t02", "smollm2_t07")
        for answer in _texts(json.loads((DATA / f"real_passes/{name}.json").read_text(encoding="utf-8")))
    }
    fired = sorted(answer for answer in answers if refuses(answer))
    assert len(answers) > 1_500
    # Read one by one: all of these apologise for not doing what was asked; at most three others may fire.
    assert sum("sorry" in answer.lower() for answer in fired) >= 25
    assert sum("sorry" not in answer.lower() for answer in fired) <= 4


def _texts(value):
    if isinstance(value, str):
        return [value] if len(value) > 15 else []
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in _texts(each)]


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

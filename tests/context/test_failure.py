"""Why something that a strategy relies on failed: promptreg's own words are in both languages."""

from __future__ import annotations

import pytest

from promptreg.context.adapters.function import checked
from promptreg.context.count.counting import EstimateCounter
from promptreg.context.failure import BrokenPromiseError, why_failed
from promptreg.context.fit import fit
from promptreg.context.named import strategy_from
from promptreg.context.strategies.offered import Given
from promptreg.errors import EndpointError
from promptreg.text.sentence import Sentence

MESSAGES = [{"role": role, "content": "七天之内可以退货。" * 20} for _ in range(6) for role in ("user", "assistant")]


def leave(messages, tokens):
    raise SystemExit(7)


ODD = {
    "生成器": lambda messages, tokens: (message for message in messages),
    "列表": lambda messages, tokens: [{"content": "no role"}],
    "文本": lambda messages, tokens: "shortened",
    "结束": leave,
}


@pytest.mark.parametrize("kind", ODD)
def test_what_a_function_did_wrong_is_told_in_both_languages(kind):
    with pytest.raises(BrokenPromiseError) as caught:
        checked(ODD[kind])(MESSAGES, 900)
    said = why_failed(caught.value)
    assert said.en.startswith("it ")
    assert said.zh.startswith("它")


def test_the_note_of_a_function_holds_no_english_sentence():
    strategy = strategy_from("function:app:odd", Given(function=lambda name: ODD["生成器"]))
    fitted = fit(MESSAGES, 900, counter=EstimateCounter(), strategy=strategy)
    (note,) = [note.sentence for note in fitted.ledger.notes]
    assert "it returned generator, not a list of messages" in note.en
    assert "它返回的是 generator，而不是消息列表" in note.zh
    assert "it returned" not in note.zh


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (EndpointError("The server is gone."), "The server is gone"),
        (ValueError("boom\nsecond"), "ValueError: boom⏎second"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_other_errors_are_quoted_as_they_are(error, said):
    assert why_failed(error) == Sentence(said, said)

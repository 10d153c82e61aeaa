from __future__ import annotations

import pytest

from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.named import strategy_from
from promptreg.context.retrieve import Retrieve
from promptreg.context.strategies.base import then
from promptreg.context.strategies.offered import Given
from promptreg.context.strategies.registry import STRATEGIES
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, SlidingWindow
from promptreg.errors import UsageError


def embed(texts):
    return [[1.0] for _ in texts]


@pytest.mark.parametrize(
    ("text", "strategy"),
    [
        ("sliding-window", SlidingWindow()),
        ("hysteresis", SlidingWindow(0.75)),
        (" hysteresis : target = 0.5 ", SlidingWindow(0.5)),
        ("first-and-last:first=2,target=0.8", FirstAndLast(2, 0.8)),
        ("message-cap:tokens=50,keep=tail", MessageCap(50, "tail")),
        ("summary-on-cut:tokens=100", SummaryOnCut(tokens=100)),
        ("summary-and-recent:turns=2", SummaryAndRecent(2)),
        ("retrieve:top=2,share=0.2", Retrieve(embed, 2, 0.2)),
        ("prune-results:keep=1 + sliding-window", then(PruneResults(1), SlidingWindow())),
    ],
)
def test_a_strategy_is_named_with_its_options(text, strategy):
    assert strategy_from(text, Given(embed=embed)) == strategy


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("slidng-window", "There is no strategy `slidng-window`. .*Did you mean `sliding-window`?"),
        ("", "The name of a strategy is missing. Allowed: `first-and-last`"),
        (" + ", "The name of a strategy is missing. Allowed: `first-and-last`"),
        ("sliding-window+", r"^`sliding-window\+` lacks a strategy beside a `\+`: write one on both sides"),
        ("+sliding-window", r"^`\+sliding-window` lacks a strategy beside a `\+`"),
        ("prune-results++sliding-window", "lacks a strategy beside"),
        ("hysteresis:targt=1", "has no option `targt`. Allowed: `target`. Did you mean `target`?"),
        ("oldest-first:x=1", "has no option `x`. It has none."),
        ("prune-results:keep=some", "`keep` of the strategy `prune-results` is a whole number, got 'some'."),
        ("hysteresis:target", "`target` of the strategy `hysteresis` has no value: it is a number, written"),
        ("prune-results:keep=", "has no value: it is a whole number, written `prune-results:keep=VALUE`"),
        ("hysteresis:=0.5", "An option of the strategy `hysteresis` has no name"),
        ("hysteresis:target=0.5,", "An option of the strategy `hysteresis` has no name.* Allowed: `target`"),
        ("hysteresis:target=0.5,target=0.6", "The option `target` of the strategy `hysteresis` is written twice"),
        ("hysteresis:target=nan", "share of the budget"),
        ("retrieve", "needs an embedder"),
    ],
)
def test_what_cannot_be_named_is_refused_with_what_can(text, sentence):
    with pytest.raises(UsageError, match=sentence):
        strategy_from(text)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_named_strategy_fits_a_conversation(name):
    messages = [{"role": role, "content": "word " * 30} for _ in range(9) for role in ("user", "assistant")]

    fitted = fit(messages, 100, counter=WordCounter(), strategy=strategy_from(name, Given(embed=embed)))

    assert 30 <= fitted.total <= 100
    assert STRATEGIES[name].sentence.zh

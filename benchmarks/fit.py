"""How long `fit` takes on a long conversation, once its messages are counted, and how that grows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/fit.py [--messages 1000] [--window 8192]

A generated conversation, Chinese and English, DeepSeek's vocabulary and the V4 format. The first `fit` counts messages,
and where a summary is written it also reads them; both are remembered for each message. It stands in a column of its
own, with a new counter and summariser; the best of five that follow is measured against the target of 50 ms for 1 000
messages. Processor time: nothing waits. *Growth* is the time for four times as many messages over that for the first
number: 4 is linear.
"""

from __future__ import annotations

import argparse
import copy
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.fit import fit
from promptreg.context.named import strategy_from
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.summarise.extractive import Extractive
from promptreg.context.trial.corpus import Shape, generate

if TYPE_CHECKING:
    from promptreg.context.count.counting import Message
    from promptreg.context.strategies.base import Strategy

STRATEGIES: Final = (
    "oldest-first",
    "sliding-window",
    "hysteresis",
    "first-and-last",
    "middle-out",
    "message-cap",
    "prune-results",
    "summary-on-cut",
    "summary-and-recent",
)
RESERVE: Final = 1024
TARGET_S: Final = 0.05


class Seconds(NamedTuple):
    """How long `fit` took."""

    first: float
    """Nothing counted, nothing read."""
    again: float
    """The best of five that follow."""


def seconds(messages: list[Message], name: str, window: int) -> Seconds:
    """Six times the same, by one counter and one strategy, with copies of the messages."""
    counter, strategy = choose_counter("deepseek", "v4").counter, fresh(strategy_from(name))
    budget, times = Budget(window, RESERVE, 0), []
    for _ in range(6):
        given = copy.deepcopy(messages)
        began = time.process_time()
        fitted = fit(given, budget, counter=counter, strategy=strategy)
        times.append(time.process_time() - began)
        if fitted.total > budget.tokens:
            raise RuntimeError(f"{name}: {fitted.total} tokens in a budget of {budget.tokens}")
    return Seconds(times[0], min(times[1:]))


def fresh(strategy: Strategy) -> Strategy:
    """The strategy with a summariser that has read nothing, where it has one."""
    if isinstance(strategy, (SummaryOnCut, SummaryAndRecent)):
        return replace(strategy, summariser=Extractive())
    return strategy


def ending_with_a_question(messages: list[Message], count: int) -> list[Message]:
    """As many messages or a few less: a conversation ends where an answer is asked for."""
    last = max(place for place in range(count) if messages[place]["role"] == "user")
    return messages[: last + 1]


def main() -> None:
    """Print a row for each strategy."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--window", type=int, default=8192)
    options = parser.parse_args()
    counter = choose_counter("deepseek", "v4").counter
    (recording,) = generate(1, 1, Shape(turns=options.messages * 2 + 1))
    whole = list(recording.messages)
    short, long = (ending_with_a_question(whole, count) for count in (options.messages, options.messages * 4))
    print(f"{len(short)} messages, {counter.prompt(short)} tokens; window {options.window}; {counter.name}\n")
    print(f"| strategy | {len(short)} messages, first | again | {len(long)} messages, again | growth |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in STRATEGIES:
        once, four = (seconds(messages, name, options.window) for messages in (short, long))
        mark = "" if once.again <= TARGET_S else " (over)"
        print(
            f"| {name} | {once.first * 1000:.0f} ms | {once.again * 1000:.1f} ms{mark} | {four.again * 1000:.1f} ms "
            f"| {four.again / once.again:.1f} |"
        )


if __name__ == "__main__":
    main()

"""How long `fit` takes on a long conversation, once its messages are counted, and how that grows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/fit.py [--messages 1000] [--window 8192]

A generated conversation, Chinese and English, DeepSeek's vocabulary and the V4 format. The first `fit` counts and is
not timed; the best of five that follow is. *Growth* is the time for four times as many messages over that for the first
number: 4 is linear. Target: 50 ms for 1 000 messages. The last two also write an extract of all that is dropped, which
is the summariser's own cost.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Final

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.fit import fit
from promptreg.context.named import strategy_from
from promptreg.context.trial.corpus import Shape, generate

if TYPE_CHECKING:
    from promptreg.context.count.counting import Counter, Message

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


def seconds(messages: list[Message], name: str, window: int, counter: Counter) -> float:
    """The best of five, after one that counts."""
    budget, times = Budget(window, RESERVE, 0), []
    for _ in range(6):
        strategy = strategy_from(name)
        began = time.perf_counter()
        fitted = fit(messages, budget, counter=counter, strategy=strategy)
        times.append(time.perf_counter() - began)
        if fitted.total > budget.tokens:
            raise RuntimeError(f"{name}: {fitted.total} tokens in a budget of {budget.tokens}")
    return min(times[1:])


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
    print(f"| strategy | {len(short)} messages | {len(long)} messages | growth |\n| --- | ---: | ---: | ---: |")
    for name in STRATEGIES:
        once, four = (seconds(messages, name, options.window, counter) for messages in (short, long))
        mark = "" if once <= TARGET_S else " (over)"
        print(f"| {name} | {once * 1000:.1f} ms{mark} | {four * 1000:.1f} ms | {four / once:.1f} |")


if __name__ == "__main__":
    main()

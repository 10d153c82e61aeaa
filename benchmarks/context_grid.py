"""How much of a conversation strategies keep, and how much of the prefix cache, in four windows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/context_grid.py
    OPENBLAS_NUM_THREADS=1 python benchmarks/context_grid.py --tools --windows 8192

One generated conversation of 80 turns with 62 planted facts, a system message of 400 words, DeepSeek's vocabulary and
the V4 format; 1 024 tokens of each window are kept free for the answer. A prompt is sent before each answer. Hit ratios
are of the steady state, from the first prompt that had to be shortened, at several granularities of the server's cache.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, Final

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.named import strategy_from
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.grid import Ours, run_grid
from promptreg.context.trial.grid_rows import pareto, pooled
from promptreg.context.trial.planting import plant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.context.trial.grid_rows import Pooled

STRATEGIES: Final = (
    "sliding-window",
    "hysteresis:target=0.75",
    "hysteresis:target=0.5",
    "first-and-last:first=2",
    "summary-and-recent:turns=8",
    "summary-on-cut:target=0.5",
)
GRANULARITIES: Final = (1, 16, 64, 128, 4096, 16_384)
RESERVE: Final = 1024
TARGET_S: Final = 30.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the grid and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--length", type=float, default=1.75, help="multiplies the lengths of answers")
    parser.add_argument("--tools", action="store_true", help="a quarter of the turns call tools")
    parser.add_argument("--windows", default="32768,16384,8192,4096")
    parser.add_argument("--strategies", nargs="*", default=STRATEGIES)
    options = parser.parse_args(arguments)
    began, used = time.perf_counter(), time.process_time()
    shape = Shape(turns=options.turns, tools=options.tools, length=options.length)
    (recording,) = generate(1, options.seed, shape)
    recording = plant(recording, options.seed)
    counter = choose_counter("deepseek", "v4").counter
    contestants = [Ours(strategy_from(name), counter) for name in options.strategies]
    windows = [Budget(int(window), RESERVE, 0) for window in options.windows.split(",")]

    def progress(done: int, of: int) -> None:
        print(f"\r{done}/{of}", end="" if done < of else "\r", file=sys.stderr, flush=True)

    rows = pooled(run_grid([recording], contestants, windows, counter, progress=progress))
    print(f"{recording.conversation_id}: {len(recording.messages)} messages, ", end="")
    print(f"{counter.prompt(recording.messages, tools=recording.tools)} tokens, {len(recording.facts)} facts")
    print(f"counter: {counter.name}")
    for budget in windows:
        print_window([one for one in rows if one.window == budget.window], budget)
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    print(f"\n{len(rows)} cells in {wall:.1f} s, {cpu:.1f} s of them on the CPU; target {TARGET_S:.0f} s")


def print_window(rows: Sequence[Pooled], budget: Budget) -> None:
    """The table of one window."""
    heads = " | ".join(f"g={granularity}" for granularity in GRANULARITIES)
    print(f"\nwindow {budget.window}, budget {budget.tokens}\n")
    print(f"| strategy | recall | at the end | prompt tokens | to prefill (g=16) | {heads} | re-anchors | violated |")
    print("| --- " * (7 + len(GRANULARITIES)) + "|")
    best = {one.strategy for one in pareto(rows, 16)}
    for one in rows:
        steady, recall, last = one.reused(16), one.recall or 0.0, one.retained.recall or 0.0
        ratios = " | ".join(ratio_text(one, granularity) for granularity in GRANULARITIES)
        violated = " ".join(finding.invariant.value for finding in one.findings) or "none"
        name = f"**{one.strategy}**" if one.strategy in best else one.strategy
        prompts, prefill = f"{steady.prompt_tokens / 1000:.0f}K", f"{steady.prefill_tokens / 1000:.0f}K"
        cells = [name, f"{recall:.0%}", f"{last:.0%}", prompts, prefill, ratios, str(steady.reanchors), violated]
        print(f"| {' | '.join(cells)} |")


def ratio_text(one: Pooled, granularity: int) -> str:
    """The hit ratio in percent; in brackets where no prompt within the budget can hit anything."""
    ratio = one.hit_ratio(granularity)
    if ratio is None:
        return "–"
    return f"{100 * ratio:.1f}" if one.possible(granularity) else f"({100 * ratio:.0f})"


if __name__ == "__main__":
    main()

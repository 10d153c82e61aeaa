"""What we and other libraries make of each vector: the table of docs/design/context-vectors.md.

`python tests/context/adapters/outcomes.py` writes the table anew, after another release of a library is pinned.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from importlib.metadata import version
from pathlib import Path

from promptreg.context.adapters.contestant import Theirs
from promptreg.context.count.counting import MessageCounter
from promptreg.context.fit import HYSTERESIS
from promptreg.context.named import strategy_from
from promptreg.context.strategies.window import SlidingWindow
from promptreg.context.trial.grid import Ours
from promptreg.context.trial.invariants import Case, Invariant, Rules, violations

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/design/context-vectors.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
PACKAGES = ("langchain-core", "langchain", "llama-index-core")

OURS = "promptreg"
TRIM = "langchain:trim_messages"
TRIM_RIGHT = "langchain:trim_messages:include_system=yes,start_on=user"
SUMMARIZATION = "langchain:summarization:share=0.5,tokens={tokens}"
BUFFER = "llama-index:chat-memory-buffer"
SUMMARY = "llama-index:chat-summary-memory-buffer:tokens={tokens}"
MEMORY = "llama-index:memory"
COLUMNS = {
    OURS: "promptreg",
    TRIM: "trim_messages",
    TRIM_RIGHT: "trim_messages (1)",
    SUMMARIZATION: "SummarizationMiddleware (2)",
    BUFFER: "ChatMemoryBuffer",
    SUMMARY: "ChatSummaryMemoryBuffer (2)",
    MEMORY: "Memory",
}
HOLDS, NOT_ASKED = "holds", "—"


def load_vectors():
    """tests/context/vectors.py; the tests are no package."""
    path = ROOT / "tests/context/vectors.py"
    spec = importlib.util.spec_from_file_location("vectors", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


vectors = load_vectors()


def broken(column, vector):
    """The invariants that a column breaks on a vector, in their order."""
    budget = vector.budget if isinstance(vector.budget, int) else vector.budget.tokens
    pinned = {id(vector.messages[place]) for place in vector.pinned}
    rules = Rules(vector.counter, tuple(vector.tools), lambda message: id(message) in pinned)
    if column == OURS:
        contestant = Ours(SlidingWindow(HYSTERESIS), vector.counter, rules.pinned)
    else:
        contestant = Theirs(strategy_from(column.format(tokens=max(1, budget // 4))), vector.counter)

    def subject(case):
        return contestant.send(case.messages, case.budget, rules.tools, None).outcome

    # What it keeps with more room is not asked here: a library's own options would have to grow with it.
    only = set(Invariant) - {Invariant.I9}
    return tuple(
        violation.invariant.value
        for violation in violations(subject, Case(tuple(vector.messages), budget), rules, only)
    )


def cell(column, vector):
    """What the table says."""
    if column.startswith("llama-index") and isinstance(vector.counter, MessageCounter):
        return NOT_ASKED  # it counts texts and not messages
    return " ".join(broken(column, vector)) or HOLDS


def table():
    """The rows of the vectors that show in one call."""
    lines = [f"| # | report | {' | '.join(COLUMNS.values())} |", f"|{' --- |' * (len(COLUMNS) + 2)}"]
    for vector in vectors.VECTORS:
        cells = " | ".join(cell(column, vector) for column in COLUMNS)
        lines.append(f"| {vector.number} | {vector.report} | {cells} |")
    return "\n".join(lines)


def versions():
    """What the table was made with."""
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES)


def written(page, inner):
    """The page with another table."""
    begin, end = page.index(BEGIN) + len(BEGIN), page.index(END)
    return f"{page[:begin]}\n{inner}\n{page[end:]}"


def current():
    """What stands between the marks now."""
    return re.search(f"{BEGIN}\n(.*?)\n{END}", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]


def inner():
    """What has to stand there."""
    return f"Made with {versions()}.\n\n{table()}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), inner()), encoding="utf-8")

"""The public bug reports of context.md §2 as vectors: number, report, how to build it, what is right for us.

The notation is the page's: `S` system, `U` user, `A` assistant, `A{a,b}` an assistant that calls tools a and b, `T[a]`
a tool result for a, `:n` of n words, `+R` with reasoning. A message without a number has one word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptreg.context.budget import Budget
from promptreg.context.count.counting import MessageCounter, WordCounter
from promptreg.context.ledger import Action, Reason
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.window import OldestFirst, SlidingWindow
from promptreg.errors import CannotFit, OpenToolCallsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.context.fit import Fitted

_MESSAGE = re.compile(r"([SUAT])(?:\{([\w,]+)\}|\[(\w+)\])?(?::(\d+))?(\+R)?$")
_ROLES = {"S": "system", "U": "user", "A": "assistant", "T": "tool"}


def talk(notation: str) -> list[dict[str, Any]]:
    """The messages of a line of the notation."""
    messages = []
    for place, written in enumerate(notation.split()):
        letter, calls, call_id, count, reasoning = _MESSAGE.match(written).groups()
        role = _ROLES[letter]
        words = 1 if count is None else int(count)
        message: dict[str, Any] = {
            "role": role,
            "content": " ".join(f"{letter.lower()}{place}w{n}" for n in range(words)),
        }
        if calls:
            message["tool_calls"] = [
                {"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}}
                for name in calls.split(",")
            ]
        if call_id:
            message["tool_call_id"] = call_id
        if reasoning:
            message["reasoning_content"] = "because of this"
        messages.append(message)
    return messages


def rounds(count: int, words: int) -> str:
    """So many tool rounds, each with a result of so many words."""
    return " ".join(f"A{{i{n}}} T[i{n}]:{words}" for n in range(count))


@dataclass(frozen=True)
class Vector:
    """One report."""

    number: int
    report: str
    messages: list[dict[str, Any]]
    budget: Budget | int
    right: Callable[[Fitted], None] | type[Exception]
    """Checks what is sent, or the error that is right."""
    counter: Any = field(default_factory=WordCounter)
    strategies: Sequence[Any] = ()
    """Those it is about; empty: all of them."""
    tools: Sequence[Any] = ()
    pinned: Sequence[int] = ()


def keeps(*allowed: set[int]) -> Callable[[Fitted], None]:
    """Exactly one of these sets of places is sent, whole or cut."""

    def right(fitted: Fitted) -> None:
        assert {place for place in fitted.origins if place is not None} in allowed

    return right


def keeps_some(*required: int) -> Callable[[Fitted], None]:
    """These are sent word for word."""

    def right(fitted: Fitted) -> None:
        assert set(required) <= set(fitted.origins)
        assert set(required).isdisjoint(entry.index for entry in fitted.ledger.entries)

    return right


def together(*places: int) -> Callable[[Fitted], None]:
    """All of these are sent, or none of them."""

    def right(fitted: Fitted) -> None:
        assert set(places) <= set(fitted.origins) or set(places).isdisjoint(fitted.origins)

    return right


def orphan_reported(place: int) -> Callable[[Fitted], None]:
    """Named as a result without a call, and not sent."""

    def right(fitted: Fitted) -> None:
        assert place not in fitted.origins
        assert (place, Reason.ORPHAN) in {(entry.index, entry.reason) for entry in fitted.ledger.entries}

    return right


def result_cut(place: int) -> Callable[[Fitted], None]:
    """The result is sent with a part of its text, all other messages as they were."""

    def right(fitted: Fitted) -> None:
        assert [(entry.index, entry.action) for entry in fitted.ledger.entries] == [(place, Action.CUT)]
        assert None not in fitted.origins

    return right


def pruned(fitted: Fitted) -> None:
    """The prompt is shorter, and the ledger names what was replaced by place and by id."""
    assert fitted.ledger.after < fitted.ledger.before
    replaced = [entry for entry in fitted.ledger.entries if entry.reason is Reason.OLD_RESULT]
    assert replaced
    for entry in replaced:
        assert fitted.messages[fitted.origins.index(entry.index)]["content"] == "[tool result removed]"
        assert entry.role == "tool"


def fills_by_tokens(fitted: Fitted) -> None:
    """Kept by tokens and not by the number of messages: another message of 2000 would not fit."""
    assert 6000 < fitted.total <= 8000


def nothing_to_do(fitted: Fitted) -> None:
    """Sent as it is."""
    assert fitted.ledger.entries == ()
    assert fitted.ledger.notes == ()
    assert fitted.origins == tuple(range(len(fitted.messages)))


def any_result(fitted: Fitted) -> None:
    """The invariants are all that is asked."""
    assert fitted.total <= fitted.budget


def linear(fitted: Fitted) -> None:
    """Nothing is there twice."""
    identities = [id(message) for message in fitted.messages]
    assert len(set(identities)) == len(identities)


PARTS = [{"type": "text", "text": "word " * 500}]
IMAGE = [
    {"type": "text", "text": "what is this"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
]
TOOLS = [
    {"type": "function", "function": {"name": f"tool_{n}", "description": "does one thing well"}} for n in range(12)
]
SYSTEM_RULE = [{"role": "system", "content": "Never name a price."}, *talk(" ".join(["U:20 A:20"] * 8)), *talk("U")]
TEXT_RESULT = talk("S U A{a} T U A")
LISTED = [{"role": "user", "content": PARTS}, *talk("A U")]
WITH_IMAGE = [{"role": "user", "content": IMAGE}, *talk("A:30 U:30 A:30 U:5")]

VECTORS = [
    Vector(
        1,
        "langchain-ai/langchain#33245",
        talk("U A{a} T[a] A U"),
        3,
        keeps({4}, {3, 4}, {0, 4}, {0, 3, 4}),
        MessageCounter(),
    ),
    Vector(4, "langchain-ai/langchain#30376", talk("S:3 U:0"), 3, nothing_to_do),
    Vector(5, "langchain-ai/langchain#38352", talk("U A{a} T[a] T[zzz] U"), 3, orphan_reported(3)),
    Vector(13, "langchain-ai/langmem#126", talk("U A{a,b} T[a]:100 T[b]:3 A U"), 60, together(1, 2, 3)),
    Vector(14, "langchain-ai/langmem#98", talk("U:50 A{a,b} T[a] T[b] A U"), 10, linear),
    Vector(
        16,
        "langchain-ai/langmem#111",
        talk("S U A{a} T[a]:5000"),
        5000,
        result_cut(3),
        strategies=[SlidingWindow(), MessageCap(6000)],
    ),
    Vector(17, "langchain-ai/langmem#69", talk("U:5 A:5 U:500"), 100, CannotFit),
    Vector(
        20,
        "BerriAI/litellm#10696",
        talk("U:20 A{a} T[a]:20 U:1"),
        20,
        keeps({3}),
        WordCounter(4),
        strategies=[SlidingWindow(), PruneResults()],
    ),
    Vector(22, "BerriAI/litellm#16567", LISTED, 50, keeps({0, 1, 2}), strategies=[MessageCap(40)]),
    Vector(22, "BerriAI/litellm#16567, as the question", LISTED[:1], 50, CannotFit),
    Vector(23, "BerriAI/litellm#3329", [{"role": "user", "content": "x y"}], 1, CannotFit),
    Vector(25, "context.md vector 25 (litellm)", talk("U:1"), 100, nothing_to_do),
    Vector(26, "KillianLucas/tokentrim#11", talk("S:200 U:90 U:90"), 400, nothing_to_do),
    Vector(28, "run-llama/llama_index#9714", talk("U:150 U:5"), 100, keeps_some(1)),
    Vector(29, "run-llama/llama_index#9371", talk("U:2500 A U"), 2000, CannotFit, pinned=[0]),
    Vector(31, "run-llama/llama_index#14958", talk(" ".join(["U:30 A:30"] * 20) + " U"), 300, any_result),
    Vector(32, "context.md vector 32 (llama-index)", talk("U:50"), 4, CannotFit),
    Vector(34, "microsoft/semantic-kernel#12708", TEXT_RESULT, 3, together(2, 3), MessageCounter()),
    Vector(
        35, "microsoft/semantic-kernel#13062", talk("S U " + rounds(30, 5) + " U"), 2, keeps({0, 62}), MessageCounter()
    ),
    Vector(37, "microsoft/autogen#7955", talk("S:10 U:10 A{a}:10 T[a]:10 U:10"), 30, together(2, 3)),
    Vector(38, "context.md vector 38 (autogen)", talk("U A{a} T[a]"), 1, keeps({0}), MessageCounter()),
    Vector(
        40,
        "microsoft/agent-framework#7393",
        talk("U " + rounds(5, 3000)),
        10_000,
        pruned,
        strategies=[PruneResults(0), PruneResults(1)],
    ),
    Vector(
        41,
        "microsoft/agent-framework#4991",
        talk("U " + rounds(4, 50) + " U"),
        60,
        pruned,
        strategies=[PruneResults(1)],
    ),
    Vector(
        43,
        "openai/openai-agents-python#3738",
        talk("U A{a} T[a] A U A{a} T[a] A"),
        2,
        keeps({4, 7}, {4}),
        MessageCounter(),
    ),
    Vector(44, "openai/openai-agents-python#2317", talk("U A U A{a}"), 100, OpenToolCallsError),
    Vector(44, "openai/openai-agents-python#2317, one of two", talk("U A U A{a,b} T[b]"), 2, OpenToolCallsError),
    Vector(46, "pydantic/pydantic-ai#2050", talk("U A{a} T[a]"), 2, keeps({0}), MessageCounter()),
    Vector(47, "pydantic/pydantic-ai#3142", talk("U U A{a} T[a] U U A{a} T[a] U"), 6, linear, MessageCounter()),
    Vector(49, "OpenHands/OpenHands#8630", talk("S:100 U A U"), 60, CannotFit, pinned=[1]),
    Vector(50, "OpenHands/OpenHands#9677", talk("S:9000 U"), Budget(7000, 0), CannotFit),
    Vector(
        55,
        "open-webui/open-webui#30035",
        talk(" ".join(["U:2000 A:2000"] * 5) + " U:1"),
        8000,
        fills_by_tokens,
        strategies=[OldestFirst()],
    ),
    Vector(57, "NousResearch/hermes-agent#80246", talk("U:30 A{a}+R T[a]:9 U"), 12, together(1, 2)),
    Vector(70, "openai/codex#19111", SYSTEM_RULE, 60, keeps_some(0, 17)),
    Vector(71, "dynamiq-ai/dynamiq#906", talk("S U A U"), 20, CannotFit, tools=TOOLS),
    Vector(73, "CommandCodeAI/command-code#767", WITH_IMAGE, 70, keeps_some(4)),
]
"""Vectors whose right outcome shows in one call. The others are told in `test_vectors.py`."""

TOLD_THERE = (2, 7, 8, 10, 11, 19, 52, 53, 56, 58, 59, 61, 62, 64, 65, 67, 68, 72)
"""Vectors that need a summariser, several turns, a counter of their own or a server."""

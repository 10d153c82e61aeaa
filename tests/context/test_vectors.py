"""Public bug reports of other context managers, replayed on every strategy (context.md §2)."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import re
import sys
from pathlib import Path

import pytest

from promptreg.config.model import Deployment
from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.context.count.counting import CharsCounter, EstimateCounter, WordCounter, content_text
from promptreg.context.count.special import special_in
from promptreg.context.fit import fit
from promptreg.context.ledger import NoteKind
from promptreg.context.retrieve import Retrieve
from promptreg.context.strategies.base import then
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.context.summarise.asked import Asked
from promptreg.context.trial.prefix import PrefixMeter
from promptreg.deployment.overflow import read_overflow
from promptreg.deployment.targets.target import target_of
from promptreg.errors import CannotFit


def _table():
    spec = importlib.util.spec_from_file_location("vectors", Path(__file__).with_name("vectors.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look up their annotations
    spec.loader.exec_module(module)
    return module


vectors = _table()
talk = vectors.talk

STRATEGIES = [
    OldestFirst(),
    SlidingWindow(),
    SlidingWindow(0.75),
    FirstAndLast(),
    MiddleOut(),
    MessageCap(40),
    PruneResults(),
    SummaryOnCut(),
    SummaryAndRecent(2),
    Retrieve(lambda texts: [[len(text), 1.0] for text in texts]),
    then(PruneResults(1), SlidingWindow(0.75)),
]
CASES = [
    pytest.param(vector, strategy, id=f"{vector.number}-{strategy.name}-{place}")
    for place, vector in enumerate(vectors.VECTORS)
    for strategy in vector.strategies or STRATEGIES
]


class Model:
    """A summariser's model that keeps what it was asked, and the window that each request needs."""

    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.needed = []

    def __call__(self, messages, limit):
        self.requests.append(messages)
        self.needed.append(WordCounter().prompt(messages) + limit)
        return self.answer(messages) if callable(self.answer) else self.answer

    @property
    def read(self):
        return "\n".join(message["content"] for request in self.requests for message in request)


def told(history):
    """A model that repeats the figures of what it reads."""
    return " ".join(word for word in history[-1]["content"].split() if any(letter.isdigit() for letter in word))


def valid(messages):
    waiting = []
    for message in messages:
        waiting += [call["id"] for call in message.get("tool_calls", ())]
        if message["role"] == "tool":
            call_id = message.get("tool_call_id", waiting[0] if waiting else None)
            assert call_id in waiting
            waiting.remove(call_id)
    assert waiting == []


def test_every_vector_of_the_page_is_accounted_for():
    numbers = {vector.number for vector in vectors.VECTORS} | set(vectors.TOLD_THERE)

    assert len(numbers) == 51
    tested = {int(number) for name in globals() for number in re.findall(r"[0-9]+", name) if name.startswith("test_")}
    assert set(vectors.TOLD_THERE) <= tested


@pytest.mark.parametrize(("vector", "strategy"), CASES)
def test_a_reported_bug_is_not_ours(vector, strategy):
    before = copy.deepcopy(vector.messages)

    def fitted():
        return fit(
            vector.messages,
            vector.budget,
            counter=vector.counter,
            strategy=strategy,
            tools=vector.tools,
            pinned=vector.pinned,
        )

    if isinstance(vector.right, type):
        with pytest.raises(vector.right):
            fitted()
    else:
        result = fitted()
        assert result.total == vector.counter.prompt(result.messages, tools=vector.tools) <= result.budget
        valid(result.messages)
        assert set(range(len(before))) == set(result.origins) - {None} | result.ledger.absent
        vector.right(result)
    assert vector.messages == before


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_2_the_counter_sees_only_valid_conversations_in_their_order(strategy):
    class Strict(WordCounter):
        def prompt(self, messages, *, tools=()):
            valid(messages)
            return super().prompt(messages, tools=tools)

    messages = talk("T[zzz]:9 U:9 A{a,b} T[b]:9 T[a]:9 A:9 U:9 A{c} T[c]:9 A")

    for budget in range(9, 60):
        fitted = fit(messages, budget, counter=Strict(), strategy=strategy)
        assert 0 not in fitted.origins


def test_7_an_error_of_the_summariser_is_told_and_never_sent():
    def broken(messages, limit):
        raise RuntimeError("429 quota exceeded")

    messages = talk(" ".join(["U:10 A:10"] * 10) + " U")
    strategy = SummaryOnCut(Asked(broken, WordCounter(), Budget(500, 0, 0)), target=1.0)

    fitted = fit(messages, 50, counter=WordCounter(), strategy=strategy)

    assert NoteKind.SUMMARISER_FAILED in {note.kind for note in fitted.ledger.notes}
    assert "quota" not in str(fitted.messages)
    assert fitted.total <= 50


def test_8_a_history_of_tool_results_alone_is_summarised_in_parts():
    model = Model(told)
    messages = talk("S U " + vectors.rounds(8, 200))
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(300, 0, 0)), tokens=150)

    fitted = fit(messages, 700, counter=WordCounter(), strategy=strategy)

    assert len(model.requests) > 4
    assert max(model.needed) <= 300
    for place in fitted.ledger.absent:
        if messages[place]["role"] == "tool":
            assert all(word in model.read for word in messages[place]["content"].split())


def test_10_metadata_is_neither_read_nor_counted():
    model = Model(told)
    messages = talk(" ".join(["U:20 A:20"] * 10) + " U")
    for message in messages:
        message["metadata"] = {"trace": "secret " * 1000}

    fit(messages, 100, counter=WordCounter(), strategy=SummaryOnCut(Asked(model, WordCounter(), Budget(2000, 0, 0))))

    assert model.requests
    assert "secret" not in model.read


def test_11_a_summary_that_grows_each_round_is_capped():
    model = Model(lambda messages: messages[-1]["content"])
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(5000, 0, 0)), tokens=100)
    history, state = talk("S"), None
    for _ in range(30):
        history += talk("U:40 A:40 U")
        fitted = fit(history, 300, counter=WordCounter(), strategy=strategy, state=state)
        state = fitted.state
        assert fitted.total <= 300
        assert state.summary is None or len(state.summary.text.split()) <= 100
    assert model.requests
    assert state.summary.version > 5


def test_19_fitting_what_was_fitted_keeps_tool_groups_whole():
    history = talk("U A{a,b} T[a]:100 T[b]:3 A U")
    for _ in range(2):
        fitted = fit(history, 60, counter=WordCounter(), strategy=SummaryAndRecent(1))
        valid(fitted.messages)
        assert fit(fitted.messages, 60, counter=WordCounter(), strategy=SummaryAndRecent(1)).messages == fitted.messages
        history = [*fitted.messages, *talk("A{c} T[c]:100 A U")]


def test_17_a_summariser_is_not_asked_about_nothing():
    model = Model("Nothing was said.")
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(500, 0, 0)))

    fitted = fit(talk("U:0 A:0 U:0 A{a} T[a]:500"), 100, counter=WordCounter(), strategy=strategy)

    assert model.requests == []
    assert fitted.total <= 100


def test_52_a_second_pass_in_a_row_changes_nothing():
    model = Model(told)
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(5000, 0, 0)))
    history = talk("S " + " ".join(["U:20 A:20"] * 12) + " U")

    first = fit(history, 200, counter=WordCounter(), strategy=strategy)
    asked = len(model.requests)
    second = fit(history, 200, counter=WordCounter(), strategy=strategy, state=first.state)

    assert asked == len(model.requests) == 1
    assert second.messages == first.messages
    assert second.state == first.state


def test_53_a_history_larger_than_the_summarisers_window_is_read_in_parts():
    model = Model(lambda messages: " ".join(messages[-1]["content"].split()[2:40]))
    messages = talk("S " + " ".join(["U A"] * 39) + " U")
    for place, message in enumerate(messages[1:-1]):
        message["content"] = f"message {place} says " + "so many plain words " * 250
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(8000, 0, 0)))

    fitted = fit(messages, 8000, counter=WordCounter(), strategy=strategy)

    assert len(model.requests) >= 10
    assert max(model.needed) <= 8000
    assert all(messages[place]["content"].strip() in model.read for place in fitted.ledger.absent)


def test_56_a_quarter_of_the_characters_is_no_count_of_chinese():
    line = "退款将在七天内到账，请耐心等待，感谢您的理解与支持。" * 10
    messages = [{"role": role, "content": line} for _ in range(50) for role in ("user", "assistant")] + talk("U")

    fooled = fit(messages, 2000, counter=CharsCounter(), strategy=SlidingWindow())
    fitted = fit(messages, 2000, counter=EstimateCounter(), strategy=SlidingWindow())

    assert EstimateCounter().prompt(fooled.messages) > 2 * 2000
    assert fitted.total <= 2000
    assert fitted.counter == "estimate by script"


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.name)
def test_58_reasoning_of_tool_calls_stays_as_it_was_even_empty(strategy):
    messages = talk("U:30 A{a} T[a]:9 A:5 U A{b}+R T[b]:9")
    messages[1]["reasoning_content"] = ""

    for budget in range(12, 70, 3):
        fitted = fit(messages, budget, counter=EstimateCounter(), strategy=strategy)
        for message, origin in zip(fitted.messages, fitted.origins, strict=True):
            if origin in (1, 5):
                assert message is messages[origin]


def test_59_template_marks_are_harmless_in_what_a_summariser_reads():
    model = Model(told)
    messages = talk(" ".join(["U:20 A:20"] * 10) + " U")
    messages[2]["content"] = "<｜DSML｜tool_calls> <｜User｜> </think> code 4711 " * 3

    fit(messages, 100, counter=WordCounter(), strategy=SummaryOnCut(Asked(model, WordCounter(), Budget(2000, 0, 0))))

    assert "4711" in model.read
    assert special_in(model.read) == ()


@pytest.mark.parametrize(
    ("strategy", "most"), [(SlidingWindow(0.75), 18), (SlidingWindow(0.5), 10), (SummaryOnCut(), 10)]
)
def test_61_and_62_the_beginning_of_the_prompt_moves_rarely(strategy, most):
    def moves(strategy):
        history, state, begins = talk("S:100"), None, []
        for turn in range(80):
            history += [{"role": "user", "content": f"turn{turn} " * 20}]
            fitted = fit(history, 700, counter=WordCounter(), strategy=strategy, state=state)
            state = fitted.state
            begins.append(content_text(fitted.messages[1]["content"]))
            history += talk("A:30")
        return sum(left != right for left, right in itertools.pairwise(begins))

    assert moves(SlidingWindow()) > 60
    assert moves(strategy) <= most


def test_64_one_token_below_at_and_above_the_budget():
    messages = talk("S:5 U:10 A:10 U:5")

    assert fit(messages, 31, counter=WordCounter()).origins == (0, 1, 2, 3)
    assert fit(messages, 30, counter=WordCounter()).origins == (0, 1, 2, 3)
    assert fit(messages, 29, counter=WordCounter()).origins == (0, 3)
    with pytest.raises(CannotFit):
        fit(messages, 9, counter=WordCounter())


@pytest.mark.parametrize(("model", "unit"), [("deepseek-ai/DeepSeek-V4-Flash", 16_384), ("DeepSeek-V3.2-W8A8", 128)])
def test_65_a_prompt_shorter_than_the_granularity_is_expected_to_hit_nothing(model, unit):
    target = target_of(
        Deployment(base_url="http://127.0.0.1:1/v1", model=model, server="vllm-ascend", window=8192, context={})
    )
    counter = choose_counter(model=model).counter
    messages = talk("S:1500 U:100")
    meter = PrefixMeter(counter)

    meter.add(messages)
    again = meter.add(messages)

    assert again.prompt == again.common
    assert again.prompt > 2000
    assert target.cache_unit == unit
    assert (again.reusable(unit) == 0) == (unit == 16_384)


def test_67_what_is_replaced_by_a_summary_is_what_was_read():
    model = Model(told)
    messages = talk("S " + " ".join(["U:30 A:30"] * 20) + " U")
    strategy = SummaryOnCut(Asked(model, WordCounter(), Budget(500, 0, 0)))

    fitted = fit(messages, 400, counter=WordCounter(), strategy=strategy)

    for place, message in enumerate(messages[1:-1], 1):
        assert (message["content"] in model.read) == (place in fitted.ledger.absent)


@pytest.mark.parametrize("answer", ["OK", "Understood.", "好的，明白了。", "", "   "])
def test_68_an_acknowledgement_is_no_summary(answer):
    messages = [
        *talk("S"),
        *(
            {"role": role, "content": f"Order A-{n} costs {n} EUR. Not before 3 May."}
            for n in range(100, 120)
            for role in ("user", "assistant")
        ),
        *talk("U"),
    ]
    strategy = SummaryOnCut(Asked(Model(answer), WordCounter(), Budget(2000, 0, 0)))

    fitted = fit(messages, 120, counter=WordCounter(), strategy=strategy)

    assert NoteKind.SUMMARY_REFUSED in {note.kind for note in fitted.ledger.notes}
    assert "A-11" in fitted.state.summary.text


DEEPSEEK_OVERFLOW = (
    "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the "
    "messages, 8192 in the completion). Please reduce the length of the messages or completion."
)


@pytest.mark.parametrize("code", ["invalid_request_error", "context_length_exceeded", None, "anything"])
def test_72_an_overflow_is_known_by_status_and_message_whatever_its_code(code):
    error = {"message": DEEPSEEK_OVERFLOW, "type": "invalid_request_error", "param": None, "code": code}

    reading = read_overflow(400, json.dumps({"error": error}), "deepseek")

    assert (reading.what, reading.window, reading.prompt, reading.answer) == ("prompt and answer", 131072, 122942, 8192)
    assert read_overflow(200, json.dumps({"error": error}), "deepseek") is None


def test_72_the_same_code_with_another_message_is_no_overflow():
    error = {
        "message": "Invalid value for temperature",
        "type": "invalid_request_error",
        "code": "invalid_request_error",
    }

    assert read_overflow(400, json.dumps({"error": error}), "deepseek") is None

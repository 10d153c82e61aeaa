"""Other libraries' ways to shorten by name: under the rules of `fit`, as they are, and when they are not installed."""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.adapters.contestant import Theirs
from promptreg.context.adapters.function import FunctionShortener
from promptreg.context.adapters.registry import ADAPTERS, LISTED
from promptreg.context.adapters.strategy import Adapted
from promptreg.context.count.counters import choose_counter
from promptreg.context.count.counting import EstimateCounter, WordCounter
from promptreg.context.fit import fit, fit_async
from promptreg.context.ledger import Action, NoteKind, Reason, ledger_from_json
from promptreg.context.named import strategy_from
from promptreg.context.strategies.offered import Given
from promptreg.context.strategies.registry import STRATEGIES
from promptreg.errors import ContextError, UsageError


def _sibling(name):
    path = Path(__file__).parents[1] / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{name}_for_adapters", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


talk = _sibling("vectors").talk
talks = _sibling("test_fit_invariants").talks
COUNTER = EstimateCounter()

NAMES = [
    *ADAPTERS,
    "langchain:trim_messages:include_system=yes,start_on=user,allow_partial=yes",
    "langchain:trim_messages:strategy=first,end_on=assistant|tool",
    "langchain:summarization:share=0.4,tokens=40",
    "llama-index:chat-memory-buffer:prefix=no",
    "llama-index:chat-summary-memory-buffer:tokens=40",
    "llama-index:memory:ratio=1,flush=20,prefix=no",
]
LONG = talk("S:9 " + " ".join(["U:20 A:20 A{a,b} T[b]:9 T[a]:9 A:9"] * 6) + " U:9")


@pytest.mark.parametrize(
    ("function", "repeated"),
    [
        (lambda messages, _: messages * 3, 2 * len(LONG)),
        (lambda messages, _: copy.deepcopy(messages * 3), 2 * len(LONG)),
        (lambda messages, _: messages[::-1], len(LONG) - 1),
    ],
    ids=["three times", "copies", "backwards"],
)
def test_what_comes_back_twice_is_sent_once_and_the_oldest_leave(function, repeated):
    budget = COUNTER.prompt(LONG) // 2
    oldest_first = fit(LONG, budget, counter=COUNTER, strategy=strategy_from("oldest-first"))

    fitted = fit(LONG, budget, counter=COUNTER, strategy=Adapted("mine", FunctionShortener(function)))

    assert fitted.origins == oldest_first.origins
    (note,) = fitted.ledger.notes
    assert note.sentence.en.endswith(f"are sent once, in their places: {repeated}.")
    assert note.sentence.zh.endswith(f"共 {repeated} 条。")


def test_the_answer_after_an_inserted_summary_stays_though_the_conversation_has_the_same():
    messages = talk("S:9 U:9 A:9 U:9 A:9 U:9")
    messages[2]["content"] = "OK"
    pair = [{"role": "user", "content": "summary"}, {"role": "assistant", "content": "OK"}]

    def summarise(handed, _):
        return [handed[0], *pair, handed[-1]]

    fitted = fit(
        messages, COUNTER.prompt(messages) - 1, counter=COUNTER, strategy=Adapted("mine", FunctionShortener(summarise))
    )

    assert list(fitted.messages) == [messages[0], *pair, messages[-1]]
    assert not fitted.ledger.notes


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=12)
@given(talk=talks(), share=st.floats(0.2, 1.1))
def test_under_the_rules_of_fit_a_library_keeps_them(name, talk, share):
    messages, pinned = talk
    before = copy.deepcopy(messages)
    budget = max(1, int(COUNTER.prompt(messages) * share))

    try:
        fitted = fit(messages, budget, counter=COUNTER, strategy=strategy_from(name), pinned=pinned)
    except ContextError:  # `CannotFit`, and conversations without a prompt, before any strategy runs
        return

    assert messages == before
    assert fitted.total == COUNTER.prompt(fitted.messages) <= budget
    kept = [place for place in fitted.origins if place is not None]
    assert kept == sorted(set(kept))
    assert set(range(len(messages))) - set(kept) == fitted.ledger.absent
    for place in pinned:
        assert fitted.messages[fitted.origins.index(place)] == messages[place]
    assert ledger_from_json(fitted.ledger.to_json()) == fitted.ledger
    assert fit(fitted.messages, budget, counter=COUNTER, strategy=strategy_from(name)).messages == fitted.messages


@pytest.mark.parametrize("name", NAMES)
def test_as_it_is_nothing_that_is_handed_in_changes_and_what_returns_is_known_again(name):
    before = copy.deepcopy(LONG)
    contestant = Theirs(strategy_from(name), WordCounter())

    first = contestant.send(LONG[:20], 80, (), None)
    then = contestant.send(LONG, 80, (), first.state)

    assert before == LONG
    for message, origin in zip(then.outcome.messages, then.outcome.origins, strict=True):
        if origin is None:
            assert strategy_from(name).shortener.summarises
        elif "allow_partial" not in name:
            assert message is LONG[origin]
    known = {origin for origin in then.outcome.origins if origin is not None}
    gone = {entry.index for entry in then.ledger.entries if entry.action is not Action.CUT}
    assert known | gone == set(range(len(LONG)))
    assert known.isdisjoint(gone)
    assert then.ledger.before == WordCounter().prompt(LONG)
    assert then.ledger.after == WordCounter().prompt(then.outcome.messages)


@pytest.mark.parametrize("name", ["langchain:summarization:share=0.4,tokens=40", "llama-index:memory"])
def test_a_memory_goes_on_from_what_it_held(name):
    contestant = Theirs(strategy_from(name), WordCounter())
    first = contestant.send(LONG[:25], 80, (), None)

    later = contestant.send(LONG, 80, (), first.state)

    assert first.state.seen == 25
    held = {origin for origin in first.outcome.origins if origin is not None}
    assert {origin for origin in later.outcome.origins if origin is not None} <= held | set(range(25, len(LONG)))


def test_what_breaks_a_rule_is_put_right_and_noted():
    fitted = fit(LONG, 60, counter=WordCounter(), strategy=strategy_from("langchain:trim_messages"))

    assert fitted.origins[0] == 0
    (note,) = [note for note in fitted.ledger.notes if note.kind is NoteKind.MENDED]
    assert "langchain:trim_messages" in note.sentence.en
    assert note.sentence.zh != note.sentence.en
    assert {entry.reason for entry in fitted.ledger.entries} <= {Reason.ADAPTED, Reason.OVER_BUDGET}


@pytest.mark.parametrize("content", [float("nan"), 5, {"a": 1}])
def test_what_no_request_can_hold_is_a_failure_and_is_not_sent(content):
    def broken(messages, budget):
        return [{"role": "user", "content": content}]

    fitted = fit(LONG, 60, counter=WordCounter(), strategy=Adapted("own", FunctionShortener(broken)))

    (note,) = [note for note in fitted.ledger.notes if note.kind is NoteKind.ADAPTED_FAILED]
    assert "The content of message 0 is of type" in note.sentence.en
    assert "第 0 条消息的 content 类型为" in note.sentence.zh
    assert all(message in LONG for message in fitted.messages)


def test_a_summary_of_a_library_stands_in_the_ledger():
    fitted = fit(
        LONG, 120, counter=WordCounter(), strategy=strategy_from("langchain:summarization:share=0.4,tokens=30")
    )

    assert fitted.origins[:2] == (0, None)
    assert fitted.messages[1]["content"].startswith("Here is a summary of the conversation to date:")
    replaced = [entry for entry in fitted.ledger.entries if entry.reason is Reason.SUMMARISED]
    assert replaced
    assert {entry.summary for entry in replaced} == {"summary-1"}


def test_a_piece_that_langchain_cuts_is_the_message_cut():
    messages = [{"role": "user", "content": f"question {n}\nsecond line {n}\nthird line {n}"} for n in range(4)]
    strategy = strategy_from("langchain:trim_messages:allow_partial=yes")

    fitted = fit(messages, 20, counter=WordCounter(), strategy=strategy)

    (cut,) = [entry for entry in fitted.ledger.entries if entry.action is Action.CUT]
    assert (cut.reason, cut.index) == (Reason.ADAPTED, 1)
    assert fitted.messages[fitted.origins.index(1)]["content"].endswith("third line 1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("langchain", "There is no strategy `langchain`"),
        ("langchain:trim", "There is no strategy `langchain:trim`.*Did you mean `langchain:trim_messages`?"),
        ("langchain:trim_messages:keep=1", "has no option `keep`.*`include_system`"),
        ("langchain:trim_messages:include_system=maybe", "is yes or no, got 'maybe'"),
        ("langchain:trim_messages:strategy=middle", "is first or last, got 'middle'"),
        ("langchain:trim_messages:strategy=first,start_on=user", "need `strategy=last`"),
        ("langchain:trim_messages:start_on=users", "name roles, such as `user`"),
        ("langchain:summarization:keep=0", "must be at least 1, got 0"),
        ("langchain:summarization:share=2", "above 0 and at most 1, got 2"),
        ("llama-index:memory:ratio=0", "above 0 and at most 1, got 0"),
        ("llama-index:memory:flush=0", "must be at least 1, got 0"),
        ("llama-index:chat-summary-memory-buffer:tokens=0", "must be at least 1, got 0"),
        ("llama_index:memory", "Did you mean `llama-index:memory`?"),
        ("function:my_module:shorten", "no folder is given"),
        ("hysteresi:target=0.5", "There is no strategy `hysteresi`.*Did you mean `hysteresis`?"),
    ],
)
def test_a_wrong_name_or_option_is_told(text, said):
    with pytest.raises(UsageError, match=said.replace("?", r"\?")):
        strategy_from(text)


@pytest.mark.parametrize(
    ("name", "missing", "install"),
    [
        ("langchain:trim_messages", "langchain_core", "pip install langchain-core"),
        ("langchain:summarization", "langchain", "pip install langchain`"),
        ("llama-index:memory", "llama_index.core", "pip install llama-index-core"),
    ],
)
def test_a_library_that_is_not_installed_is_named_with_the_way_to_install_it(monkeypatch, name, missing, install):
    monkeypatch.setitem(sys.modules, missing, None)

    with pytest.raises(UsageError, match=install) as caught:
        strategy_from(name)

    assert str(caught.value).count("\n") == 0


def test_no_library_is_imported_before_it_is_named():
    import subprocess

    code = (
        "import sys; from promptreg.context.named import strategy_from; strategy_from('hysteresis'); "
        "import promptreg.context.adapters.registry, promptreg.workflow.context.trial; "
        "print([name for name in ('langchain_core', 'langchain', 'llama_index', 'langsmith') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_lists_name_every_adapter_beside_our_own():
    assert set(ADAPTERS) < set(LISTED)
    assert set(LISTED).isdisjoint(STRATEGIES)
    assert all(offered.sentence.en != offered.sentence.zh for offered in LISTED.values())


def keep_three(messages, budget):
    return messages[-3:]


def say_something(messages, budget):
    return [{"role": "user", "content": "made up"}, messages[-1]]


def touch(messages, budget):
    messages[-2]["content"] = "cut"
    return [dict(message) for message in messages[-2:]]


async def slowly(messages, budget):
    return messages[-1:]


def fail(messages, budget):
    raise KeyError("role")


def by_function(function):
    """A conversation of a budget of 60, shortened by a function."""
    strategy = strategy_from("function:m:f", Given(function=lambda _: function))
    return fit(LONG, 60, counter=WordCounter(), strategy=strategy)


def test_a_function_of_the_users_own_runs_under_the_rules_of_fit():
    fitted = by_function(keep_three)

    assert fitted.origins == (0, 36, 37)
    assert all(message is LONG[place] for message, place in zip(fitted.messages, fitted.origins, strict=True))
    assert fitted.ledger.strategy == "function:m:f"


def test_what_a_function_makes_up_is_put_in_and_what_it_changes_is_cut():
    invented = by_function(say_something)
    touched = by_function(touch)
    later = by_function(slowly)

    assert invented.origins == (0, None, 37)
    assert touched.messages[-1] is LONG[-1]
    assert LONG[-2]["content"] != "cut"
    assert later.origins == (0, 37)


def test_an_error_of_a_function_is_noted_and_the_oldest_go_instead():
    fitted = by_function(fail)

    (note,) = fitted.ledger.notes
    assert note.kind is NoteKind.ADAPTED_FAILED
    assert "KeyError: 'role'" in note.sentence.en
    assert fitted.total <= 60


def test_after_another_strategy_the_rest_is_handed_on():
    fitted = fit(LONG, 90, counter=WordCounter(), strategy=strategy_from("prune-results:keep=0+llama-index:memory"))

    assert fitted.ledger.strategy == "prune-results+llama-index:memory"
    assert fitted.total <= 90


async def test_a_memory_runs_inside_a_running_loop():
    strategy = strategy_from("llama-index:memory")

    inside = await fit_async(LONG, 90, counter=WordCounter(), strategy=strategy)
    outside = await asyncio.to_thread(fit, LONG, 90, counter=WordCounter(), strategy=strategy)

    assert inside.messages == outside.messages


def test_nothing_is_downloaded_or_traced(monkeypatch):
    import socket

    import nltk
    import tiktoken
    from langchain_core.tracers.langchain import LangChainTracer

    def refused(*args, **kwargs):
        raise AssertionError("nothing may be asked of the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    ours = tiktoken.get_encoding
    monkeypatch.setattr(tiktoken, "get_encoding", lambda name: ours(name) if name == "deepseek_v4" else refused())
    monkeypatch.setattr(tiktoken, "encoding_for_model", refused)
    monkeypatch.setattr(nltk, "download", refused)
    monkeypatch.setattr(LangChainTracer, "__init__", refused)
    for variable in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.setenv(variable, "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_pt_none")
    counter = choose_counter("deepseek-v4").counter

    for name in NAMES:
        assert fit(LONG, 600, counter=counter, strategy=strategy_from(name)).total <= 600

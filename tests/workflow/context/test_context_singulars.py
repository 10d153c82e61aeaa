"""One of a thing is spoken of as one, whatever the sentence."""

from __future__ import annotations

import re

import pytest

from promptreg.cli.app import run
from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.lint import lint
from promptreg.context.strategies.replace import PruneResults
from promptreg.deployment.targets.served import served
from promptreg.deployment.targets.target import Target
from promptreg.errors import CannotFit, ContextError
from promptreg.workflow.context.sides import Wanted, budget_words, side_of

USER = {"role": "user", "content": "word"}
PLURAL = re.compile(
    r"(?<![0-9.,])(?<!Message )1 (?:[a-z]+ )?"
    r"(?:messages|tools|tokens|results|conversations|cases|facts|calls|images|turns)\b"
)


def call(*ids):
    return {"role": "assistant", "tool_calls": [{"id": name, "function": {"name": "f"}} for name in ids]}


def raised(messages, budget=9, **more):
    with pytest.raises((ContextError, CannotFit)) as error:
        fit(messages, budget, counter=WordCounter(), **more)
    return str(error.value)


def sentences():
    yield raised([USER, call("a")])
    yield raised([USER], pinned=[4])
    yield raised([{"role": "system", "content": "one"}, USER], 1, tools=[{"name": "f"}])
    yield lint([USER, call("a"), USER], "v3")[0].sentence.en
    yield budget_words(side_of(Wanted(window=2000, reserve=1, counter="words"), None, "window")).en
    result = {"role": "tool", "tool_call_id": "a", "content": "two words"}
    answer = {"role": "assistant", "content": "yes"}
    pruned = fit(
        [USER, call("a"), result, answer, USER], 4, counter=WordCounter(), strategy=PruneResults(keep=0, target=1.0)
    )
    yield from (note.sentence.en for note in pruned.ledger.notes)


def test_one_is_no_plural():
    told = list(sentences())
    assert told[0].startswith("Message 1 waits for 1 result of its tool calls")
    assert told[1] == "Message 4 is pinned, but there is only 1 message (from 0)."
    assert "; 1 tool: " in told[2]
    assert "1 result does not follow it" in told[3]
    assert "1 is kept free for the answer" in told[4]
    assert told[5] == "1 old tool result no longer than the placeholder stays."
    assert [text for text in told if PLURAL.search(text)] == []


def test_two_are_a_plural():
    assert "waits for 2 results of its tool calls" in raised([USER, call("a", "b")])
    assert "there are only 2 messages" in raised([USER, USER], pinned=[4])
    assert "2 results do not follow it" in lint([USER, call("a", "b"), USER], "v3")[0].sentence.en


def test_a_server_with_room_for_one_token_says_so():
    target = Target("sglang", None, 100, 99, "refuse", 400, "clamp", None, None)
    assert served(target, 99, 50).sentence.en.startswith("Only 1 of 50 tokens is left for the answer")


def test_one_conversation_is_one(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "one two three"}\n', encoding="utf-8")
    words = ("--counter", "words", "--reserve", "0", "--from-window", "100")
    assert run(["context", "window", str(file), *words, "--to-window", "90"]) == 0
    assert "90 tokens: the conversation fits in every turn." in capsys.readouterr().out
    assert run(["context", "window", str(file), *words, "--to-window", "10"]) == 1
    out = capsys.readouterr().out
    assert "10 tokens: 1 of 1 conversation does not fit (100%), from turn 1; on the source all fit." in out
    assert PLURAL.search(out) is None

"""`promptreg context test`, `fit` and `window` with other libraries' ways to shorten, as a user types it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from promptreg.cli.app import run
from promptreg.context.trial.corpus import Shape, generate

GUIDES = [Path(__file__).parents[2] / "docs" / name for name in ("guide.en.md", "guide.zh-CN.md")]
FUNCTION = """
def shorten(messages, budget):
    return messages[-4:]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "my_shortener.py").write_text(FUNCTION, encoding="utf-8")
    (tmp_path / "conversations").mkdir()
    for number, recording in enumerate(generate(1, 5, Shape(turns=30))):
        line = {"id": recording.conversation_id, "messages": list(recording.messages), "tools": list(recording.tools)}
        path = tmp_path / f"conversations/{number}.jsonl"
        path.write_text(json.dumps(line, ensure_ascii=False) + "\n", encoding="utf-8")
    return tmp_path


def said(capsys):
    return capsys.readouterr().out


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_the_guides_example_runs(folder, capsys, guide):
    text = guide.read_text(encoding="utf-8")
    (line,) = re.findall(r"^\$ promptreg (context test .*langchain.*)$", text, re.MULTILINE)

    code = run([*shlex.split(line), "--json"])

    (window,) = json.loads(said(capsys))["windows"]
    broken = {one["strategy"]: one["violated"] for one in window["strategies"]}
    assert code == 1
    assert "I4" in broken["langchain:trim_messages"]
    assert "I4" not in broken["llama-index:memory"]


def test_a_library_stands_beside_ours(folder, capsys):
    code = run(
        shlex.split(
            "context test conversations --strategy langchain:trim_messages --strategy "
            "langchain:trim_messages:include_system=yes,start_on=user --strategy hysteresis --window 4096"
        )
    )

    printed = said(capsys)
    assert code == 1
    assert "langchain:trim_messages violates I4 (system and pinned messages stay word for word)" in printed
    assert "start_on=user violates I4" not in printed
    assert "hysteresis violates" not in printed


def test_fit_keeps_its_rules_and_says_what_it_put_right(folder, capsys):
    line = "context fit conversations/0.jsonl --window 4096 --strategy langchain:trim_messages --json"

    assert run(shlex.split(line)) == 0

    result = json.loads(said(capsys))
    assert result["messages"][0]["role"] == "system"
    assert result["total"] <= result["budget"]
    assert [note["kind"] for note in result["ledger"]["notes"]] == ["mended"]


def test_window_and_test_take_a_function_where_a_strategy_is_named(folder, capsys):
    function = "--strategy function:my_shortener:shorten"

    window = run(shlex.split(f"context window conversations --from-window 32768 --to-window 4096 {function}"))
    first = said(capsys)
    tested = run(shlex.split(f"context test conversations --window 4096 --json {function}"))

    (one,) = json.loads(said(capsys))["windows"][0]["strategies"]
    assert (window, tested) == (1, 1)
    assert "function:my_shortener:shorten" in first
    assert "I4" in one["violated"]


@pytest.mark.parametrize(
    ("strategy", "said_of_it"),
    [
        ("function:my_shortener:missing", "The function `my_shortener:missing` cannot be used"),
        ("function:nothing", "A function is named `module:callable`"),
        ("langchain:trim", "Did you mean `langchain:trim_messages`?"),
    ],
)
def test_a_wrong_name_is_a_usage_error(folder, capsys, strategy, said_of_it):
    code = run(["context", "fit", "conversations/0.jsonl", "--window", "4096", "--strategy", strategy])

    assert code == 2
    assert said_of_it in capsys.readouterr().err


def test_they_are_listed_in_both_languages(folder, capsys, monkeypatch):
    run(["context", "fit", "--strategies"])
    english = said(capsys)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    run(["context", "fit", "--strategies"])
    chinese = said(capsys)

    assert "llama-index:chat-summary-memory-buffer" in english
    assert "function:MODULE:CALLABLE" in english
    assert "项目目录中您自己的函数" in chinese

"""Facts that a file claims and its conversation does not say: `context window` and `context test` say so alike."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.app import run

WORDS = ("--counter", "words", "--reserve", "0")
WINDOW = ("context", "window", "talk.json", *WORDS, "--from-window", "1000", "--to-window", "30")
TEST = ("context", "test", "talk.json", *WORDS, "--window", "30", "--strategy", "sliding-window")
NOWHERE = (
    "Conversation talk (talk.json:1): the fact fact-2, “从未说过-9”, is not in message 3, which it names, nor in any "
    "other: it counts as lost whatever a strategy does."
)
ELSEWHERE = (
    "Conversation talk (talk.json:1): the fact code, “KX-4821”, is not in message 4, which it names; message 2 says "
    "it. It is looked for in all messages all the same."
)
UNPLACED = "Conversation talk (talk.json:1): the fact fact-4, “LH-1”, is in no message: it counts as lost whatever"


@pytest.fixture
def talk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    messages = [
        {"role": role, "content": f"{role} {number} KX-482{number} " + "word " * 8}
        for number in range(4)
        for role in ("user", "assistant")
    ]

    def write(*facts):
        document = {"id": "talk", "messages": [*messages, {"role": "user", "content": "and now"}], "facts": facts}
        (tmp_path / "talk.json").write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")

    return write


def remarks(capsys, command):
    run([*command, "--json"])
    return json.loads(capsys.readouterr().out)["remarks"]


@pytest.mark.parametrize("command", [WINDOW, TEST], ids=["window", "test"])
def test_a_fact_that_is_not_where_the_file_says_is_told(talk, capsys, monkeypatch, command):
    talk(
        {"value": "KX-4820", "message": 0},
        {"value": "从未说过-9", "message": 3},
        {"id": "code", "value": "KX-4821", "message": 4},
        {"value": "LH-1"},
    )
    told = [remark["en"] for remark in remarks(capsys, command) if "the fact" in remark["en"]]

    assert len(told) == 3
    assert told[0] == NOWHERE
    assert told[1] == ELSEWHERE
    assert told[2].startswith(UNPLACED)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    run(list(command))
    said = capsys.readouterr().out
    assert "对话 talk（talk.json:1）：事实 fact-2“从未说过-9”不在所标的第 3 条消息中，也不在其他消息中" in said
    assert "事实 fact-4“LH-1”不在任何消息中：无论何种策略都计为丢失。" in said


@pytest.mark.parametrize("command", [WINDOW, TEST], ids=["window", "test"])
def test_facts_that_are_where_the_file_says_are_not_spoken_of(talk, capsys, command):
    talk({"value": "KX-4820", "message": 0}, {"value": "KX-4823", "message": 7}, {"value": "KX-4822"})
    assert [remark for remark in remarks(capsys, command) if "fact" in remark["en"]] == []


@pytest.mark.parametrize("command", [WINDOW, TEST], ids=["window", "test"])
@pytest.mark.parametrize(
    ("count", "last"),
    [
        (6, "1 more fact is not where the conversations claim."),
        (8, "3 more facts are not where the conversations claim."),
    ],
)
def test_many_are_told_in_part(talk, capsys, command, count, last):
    talk(*({"value": f"ZZ-{number:03}", "message": 1} for number in range(count)))
    told = [remark["en"] for remark in remarks(capsys, command) if "ZZ-" in remark["en"] or "more fact" in remark["en"]]
    assert len(told) == 6
    assert told[-1] == last

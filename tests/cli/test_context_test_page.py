"""`--html` and `--pin` of `promptreg context test`."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.app import run

WORDS = ("--counter", "words", "--reserve", "0", "--window", "200")
MODULE = """
def newest(messages, budget):
    return [m for m in messages[:-3] if m["role"] == "system"] + messages[-3:]
"""


@pytest.fixture
def talk(tmp_path, monkeypatch):
    """A file with one conversation of forty turns, and the folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    messages = [{"role": "system", "content": "be brief"}]
    for number in range(40):
        messages.append({"role": "user", "content": f"question-{number} " + "word " * 9})
        messages.append({"role": "assistant", "content": f"answer-{number} " + "word " * 9})
    messages.append({"role": "user", "content": "and now"})
    path = tmp_path / "对话 talk.jsonl"
    path.write_text(json.dumps({"id": "一号 <b>", "messages": messages}, ensure_ascii=False), encoding="utf-8")
    return path


def test_a_page_is_written_and_named(talk, capsys):
    assert run(["context", "test", talk.name, *WORDS, "--html", "报告/context.html"]) == 0

    text = (talk.parent / "报告" / "context.html").read_text(encoding="utf-8")
    assert "1 conversation, 6 strategies, 1 window: no invariant is violated." in text
    assert "一号 &lt;b&gt;" in text
    assert "Content-Security-Policy" in text
    assert capsys.readouterr().out.endswith("Written to 报告/context.html.\n")


def test_json_stays_the_only_thing_on_stdout(talk, capsys):
    assert run(["context", "test", talk.name, *WORDS, "--html", "c.html", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["schema"] == "promptreg.context-test/1"
    assert (talk.parent / "c.html").exists()


def test_the_page_opens_in_the_projects_language(talk, capsys):
    (talk.parent / "promptreg.toml").write_text('language = "zh"\n', encoding="utf-8")
    assert run(["context", "test", talk.name, *WORDS, "--strategy", "hysteresis", "--html", "c.html"]) == 0

    assert '<html lang="zh-CN" data-language="zh"' in (talk.parent / "c.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out.endswith("已写入 c.html。\n")


@pytest.mark.parametrize("name", ["page.pdf", "page"])
def test_other_endings_are_refused_before_the_test(talk, capsys, name):
    assert run(["context", "test", talk.name, *WORDS, "--html", name]) == 2

    assert f"{name} must end in .html" in capsys.readouterr().err
    assert not (talk.parent / name).exists()


def test_a_page_that_cannot_be_written_is_an_error(talk, capsys):
    (talk.parent / "file").write_text("", encoding="utf-8")

    assert run(["context", "test", talk.name, *WORDS, "--html", "file/c.html"]) != 0
    assert "The page cannot be written to file/c.html" in capsys.readouterr().err


def kept(capsys, talk, *arguments, code=0):
    """Whether a fact of the third message, one that no short window has, is left at the end."""
    line = json.loads(talk.read_text(encoding="utf-8"))
    line["facts"] = [{"value": "question-1", "message": 3}]
    talk.write_text(json.dumps(line, ensure_ascii=False), encoding="utf-8")
    assert run(["context", "test", talk.name, *WORDS, *arguments, "--json"]) == code
    result = json.loads(capsys.readouterr().out)
    return [one["at_end"]["recall"] for one in result["windows"][0]["strategies"]], result["violations"]


def test_a_pinned_message_stays(talk, capsys):
    strategies = ("--strategy", "hysteresis", "--strategy", "summary-and-recent")

    assert kept(capsys, talk, *strategies[:2]) == ([0.0], [])
    assert kept(capsys, talk, *strategies, "--pin", "3") == ([1.0, 1.0], [])
    assert kept(capsys, talk, *strategies, "--pin", "-79", "--pin", "-1") == ([1.0, 1.0], [])


def test_a_function_that_loses_a_pinned_message_violates_i4(talk, capsys):
    (talk.parent / "pinless.py").write_text(MODULE, encoding="utf-8")

    _, violations = kept(capsys, talk, "--function", "pinless:newest", "--pin", "3", code=1)

    assert {(one["strategy"], one["invariant"]) for one in violations} == {("pinless:newest", "I4")}
    assert ", pinned, is gone." in violations[0]["happened"]["en"]


@pytest.mark.parametrize("place", ["82", "-83"])
def test_a_pin_that_no_conversation_has_is_refused(talk, capsys, place):
    assert run(["context", "test", talk.name, *WORDS, "--pin", place]) == 2

    assert f"--pin {place} names no message: the longest conversation has 82 messages" in capsys.readouterr().err

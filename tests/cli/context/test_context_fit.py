"""`promptreg context fit` as a user types it."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.app import run
from promptreg.context.trial.corpus import Shape, generate

WORDS = ("--counter", "words", "--reserve", "0")
SYSTEM = {"role": "system", "content": "be brief and kind"}

IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
OPEN_CALL = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def turns(count, words=10):
    messages = []
    for number in range(count):
        messages.append({"role": "user", "content": f"question-{number} " + "word " * (words - 1)})
        messages.append({"role": "assistant", "content": f"answer-{number} " + "word " * (words - 1)})
    return [*messages, {"role": "user", "content": "and now"}]


@pytest.fixture
def chat(tmp_path, monkeypatch):
    """Writes a conversation into an empty folder and returns the name of its file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")

    def write(messages, name="chat.jsonl", end="\n", **more):
        lines = messages if not more else [{"messages": messages, **more}]
        text = "".join(json.dumps(line, ensure_ascii=False) + end for line in lines)
        (tmp_path / name).write_text(text, encoding="utf-8", newline="")
        return name

    return write


def fitted(capsys, *arguments):
    assert run(["context", "fit", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_fits_is_sent_as_it_is(chat, capsys):
    messages = [SYSTEM, *turns(2)]
    result = fitted(capsys, chat(messages), "--window", "1000", *WORDS)

    assert result["messages"] == messages
    assert result["ledger"]["entries"] == []
    assert (result["total"], result["counter"]) == (46, "words")


def test_the_oldest_turns_leave_and_the_ledger_says_so(chat, capsys):
    result = fitted(capsys, chat([SYSTEM, *turns(10)]), "--window", "68", *WORDS, "--strategy", "sliding-window")

    assert result["total"] <= result["budget"] == 60
    assert result["messages"][0] == SYSTEM
    assert result["messages"][-1]["content"] == "and now"
    assert [entry["index"] for entry in result["ledger"]["entries"]] == list(range(1, 17))
    assert {entry["reason"] for entry in result["ledger"]["entries"]} == {"before_window"}


def test_the_table_names_counter_budget_messages_and_reasons(chat, capsys):
    assert run(["context", "fit", chat([SYSTEM, *turns(10)]), "--window", "68", *WORDS]) == 0

    out = capsys.readouterr().out
    assert "1–18  " in out
    assert "older than the turns that the window keeps" in out
    assert "206 tokens became 26 by hysteresis(0.75): 4 messages are sent, 18 of 22 are not." in out
    assert "The prompt may have 60 of 68 tokens: 0 are kept free for the answer (as asked for), 8 as a margin." in out
    assert "Counted by words." in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en_US",
            "12 tokens became 9: 2 messages are sent, 1 of 3 has no place in a prompt. Nothing had to be shortened.",
        ),
        ("zh_CN", "12 token 变为 9：发送 2 条消息，原有 3 条中 1 条无法放入提示词；无需缩短。"),
    ],
)
def test_a_conversation_with_a_torn_call_is_counted_as_given(chat, capsys, monkeypatch, language, said):
    monkeypatch.setenv("LANG", f"{language}.UTF-8")
    call = {"role": "assistant", "content": "let me look", "tool_calls": [{"id": "q", "function": {"name": "f"}}]}
    name = chat([{"role": "user", "content": "one two three four"}, call, *turns(1, 5)[:1]])

    assert run(["context", "fit", name, "--window", "68", *WORDS]) == 0
    assert said in capsys.readouterr().out
    result = fitted(capsys, name, "--window", "68", *WORDS)
    assert (result["ledger"]["before"], result["ledger"]["after"], result["total"]) == (12, 9, 9)


def test_one_message_is_spoken_of_as_one(chat, capsys):
    assert run(["context", "fit", chat([{"role": "user", "content": "hi"}]), "--window", "68", *WORDS]) == 0
    assert "It fits as it is: 1 token in 1 message." in capsys.readouterr().out
    assert run(["context", "fit", chat(turns(1, 40)[1:]), "--window", "30", *WORDS]) == 0
    assert "42 tokens became 2 by hysteresis(0.75): 1 message is sent, 1 of 2 is not." in capsys.readouterr().out


def test_it_speaks_chinese(chat, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert run(["context", "fit", chat([SYSTEM, *turns(10)]), "--window", "68", *WORDS]) == 0

    out = capsys.readouterr().out
    assert "经 hysteresis(0.75)，206 token 缩为 26：发送 4 条消息，原有 22 条中 18 条未发送。" in out
    assert "早于窗口保留的轮次" in out
    assert "移除" in out


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_chinese_emoji_and_line_ends_survive(chat, capsys, end):
    messages = [
        {"role": "user", "content": "第一行\r\n第二行 👩‍👩‍👧‍👦 \u200b"},
        {"role": "assistant", "content": "好 🎉"},
    ]
    result = fitted(capsys, chat([*messages, {"role": "user", "content": "继续"}], end=end), "--window", "8192")

    assert result["messages"][:2] == messages


def test_strategies_follow_each_other(chat, capsys):
    call = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    tools = [
        {"role": "user", "content": "look it up"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "row " * 100},
        {"role": "assistant", "content": "done"},
    ]
    name = chat([*tools, *turns(3)])
    pruned = fitted(
        capsys, name, "--window", "90", *WORDS, "--strategy", "prune-results:keep=0", "--strategy", "hysteresis"
    )
    both = fitted(
        capsys, name, "--window", "50", *WORDS, "--strategy", "prune-results:keep=0", "--strategy", "hysteresis"
    )

    assert [entry["reason"] for entry in pruned["ledger"]["entries"]] == ["old_result"]
    assert "before_window" in {entry["reason"] for entry in both["ledger"]["entries"]}
    assert both["ledger"]["strategy"] == "prune-results+hysteresis(0.75)"


def test_a_pinned_message_stays(chat, capsys):
    result = fitted(capsys, chat([SYSTEM, *turns(10)]), "--window", "68", *WORDS, "--pin", "1")
    assert 1 in result["origins"]
    assert result["messages"][1]["content"].startswith("question-0")


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_the_written_file_is_a_conversation_again(chat, capsys, tmp_path, suffix):
    path = tmp_path / "out" / f"fitted{suffix}"
    name = chat([SYSTEM, *turns(10)])
    first = fitted(capsys, name, "--window", "68", *WORDS, "-o", str(path))
    again = fitted(capsys, str(path), "--window", "68", *WORDS)

    assert again["messages"] == first["messages"]
    assert again["ledger"]["entries"] == []


def test_tools_are_counted_and_written(chat, capsys, tmp_path):
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    name = chat(turns(3), tools=[tool])
    result = fitted(capsys, name, "--window", "8192", "-o", str(tmp_path / "out.jsonl"))

    assert result["tools"] == [tool]
    assert result["total"] > fitted(capsys, chat(turns(3), "bare.jsonl"), "--window", "8192")["total"] + 200
    assert json.loads((tmp_path / "out.jsonl").read_text())["tools"] == [tool]


def test_what_cannot_fit_is_one_sentence_and_exit_code_1(chat, capsys):
    assert run(["context", "fit", chat([SYSTEM, *turns(3)]), "--window", "12", *WORDS]) == 1

    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    said = "system messages, pinned messages, tools and the preamble of the format take 4 tokens and the newest"
    assert said in captured.err
    assert "the prompt may have 4" in captured.err


def test_the_preamble_of_the_format_is_told_of_what_cannot_fit(chat, capsys):
    name = chat([{"role": "user", "content": "长" * 600}])
    assert run(["context", "fit", name, "--window", "256", "--reserve", "0", "--encoder", "v4:effort=max"]) == 1
    assert "the preamble of the format take 93 tokens" in (said := capsys.readouterr().err)
    assert "; preamble of the format: 93." in said


def test_a_wrong_line_is_named(chat, capsys):
    name = chat([{"role": "user", "content": "你好"}, {"role": "usr", "content": "?"}])
    assert run(["context", "fit", name, "--window", "4096"]) == 2
    assert 'chat.jsonl:2: There is no role "usr". Did you mean `user`?' in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "\r\n", "\ufeff"])
def test_an_empty_file_is_a_usage_error(chat, capsys, tmp_path, text):
    (tmp_path / "empty.jsonl").write_text(text, encoding="utf-8")
    assert run(["context", "fit", "empty.jsonl", "--window", "4096"]) == 2
    assert "empty.jsonl: The file is empty." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--window", "99", "--strategy", "slidding-window"), "Did you mean `sliding-window`?"),
        (("--window", "99", "--strategy", "hysteresis:tarket=0.5"), "Did you mean `target`?"),
        (("--window", "99", "--strategy", "hysteresis:target=2"), "`target` is a share of the budget"),
        (("--window", "99", "--counter", "estimat"), "Did you mean `estimate`?"),
        (("--window", "99", "--encoder", "v5"), "There is no prompt format `v5`."),
        (("--window", "99", "--encoder", "v4:efort=low"), "Did you mean `effort`?"),
        (("--window", "99", "--pin", "99"), "Message 99 is pinned, but there are only 5 messages"),
        (("--window", "99", "-o", "x.txt"), "x.txt must end in .jsonl or .json"),
        (("--window", "99", "--reserve", "95"), "A window of 99 tokens has no room for a prompt"),
        ((), "The window is not known. Give --window N"),
        (("--deployment", "ascend"), "promptreg.toml"),
    ],
)
def test_a_wrong_option_is_a_usage_error(chat, capsys, arguments, said):
    assert run(["context", "fit", chat(turns(2)), *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "sentence"),
    [
        ([], 2, "Error: chat.jsonl:1: There is no message to send"),
        ([SYSTEM, IMAGE], 2, "Error: chat.jsonl:1: Message 1: A message of the role `user` has a part that is no text"),
        ([SYSTEM, OPEN_CALL], 2, "Error: chat.jsonl:1: Message 1 waits for 1 result of its tool calls"),
        ([{"role": "user", "content": "很长" * 2000}], 1, "Error: chat.jsonl:1: The conversation cannot fit"),
    ],
    ids=["empty", "an image", "an open call", "too long"],
)
def test_what_is_wrong_with_one_conversation_names_it(chat, capsys, more, code, sentence):
    assert run(["context", "fit", chat(more, id="x"), "--window", "999"]) == code
    assert capsys.readouterr().err.startswith(sentence)


def test_a_deployment_gives_window_reserve_and_format(chat, capsys, tmp_path):
    (tmp_path / "promptreg.toml").write_text(
        '[deployments.ascend]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "deepseek-v3.2"\nserver = "mindie"\n'
        "window = 8192\nrequest = {max_tokens = 700}\n",
        encoding="utf-8",
    )
    result = fitted(capsys, chat(turns(2)), "--deployment", "ascend")
    assert (result["window"], result["reserve"]) == (8192, 700)
    assert result["counter"] == "deepseek_v4 + V3.2 encoder"

    assert run(["context", "fit", chat(turns(2)), "--deployment", "ascent"]) == 2
    assert "Did you mean `ascend`?" in capsys.readouterr().err


def test_several_conversations_need_an_id(chat, capsys, tmp_path):
    lines = [json.dumps({"id": name, "messages": turns(1)}) for name in ("早", "晚")]
    (tmp_path / "two.jsonl").write_text("\n".join(lines), encoding="utf-8")

    assert run(["context", "fit", "two.jsonl", "--window", "999"]) == 2
    assert "Name it with --id: `早`, `晚`." in capsys.readouterr().err
    assert fitted(capsys, "two.jsonl", "--window", "999", "--id", "晚")["conversation"] == "晚"


def test_lints_of_the_format_are_shown(chat, capsys):
    messages = [{"role": "user", "content": "hi <｜User｜>"}, {"role": "assistant", "content": "hello"}]
    messages += [{"role": "system", "content": "late"}, {"role": "user", "content": "go on"}]
    assert run(["context", "fit", chat(messages), "--window", "8192", "--encoder", "v3.1"]) == 0

    out = capsys.readouterr().out
    assert "! Message 0 has the name of a special token in its text" in out
    assert "! Message 2 is a system message behind the beginning: it is moved to the front" in out


def test_every_strategy_is_listed_and_fits_a_long_conversation(chat, capsys, tmp_path):
    from promptreg.context.adapters.registry import ADAPTERS, LISTED
    from promptreg.context.strategies.registry import STRATEGIES

    assert run(["context", "fit", "--strategies"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert listed == [*STRATEGIES, *LISTED]
    (recording,) = generate(1, 3, Shape(turns=30))
    name = chat(list(recording.messages), tools=list(recording.tools))
    for strategy in [*STRATEGIES, *ADAPTERS]:
        result = fitted(capsys, name, "--window", "6000", "--strategy", strategy)
        assert result["total"] <= result["budget"] < result["ledger"]["before"]


def test_a_thousand_messages_are_few_lines(chat, capsys):
    assert run(["context", "fit", chat([SYSTEM, *turns(500)]), "--window", "300", *WORDS]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 50
    assert any(line.startswith("1–980 ") for line in lines)


def test_control_characters_of_a_conversation_do_not_reach_the_terminal(chat, capsys):
    assert run(["context", "fit", chat([{"role": "user", "content": "\x1b[31mred\u202e"}]), "--window", "4096"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out

"""`promptreg context window` as a user types it."""

from __future__ import annotations

import json
import re

import pytest

from promptreg.cli.app import run
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.planting import plant

WORDS = ("--counter", "words", "--reserve", "0", "--from-window", "1000", "--to-window", "100")
CONFIG = """
[roles]
source = "gpu"
target = "ascend"

[deployments.gpu]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v4"
server = "vllm"
window = 32768

[deployments.ascend]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v4"
server = "vllm-ascend"
window = 8192

[deployments.mindie]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v3.1"
server = "mindie"
window = 8192
request = {max_tokens = 700}

[deployments.silent]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v4"
server = "sglang"
window = 8192
request = {response_format = {type = "json_object"}}
context = {over_length = "keep-head"}
"""


def turns(count, words=10):
    messages = []
    for number in range(count):
        messages.append({"role": "user", "content": f"question-{number} " + "word " * (words - 1)})
        messages.append({"role": "assistant", "content": f"answer-{number} " + "word " * (words - 1)})
    return [*messages, {"role": "user", "content": "and now"}]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the configuration; `write(id, messages)` adds a conversation to `talks/`."""
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    (tmp_path / "promptreg.toml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "talks").mkdir()

    def write(name, messages, **more):
        text = json.dumps({"id": name, "messages": messages, **more}, ensure_ascii=False)
        (tmp_path / "talks" / f"{len(list((tmp_path / 'talks').iterdir()))}.jsonl").write_text(text, encoding="utf-8")

    return write


def report(capsys, *arguments, code=None):
    got = run(["context", "window", "talks", *arguments, "--json"])
    assert code is None or got == code
    return json.loads(capsys.readouterr().out)


def test_the_first_turn_that_does_not_fit_is_named(folder, capsys):
    folder("long", [{"role": "system", "content": "be brief"}, *turns(10)])
    folder("short", turns(2))
    result = report(capsys, *WORDS, code=1)

    long, short = result["sessions"]
    # 92 words: the system message has 2, a turn 20, a question 10: the fifth turn has 2 + 4 * 20 + 10.
    assert (long["source_overflow"], long["target_overflow"], long["turns"]) == (None, 6, 11)
    assert [prompt["target"] for prompt in long["prompts"]] == [12 + 20 * number for number in range(10)] + [204]
    assert (short["target_overflow"], short["longest_target"]) == (None, 42)
    assert (result["affected"], result["worse"]) == (1, 1)
    assert (result["target"]["budget"], result["target"]["counter"]) == (92, "words")


def test_where_all_fits_the_exit_code_is_0(folder, capsys):
    folder("短", turns(2))
    assert run(["context", "window", "talks", *WORDS]) == 0
    assert "1,000 → 100 tokens: the conversation fits in every turn." in capsys.readouterr().out


def test_what_grew_is_named(folder, capsys):
    tools = []
    for number in range(4):
        function = {"name": "look", "arguments": "{}"}
        tools += [
            {"role": "user", "content": "look it up"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{number}", "function": function}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "row " * 30},
            {"role": "assistant", "content": "done"},
        ]
    folder("tools", tools)
    folder("talk", turns(10))
    result = report(capsys, *WORDS, code=1)

    assert [session["grew"] for session in result["sessions"]] == ["results", "history"]
    assert result["grew"] == {"results": 1, "history": 1}


def test_what_is_too_long_from_the_first_turn_is_named(folder, capsys):
    """All of such a prompt came at once: its largest part is what grew, also when that is the user's own message."""
    folder("long question", [{"role": "system", "content": "be brief"}, {"role": "user", "content": "长 " * 300}])
    folder("emoji 😀", [{"role": "user", "content": "👨‍👩‍👧‍👦 " * 400}, *turns(2)[1:]])
    folder("long rules", [{"role": "system", "content": "rule " * 300}, *turns(2)])
    folder("long question later", [*turns(2)[:-1], {"role": "user", "content": "word " * 300}])
    folder("empty", [{"role": "user", "content": ""}])
    result = report(capsys, *WORDS, code=1)

    assert {session["conversation"]: session["grew"] for session in result["sessions"]} == {
        "long question": "newest",
        "emoji 😀": "newest",
        "long rules": "system",
        "long question later": "newest",
        "empty": None,
    }
    assert [session["target_overflow"] for session in result["sessions"]] == [1, 1, 1, 3, None]
    assert result["grew"] == {"newest": 3, "system": 1}
    run(["context", "window", "talks", *WORDS])
    told = "What grew most: newest message in 3 conversations, system messages in 1 conversation."
    assert told in capsys.readouterr().out


def test_reasoning_is_a_part_of_its_own(folder, capsys):
    messages = [
        {**message, "reasoning_content": "thought " * 400} if message["role"] == "assistant" else message
        for message in turns(12)
    ]
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    folder("thinks", messages, tools=[tool])
    folder("thinks without tools", messages)
    with_tools, without = report(capsys, "--from", "gpu", "--to", "ascend")["sessions"]

    assert with_tools["grew"] == "reasoning"
    assert with_tools["later"]["reasoning"] > 4000
    # V4 renders old reasoning only when the request has tools.
    assert with_tools["longest_target"] > without["longest_target"] + 4000
    assert without["later"]["reasoning"] == 0


def test_losses_count_messages_tokens_and_known_facts(folder, capsys):
    (recording,) = generate(1, 5, Shape(turns=30, tools=False, reasoning=False))
    planted = plant(recording, seed=1)
    folder(
        "planted",
        list(planted.messages),
        facts=[{"id": fact.fact_id, "value": fact.value, "message": fact.index} for fact in planted.facts],
    )
    arguments = ("--from-window", "32768", "--to-window", "4096", "--strategy", "sliding-window")
    result = report(capsys, *arguments, "--strategy", "prune-results+hysteresis:target=0.5")

    sliding, half = result["losses"]
    assert sliding["strategy"] == "sliding-window"
    assert half["strategy"] == "prune-results+hysteresis(0.5)"
    assert 0 < sliding["messages_lost"] < half["messages_lost"] < half["messages"]
    assert sliding["facts"] == len(planted.facts) > sliding["facts_kept"] > 0
    assert sliding["values"] > sliding["values_kept"] > half["values_kept"] > 0


def test_a_fixed_part_larger_than_the_window_helps_no_strategy(folder, capsys):
    folder("提示很长", [{"role": "system", "content": "rule " * 150}, *turns(2)])
    assert run(["context", "window", "talks", *WORDS]) == 1

    out = capsys.readouterr().out
    assert "1 of 1 conversation cannot fit: the fixed part alone is larger than the prompt may be" in out
    assert re.search(r"^system messages +150 +150\.0%$", out, re.MULTILINE)
    losses = report(capsys, *WORDS)["losses"]
    assert {loss["cannot_fit"] for loss in losses} == {1}


@pytest.mark.parametrize(
    ("target", "fates", "said"),
    [
        ("ascend", {("refused", 400), ("answer cut short", 200)}, "max_tokens is clamped without an error"),
        ("mindie", {("refused", 424), ("unknown", None)}, "Status 424 is also this server's engine fault"),
        ("silent", {("cut", 200), ("refused", 400)}, "Status 200 with a silent cut is worse than an error"),
    ],
)
def test_what_the_server_would_do(folder, capsys, target, fates, said):
    (recording,) = generate(1, 2, Shape(turns=40, tools=False, reasoning=False))
    folder("talk", list(recording.messages))
    assert run(["context", "window", "talks", "--to", target, "--reserve", "2000"]) == 1
    assert f"! {said}" in capsys.readouterr().out
    endings = report(capsys, "--to", target, "--reserve", "2000")["endings"]
    assert fates <= {(ending["fate"], ending["status"]) for ending in endings}


def test_numbers_alone_do_not_tell_what_a_server_does(folder, capsys):
    folder("long", turns(10))
    result = report(capsys, *WORDS)
    assert [ending["fate"] for ending in result["endings"]] == ["unknown"]
    assert "Name a deployment" in result["endings"][0]["warning"]["en"]


def test_a_cache_unit_above_the_budget_and_a_response_format_are_remarked(folder, capsys):
    folder("talk", turns(3))
    ascend = report(capsys, "--to", "ascend")["remarks"]
    silent = report(capsys, "--to", "silent")["remarks"]
    assert any("its prefix cache can never be hit" in remark["en"] for remark in ascend)
    assert any("tokens for the response_format of the requests" in remark["en"] for remark in silent)


def test_two_counters_are_two_counters(folder, capsys):
    folder("talk", turns(3))
    result = report(capsys, "--to", "mindie")
    assert (result["source"]["counter"], result["target"]["counter"]) == (
        "deepseek_v4 + V4 encoder, thinking, effort high",
        "deepseek_v4 + V3.1 encoder",
    )
    assert result["target"]["reserve"] == 700
    assert result["sessions"][0]["longest_source"] > result["sessions"][0]["longest_target"]
    assert any("The two sides count differently" in remark["en"] for remark in result["remarks"])


def test_it_speaks_chinese(folder, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    folder("客服 🎉", turns(10))
    assert run(["context", "window", "talks", *WORDS]) == 1

    out = capsys.readouterr().out
    assert "1,000 → 100 token：1 段对话中有 1 段（100%）放不下，最早在第 6 轮；源部署上全部放得下。" in out
    assert "客服 🎉" in out
    assert "各策略在最长提示词处的损失" in out
    assert "\x1b" not in out


def test_a_thousand_messages_are_counted_in_part_and_the_first_overflow_is_exact(folder, capsys):
    folder("huge", turns(500))
    result = report(capsys, *WORDS)
    (session,) = result["sessions"]
    assert (session["turns"], session["target_overflow"], session["source_overflow"]) == (501, 6, 51)
    assert len(session["prompts"]) < 200
    assert any("not every turn is counted" in remark["en"] for remark in result["remarks"])


def test_a_conversation_recorded_while_tools_ran_is_looked_at(folder, capsys):
    call = {"id": "a", "function": {"name": "look", "arguments": "{}"}}
    folder("open", [*turns(1), {"role": "assistant", "content": "", "tool_calls": [call]}])
    folder("orphan", [{"role": "user", "content": "hi"}, {"role": "tool", "tool_call_id": "x", "content": "row " * 99}])
    folder("nothing", [{"role": "tool", "tool_call_id": "x", "content": "row"}])
    result = report(capsys, *WORDS, code=0)

    assert [session["longest_target"] for session in result["sessions"]] == [22, 1]
    assert [skipped["conversation"] for skipped in result["skipped"]] == ["nothing"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--strategy", "slidding-window", *WORDS), "Did you mean `sliding-window`?"),
        (("--to", "ascent"), "Did you mean `ascend`?"),
        (("--html", "page.txt", *WORDS), "page.txt must end in .html"),
        (("--to-window", "50", "--reserve", "50"), "A window of 50 tokens has no room for a prompt"),
    ],
)
def test_a_wrong_option_is_a_usage_error(folder, capsys, arguments, said):
    folder("talk", turns(1))
    assert run(["context", "window", "talks", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("unusable", [[], [{"role": "tool", "tool_call_id": "x", "content": "alone"}]])
def test_a_conversation_that_cannot_be_used_is_left_out_and_the_others_are_looked_at(folder, capsys, unusable):
    folder("nothing", unusable)
    assert report(capsys, *WORDS, code=2)["sessions"] == []
    folder("talk", turns(10))
    result = report(capsys, *WORDS, code=1)

    assert [session["conversation"] for session in result["sessions"]] == ["talk"]
    assert [each["conversation"] for each in result["skipped"]] == ["nothing"]
    assert run(["context", "window", "talks", *WORDS]) == 1
    assert "Left out: nothing: There is no message to send: the conversation is empty" in capsys.readouterr().out


def test_many_that_are_left_out_are_counted(folder, capsys):
    for number in range(23):
        folder(f"nothing-{number}", [])
    assert run(["context", "window", "talks", *WORDS]) == 2
    out = capsys.readouterr().out
    assert out.count("Left out:") == 20
    assert "and 3 more left out" in out


def test_wrong_lines_of_files_are_named(folder, capsys, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"messages": [{"role": "user"}]}\r\n{"messages": 3}\r\n', encoding="utf-8")
    assert run(["context", "window", "bad.jsonl", *WORDS]) == 2
    err = capsys.readouterr().err
    assert "bad.jsonl:1: " in err
    assert "bad.jsonl:2: " in err


def test_an_empty_folder_is_a_usage_error(folder, capsys):
    assert run(["context", "window", "talks", *WORDS]) == 2
    assert "The folder talks has no file" in capsys.readouterr().err


def test_quiet_says_one_sentence_and_html_is_written(folder, capsys, tmp_path):
    folder("talk", turns(10))
    assert run(["context", "window", "talks", *WORDS, "-q", "--html", "out/窗口.html"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "1,000 → 100 tokens: 1 of 1 conversation does not fit (100%), from turn 6; on the source all fit.",
        "Written to out/窗口.html.",
    ]
    page = (tmp_path / "out" / "窗口.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")


def test_what_adapters_have_to_tell_is_shown(folder, capsys, monkeypatch, tmp_path):
    """An error of the user's own function, and rules it broke, are no silence: without them its losses say little."""
    (tmp_path / "own_shorteners.py").write_text(
        "def fails(messages, budget):\n    raise RuntimeError('boom <b> 坏')\n"
        "def last(messages, budget):\n    return messages[-1:]\n",
        encoding="utf-8",
    )
    for name in ("one", "two"):
        folder(name, [{"role": "system", "content": "be brief"}, *turns(10)])
    chosen = [f"--strategy=function:own_shorteners:{name}" for name in ("fails", "last")]
    fails, last, ours = report(capsys, *WORDS, *chosen, "--strategy=oldest-first", code=1)["losses"]

    assert [(note["kind"], note["sessions"]) for note in fails["notes"]] == [("adapted_failed", 2)]
    assert [(note["kind"], note["sessions"]) for note in last["notes"]] == [("mended", 2)]
    assert ours["notes"] == []

    page = tmp_path / "window.html"
    run(["context", "window", "talks", *WORDS, *chosen, "--html", str(page)])
    out = capsys.readouterr().out
    failed = "function:own_shorteners:fails failed (RuntimeError: boom <b> 坏); the oldest messages go instead."
    assert f"In 2 of 2 conversations, such as: {failed}" in out
    assert "function:own_shorteners:last broke a rule" in out
    assert "boom &lt;b&gt; 坏); the oldest messages go instead." in page.read_text(encoding="utf-8")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    run(["context", "window", "talks", *WORDS, *chosen])
    assert "2 段对话中的 2 段，例如：function:own_shorteners:fails 出错" in capsys.readouterr().out

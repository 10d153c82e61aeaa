"""`promptreg context test` as a user types it."""

from __future__ import annotations

import json
import re

import pytest

from promptreg.cli.app import run
from promptreg.context.trial.corpus import Shape, generate

WORDS = ("--counter", "words", "--reserve", "0")
SYSTEM = {"role": "system", "content": "be brief and kind"}
FUNCTIONS = '''
"""Functions that shorten, most of them wrong."""
import asyncio


def right(messages, budget):
    """The newest turns that fit, counted in words as the command does."""
    kept, left = [], budget - sum(len(m["content"].split()) for m in messages if m["role"] == "system")
    turns = []
    for message in messages:
        if message["role"] == "user":
            turns.append([])
        if turns:
            turns[-1].append(message)
    for turn in reversed(turns):
        left -= sum(len(m["content"].split()) for m in turn)
        if left < 0 and kept:
            break
        kept = turn + kept
    return [m for m in messages if m["role"] == "system"] + kept


def everything(messages, budget):
    return messages


def empty(messages, budget):
    return []


def unknown_role(messages, budget):
    return [*messages[:1], {"role": "banana", "content": "x"}]


def number_as_content(messages, budget):
    return [*messages[:1], {"role": "user", "content": 5}]


def not_json(messages, budget):
    return [*messages[:-1], {**messages[-1], "meta": {1, 2}}]


def no_calls(messages, budget):
    return [*messages[:-1], {"role": "assistant", "content": None, "tool_calls": "look_up"}]


async def newest(messages, budget):
    await asyncio.sleep(0)
    return messages[-3:]


def careless(messages, budget):
    for message in messages:
        message["content"] = "cut"
    return messages


def nothing(messages, budget):
    return None


def words(messages, budget):
    return ["hello"]


def leaves(messages, budget):
    raise SystemExit(7)


def two_lines(messages, budget):
    raise ValueError("one" + chr(10) + "two")


def one_argument(messages):
    return messages


CONSTANT = 3
'''
CONFIG = """
[roles]
source = "gpu"
target = "ascend"

[deployments.gpu]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v4"
server = "vllm"
window = 3000
tokenizer = "words"

[deployments.ascend]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-v4"
server = "vllm-ascend"
window = 1000
tokenizer = "estimate"
context = {cache_unit = 4096}
"""


def turns(count, words=10):
    messages = []
    for number in range(count):
        messages.append({"role": "user", "content": f"question-{number} " + "word " * (words - 1)})
        messages.append({"role": "assistant", "content": f"answer-{number} " + "word " * (words - 1)})
    return [*messages, {"role": "user", "content": "and now"}]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with the functions; `write(name, messages)` adds a conversation to `talks/`."""
    monkeypatch.chdir(tmp_path)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = f"shorten_{tmp_path.name}"
    (tmp_path / f"{module}.py").write_text(FUNCTIONS, encoding="utf-8")
    (tmp_path / "talks").mkdir()

    def write(name, messages, **more):
        text = json.dumps({"id": name, "messages": messages, **more}, ensure_ascii=False)
        (tmp_path / "talks" / f"{len(list((tmp_path / 'talks').iterdir()))}.jsonl").write_text(text, encoding="utf-8")

    write.module = module
    return write


def report(capsys, *arguments, code=0):
    assert run(["context", "test", *arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_generated_corpus_is_measured_in_every_window(folder, capsys):
    arguments = ("--generate", "2", "--turns", "12", "--counter", "estimate", "--window", "4000", "--window", "1500")
    result = report(capsys, *arguments, "--strategy", "sliding-window", "--strategy", "summary-on-cut:target=0.5")

    assert (result["conversations"], result["counter"], result["violations"]) == (2, "estimate by script", [])
    assert [(one["window"], one["reserve"], one["granularity"]) for one in result["windows"]] == [
        (4000, 1000, 16),
        (1500, 375, 16),
    ]
    assert result["facts"] == result["planted"] > 100
    assert result["planted_tokens"] > 500
    small = {one["strategy"]: one for one in result["windows"][1]["strategies"]}
    sliding, summary = small["sliding-window"], small["summary-on-cut:target=0.5"]
    for one in (sliding, summary):
        at_end = one["at_end"]
        fates = [at_end[name] for name in ("verbatim", "normalised", "stale", "contradicted", "lost")]
        assert sum(fates) == result["facts"]
        assert at_end["recall"] == pytest.approx((fates[0] + fates[1]) / sum(fates))
        assert one["hit_ratio"] == pytest.approx(1 - one["prefill_tokens"] / one["prompt_tokens"])
    assert sliding["by_depth"][-1]["recall"] > sliding["by_depth"][0]["recall"] == 0
    assert sliding["causes"]["window"] >= sliding["reanchors"] > 0
    for one in (sliding, summary):
        assert sum(one["causes"].values()) == one["breaks"] >= one["reanchors"]
    assert sliding["summaries"] is None
    assert 0 < summary["summaries"]["calls"] <= summary["causes"]["summary"]  # one may also leave
    assert any(one["on_front"] for one in small.values())


def test_the_controls_come_out_as_known(folder, capsys):
    controls = report(capsys, "--turns", "15", "--counter", "estimate", "--window", "3000")["controls"]
    assert controls["found_in_whole"] == controls["facts"] > 0
    assert controls["compared"] > 0
    assert (controls["never_said_found"], controls["differ"], controls["hold"]) == (0, 0, True)


def test_the_same_seed_is_the_same_report(folder, capsys):
    arguments = ("--turns", "6", "--counter", "words", "--window", "500", "--strategy", "hysteresis")
    first, again = report(capsys, *arguments), report(capsys, *arguments)
    assert first == again
    assert report(capsys, *arguments, "--seed", "2") != first


def test_the_tables_name_counter_budget_front_and_causes(folder, capsys):
    folder("long", [SYSTEM, *turns(40)])
    arguments = ("talks", *WORDS, "--window", "400", "--strategy", "sliding-window", "--strategy", "hysteresis")
    assert run(["context", "test", *arguments]) == 0

    captured = capsys.readouterr()
    out = captured.out
    assert "1 conversation, 2 strategies, 1 window: no invariant is violated." in out
    assert "Counted by words. Prefixes are compared by whole messages." in out
    assert (
        "Prompts may have 392 tokens: 0 are kept free for the answer, 8 as a margin. The cache reuses prefixes in"
        in out
    )
    assert re.search(r"^strategy +recall +prompt tokens .*re-anchors +violated$", out, re.MULTILINE)
    assert re.search(r"^hysteresis \* +\d+%", out, re.MULTILINE)
    assert re.search(
        r"^facts in the last prompts +word for word +rewritten +stale +contradicted +lost$", out, re.MULTILINE
    )
    assert re.search(r"^kept there, by depth +0% .* 100% +system$", out, re.MULTILINE)
    assert re.search(r"^sliding-window, \d+ breaks?: the window moved: old messages left \(\d+\)\.$", out, re.MULTILINE)
    assert "context test: 2/2 runs" in captured.err
    assert "\x1b" not in out + captured.err


def test_a_budget_below_the_granularity_can_hit_nothing_and_that_is_said(folder, capsys):
    folder("long", turns(40))
    arguments = ("talks", *WORDS, "--window", "400", "--strategy", "hysteresis", "--granularity", "16384")
    assert run(["context", "test", *arguments]) == 0
    assert "Cache hits: 0% possible, since the budget is below the granularity" in capsys.readouterr().out
    (window,) = report(capsys, *arguments)["windows"]
    assert (window["hits_possible"], window["strategies"][0]["hit_ratio"]) == (False, 0.0)


def test_what_fits_is_not_shortened(folder, capsys):
    folder("short", turns(2))
    assert run(["context", "test", "talks", *WORDS, "--window", "9000", "--strategy", "hysteresis"]) == 0
    assert "All conversations fit: nothing had to be shortened." in capsys.readouterr().out


def test_facts_that_a_conversation_brings_are_the_ones_looked_for(folder, capsys):
    messages = turns(20)
    messages[0] = {"role": "user", "content": "The order is KX-4821, please remember it."}
    messages[38] = {"role": "user", "content": "Send it to 上海 by 9 May 2031."}
    facts = [{"value": "KX-4821", "message": 0}, {"value": "9 May 2031", "kind": "date", "message": 38}]
    folder("own", messages, facts=facts)
    result = report(capsys, "talks", *WORDS, "--window", "200", "--strategy", "sliding-window")

    assert (result["facts"], result["planted"], result["planted_tokens"]) == (2, 0, 0)
    (one,) = result["windows"][0]["strategies"]
    assert (one["at_end"]["verbatim"], one["at_end"]["lost"]) == (1, 1)


def test_without_planting_nothing_is_looked_for(folder, capsys):
    folder("plain", turns(20))
    arguments = ("talks", *WORDS, "--window", "200", "--strategy", "sliding-window", "--no-plant")
    assert run(["context", "test", *arguments]) == 0
    out = capsys.readouterr().out
    assert "No facts are looked for." in out
    assert "by depth" not in out
    assert report(capsys, *arguments)["windows"][0]["strategies"][0]["recall"] is None


def test_a_fact_that_the_whole_conversation_lacks_is_told(folder, capsys):
    folder("wrong", turns(20), facts=[{"value": "never said"}])
    assert run(["context", "test", "talks", *WORDS, "--window", "200", "--strategy", "sliding-window"]) == 0
    assert "whole conversations have 0 of 1 fact;" in capsys.readouterr().out


def test_the_windows_of_source_and_target_are_the_default(folder, capsys, tmp_path):
    (tmp_path / "promptreg.toml").write_text(CONFIG, encoding="utf-8")
    folder("talk", turns(30))
    result = report(capsys, "talks", "--strategy", "hysteresis")

    assert [(one["deployment"], one["window"], one["granularity"]) for one in result["windows"]] == [
        ("gpu", 3000, 16),
        ("ascend", 1000, 4096),
    ]
    assert result["counter"] == "estimate by script"
    (only,) = report(capsys, "talks", "--strategy", "hysteresis", "--deployment", "gpu")["windows"]
    assert (only["window"], only["hits_possible"], only["granularity_assumed"]) == (3000, True, False)


def test_a_function_of_the_users_own_is_compared_with_hysteresis(folder, capsys):
    folder("talk", [SYSTEM, *turns(12)])
    name = f"{folder.module}:right"
    (window,) = report(capsys, "talks", *WORDS, "--window", "700", "--function", name)["windows"]

    assert [one["strategy"] for one in window["strategies"]] == ["hysteresis", name]
    assert [one["violated"] for one in window["strategies"]] == [[], []]


def test_a_function_that_tears_tool_calls_is_caught_with_a_small_example(folder, capsys):
    (recording,) = generate(1, 3, Shape(turns=10, script="zh"))
    folder("tools", list(recording.messages), tools=list(recording.tools))
    name = f"{folder.module}:newest"
    arguments = ("talks", "--counter", "estimate", "--window", "3000", "--function", name)
    result = report(capsys, *arguments, code=1)

    found = {one["invariant"]: one for one in result["violations"]}
    assert {one["strategy"] for one in result["violations"]} == {name}
    assert {"I3", "I4"} <= set(found)
    assert found["I4"]["shrunken"]
    assert len(found["I4"]["messages"]) <= 4
    assert found["I4"]["windows"] == [3000]

    assert run(["context", "test", *arguments]) == 1
    out = capsys.readouterr().out
    assert f"are violated, by {name}." in out
    assert f"{name} violates I4 (system and pinned messages stay word for word) in " in out
    assert re.search(r"Smallest example: \d+ messages, \d+ tokens allowed\.\n  \{\"role\": ", out)


def test_a_function_that_changes_what_it_is_handed_spoils_nothing_for_others(folder, capsys):
    folder("talk", [SYSTEM, *turns(10)])
    name = f"{folder.module}:careless"
    arguments = ("talks", *WORDS, "--window", "100", "--strategy", "sliding-window")
    alone = report(capsys, *arguments)
    beside = report(capsys, *arguments, "--function", name, code=1)

    assert "I6" in {one["invariant"] for one in beside["violations"]}
    sliding = beside["windows"][0]["strategies"][0]
    assert {**sliding, "on_front": None} == {**alone["windows"][0]["strategies"][0], "on_front": None}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("nothing", "It returned NoneType, not a list of messages"),
        ("words", "It returned a list with str that is no message with a `role`"),
        ("leaves", "It ended the program with 7"),
        ("two_lines", "It raised ValueError: one⏎two"),
    ],
)
def test_what_a_function_raises_or_returns_is_a_finding(folder, capsys, function, said):
    folder("talk", turns(3))
    arguments = ("talks", *WORDS, "--window", "400", "--function", f"{folder.module}:{function}")
    result = report(capsys, *arguments, code=1)
    assert [(one["invariant"], one["happened"]["en"]) for one in result["violations"]] == [("I5", said)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--strategy", "slidding-window"), "Did you mean `sliding-window`?"),
        (("--strategy", "hysteresis:size=3"), "has no option `size`"),
        (("--function", "shorten"), "A function is named `module:callable`"),
        (("--function", "no_such_module:shorten"), "no module `no_such_module` is found"),
        (("--function", "MODULE:absent"), "has no function `absent`"),
        (("--function", "MODULE:CONSTANT"), "has no function `CONSTANT`"),
        (("--function", "MODULE:one_argument"), "must take two arguments"),
        (("--counter", "wrds"), "Did you mean `words`?"),
        (("--window", "0"), "Invalid value for '--window'"),
        (("--reserve", "600"), "has no room for a prompt"),
        (("--generate", "2"), "exclude each other"),
        (("--deployment", "gpu"), "No promptreg.toml"),
    ],
)
def test_a_wrong_option_is_a_usage_error(folder, capsys, arguments, said):
    folder("talk", turns(1))
    arguments = tuple(argument.replace("MODULE", folder.module) for argument in arguments)
    assert run(["context", "test", "talks", "--counter", "words", "--window", "500", *arguments]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_conversations_that_cannot_be_tested_are_left_out_with_the_reason(folder, capsys):
    folder("只有系统", [SYSTEM])
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    folder("picture 🎉", [picture])
    assert run(["context", "test", "talks", "--window", "2000", "--strategy", "hysteresis"]) == 2

    out = capsys.readouterr().out
    assert "Left out: 只有系统: It has no user message, so the model is never called." in out
    assert "Left out: picture 🎉: " in out


def test_broken_and_empty_files_are_usage_errors(folder, capsys, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"messages": 3}\r\n', encoding="utf-8")
    assert run(["context", "test", "bad.jsonl", *WORDS]) == 2
    assert "bad.jsonl:1: " in capsys.readouterr().err
    assert run(["context", "test", "talks", *WORDS]) == 2
    assert "The folder talks has no file" in capsys.readouterr().err


def test_huge_and_empty_messages_are_tested(folder, capsys):
    messages = [{"role": "user", "content": ""}, {"role": "assistant", "content": "字" * 50_000}, *turns(3)]
    folder("huge", messages)
    result = report(capsys, "talks", "--window", "3000", "--strategy", "hysteresis")
    (one,) = result["windows"][0]["strategies"]
    assert result["counter"].startswith("deepseek_v4 + V4 encoder")
    assert (result["violations"], one["refused"]) == ([], 0)


def test_it_speaks_chinese(folder, capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    folder("客服 🎉", [SYSTEM, *turns(30)])
    arguments = ("talks", *WORDS, "--window", "300", "--granularity", "4096", "--function", f"{folder.module}:newest")
    assert run(["context", "test", *arguments]) == 1

    out = capsys.readouterr().out
    assert "1 段对话、2 种策略、1 个窗口：" in out
    assert "缓存命中率只能是 0%：预算低于缓存粒度" in out
    assert "计数器：words。前缀按整条消息比较。" in out
    assert "违反 I4（系统消息与固定消息原样保留）。" in out
    assert "\x1b" not in out


def test_quiet_says_one_sentence(folder, capsys):
    folder("talk", turns(10))
    assert run(["context", "test", "talks", *WORDS, "--window", "100", "--strategy", "hysteresis", "-q"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "1 conversation, 1 strategy, 1 window: no invariant is violated.\n"
    assert captured.err == ""


def test_help_of_context_test_names_the_exit_codes(capsys):
    assert run(["context", "test", "--help"]) == 0
    assert "1 when a strategy or function violates an invariant" in " ".join(capsys.readouterr().out.split())


def test_the_mark_of_the_best_never_goes_to_prompts_that_should_not_be_sent(folder, capsys, monkeypatch):
    folder("talk", [SYSTEM, *turns(20)])
    names = [f"{folder.module}:{name}" for name in ("everything", "empty", "right")]
    arguments = ["talks", *WORDS, "--window", "200"]
    for name in names:
        arguments += ["--function", name]
    rows = report(capsys, *arguments, code=1)["windows"][0]["strategies"]
    found = {one["strategy"].partition(":")[2]: (one["valid"], one["on_front"], one["violated"]) for one in rows}
    assert found["everything"] == (False, False, ["I1"])
    assert found["empty"][:2] == (False, False)
    assert found["right"][0]
    assert any(one["on_front"] for one in rows)
    best = next(one for one in rows if one["strategy"] == names[0])
    assert all(one["recall"] < best["recall"] for one in rows if one["on_front"])

    run(["context", "test", *arguments])
    out = capsys.readouterr().out
    assert f"{names[0]} *" not in out
    assert f"{names[1]} *" not in out
    assert "strategies that violate one of I1 to I6, or return what cannot be rendered" in " ".join(out.split())
    assert "are left out of that" in " ".join(out.split())
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    run(["context", "test", *arguments])
    assert "违反 I1 至 I6 任一项" in capsys.readouterr().out
    run(["context", "test", "talks", *WORDS, "--window", "200", "--function", names[0], "--strategy", "hysteresis"])
    assert "hysteresis *" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unknown_role", "Message 1 has the role `banana`. Servers know system, developer, user,"),
        ("number_as_content", "The content of message 1 is of type int, neither a text nor a list of parts."),
        ("not_json", "holds a value that JSON has no form for."),
        ("no_calls", "are no list of calls, each with a function and its name."),
    ],
)
def test_what_cannot_be_rendered_is_a_finding_of_its_own_and_a_row(folder, capsys, monkeypatch, name, why):
    folder("talk", [SYSTEM, *turns(20)])
    function = f"{folder.module}:{name}"
    arguments = ["talks", *WORDS, "--window", "200", "--function", function, "--strategy", "sliding-window"]
    result = report(capsys, *arguments, code=1)
    (found,) = result["violations"]
    assert (found["invariant"], found["calls"]) == ("rendered", 21)
    assert why in found["happened"]["en"]
    row = next(one for one in result["windows"][0]["strategies"] if one["strategy"] == function)
    assert (row["refused"], row["recall"], row["valid"], row["on_front"]) == (21, 0.0, False, False)
    assert (row["violated"], row["calls"], row["hit_ratio"]) == (["rendered"], 0, None)

    alone = ["context", "test", *arguments[:7], "--function", function, "--strategy", "oldest-first"]
    assert run(alone) == 1
    out = capsys.readouterr().out
    assert "All conversations fit" not in out
    assert re.search(rf"^{function} .*not rendered$", out, re.MULTILINE)
    assert f"1 conversation, 2 strategies, 1 window: what {function} returned could not be rendered." in out
    assert f"What {function} returned could not be rendered in 21 calls." in out
    assert "I3" not in out.replace("I1 to I6", "")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert run(alone) == 1
    out = capsys.readouterr().out
    assert f"{function} 返回的消息无法渲染。" in out
    assert f"{function} 在 21 次调用中返回了无法渲染的消息。" in out


def test_a_function_that_is_wrong_has_a_row_even_where_all_conversations_fit(folder, capsys):
    folder("talk", [SYSTEM, *turns(3)])
    arguments = ["context", "test", "talks", *WORDS, "--window", "9000", "--function"]
    for name in ("empty", "unknown_role"):
        assert run([*arguments, f"{folder.module}:{name}"]) == 1
        out = capsys.readouterr().out
        assert "All conversations fit" not in out
        assert re.search(rf"^{folder.module}:{name} +0%", out, re.MULTILINE)
    assert run([*arguments, f"{folder.module}:everything"]) == 0
    assert "All conversations fit" in capsys.readouterr().out


def test_breaks_are_the_sum_of_the_causes_below_and_re_anchors_are_some_of_them(folder, capsys, monkeypatch):
    folder("talk", [SYSTEM, *turns(20)])
    arguments = ["context", "test", "talks", *WORDS, "--window", "200", "--strategy", "first-and-last"]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    breaks, again = re.search(r"^first-and-last .* (\d+) +(\d+) +—$", out, re.MULTILINE).groups()
    assert int(breaks) >= int(again)
    assert f"first-and-last, {breaks} breaks: the window moved: old messages left ({breaks})." in out
    assert "Breaks: prompts that do not continue the one before; the causes add up to them." in out
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert f"first-and-last，断开 {breaks} 次：窗口移动，旧消息被移除 ({breaks})。" in out
    assert "断开：未能接续前一个的提示词，其各项原因之和即此数。" in out

"""`promptreg context test --ask`: a deployment is asked about facts, against simulated deployments."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys

import pytest

from promptreg.testing import Project, SimulatedServer

WORDS = ("--counter", "words", "--reserve", "0")
HYSTERESIS = ("--strategy", "hysteresis")
SLIDING = ("--strategy", "sliding-window")


def value(number):
    return f"KX{number % 10}-{10_000 + number}Q"


def subject(number, language):
    return f"项目{number:03d}号" if language == "zh" else f"project {number:03d}X"


def conversation(turns, language="en"):
    """One fact a turn, and a question for each."""
    messages, facts = [{"role": "system", "content": "be brief 😀"}], []
    for number in range(turns):
        name = subject(number, language)
        says = "{} 的访问码是 {} 。" if language == "zh" else "The code of {} is {} ."
        said = says.format(name, value(number))
        asks = f"{name}的访问码是什么？" if language == "zh" else f"What is the code of {name}?"
        messages += [{"role": "user", "content": said}, {"role": "assistant", "content": "noted\r\nand kept"}]
        facts.append({"value": value(number), "question": asks, "message": 2 * number + 1})
    return {"id": f"talk-{language}", "messages": messages, "facts": facts, "log_id": 7}


def knows(turns, language="en", but=()):
    """Rules of a model that answers what stands before the question, and else that it does not know."""
    rules = [
        {"match": {"contains": subject(number, language), "anywhere": value(number)}, "answers": [value(number)]}
        for number in range(turns)
        if number not in but
    ]
    return {"rules": rules, "answers": ["未知。" if language == "zh" else "not known"]}


@pytest.fixture
def asked(tmp_path):
    """A function that starts a server, writes a project and a conversation, and runs the command."""
    servers = []

    def start(*arguments, script=None, talks=None, turns=60, deployment=None):
        server = SimulatedServer(**(script or knows(turns))).start()
        servers.append(server)
        project = Project(tmp_path)
        settings = {"concurrency": 4, "window": 32_000, "tokenizer": "words", **(deployment or {})}
        project.deployment("model", server.base_url, **settings)
        lines = [json.dumps(talk, ensure_ascii=False) for talk in talks or [conversation(turns)]]
        project.write("talks.jsonl", "\n".join(lines))
        start.project, start.server = project, server
        return project.run("context", "test", "talks.jsonl", "--ask", "model", *WORDS, *arguments)

    yield start
    for server in servers:
        server.stop()


def test_three_arms_and_what_is_kept(asked):
    done = asked("--window", "300", *SLIDING, "--json", "--questions", "60")
    assert done.exit_code == 0, done.stderr
    found = done.json["asked"]
    assert (found["questions"], found["never_said"]) == (60, 12)
    assert found["full"]["correct"] == 1.0
    assert found["none"]["correct"] == 0.0
    assert found["full_abstained"] == 1.0
    (cell,) = found["cells"]
    assert cell["n"] == 60
    assert 0 < cell["kept"] < 1
    assert cell["both"] == cell["grades"]["correct"]
    assert cell["lost"] == cell["grades"]["abstained"] == 60 - cell["both"]
    assert cell["mcnemar_p"] == pytest.approx(0.5 ** cell["lost"])
    assert (cell["loss_is_real"], cell["abstained"], cell["enough"]) == (True, 1.0, True)
    assert (found["noise"]["changed"], found["noise"]["token_f1"]) == (0, 1.0)
    assert found["remarks"] == []
    # exactly the facts whose messages the strategy left are answered: the last ones
    told = {one["value"]: {arm["arm"]: arm["grade"] for arm in one["arms"]} for one in found["answers"] if one["said"]}
    kept = [told[value(number)]["strategy"] == "correct" for number in range(60)]
    assert kept == sorted(kept)
    assert "60 questions about what was said and 12 about what was not" in done.stderr
    assert "calls on model" in done.stderr


def test_what_is_sent_has_no_key_of_the_log_and_ends_with_the_question(asked):
    asked("--window", "300", *HYSTERESIS, "--questions", "5", "--json")
    bodies = [json.loads(received.body) for received in asked.server.requests if received.path.endswith("completions")]
    assert bodies
    for body in bodies:
        assert body["temperature"] == 0
        assert "max_tokens" not in body  # the reserve is 0 here
        assert body["messages"][-1]["role"] == "user"
        assert "Answer with the value alone" in body["messages"][-1]["content"]
        assert all(set(message) <= {"role", "content"} for message in body["messages"])
    assert any(len(body["messages"]) == 1 for body in bodies)
    assert len(bodies) == asked.project.run(
        "context", "test", "talks.jsonl", "--ask", "model", *WORDS, "--window", "300", *HYSTERESIS,
        "--questions", "5", "--dry-run", "--json",
    ).json["calls"]  # fmt: skip


def test_tools_are_sent_but_not_to_be_called(asked):
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
    asked("--window", "9000", *HYSTERESIS, "--questions", "2", talks=[{**conversation(9), "tools": [tool]}])
    bodies = [json.loads(received.body) for received in asked.server.requests if received.path.endswith("completions")]
    with_context = [body for body in bodies if len(body["messages"]) > 1]
    assert with_context
    assert all((body["tools"], body["tool_choice"]) == ([tool], "none") for body in with_context)
    assert not any("tools" in body for body in bodies if len(body["messages"]) == 1)


def test_prompts_that_are_equal_are_asked_once(asked):
    done = asked("--window", "9000", *HYSTERESIS, "--strategy", "oldest-first", "--questions", "5", "--json")
    found = done.json["asked"]
    # nothing is shortened: full (5 + 1 never said), the same again (5), without anything (5)
    assert found["calls"] == 16
    assert [cell["kept"] for cell in found["cells"]] == [1.0, 1.0]
    assert [cell["mcnemar_p"] for cell in found["cells"]] == [1.0, 1.0]
    assert "Fewer than 50 questions" in found["remarks"][0]["en"]


def test_what_the_model_misses_with_everything_is_not_held_against_a_strategy(asked):
    script = knows(20, but=range(10))
    done = asked("--window", "9000", *HYSTERESIS, "--json", script=script, turns=20)
    (cell,) = done.json["asked"]["cells"]
    assert (cell["full_correct"], cell["strategy_correct"], cell["kept"]) == (0.5, 0.5, 1.0)


def test_in_the_terminal_in_both_languages(asked, monkeypatch):
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    talks, script = [conversation(60, "zh")], knows(60, "zh")
    arguments = ("--window", "250", *HYSTERESIS)
    done = asked(*arguments, talks=talks, script=script)
    assert done.exit_code == 0, done.stderr
    assert (
        "model was asked 50 questions about what was said: with the whole conversation 100% of 50 are right"
        in done.stdout
    )
    assert "Kept: of what it knows" in done.stdout.replace("\n", " ")
    assert "Noise: asked twice" in done.stdout
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    done = asked(*arguments, talks=talks, script=script)
    assert "向 model 提了 50 个关于对话内容的问题：带完整对话时 50 个中答对 100%" in done.stdout
    assert "噪声：带完整对话重复提问" in done.stdout
    assert "将对 model 发出" in done.stderr
    quiet = asked(*arguments, "-q", talks=talks, script=script)
    assert "噪声" not in quiet.stdout
    assert quiet.stderr == ""


@pytest.mark.parametrize("kind", ["vllm", "sglang", "mindie", "deepseek", "openai"])
def test_a_prompt_that_is_too_long_is_not_scored_and_never_wrong(asked, kind):
    server = "local" if kind == "openai" else kind
    script = {**knows(60), "kind": kind, "window": 600}
    done = asked("--window", "150", *SLIDING, "--json", script=script, deployment={"server": server})
    assert done.exit_code == 0, done.stderr
    found = done.json["asked"]
    assert found["too_long"] > 0
    assert found["failed"] == 0
    assert found["full"]["unscored"] == 50
    assert (found["full"]["correct"], found["full"]["wrong"]) == (None, 0)
    (cell,) = found["cells"]
    assert (cell["n"], cell["kept"], cell["loss_is_real"]) == (0, None, False)
    assert cell["grades"]["unscored"] == 0  # the shortened prompts could be asked
    assert "too long for model" in found["remarks"][0]["en"]
    told = asked("--window", "150", *SLIDING, script=script, deployment={"server": server}).stdout
    assert "so nothing can be compared" in told or "无法比较" in told


def test_a_prompt_that_the_server_cuts_without_a_word_is_not_scored(asked):
    script = {**knows(60), "window": 600, "overflow": "cut"}
    done = asked("--window", "150", *SLIDING, "--json", script=script, deployment={"tokenizer": "estimate"})
    found = done.json["asked"]
    assert found["full"]["unscored"] == 50
    assert found["too_long"] == found["failed"] == 0
    assert (found["counter"], found["strategies_counter"]) == ("estimate by script", "words")


V32 = {"tokenizer": "deepseek-v3.2"}
V4_NAME = "deepseek_v4 + V4 encoder, thinking, effort high"
V32_NAME = "deepseek_v4 + V3.2 encoder"


def test_a_server_is_not_accused_by_the_count_of_another_deployment(tmp_path):
    server = SimulatedServer(**knows(12)).start()
    project = Project(tmp_path)
    project.write("talks.jsonl", json.dumps(conversation(12)))
    project.deployment("model", server.base_url, window=32_000, **V32)
    project.deployment("other", server.base_url, window=32_000, tokenizer="deepseek-v4")
    test = ("context", "test", "talks.jsonl", "--ask", "model", *HYSTERESIS, "--questions", "5", "--json")
    try:
        by_window = project.run(*test, "--window", "900").json
        by_other = project.run(*test, "--window", "900", "--deployment", "other").json
        by_name = project.run(*test, "--window", "900", "--counter", "deepseek").json
        by_own = project.run(*test, "--window", "900", "--deployment", "model").json
    finally:
        server.stop()
    # V4's preamble makes the prompt of a single question more than twice as long as the server bills it.
    for done in (by_window, by_other, by_name, by_own):
        assert done["asked"]["none"]["unscored"] == done["asked"]["full"]["unscored"] == 0
        assert done["asked"]["counter"] == V32_NAME
        assert not any(cell["unscored"] for cell in done["asked"]["cells"])
    for done in (by_window, by_own):
        assert (done["counter"], done["asked"]["strategies_counter"]) == (V32_NAME, V32_NAME)
        assert not any("counted by" in remark["en"] for remark in done["asked"]["remarks"])
    for done in (by_other, by_name):
        assert (done["counter"], done["asked"]["strategies_counter"]) == (V4_NAME, V4_NAME)
        remark = done["asked"]["remarks"][0]
        assert remark["en"].startswith(f"The strategies counted by {V4_NAME}, but model is counted for by {V32_NAME}:")
        assert remark["zh"].startswith(f"各策略按 {V4_NAME} 计数，而 model 的计数器是 {V32_NAME}：")


def test_a_preamble_that_the_server_leaves_out_is_no_cut(asked):
    done = asked("--window", "900", *HYSTERESIS, "--json", turns=12, deployment={"tokenizer": "deepseek-v4"})
    assert done.json["asked"]["none"]["unscored"] == 0


def test_what_is_not_scored_adds_up_by_arm(asked, monkeypatch):
    script = {**knows(60), "window": 600, "kind": "vllm"}
    arguments = ("--window", "150", *SLIDING, "--questions", "20")
    found = asked(*arguments, "--json", script=script, deployment={"server": "vllm"}).json["asked"]
    (told,) = found["unscored"]
    assert told["count"] == 20 + 20 + 4 == found["too_long"]
    said = "Not scored (with all: 20, never said: 4, with all again: 20): the prompt is too long for the deployment."
    assert told["words"]["en"] == said
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    out = asked(*arguments, script=script, deployment={"server": "vllm"}).stdout
    assert re.search(r"^with all +0 +0 +0 +0 +20 +—$", out, re.MULTILINE)
    assert re.search(r"^with all again +0 +0 +0 +0 +20 +—$", out, re.MULTILINE)
    assert re.search(r"^without any +0 +0 +20 +0 +0 +—$", out, re.MULTILINE)
    assert re.search(r"^answers here .* not scored +never said\nsliding-window .* 0 +100%$", out, re.MULTILINE)
    assert said in " ".join(out.split())
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    out = asked(*arguments, script=script, deployment={"server": "vllm"}).stdout
    assert "此处的回答" in out
    assert "未计分（完整对话：20，未说过的：4，完整对话（重复）：20）：提示词超出该部署的窗口。" in out


def test_tools_that_the_server_leaves_out_are_no_cut(asked):
    fields = {f"field_{number}": {"type": "string", "description": "what is looked up " * 9} for number in range(40)}
    parameters = {"type": "object", "properties": fields}
    tool = {"type": "function", "function": {"name": "look_up", "parameters": parameters}}
    done = asked(
        "--window", "9000", *HYSTERESIS, "--questions", "2", "--json",
        talks=[{**conversation(9), "tools": [tool]}], turns=9, deployment={"tokenizer": "deepseek-v3.2"},
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    assert done.json["asked"]["unscored"] == []
    assert done.json["asked"]["full"]["unscored"] == 0


def test_answers_that_were_cut_off_or_call_a_tool_are_not_scored(asked):
    answers = [{"content": "The code is", "finish_reason": "length"}]
    done = asked("--window", "9000", *HYSTERESIS, "--json", "--questions", "9", script={"answers": answers})
    assert done.json["asked"]["full"]["unscored"] == 9
    answers = [{"content": "", "tool_calls": [{"name": "look_up", "arguments": {}}]}]
    done = asked("--window", "9000", *HYSTERESIS, "--json", "--questions", "9", script={"answers": answers})
    assert done.json["asked"]["full"]["unscored"] == 9
    assert done.json["asked"]["cells"][0]["unscored"][0]["why"]["en"] == "it called a tool instead of answering"


def test_a_function_that_raises_is_not_scored(asked, tmp_path):
    (tmp_path / "mine_that_raises.py").write_text("def shorten(messages, budget):\n    raise ValueError('no')\n")
    done = asked("--window", "100", "--function", "mine_that_raises:shorten", *HYSTERESIS, "--json")
    own, ours = sorted(done.json["asked"]["cells"], key=lambda cell: cell["strategy"] == "hysteresis")
    assert done.exit_code == 1
    assert own["strategy"].endswith("mine_that_raises:shorten")
    assert own["n"] == 0
    assert own["unscored"][0]["why"]["en"] == "the strategy raised ValueError"
    assert ours["n"] == 50


def test_calls_that_fail_are_told_and_not_scored(asked):
    script = {**knows(20), "faults": [{"name": "status_503", "probability": 0.3}]}
    done = asked(
        "--window", "9000", *HYSTERESIS, "--json", "--questions", "20",
        script=script, turns=20, deployment={"max_retries": 0},
    )  # fmt: skip
    assert done.exit_code == 0, done.stderr
    found = done.json["asked"]
    assert 0 < found["failed"] < found["calls"]
    assert found["full"]["unscored"] > 0
    assert found["full"]["correct"] == 1.0
    assert any("calls have failed" in remark["en"] for remark in found["remarks"])


def test_dry_run_sends_nothing(asked):
    done = asked("--window", "300", *HYSTERESIS, "--questions", "30", "--dry-run")
    assert done.exit_code == 0
    assert "30 questions about what was said and 6 about what was not" in done.stdout
    assert not asked.server.requests
    plan = asked("--window", "300", *HYSTERESIS, "--questions", "30", "--dry-run", "--json").json
    assert plan["calls"] == 36 + 30 + 30 + 36
    assert (plan["deployment"], plan["windows"], plan["strategies"]) == ("model", [300], ["hysteresis"])


def test_a_deployment_that_is_gone_ends_with_how_far_it_came(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    project = Project(tmp_path)
    project.deployment("model", f"http://127.0.0.1:{port}/v1", max_retries=0)
    project.write("talks.jsonl", json.dumps(conversation(10)))
    done = project.run("context", "test", "talks.jsonl", "--ask", "model", *WORDS, "--window", "60", *HYSTERESIS)
    assert done.exit_code == 4
    assert "Deployment `model` cannot be asked" in done.stderr
    assert " of 44 calls were made, 0 were answered." in done.stderr
    assert "--resume" not in done.stderr


def test_a_wrong_key_ends_with_what_the_server_says(asked, monkeypatch):
    monkeypatch.setenv("MODEL_KEY", "not-the-one")
    script = {**knows(60), "api_key": "another"}
    done = asked("--window", "300", *HYSTERESIS, script=script, deployment={"api_key_env": "MODEL_KEY"})
    assert done.exit_code == 4
    assert "401" in done.stderr
    assert "not-the-one" not in done.stderr
    monkeypatch.delenv("MODEL_KEY")
    done = asked("--window", "300", script=script, deployment={"api_key_env": "MODEL_KEY"})
    assert done.exit_code == 2
    assert "MODEL_KEY" in done.stderr


def test_when_no_call_is_answered_it_is_no_result(asked):
    script = {**knows(10), "faults": ["status_503"]}
    done = asked(
        "--window", "9000", "--questions", "5", *HYSTERESIS,
        script=script, turns=10, deployment={"max_retries": 0},
    )  # fmt: skip
    assert done.exit_code == 4
    assert "16 of 16 calls were made, 0 were answered." in done.stderr


def test_what_cannot_be_asked_is_said(asked, tmp_path):
    talk = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}]}
    done = asked("--window", "300", *HYSTERESIS, "--no-plant", talks=[talk])
    assert done.exit_code == 2
    assert "There is nothing to ask `model`" in done.stderr
    assert not asked.server.requests
    empty = {"messages": [{"role": "assistant", "content": "hello"}]}
    done = asked("--window", "300", *HYSTERESIS, talks=[empty])
    assert done.exit_code == 2
    assert "never called" in done.stdout
    project = Project(tmp_path)
    for arguments in (("--questions", "5"), ("--dry-run",)):
        done = project.run("context", "test", *arguments)
        assert done.exit_code == 2
        assert "go with --ask" in done.stderr
    done = asked.project.run("context", "test", "talks.jsonl", "--ask", "modle")
    assert done.exit_code == 2
    assert "model" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.usefixtures("interruptible")
def test_interrupted_it_says_how_far_it_came(pair_of, tmp_path):
    pair = pair_of(source={**knows(30), "latency": {"first_ms": 25}, "noise": {}})
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=2, window=9000)
    pair.project.write("talks.jsonl", json.dumps(conversation(30)))
    pair.source.becomes(12, faults=["stall_at_head"])  # in the middle, however late the signal comes
    command = pair.project.command("context", "test", "talks.jsonl", "--ask", "gpu", *WORDS, "--window", "60")
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        pair.source.requests.wait_for_chats(12)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    assert "Interrupted after" in stderr
    assert "calls on gpu" in stderr
    assert "--resume" not in stderr
    assert stdout == ""

"""`tokenizer = "server"`: prompts of the commands on contexts are counted by the deployment's own server."""

from __future__ import annotations

import json

import pytest

from promptreg.testing import Project, SimulatedServer

TALK = {
    "id": "talk",
    "messages": [
        {"role": "system", "content": "请简短 😀"},
        *(
            {"role": role, "content": f"{number} 号订单的内容 and some words of English.\r\n"}
            for number in range(12)
            for role in ("user", "assistant")
        ),
        {"role": "user", "content": "And now? 现在呢？"},
    ],
}
TOOL = {"type": "function", "function": {"name": "look_up", "description": "Looks it up", "parameters": {}}}
EFFORT = {"reasoning_effort": "low", "extra_body": {"chat_template_kwargs": {"thinking": True}}}


@pytest.fixture
def served(tmp_path):
    """A function that starts a server of a kind and writes a project whose deployment counts on it."""
    servers = []

    def start(kind="vllm", **fields):
        servers.append(SimulatedServer(kind=kind).start())
        project = Project(tmp_path)
        settings = {"server": kind, "window": 600, "tokenizer": "server", "request": {"max_tokens": 100}, **fields}
        project.deployment("here", servers[-1].base_url, role="source", **settings)
        project.deployment("there", servers[-1].base_url, role="target", **{**settings, "window": 300})
        project.write("talk.json", json.dumps({**TALK, "tools": [TOOL]}, ensure_ascii=False))
        start.server = servers[-1]
        return project

    yield start
    for server in servers:
        server.stop()


def counts(server):
    """Bodies of the requests that asked for a count."""
    return [json.loads(received.body) for received in server.requests if "token" in received.path]


def test_fit_counts_on_the_server_with_tools_template_options_and_effort(served):
    project = served(request={"max_tokens": 100, **EFFORT})
    done = project.run("context", "fit", "talk.json", "--deployment", "there", "--json")
    assert done.exit_code == 0, done.stderr
    assert "/tokenize" in done.json["counter"]
    assert done.json["total"] <= done.json["budget"]
    asked = counts(served.server)
    assert asked
    assert all(body["tools"] == [TOOL] for body in asked)
    # vLLM has no `reasoning_effort` there: it goes through the template's options
    assert all(body["chat_template_kwargs"] == {"thinking": True, "reasoning_effort": "low"} for body in asked)
    assert not any("completions" in received.path for received in served.server.requests)


def test_sglang_is_told_the_effort_by_its_own_name(served):
    project = served("sglang", request={"max_tokens": 100, **EFFORT})
    assert project.run("context", "fit", "talk.json", "--deployment", "there").exit_code == 0
    assert all(body["reasoning_effort"] == "low" for body in counts(served.server))


def test_mindie_counts_texts_that_are_rendered_here(served):
    project = served("mindie", tokenizer="server:v3.1")
    done = project.run("context", "fit", "talk.json", "--deployment", "there", "--window", "420", "--json")
    assert done.exit_code == 0, done.stderr
    assert "V3.1" in done.json["counter"]
    assert all(body["inputs"].startswith("<｜begin▁of▁sentence｜>") for body in counts(served.server))


def test_a_format_that_is_not_known_is_asked_for(served):
    done = served("mindie").run("context", "fit", "talk.json", "--deployment", "there")
    assert done.exit_code == 2
    assert "server:chat_template.jinja" in done.stderr
    done = served("mindie", tokenizer="server:v9").run("context", "fit", "talk.json", "--deployment", "there")
    assert done.exit_code == 2
    assert "v9" in done.stderr


@pytest.mark.parametrize("extra", [(), ("--encoder", "v3.1")])
def test_an_option_makes_the_server_of_a_deployment_count(served, extra):
    project = served(tokenizer="estimate")
    done = project.run("context", "fit", "talk.json", "--deployment", "there", "--counter", "server", *extra, "--json")
    assert done.exit_code == 0, done.stderr
    assert done.json["counter"].endswith(" /tokenize")
    assert counts(served.server)
    alone = project.run("context", "fit", "talk.json", "--window", "300", "--counter", "server")
    assert alone.exit_code == 2
    assert "`server` counts on the server of a deployment, and none is named" in alone.stderr
    assert "--deployment NAME" in alone.stderr


def test_window_counts_both_sides_on_the_server(served):
    project = served()
    done = project.run("context", "window", "talk.json", "--strategy", "hysteresis", "--json")
    assert done.exit_code == 1, done.stderr
    for side in ("source", "target"):
        assert "/tokenize" in done.json[side]["counter"]
    assert counts(served.server)


def test_test_counts_on_the_server_of_the_target(served):
    project = served()
    arguments = ("context", "test", "talk.json", "--no-plant", "--strategy", "hysteresis", "--json")
    done = project.run(*arguments)
    assert done.exit_code == 0, done.stderr
    assert "/tokenize" in done.json["counter"]
    assert [column["window"] for column in done.json["windows"]] == [600, 300]
    before = len(counts(served.server))
    assert before > 0
    assert "/tokenize" in project.run(*arguments, "--window", "250", "--deployment", "there").json["counter"]


def test_a_response_format_counts_in_the_fixed_part(served):
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"description": "说明 " * 30}}}
    plain = served().run("context", "window", "talk.json", "--strategy", "hysteresis", "--json").json
    project = served(request={"max_tokens": 100, "response_format": form})
    done = project.run("context", "window", "talk.json", "--strategy", "hysteresis", "--json").json
    tokens = done["fixed"]["response_format"]
    assert tokens > 20
    assert "response_format" not in plain["fixed"]
    assert done["target"]["budget"] == plain["target"]["budget"] - tokens
    assert any(f"{tokens} tokens for the response_format" in remark["en"] for remark in done["remarks"])
    fitted = project.run("context", "fit", "talk.json", "--deployment", "there")
    assert "for the response_format" in fitted.stdout or "留给 response_format" in fitted.stdout
    shown = project.run("context", "window", "talk.json", "--strategy", "hysteresis")
    assert "response_format" in shown.stdout


@pytest.mark.parametrize("command", ["fit", "window", "test"])
def test_a_server_that_cannot_be_asked_ends_the_command(served, command):
    project = served()
    served.server.stop()
    where = ("--deployment", "there") if command == "fit" else ()
    done = project.run("context", command, "talk.json", *where)
    assert done.exit_code == 4
    assert "does not count tokens at /tokenize" in done.stderr
    assert "Traceback" not in done.stderr

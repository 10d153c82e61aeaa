"""Against a real llama.cpp server with n_ctx 2048: refused whole, accepted when fitted, counted as billed."""

from __future__ import annotations

import json
import urllib.error
import urllib.request

import pytest

from promptreg.demo import model
from promptreg.demo.llama import LlamaServer
from promptreg.demo.llama_child import MODEL_NAME
from promptreg.deployment.overflow import read_overflow
from promptreg.errors import UsageError
from promptreg.testing import Project

WINDOW = 2048
RESERVE = 32
TURNS = 26


def conversation():
    """English, Chinese, emoji, CRLF and an identifier at the beginning; half as much again as the window."""
    messages = [{"role": "system", "content": "You are brief.\r\n只说重点。"}]
    for number in range(TURNS):
        asked = f"Order {number}: the parcel number is KX4-{88210 + number}Q. 第 {number} 单包裹何时送到？ 📦👍🏽"
        answer = f'It comes on day {number}, between 9:00 and 12:30.\n\n预计第 {number} 天送达。 {{"ok": true}}'
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
    facts = [
        {
            "value": f"KX4-{88210 + number}Q",
            "question": f"What is the parcel number of order {number}?",
            "message": place,
        }
        for number, place in ((0, 1), (TURNS - 1, 2 * TURNS - 1))
    ]
    return {"id": "parcels", "messages": [*messages, {"role": "user", "content": "And now? 现在呢？"}], "facts": facts}


def post(server, messages):
    body = {"model": MODEL_NAME, "max_tokens": 1, "temperature": 0, "messages": messages}
    request = urllib.request.Request(f"{server.base_url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=300) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The server, and a project whose deployment is counted by it through its own chat template."""
    pytest.importorskip("xllamacpp", reason="the extra `local` is not installed")
    try:
        model.find_model()
    except UsageError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("llama")
    with LlamaServer(cache="f16", window=WINDOW, slots=1, log=folder / "llama.log") as server:
        project = Project(folder)
        with urllib.request.urlopen(f"{server.base_url.removesuffix('/v1')}/props", timeout=60) as response:
            project.write("chat_template.jinja", json.load(response)["chat_template"])
        project.deployment(
            "local", server.base_url, model=MODEL_NAME, server="local", window=WINDOW, concurrency=1,
            tokenizer="server:chat_template.jinja", request={"max_tokens": RESERVE},
        )  # fmt: skip
        project.write("talk.json", json.dumps(conversation(), ensure_ascii=False))
        yield server, project


@pytest.mark.model
def test_the_whole_conversation_is_refused_and_the_refusal_is_understood(local):
    server, _ = local
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server, conversation()["messages"])
    overflow = read_overflow(refused.value.code, refused.value.read(), "local")
    assert (overflow.what, overflow.window) == ("prompt", WINDOW)
    assert overflow.prompt > WINDOW


@pytest.mark.model
def test_what_fit_leaves_is_accepted_and_billed_as_counted(local):
    server, project = local
    done = project.run("context", "fit", "talk.json", "--deployment", "local", "--strategy", "hysteresis", "--json")
    assert done.exit_code == 0, done.stderr
    fitted = done.json
    assert "/tokenize" in fitted["counter"]
    assert "chat_template.jinja" in fitted["counter"]
    assert WINDOW // 3 < fitted["total"] <= fitted["budget"] < WINDOW
    answered = post(server, fitted["messages"])
    assert answered["usage"]["prompt_tokens"] == fitted["total"]


@pytest.mark.model
def test_the_window_report_counts_the_prompt_that_the_server_refuses(local):
    server, project = local
    done = project.run(
        "context",
        "window",
        "talk.json",
        "--from-window",
        "32768",
        "--to",
        "local",
        "--strategy",
        "hysteresis",
        "--json",
    )
    assert done.exit_code == 1, done.stderr
    (session,) = done.json["sessions"]
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server, conversation()["messages"])
    assert read_overflow(refused.value.code, refused.value.read(), "local").prompt == session["longest_target"]
    assert done.json["endings"][-1]["fate"] == "refused"


@pytest.mark.model
def test_questions_after_the_whole_conversation_are_not_scored_and_those_after_a_fitted_one_are(local):
    _, project = local
    done = project.run(
        "context",
        "test",
        "talk.json",
        "--window",
        "512",
        "--reserve",
        str(RESERVE),
        "--counter",
        "deepseek-v3",
        "--strategy",
        "hysteresis",
        "--ask",
        "local",
        "--questions",
        "1",
        "--json",
    )
    assert done.exit_code == 0, done.stderr
    asked = done.json["asked"]
    assert (asked["questions"], asked["never_said"]) == (1, 1)
    assert asked["too_long"] == 3  # twice the question after everything, and the one about what was never said
    assert asked["failed"] == 0
    assert asked["full"]["unscored"] == 1
    (cell,) = asked["cells"]
    assert cell["n"] == 0
    assert cell["grades"]["unscored"] + sum(cell["grades"][grade] for grade in ("correct", "wrong", "abstained")) == 1
    assert asked["answered"] == asked["calls"] - 3

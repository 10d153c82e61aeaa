"""`--summariser` of `context fit` and `context test`: a deployment writes the summaries."""

from __future__ import annotations

import json
import re
import socket
from dataclasses import replace

import pytest

from promptreg.testing import Project, SimulatedServer

FIT = ("context", "fit", "talk.json", "--window", "900", "--reserve", "100", "--strategy", "summary-on-cut")
TEST = (
    "context",
    "test",
    "talk.json",
    "--window",
    "900",
    "--reserve",
    "100",
    "--strategy",
    "summary-on-cut",
    "--no-plant",
)
KEPT = "The code is KX4-88210Q; the deposit is 4,711 euros. 定金 4711 欧元 😀"


def talk(turns=30, text="We spoke about the garden of the house and the colour of its door, at length and in vain. "):
    messages = [{"role": "system", "content": "be brief"}]
    messages += [{"role": "user", "content": "The code is KX4-88210Q, the deposit 4,711 euros."}]
    messages += [{"role": "assistant", "content": "noted"}]
    for _ in range(turns):
        messages += [{"role": "user", "content": text * 2}, {"role": "assistant", "content": text}]
    return {"id": "talk", "messages": [*messages, {"role": "user", "content": "And now?"}]}


@pytest.fixture
def written(tmp_path):
    """A function that starts a server, writes a project and a conversation, and runs a command."""
    servers = []

    def start(arguments, talks=None, deployment=None, **script):
        servers.append(SimulatedServer(**{"answers": [KEPT], **script}).start())
        project = start.project = Project(tmp_path)
        start.server = servers[-1]
        project.deployment(
            "writer", servers[-1].base_url, **{"window": 1200, "tokenizer": "estimate", **(deployment or {})}
        )
        project.write("talk.json", json.dumps(talks or talk(), ensure_ascii=False))
        return project.run(*arguments, "--counter", "estimate", "--summariser", "writer")

    yield start
    for server in servers:
        server.stop()


def bodies(server):
    return [json.loads(received.body) for received in server.requests if received.path.endswith("completions")]


def test_fit_puts_in_what_the_deployment_writes(written):
    done = written([*FIT, "--json"])
    assert done.exit_code == 0, done.stderr
    result = done.json
    assert "summary-on-cut(writer)" in result["ledger"]["strategy"]
    summary = result["messages"][1]
    assert KEPT in summary["content"]
    assert result["total"] <= result["budget"]
    use = result["summariser"]
    sent = bodies(written.server)
    assert use["calls"] == len(sent) >= 2  # its window of 1200 does not hold the history: parts, then their summaries
    assert (use["deployment"], use["failed"], use["problem"]) == ("writer", 0, None)
    assert use["break_even_calls"] == pytest.approx(
        (use["prompt_tokens"] + use["answer_tokens"]) / (result["ledger"]["before"] - result["total"])
    )
    for body in sent:
        assert body["temperature"] == 0
        assert body["max_tokens"] > 0
        assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_fit_says_what_that_took_in_both_languages(written, monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    done = written([*FIT, "-q"])
    assert "Summaries by writer: " in done.stdout
    assert "Paid back after" in done.stdout
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    done = written([*FIT, "-q"])
    assert "摘要由 writer 撰写：" in done.stdout
    assert "即可抵回" in done.stdout


def test_a_summary_that_lost_the_facts_is_refused_and_an_extract_stands_in_its_place(written):
    done = written([*FIT, "--json"], answers=["Nothing of note 😀"])
    assert done.exit_code == 0
    notes = [note["kind"] for note in done.json["ledger"]["notes"]]
    assert "summary_refused" in notes
    assert "KX4-88210Q" in done.json["messages"][1]["content"]
    assert "Nothing of note" not in done.json["messages"][1]["content"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ({"faults": ["status_503"]}, "503"),
        ({"answers": [{"content": ""}]}, "empty"),
        ({"answers": [{"content": "half a sen", "finish_reason": "length"}]}, "cut off"),
    ],
)
def test_a_failing_deployment_leaves_the_extract_and_the_reason(written, script, said):
    done = written([*FIT, "--json"], deployment={"max_retries": 0}, **script)
    assert done.exit_code == 0, done.stderr
    assert "KX4-88210Q" in done.json["messages"][1]["content"]
    assert done.json["summariser"]["failed"] == 1
    assert said in done.json["summariser"]["problem"]
    assert done.json["summariser"]["break_even_calls"] is None or done.json["summariser"]["prompt_tokens"] > 0


@pytest.fixture
def dead(tmp_path, monkeypatch):
    """A project whose writer listens nowhere, and a function that runs a command in English and in Chinese."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)

    def told(arguments, **deployment):
        project = Project(tmp_path)
        project.deployment("writer", f"http://127.0.0.1:{port}/v1", max_retries=0, window=1200, **deployment)
        project.write("talk.json", json.dumps(talk(60), ensure_ascii=False))
        found = []
        for language in ("en_US", "zh_CN"):
            monkeypatch.setenv("LANG", f"{language}.UTF-8")
            done = project.run(*arguments, "--counter", "estimate", "--summariser", "writer")
            assert done.exit_code == 0, done.stderr
            found.append(" ".join(done.stdout.split()))
        return found

    return told


@pytest.mark.parametrize("deployment", [{"tokenizer": "estimate"}, {"tokenizer": "server", "server": "vllm"}])
def test_a_deployment_that_is_gone_is_told_in_words_and_no_summary_is_claimed(dead, deployment):
    english, chinese = dead([*FIT, "-q"], **deployment)
    assert "by summary-on-cut(writer), with an extract in place of its summary: " in english
    assert "refused the connection" in english
    assert "经 summary-on-cut(writer)（以抽取式摘要代替其摘要），" in chinese
    assert "Error" not in english + chinese

    english, chinese = dead(TEST, **deployment)
    count = re.search(r"summary-on-cut: (\d+) summaries, for which the model was called", english)[1]
    assert f"; {count} are extracts, since {count} failed." in english
    assert "3 failed, extracts stand in their place (" in english
    assert "refused the connection" in english
    assert f"{count} 次改用抽取式摘要（{count} 次出错）。" in chinese
    assert "Error" not in english + chinese


def test_a_summary_that_was_written_is_no_extract(written):
    done = written([*FIT, "-q"])
    assert "extract" not in done.stdout
    assert "抽取" not in done.stdout


def test_of_an_answer_that_was_cut_off_whole_sentences_count(written):
    answers = [{"content": f"{KEPT}\nAnd the next sent", "finish_reason": "length"}]
    done = written([*FIT, "--json"], answers=answers)
    assert KEPT in done.json["messages"][1]["content"]
    assert "next sent" not in done.json["messages"][1]["content"]


def test_test_counts_calls_tokens_and_break_even_of_each_strategy(written):
    done = written([*TEST, "--strategy", "hysteresis", "--json"])
    assert done.exit_code == 0, done.stderr
    results = {one["strategy"]: one["summaries"] for one in done.json["windows"][0]["strategies"]}
    assert results["hysteresis"] is None
    cost = results["summary-on-cut"]
    assert cost["model_calls"] >= cost["calls"] > 0
    assert cost["input_tokens"] > 0
    assert cost["break_even_calls"] > 0
    assert (cost["refused"], cost["failed"]) == (0, 0)
    use = done.json["summariser"]
    assert use["calls"] == len(bodies(written.server))
    requests = [json.dumps(body, sort_keys=True) for body in bodies(written.server)]
    assert len(set(requests)) == len(requests)  # an equal request is sent once


def test_test_gives_up_on_a_deployment_that_fails_again_and_again(written):
    done = written([*TEST, "--json"], talk(90), deployment={"max_retries": 0}, faults=["status_503"])
    assert done.exit_code == 0, done.stderr
    assert done.json["summariser"]["calls"] == 3
    (result,) = done.json["windows"][0]["strategies"]
    assert result["summaries"]["failed"] > 3
    assert result["violated"] == []
    told = written.project.run(*TEST, "--counter", "estimate", "--summariser", "writer").stdout
    assert "3 failed, extracts stand in their place" in told


def test_questions_are_asked_after_summaries_of_a_model(written):
    facts = {**talk(), "facts": [{"value": "KX4-88210Q", "question": "What is the code?", "message": 1}]}
    done = written([*TEST, "--ask", "writer", "--json"], talks=facts)
    assert done.exit_code == 0, done.stderr
    assert done.json["asked"]["questions"] == 1
    plan = written.project.run(*TEST, "--counter", "estimate", "--summariser", "writer", "--ask", "writer", "--dry-run")
    assert plan.exit_code == 0
    assert "1 question about" in plan.stdout or "1 个问题" in plan.stdout


def test_what_is_wrong_is_said_before_anything_is_sent(written):
    done = written(["context", "fit", "talk.json", "--window", "900"])
    assert done.exit_code == 2
    assert "No strategy here writes summaries" in done.stderr
    done = written(FIT, deployment={"api_key_env": "NO_SUCH_KEY_HERE"})
    assert done.exit_code == 2
    assert "NO_SUCH_KEY_HERE" in done.stderr
    done = written.project.run(*FIT, "--summariser", "wrter")
    assert done.exit_code == 2
    assert not written.server.requests


def test_the_window_of_the_summariser_must_be_known(tmp_path):
    project = Project(tmp_path)
    project.deployment("writer", "http://127.0.0.1:1/v1")
    project.write("talk.json", json.dumps(talk()))
    done = project.run(*FIT, "--summariser", "writer")
    assert done.exit_code == 2
    assert "window of the summariser `writer` is not known" in done.stderr


def test_a_violation_is_shown_as_it_happened_without_hundreds_of_calls(written, monkeypatch):
    from promptreg.context.strategies.summary import SummaryOnCut

    right = SummaryOnCut.apply

    def forgets_the_ledger(self, draft):
        done = yield from right(self, draft)
        return replace(done, entries={})

    monkeypatch.setattr(SummaryOnCut, "apply", forgets_the_ledger)
    done = written([*TEST, "--json"])
    assert done.exit_code == 1, done.stderr
    (found,) = [one for one in done.json["violations"] if one["invariant"] == "I8"]
    assert found["shrunken"] is False
    assert len(bodies(written.server)) < 40

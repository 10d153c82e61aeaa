"""`context:` of a case, from the calls that servers receive to the verdicts, the store and the report."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from promptreg.deployment.json_text import dump_json
from promptreg.deployment.request import request_body

ZH = "退货期限是七天，超过之后不再受理，运费由买家承担。"
EN = "Returns are accepted within seven days, the buyer pays for shipping."
LAST = {
    "zh": "退货期限是几天？",
    "en": "How many days do I have to return a book?",
    "agent": "Next 9?",
    "short": "电话？",
}


def talk(turns, text, last):
    said = [{"role": role, "content": f"{turn} {text}"} for turn in range(turns) for role in ("user", "assistant")]
    return [{"role": "system", "content": f"Only orders. {last}"}, *said, {"role": "user", "content": last}]


def agent(rounds=10):
    messages = [{"role": "system", "content": "You run tools."}, {"role": "user", "content": "Begin."}]
    for number in range(rounds):
        ids = [f"c{number}a", f"c{number}b"]
        calls = [{"id": one, "type": "function", "function": {"name": "order", "arguments": "{}"}} for one in ids]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": one, "content": f"<b>{EN}</b>" * 6} for one in ids]
        messages += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": f"Next {number}?"}]
    return messages


CASES = {
    "zh": {"messages": talk(60, ZH, LAST["zh"])},
    "en": {"messages": talk(60, EN, LAST["en"])},
    "agent": {"messages": agent(), "context": "prune-results:keep=1+sliding-window"},
    "short": {"messages": talk(1, ZH, LAST["short"])},
}
HUGE = {"messages": [{"role": "user", "content": ZH * 400}]}


@pytest.fixture
def contexts(pair_of):
    """Two deployments with other windows, and a suite of conversations that fit one of them."""
    pair = pair_of(target={"seed": 2})
    deploy(pair)
    write(pair)
    pair.project.section("plan", record_passes=4, compare_passes=3)
    return pair


def deploy(pair, source=32768, target=2048, **fields):
    """Windows of the two deployments, as the project has them; other fields for both."""
    common = {"model": "simulated", "tokenizer": "deepseek-v3.1", **fields}
    pair.project.deployment("gpu", pair.source.base_url, role="source", window=source, **common)
    pair.project.deployment("ascend", pair.target.base_url, role="target", window=target, **common)


def write(pair, cases=CASES, context="hysteresis", **defaults):
    defaults = {"request": {"max_tokens": 100}, "context": context, **defaults}
    suite = {"suite": "support", "defaults": defaults, "cases": [{"id": name, **keys} for name, keys in cases.items()]}
    pair.project.write("suites/support.yaml", json.dumps(suite, ensure_ascii=False, indent=1))


def sent(server):
    """By case, the lists of messages that a server was sent."""
    found = {}
    for chat in server.chats:
        last = chat["messages"][-1]["content"].rstrip(" \n.。")
        name = next((name for name, text in LAST.items() if text == last or text.rstrip("？?") == last), "other")
        found.setdefault(name, []).append(chat["messages"])
    return found


def cases_of(compared):
    return {case["case_id"]: case for case in compared["suites"][0]["cases"]}


def test_each_side_is_sent_what_its_own_window_takes(contexts):
    contexts.record()
    for name, messages in sent(contexts.source).items():
        assert messages == [CASES[name]["messages"]] * 4
    code, compared = contexts.compare()
    assert code in {0, 1, 3}
    cases, received = cases_of(compared), sent(contexts.target)
    for name in CASES:
        context = cases[name]["context"]
        (one,) = {json.dumps(messages) for messages in received[name]}
        assert len(received[name]) == 3
        assert context["source"]["dropped"] == []
        assert context["source"]["total"] == context["target"]["whole"]
        assert context["target"]["total"] <= context["target"]["budget"] == 2048 - 100 - 21
        kept = [m for place, m in enumerate(CASES[name]["messages"]) if place not in context["target"]["dropped"]]
        assert len(json.loads(one)) == len(kept)
        if not context["target"]["changed"]:
            assert json.loads(one) == kept
    assert cases["zh"]["context"]["target"]["dropped"]
    assert cases["zh"]["context"]["strategy"] == "hysteresis"
    assert cases["agent"]["context"]["target"]["changed"]
    assert cases["short"]["context"]["target"]["dropped"] == []
    assert "The target was sent a shortened conversation (" in cases["zh"]["sentence"]
    assert "目标部署收到的是缩短后的对话（" in cases["zh"]["sentence_zh"]
    assert "shortened" not in cases["short"]["sentence"]
    said = [line["sentence"] for line in compared["contexts"]]
    assert said[0] == "No conversation had to be shortened for `gpu`."
    assert said[1].startswith("3 of 4 cases were shortened for `ascend`: ")


def test_the_comparison_follows_its_schema(contexts):
    import jsonschema

    contexts.record()
    _, compared = contexts.compare()
    schema = contexts.run("schema", "comparison").json
    jsonschema.validate(compared, schema)


def test_terminal_and_report_show_what_was_lost_in_both_languages(contexts):
    contexts.project.write("promptreg.toml", 'language = "zh"\n' + (contexts.folder / "promptreg.toml").read_text())
    recorded = contexts.run("record")
    assert "没有对话需要为“gpu”缩短。" in recorded.stdout
    done = contexts.run("compare")
    assert "4 个用例中有 3 个为“ascend”缩短：" in done.stdout
    _, compared = contexts.compare()
    texts = "".join(contexts.report_payload(compared["run_id"]))
    assert '"strategy":"prune-results:keep=1+sliding-window"' in texts
    assert "an old tool result, replaced by a placeholder" in texts
    assert "旧的工具结果，以占位文字代替" in texts
    assert "<b>Returns" not in "".join(contexts.report_payload(compared["run_id"])[:1])


def test_the_ledger_is_stored_with_the_run(contexts):
    contexts.record()
    _, compared = contexts.compare()
    with contexts.store() as store:
        stored = {case.case_id: case.context for case in store.cases(compared["run_id"])}
    context = cases_of(compared)["zh"]["context"]["target"]
    ledger = stored["zh"]["ledger"]
    assert [entry["index"] for entry in ledger["entries"]] == context["dropped"]
    assert ledger["after"] == stored["zh"]["total"] == context["total"]
    assert stored["zh"]["counter"] == context["counter"]
    assert stored["zh"]["budget"] == context["budget"]


def test_runs_tells_what_a_run_was_sent(contexts):
    write(contexts, {**CASES, "huge": HUGE})
    contexts.record()
    _, compared = contexts.compare()
    told = contexts.run("runs", compared["run_id"]).stdout
    context = cases_of(compared)["zh"]["context"]["target"]
    dropped = f"{len(context['dropped'])} of {context['messages']} messages dropped (hysteresis)"
    assert f"shortened   support/zh: {context['total']} of {context['whole']} tokens, {dropped}" in told
    assert "shortened   support/huge: Nothing was sent: the conversation cannot be shortened enough." in told
    assert "support/short:" not in told
    stored = {case["case_id"]: case for case in contexts.run("runs", compared["run_id"], "--json").json["contexts"]}
    assert [entry["index"] for entry in stored["zh"]["ledger"]["entries"]] == context["dropped"]
    assert stored["huge"]["ledger"] is None


def test_what_cannot_be_shortened_enough_is_an_error_and_is_never_sent(contexts):
    write(contexts, {**CASES, "huge": HUGE})
    contexts.record()
    _, compared = contexts.compare()
    case = cases_of(compared)["huge"]
    assert case["verdict"] == "error"
    assert "cannot be shortened enough" in case["sentence"]
    assert "对话无法缩短到窗口之内" in case["sentence_zh"]
    assert str(case["context"]["target"]["budget"]) in case["sentence"]
    assert "other" not in sent(contexts.target)
    assert not case["faults"]
    assert all(cases_of(compared)[name]["verdict"] != "error" for name in CASES)


def test_causes_name_what_was_shortened_and_what_was_not_sent(contexts):
    write(contexts, {**CASES, "huge": HUGE})
    contexts.record()
    _, compared = contexts.compare()
    clusters = {cluster["cause"]: cluster for cluster in compared["suites"][0]["clusters"]}
    assert clusters["error:not_fitted"]["cases"] == ["huge"]
    assert clusters["error:not_fitted"]["title"] == "Not sent: the conversation cannot be shortened enough"
    moved = [name for name, case in cases_of(compared).items() if case["verdict"] in {"drift", "fail"}]
    assert moved
    assert set(clusters["context"]["cases"]) >= set(moved) - {"short"}
    assert "short" not in clusters["context"]["cases"]
    assert clusters["context"]["title_zh"] == "对话为目标部署缩短"
    assert clusters["context"]["also"]


def test_what_is_not_sent_is_told_once_however_often_a_run_is_resumed(contexts):
    write(contexts, {"short": CASES["short"], "huge": HUGE})
    contexts.record()
    _, compared = contexts.compare()
    before = len(contexts.target.chats)
    for _ in range(2):
        _, again = contexts.compare("--resume")
    assert again["run_id"] == compared["run_id"]
    assert len(contexts.target.chats) == before
    with contexts.store() as store:
        samples = [sample for sample in store.samples(compared["run_id"]) if sample.case_id == "huge"]
    assert [len(sample.attempts) for sample in samples] == [1, 1, 1]


def test_a_case_too_large_for_the_source_is_a_failed_call_of_the_recording(contexts):
    deploy(contexts, source=2048)
    write(contexts, {"short": CASES["short"], "huge": HUGE})
    done = contexts.run("record")
    assert done.exit_code == 4
    assert "4 of 8 calls got no answer" in done.stderr
    assert "cannot be shortened enough" in done.stderr
    assert set(sent(contexts.source)) == {"short"}
    deploy(contexts, source=2048, target=32768)
    _, compared = contexts.compare()
    case = cases_of(compared)["huge"]
    assert case["verdict"] == "new"
    assert "the source has no window for this case" in case["sentence"]
    assert set(sent(contexts.target)) == {"short"}


def test_another_strategy_leaves_a_recording_valid_where_the_source_is_sent_the_same(contexts):
    contexts.record()
    goldens = contexts.case_lines()
    write(contexts, context="oldest-first")
    _, compared = contexts.compare()
    assert {case["verdict"] for case in cases_of(compared).values()} & {"new"} == set()
    assert cases_of(compared)["zh"]["context"]["strategy"] == "oldest-first"
    assert contexts.run("record", "--top-up").exit_code == 2  # nothing to top up
    assert contexts.case_lines() == goldens


def test_a_context_changes_no_hash_where_all_fits(contexts):
    write(contexts, context="none")
    contexts.record("--select", "id:short or id:zh")
    without = {line["case_id"]: line["request_sha256"] for line in map(json.loads, contexts.case_lines().splitlines())}
    write(contexts)
    contexts.record("--select", "id:short or id:zh")
    lines = map(json.loads, contexts.case_lines().splitlines())
    assert {line["case_id"]: line["request_sha256"] for line in lines} == without


def test_a_smaller_window_of_the_source_makes_its_shortened_cases_new(contexts):
    contexts.record()
    deploy(contexts, source=1536)
    _, compared = contexts.compare()
    cases = cases_of(compared)
    assert cases["short"]["verdict"] != "new"
    assert cases["zh"]["verdict"] == "new"
    assert "the source would now be sent something else than was recorded" in cases["zh"]["sentence"]
    assert set(sent(contexts.target)) == {"short"}
    contexts.record("--top-up")
    _, compared = contexts.compare()
    case = cases_of(compared)["zh"]
    assert case["verdict"] != "new"
    assert case["context"]["source"]["dropped"]
    assert "the source a shortened conversation (" in case["sentence"]


def test_a_stored_run_is_judged_again_without_calls(contexts):
    contexts.record()
    _, compared = contexts.compare()
    before = len(contexts.target.requests), len(contexts.source.requests)
    _, again = contexts.compare("--run", compared["run_id"])
    assert {**again, "report": None} == {**compared, "report": None}
    assert (len(contexts.target.requests), len(contexts.source.requests)) == before
    deploy(contexts, target=4096)
    _, moved = contexts.compare("--run", compared["run_id"])
    assert cases_of(moved)["zh"]["verdict"] == "new"
    assert "the run did not send the target what it would be sent now" in cases_of(moved)["zh"]["sentence"]
    assert cases_of(moved)["short"]["verdict"] != "new"


def test_a_run_of_the_target_can_become_the_baseline_and_is_compared_by_what_it_was_sent(contexts):
    contexts.record()
    _, compared = contexts.compare()
    assert contexts.run("baseline", "promote", compared["run_id"], "--write").exit_code == 0
    _, back = contexts.compare("--from", "ascend", "--to", "gpu")
    cases = cases_of(back)
    assert "new" not in {case["verdict"] for case in cases.values()}
    assert cases["zh"]["context"]["source"]["dropped"] == cases_of(compared)["zh"]["context"]["target"]["dropped"]
    assert "The target was sent the whole one, the source a shortened conversation (" in cases["zh"]["sentence"]
    deploy(contexts, target=1536)
    _, moved = contexts.compare("--from", "ascend", "--to", "gpu")
    assert cases_of(moved)["zh"]["verdict"] == "new"


def test_a_dry_run_counts_the_shortened_prompts_and_no_calls_that_are_not_made(contexts):
    write(contexts, {**CASES, "huge": HUGE})
    contexts.record()
    whole = contexts.run("record", "--dry-run", "--json").json
    plan = contexts.run("compare", "--dry-run", "--json").json
    context = {name: case["context"]["target"] for name, case in cases_of(contexts.compare()[1]).items()}
    assert plan["calls"] == 3 * len(CASES)
    assert plan["estimated_prompt_tokens"] == 3 * sum(context[name]["total"] for name in CASES)
    assert whole["estimated_prompt_tokens"] > 2 * plan["estimated_prompt_tokens"]


def test_noise_varies_what_is_left_of_a_conversation(contexts):
    write(contexts, noise="null-perturbation")
    contexts.record("--passes", "8")
    _, compared = contexts.compare()
    received = sent(contexts.target)["zh"]
    bodies = {json.dumps(messages[:-1]) for messages in received}
    assert len(bodies) == 1
    assert len(received[0]) < len(CASES["zh"]["messages"])
    endings = {messages[-1]["content"] for messages in sent(contexts.source)["zh"]}
    assert endings == {LAST["zh"], LAST["zh"] + " ", LAST["zh"] + "\n"}
    assert "varied on purpose" in cases_of(compared)["zh"]["sentence"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_killed_run_goes_on_with_the_same_prompts(pair_of):
    pair = pair_of()
    pair.project.section("plan", record_passes=4, compare_passes=3)
    deploy(pair, concurrency=1)
    write(pair)
    pair.record()
    pair.target.becomes(6, faults=["stall_at_head"])  # in the middle, however late it is killed
    process = subprocess.Popen(pair.project.command("compare"), cwd=pair.folder, stderr=subprocess.DEVNULL)
    try:
        pair.target.requests.wait_for_chats(7)
        while pair.answered("compare") < 6:
            assert process.poll() is None
    finally:
        process.kill()
        process.wait(timeout=60)
    pair.target.becomes(0, faults=[])
    pair.target.requests.then.pop(0)()
    code, compared = pair.compare("--resume")
    assert code in {0, 1, 3}
    received = sent(pair.target)
    for messages in received.values():
        assert len({json.dumps(one) for one in messages}) == 1
    assert sum(map(len, received.values())) == 12 + 1  # the one that was in flight is sent again
    assert "error" not in {case["verdict"] for case in cases_of(compared).values()}


@pytest.mark.parametrize("client", ["wire", "openai"])
def test_both_transports_send_what_was_fitted_and_prove_it(contexts, client):
    deploy(contexts, client=client)
    contexts.record("--passes", "1")
    _, compared = contexts.compare("--passes", "1")
    assert not [case for case in cases_of(compared).values() if case["verdict"] == "error"]
    assert not [warning for warning in compared["warnings"] if "provable" in warning]
    assert all(case["context"]["target"]["provable"] for case in cases_of(compared).values())


def problems_of(pair, compared, case_id):
    """What the calls of a case are said to have failed with."""
    with pair.store() as store:
        samples = [sample for sample in store.samples(compared["run_id"]) if sample.case_id == case_id]
    return {sample.attempts[-1].failure.message for sample in samples}


@pytest.mark.parametrize("client", ["wire", "openai"])
def test_what_goes_out_otherwise_is_an_error_that_names_the_message(contexts, monkeypatch, client):
    contexts.record()
    deploy(contexts, client=client)

    def tampering(request, deployment):
        body = request_body(request, deployment)
        first, second, *rest = body["messages"]
        return {**body, "messages": [first, {**second, "content": "x"}, *rest]}

    monkeypatch.setattr("promptreg.workflow.engine.request_body", tampering)
    _, compared = contexts.compare()
    assert {case["verdict"] for case in cases_of(compared).values()} == {"error"}
    told = "What went out is not what the context returned: message 1 (user) is another one."
    assert problems_of(contexts, compared, "zh") == {told}


def test_what_a_transport_changes_in_the_very_bytes_is_found(contexts, monkeypatch):
    contexts.record()

    def tampering(body):
        return dump_json({**body, "messages": body["messages"][:-1]} if len(body["messages"]) > 4 else body)

    monkeypatch.setattr("promptreg.deployment.transports.wire.dump_json", tampering)
    _, compared = contexts.compare()
    cases = cases_of(compared)
    assert {name for name, case in cases.items() if case["verdict"] == "error"} == {"zh", "en", "agent"}
    left = len(CASES["en"]["messages"]) - len(cases["en"]["context"]["target"]["dropped"])
    told = f"What went out is not what the context returned: {left - 1} messages went out, not {left}."
    assert problems_of(contexts, compared, "en") == {told}
    assert not any(case["faults"] for case in cases.values() if case["verdict"] == "error")


def test_a_function_of_ones_own_gets_the_shortened_messages_and_nothing_is_proven(contexts):
    contexts.record()
    contexts.project.write(
        "own_app.py",
        "SEEN = []\ndef reply(messages):\n    SEEN.append(len(messages))\n    return f'{len(messages)} 条'\n",
    )
    config = (contexts.folder / "promptreg.toml").read_text(encoding="utf-8")
    own = '\n[deployments.own]\ncall = "own_app:reply"\nwindow = 2048\ntokenizer = "deepseek-v3.1"\n'
    contexts.project.write("promptreg.toml", config + own)
    _, compared = contexts.compare("--to", "own")
    case = cases_of(compared)["zh"]
    assert not case["context"]["target"]["provable"]
    assert any("is not provable" in warning for warning in compared["warnings"])
    with contexts.store() as store:
        bodies = {sample.attempts[-1].body for sample in store.samples(compared["run_id"]) if sample.case_id == "zh"}
    left = len(CASES["zh"]["messages"]) - len(case["context"]["target"]["dropped"])
    assert all(f"{left} 条".encode() in body for body in bodies)


def test_a_server_that_cuts_in_silence_is_named(pair_of):
    pair = pair_of(target={"seed": 2, "window": 700, "overflow": "cut"})
    deploy(pair)
    write(pair)
    pair.project.section("plan", record_passes=2, compare_passes=2)
    pair.record()
    _, compared = pair.compare()
    (warning,) = [text for text in compared["warnings"] if "cut about" in text]
    assert warning.startswith("Target: support/")
    assert "Look for automatic truncation on the server." in warning


def test_without_a_window_nothing_is_sent(contexts):
    contexts.project.deployment("gpu", contexts.source.base_url, role="source")
    done = contexts.run("record")
    assert done.exit_code == 2
    assert "the window of deployment `gpu` is not known" in done.stderr
    assert not contexts.source.requests


def test_a_wrong_strategy_ends_every_command_before_anything_is_sent(contexts):
    write(contexts, context="hysterese")
    for command in (["record"], ["record", "--dry-run"], ["compare"]):
        done = contexts.run(*command)
        assert done.exit_code == 2
        assert "suites/support.yaml:7: `context`: There is no strategy `hysterese`." in done.stderr
    assert not contexts.source.requests

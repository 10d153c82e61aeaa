"""What a real llama.cpp server sent, recorded by benchmarks/record_llama_answers.py: read right, and no false alarm."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from promptreg.answer.model import Answer
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.reading import ReadProblemKind
from promptreg.deployment.retry import Retry, retry_of
from promptreg.scoring.faults.captured.lines import read_payload
from promptreg.scoring.faults.registry import find_faults
from promptreg.testing import Project

FILE = Path(__file__).parents[2] / "data/llama_cpp/answers.jsonl"
LINES = {json.loads(line)["id"]: line for line in FILE.read_text(encoding="utf-8").splitlines()}
RECORDED = {name: json.loads(line) for name, line in LINES.items()}
CLEAN = ("plain", "emoji", "cut", "stop", "json_schema", "json_object", "tool")
REFUSED = ("overflow", "bad_role", "bad_schema")
BOTH = ("", "-stream")


def exchange_of(name, split=4096):
    recorded = RECORDED[name]
    data = (recorded.get("raw") or recorded.get("raw_stream")).encode()
    chunks = tuple(Chunk(0.1 + start / 1e6, data[start : start + split]) for start in range(0, len(data), split))
    return Exchange(0.0, 1.0, recorded["status"], tuple(recorded["headers"].items()), chunks)


def findings_of(name):
    return find_faults(read_payload(LINES[name]).calls)


def test_every_request_is_there_with_and_without_a_stream():
    names = {name.removesuffix("-stream") for name in LINES}
    assert set(LINES) == {f"{name}{form}" for name in names for form in BOTH}
    assert {*CLEAN, *REFUSED, "chinese", "tool_required"} == names


def test_nothing_of_a_machine_is_in_the_file():
    text = FILE.read_text(encoding="utf-8")
    assert all(word not in text for word in ("/home", "/tmp", "site-packages", "127.0.0.1", "gguf", "Bearer"))
    assert len(text) < 200_000


@pytest.mark.parametrize("name", [name for name in LINES if RECORDED[name]["status"] == 200])
@pytest.mark.parametrize("split", [1, 7, 4096])
def test_the_answer_is_read_whole_however_the_bytes_arrive(name, split):
    reading = read_exchange(exchange_of(name, split))
    assert reading.problem is None
    assert reading.answer == read_exchange(exchange_of(name)).answer
    assert reading.answer.content
    assert (reading.answer.reasoning, reading.answer.reasoning_field, reading.answer.flags) == ("", None, ())
    assert reading.usage.completion_tokens > 0


@pytest.mark.parametrize("name", [*CLEAN, "chinese", "tool_required"])
def test_a_stream_and_a_body_give_the_same_answer(name):
    answers = [read_exchange(exchange_of(f"{name}{form}")).answer for form in BOTH]
    assert answers[0] == answers[1]


def test_the_parts_are_what_the_server_said():
    assert read_exchange(exchange_of("plain")).answer == Answer("The capital of France is Paris.", finish_reason="stop")
    assert "👍🏽" in read_exchange(exchange_of("emoji-stream", 1)).answer.content
    assert read_exchange(exchange_of("cut-stream")).answer.finish_reason == "length"


@pytest.mark.parametrize("form", BOTH)
def test_an_answer_constrained_by_a_schema_keeps_it(form):
    asked = RECORDED["json_schema"]["request"]["response_format"]["json_schema"]["schema"]
    content = read_exchange(exchange_of(f"json_schema{form}")).answer.content
    jsonschema.validate(json.loads(content), asked)


@pytest.mark.parametrize("form", BOTH)
@pytest.mark.parametrize("name", CLEAN)
def test_clean_answers_have_no_fault(name, form):
    assert findings_of(f"{name}{form}") == ()


@pytest.mark.parametrize("form", BOTH)
def test_a_small_model_that_apologises_in_english_to_a_chinese_request_is_named(form):
    (finding,) = findings_of(f"chinese{form}")
    assert (finding.kind, finding.where) == ("F05", "content")
    assert finding.evidence.en.startswith("en instead of zh: ")


@pytest.mark.parametrize("form", BOTH)
def test_a_context_overflow_is_named_with_its_suspect(form):
    (finding,) = findings_of(f"overflow{form}")
    assert (finding.kind, finding.severity, finding.suspects) == ("F47", "E", ("server_limits",))
    assert "request (1031 tokens) exceeds the available context size (512 tokens)" in finding.evidence.en


@pytest.mark.parametrize("form", BOTH)
@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_request_is_read_as_a_status_and_tried_once(name, form):
    exchange = exchange_of(f"{name}{form}")
    reading = read_exchange(exchange)
    assert reading.answer is None
    assert reading.problem.kind is ReadProblemKind.HTTP_STATUS
    assert RECORDED[f"{name}{form}"]["status"] == 400
    assert retry_of(exchange, reading, load_profile("local")) is Retry.NEVER


@pytest.mark.parametrize("form", BOTH)
def test_other_refusals_are_no_overflow(form):
    assert [finding.kind for finding in findings_of(f"bad_role{form}")] == ["F53"]
    assert [finding.kind for finding in findings_of(f"bad_schema{form}")] == ["F27"]


def test_the_overflow_is_known_to_the_profile_of_a_local_server():
    profile = load_profile("local")
    assert profile.is_overflow(400, RECORDED["overflow"]["raw"])
    assert not profile.is_overflow(400, RECORDED["bad_role"]["raw"])


@pytest.mark.parametrize(("language", "said"), [("C.UTF-8", "Prompt too long"), ("zh_CN.UTF-8", "F47")])
def test_diagnose_reads_the_file(tmp_path, language, said):
    done = Project(tmp_path).run_process("diagnose", FILE, env={"LC_ALL": language, "COLUMNS": "160"})
    assert done.exit_code == 1
    assert said in done.stdout
    assert done.stderr == ""


def test_diagnose_gives_one_line_of_json_for_each(tmp_path):
    done = Project(tmp_path).run("diagnose", "--format", "json", FILE)
    found = {
        line["id"]: [fault["kind"] for fault in line["faults"]] for line in map(json.loads, done.stdout.splitlines())
    }
    assert list(found) == list(LINES)
    assert all(found[f"{name}{form}"] == [] for name in CLEAN for form in BOTH)


@pytest.mark.parametrize("form", BOTH)
def test_a_required_tool_call_that_the_server_does_not_force_is_a_warning(form):
    (finding,) = findings_of(f"tool_required{form}")
    assert (finding.kind, finding.severity, finding.where) == ("F53", "W", "request.tool_choice")

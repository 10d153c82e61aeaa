from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from promptreg.cli.app import cli, run

PAYLOADS = Path(__file__).parents[1] / "data" / "serving_faults.jsonl"
USAGE = {"prompt_tokens": 12, "completion_tokens": 8, "total_tokens": 20}


def body(**message):
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": USAGE}


GOOD = {
    "id": "good",
    "request": {"messages": [{"role": "user", "content": "What is 7*7?"}]},
    "status": 200,
    "body": body(content="The product is 49."),
}
LEAK = {**GOOD, "id": "漏", "body": body(content="7\n</think>\n\n49")}
RENAMED = {
    **GOOD,
    "id": "renamed",
    "golden": {"message_keys": ["content", "reasoning_content"]},
    "body": body(content="49", reasoning="Seven times seven."),
}


@pytest.fixture(autouse=True)
def english(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def invoke(*arguments, stdin=None):
    return CliRunner().invoke(cli, ["diagnose", *map(str, arguments)], input=stdin, standalone_mode=False)


def lines(*values):
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


@pytest.fixture
def file(tmp_path):
    def write(*values):
        path = tmp_path / "captured 响应.jsonl"
        path.write_text(lines(*values), "utf-8")
        return path

    return write


def test_the_table_says_what_where_why_and_what_to_try(file):
    result = invoke(file(GOOD, LEAK))

    assert result.return_value == 1
    assert "漏" in result.stdout
    assert "F09" in result.stdout
    assert "content[2]" in result.stdout
    assert "closing tag only: 7⏎</think>⏎⏎49" in result.stdout
    assert "Next: Start the server with the reasoning parser" in result.stdout
    assert "--reasoning-parser" in result.stdout
    assert "1 of 2 lines with faults: 1 E." in result.stdout
    assert "good" not in result.stdout
    assert "\x1b" not in result.stdout


def test_the_reader_s_language_is_spoken(file, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    result = invoke(file(LEAK, [1]))

    assert "回答中出现思考标签" in result.stdout
    assert "下一步：" in result.stdout
    assert "1 行中 1 行有故障：1 E。" in result.stdout
    assert "第 2 行无法读取：是 JSON 但不是对象" in result.stderr


def test_quiet_leaves_out_the_meanings(file):
    result = invoke(file(LEAK), "-q")

    assert "F09" in result.stdout
    assert "Next:" not in result.stdout


def test_json_is_one_object_a_line(file):
    result = invoke("--format", "json", file(GOOD, LEAK, RENAMED))

    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert told[0] == {"id": "good", "faults": []}
    assert told[1]["id"] == "漏"
    (fault,) = told[1]["faults"]
    assert set(fault) == {"kind", "severity", "where", "evidence", "suspects"}
    assert (fault["kind"], fault["severity"], fault["where"]) == ("F09", "E", "content[2]")
    assert fault["suspects"][0] == "reasoning_parser"
    assert [fault["severity"] for fault in told[2]["faults"]] == ["W"]


def test_standard_input_is_read_with_a_byte_order_mark_and_crlf():
    text = "\ufeff" + lines(LEAK).replace("\n", "\r\n") + "\r\n\r\n" + lines(GOOD).strip()
    result = invoke("--format", "json", "-", stdin=text)

    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["漏", "good"]


def test_warnings_alone_end_with_0(file):
    assert invoke(file(RENAMED)).return_value == 0
    assert invoke(file(GOOD)).stdout.startswith("No faults were found.\n")


def test_unreadable_lines_are_named_and_the_rest_goes_on(tmp_path):
    path = tmp_path / "a.jsonl"
    bad = [
        b"nonsense",
        b"[1]",
        b'{"id": "x"}',
        b'{"runs": []}',
        b'{"status": "y"}',
        b'\xff\xfe{"a": 1}',
        b"[" * 100_000,
    ]
    path.write_bytes(b"\n".join([*bad, lines(LEAK).encode(), b'{"sse": 3}', b'{"raw": 3}']))
    result = invoke("--format", "json", path)

    assert result.return_value == 1
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["漏"]
    told = result.stderr.splitlines()
    assert [line.split(" cannot")[0] for line in told] == [f"Line {number}" for number in (1, 2, 3, 4, 5, 6, 7, 10, 11)]
    assert "no response: one of `body`" in told[2]


def test_a_file_that_only_has_unreadable_lines_is_no_success(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("x\n" * 50, "utf-8")
    result = invoke(path)

    assert result.return_value == 2
    assert "30 more lines cannot be read." in result.stderr
    assert "The file holds no responses." in result.stdout


def test_an_empty_file_says_so(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"")
    result = invoke(path)
    assert (result.return_value, result.stdout) == (0, "The file holds no responses.\n")


def test_a_line_without_an_id_goes_by_its_number(file):
    nameless = {name: value for name, value in LEAK.items() if name != "id"}
    assert json.loads(invoke("--format", "json", file(nameless)).stdout)["id"] == "line 1"
    assert json.loads(invoke("--format", "json", file({**LEAK, "id": 7})).stdout)["id"] == "7"


def test_half_a_character_in_an_id_is_written_as_an_escape(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({**LEAK, "id": "a\ud83d"}), "utf-8")
    assert json.loads(invoke("--format", "json", path).stdout)["id"] == "a\ud83d"


def test_what_a_terminal_would_obey_is_not_printed(file):
    evil = {**LEAK, "id": "a\x1b[31m\u202eb"}
    evil["body"] = body(content="\x1b]0;x\x07\n</think>\n\n\x9b31m")
    result = invoke(file(evil))
    assert not set("\x1b\x07\x9b\u202e") & set(result.stdout)


def test_a_missing_file_is_a_usage_error(capsys):
    assert run(["diagnose", "no such file.jsonl"]) == 2
    assert "no such file.jsonl cannot be read" in capsys.readouterr().err


def test_a_line_without_end_is_not_read_to_its_end(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("promptreg.cli.diagnose.MOST_LINE_BYTES", 1000)
    (tmp_path / "a.jsonl").write_bytes(lines(GOOD).encode() + b"x" * 5000)
    assert run(["diagnose", str(tmp_path / "a.jsonl")]) == 2
    assert "a.jsonl is longer than 0 MB, which no captured response is." in capsys.readouterr().err


def test_a_number_too_long_to_be_read_is_named(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"status": ' + "9" * 5000 + "}\n", "utf-8")
    result = invoke(tmp_path / "a.jsonl")
    assert result.return_value == 2
    assert "Line 1 cannot be read: JSON with a number too long to be read." in result.stderr


def test_all_payloads_give_at_least_their_kinds():
    expected = [json.loads(line) for line in PAYLOADS.read_text("utf-8").splitlines()]
    result = invoke("--format", "json", PAYLOADS)

    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [one["id"] for one in told] == [one["id"] for one in expected]
    for one, payload in zip(told, expected, strict=True):
        found = {fault["kind"] for fault in one["faults"]}
        assert set(payload["faults"]) <= found
        assert payload["faults"] or not found


def test_as_a_user_types_it():
    ended = subprocess.run(
        [sys.executable, "-m", "promptreg", "diagnose", "-"],
        input=lines(LEAK),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "F09" in ended.stdout
    assert ended.stderr == ""

"""Row 38: files are UTF-8 whatever the console is; the console shows escapes instead of failing."""

from __future__ import annotations

import pytest

QUESTION = "退货期限是几天？👍"
ENVIRONMENTS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252"},
    "ascii": {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
    "no-utf8": {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    "gbk": {"PYTHONIOENCODING": "gbk", "LC_ALL": "zh_CN.UTF-8"},
}


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_record_and_its_files(moved, answers, environment):
    project = moved(answers("七天内可以退货 👍"))
    project.suite("support", {"退货": QUESTION})
    done = project.run_process("record", "--passes", "1", env={"PYTHONUTF8": "0", **environment})
    assert done.exit_code == 0, done.stderr
    assert "Traceback" not in done.stderr
    text = (project.folder / "baselines/support/gpu.jsonl").read_bytes().decode("utf-8")
    assert "七天内可以退货 👍" in text
    assert project.source.chats[0]["messages"][0]["content"] == QUESTION


def test_a_name_that_the_system_s_file_names_cannot_have_is_told(moved):
    project = moved()
    project.suite("客服", {"退货": QUESTION})
    done = project.run_process("record", "--passes", "1", env=ENVIRONMENTS["no-utf8"])
    assert done.exit_code in {2, 4}
    assert "PYTHONUTF8=1" in done.stderr
    assert "failed inside" not in done.stderr


def test_diagnose_shows_what_it_can(tmp_path, moved):
    project = moved()
    project.write(
        "captured.jsonl",
        '{"id": "漏", "status": 200, "body": {"choices": [{"index": 0, "message": {"role": "assistant", '
        '"content": "好</think>好"}, "finish_reason": "stop"}]}}\n',
    )
    done = project.run_process("diagnose", "captured.jsonl", env={"PYTHONUTF8": "0", **ENVIRONMENTS["cp1252"]})
    assert done.exit_code == 1
    assert "F09" in done.stdout
    assert r"\u6f0f" in done.stdout

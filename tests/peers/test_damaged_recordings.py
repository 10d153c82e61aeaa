"""Row 32: a damaged file is told with its line; a regression ends with a code of its own."""

from __future__ import annotations

import pytest


@pytest.fixture
def recorded(moved, answers):
    project = moved(answers("Your order is on its way."), answers("抱歉，我无法协助完成这个请求。"))
    project.suite("orders", {"a": "Where is it?", "b": "When?"}, checks=["not_refusal"])
    assert project.run("record").exit_code == 0
    return project, project.folder / "baselines/orders/gpu.jsonl"


def test_a_regression_ends_with_1(recorded):
    project, _ = recorded
    assert project.run("compare").exit_code == 1


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("damage", ["{bad json", "[]", '"text"', "\x00", '{"case_id": 3}', "<<<<<<< HEAD"])
def test_a_damaged_baseline_is_one_sentence_with_its_line(recorded, damage, number):
    project, path = recorded
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number - 1] = damage
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = project.run("compare")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"baselines/orders/gpu.jsonl:{number}" in done.stderr
    assert "Traceback" not in done.stderr
    assert "failed inside" not in done.stderr
    assert project.target.chats == []


def test_an_empty_baseline_is_told(recorded):
    project, path = recorded
    path.write_bytes(b"")
    done = project.run("compare")
    assert done.exit_code == 2
    assert "baselines/orders/gpu.jsonl" in done.stderr


def test_a_run_that_is_not_there_is_told(recorded):
    project, _ = recorded
    done = project.run("compare", "--run", "no-such-run")
    assert done.exit_code == 2
    assert "no-such-run" in done.stderr

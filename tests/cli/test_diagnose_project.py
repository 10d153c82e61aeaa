"""`promptreg diagnose` inside a project, beside one, and outside: its language and its hooks."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.app import run
from promptreg.scoring.extensions import FILE_NAME

LINE = {
    "id": "a",
    "request": {"messages": [{"role": "user", "content": "What is 7*7?"}]},
    "status": 200,
    "body": {"choices": [{"message": {"role": "assistant", "content": "7\n</think>\n\n49"}, "finish_reason": "stop"}]},
}


@pytest.fixture
def diagnosed(tmp_path, monkeypatch, capsys):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "captured.jsonl").write_text(json.dumps(LINE) + "\n", encoding="utf-8", newline="\n")

    def diagnose(**files):
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="\n")
        code = run(["diagnose", "captured.jsonl"])
        return code, capsys.readouterr()

    return diagnose


def test_the_language_of_the_project_is_the_language_of_the_table(diagnosed):
    _, said = diagnosed(promptreg__toml='language = "zh"\n')
    assert "编号" in said.out
    assert "下一步：" in said.out


@pytest.mark.parametrize("toml", ['language = "auto"\n', "", 'languag = "zh"\n', "no toml at all ["])
def test_a_project_that_says_nothing_of_it_leaves_it_to_the_environment(diagnosed, monkeypatch, toml):
    code, said = diagnosed(promptreg__toml=toml)
    assert code == 1
    assert "Next: " in said.out
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "下一步：" in diagnosed()[1].out


@pytest.mark.parametrize(("language", "note"), [("en_US", "was not read"), ("zh_CN", "未读取 promptreg_hooks.py")])
def test_hooks_without_a_project_are_told_of(diagnosed, monkeypatch, language, note):
    monkeypatch.setenv("LANG", language)
    code, said = diagnosed(**{FILE_NAME.replace(".", "__"): "raise RuntimeError\n"})
    assert code == 1
    assert note in said.err


def test_nothing_is_told_of_hooks_that_are_not_there_or_were_read(diagnosed):
    assert not diagnosed()[1].err
    assert not diagnosed(promptreg__toml="", **{FILE_NAME.replace(".", "__"): "\n"})[1].err

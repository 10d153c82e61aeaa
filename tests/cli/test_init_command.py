"""promptreg init: what it writes loads, and nothing of the user's is lost."""

from __future__ import annotations

import os
import re
import sys

import pytest

from promptreg.cli.app import run
from promptreg.cli.init import write_project
from promptreg.config import load_config
from promptreg.errors import OutputError, UsageError


def test_the_configuration_it_writes_loads(tmp_path):
    write_project(tmp_path)
    config = load_config(None, tmp_path)
    assert (config.role("source").name, config.role("target").name) == ("gpu", "ascend")
    assert config.root == tmp_path.resolve()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_commented_line_of_the_configuration_is_valid(tmp_path, language):
    """A user who removes a `# ` gets a file that loads, and the defaults it shows are the defaults."""
    write_project(tmp_path, language=language)
    path = tmp_path / "promptreg.toml"
    plain = load_config(path, tmp_path)
    lines = path.read_text(encoding="utf-8").splitlines()
    settings = [line.removeprefix("# ") if line.startswith("# ") and " = " in line else line for line in lines]
    text = "\n".join(settings).replace("# [deployments.app]", "[deployments.app]").replace("# [embedders", "[embedders")
    path.write_text(text, encoding="utf-8")
    full = load_config(path, tmp_path)
    assert full.plan == plain.plan
    assert full.paths == plain.paths
    assert full.judging.model_copy(update={"max_drifted_fraction": None}) == plain.judging
    assert full.language == plain.language
    assert full.deployment("gpu").timeout_s == plain.deployment("gpu").timeout_s
    assert full.deployment("gpu").concurrency == plain.deployment("gpu").concurrency
    assert full.deployment("app").call == "app.chat:reply"
    assert full.embedders["bge"].base_url == "http://127.0.0.1:8002/v1"


def test_the_suite_it_writes_loads(tmp_path):

    from promptreg.workflow.project import project_suites

    write_project(tmp_path)
    (suite,) = project_suites(load_config(None, tmp_path), (), None)
    tags = {tag for case in suite.cases for tag in case.tags}
    assert suite.name == "support"
    assert {"zh", "en"} <= tags


@pytest.mark.parametrize("present", ["promptreg.toml", "suites/support.yaml"])
def test_nothing_is_overwritten_without_force(tmp_path, present):
    path = tmp_path / present
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=f"{present} already exists"):
        write_project(tmp_path)
    assert [found for found in tmp_path.rglob("*") if found.is_file()] == [path]
    assert path.read_text(encoding="utf-8") == "mine"

    write_project(tmp_path, force=True)
    assert path.read_text(encoding="utf-8") != "mine"


def test_a_configuration_in_pyproject_is_not_pushed_aside(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.promptreg]\nlanguage = "zh"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"\[tool.promptreg\]"):
        write_project(tmp_path)
    assert not (tmp_path / "promptreg.toml").exists()


@pytest.mark.parametrize("text", ["[tool.other]\n", "not toml", "\udcff"])
def test_any_other_pyproject_is_left_alone(tmp_path, text):
    path = tmp_path / "pyproject.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    write_project(tmp_path)
    assert path.read_bytes() == text.encode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b".promptreg/\nreports/*\n"),
        (b"*.pyc\r\n", b"*.pyc\r\n.promptreg/\nreports/*\n"),
        (b"*.pyc", b"*.pyc\n.promptreg/\nreports/*\n"),
        (b"/.promptreg/\nreports/*\n", b"/.promptreg/\nreports/*\n"),
        (b"\xff\xfe\n", b"\xff\xfe\n.promptreg/\nreports/*\n"),
    ],
)
def test_gitignore_gets_the_missing_lines_and_keeps_the_rest(tmp_path, before, after):
    path = tmp_path / ".gitignore"
    if before is not None:
        path.write_bytes(before)
    write_project(tmp_path)
    assert path.read_bytes() == after


def test_the_command_makes_a_folder_with_a_chinese_name_and_tells_what_comes_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["init", "迁移 项目"]) == 0
    output = capsys.readouterr().out
    assert (tmp_path / "迁移 项目/promptreg.toml").is_file()
    for command in ("promptreg doctor", "promptreg record", "promptreg compare"):
        assert command in output


def test_a_second_init_is_a_usage_error(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    assert run(["init"]) == 2
    assert "promptreg.toml and suites/support.yaml already exist" in capsys.readouterr().err
    assert run(["init", "--force"]) == 0


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert run(["init", str(tmp_path / "file" / "below")]) == 4
    assert "Cannot write the project's files" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root and Windows write anywhere")
def test_a_read_only_folder_is_one_sentence(tmp_path):
    tmp_path.chmod(0o555)
    with pytest.raises(OutputError, match="Choose another folder"):
        write_project(tmp_path)


SETTING = re.compile(r"^(?:# )?(\[.*\]|\w+ = .*?)(?: +#.*)?$|^([^#]*?)(?: +#.*)?$")


def settings(text):
    """The lines without what they explain, those that are commented out too."""
    found = (SETTING.match(line) for line in text.splitlines())
    return [match[1] or match[2] for match in found if match and (match[1] or match[2])]


def test_comments_are_in_the_reader_s_language_and_nothing_else_differs(tmp_path, monkeypatch, capsys):
    for language, locale in (("en", "C"), ("zh", "zh_CN.UTF-8")):
        monkeypatch.setenv("LC_ALL", locale)
        assert run(["init", str(tmp_path / language)]) == 0
        said = capsys.readouterr().out
        assert ("下一步" in said) is (language == "zh")
    for name in ("promptreg.toml", "suites/support.yaml"):
        en, zh = ((tmp_path / language / name).read_text("utf-8") for language in ("en", "zh"))
        assert settings(en) == settings(zh)
        comments = [line for line in zh.splitlines() if re.match(r"# [^=]*$", line) and not line.startswith("# [")]
        assert len(comments) >= 2
        assert all(re.search("[\u4e00-\u9fff]", line) for line in comments)

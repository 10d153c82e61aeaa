"""The documentation names only what exists, names all of it, and says the same in both languages."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import click
import pytest

from promptreg.cli.app import COMMANDS, cli
from promptreg.errors import ExitCode
from promptreg.scoring.checks.catalogue import TAKES

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "reports/README.md"])
PAIRS = [("README.md", "README.zh-CN.md"), ("docs/guide.en.md", "docs/guide.zh-CN.md")]
CONTEXT = click.Context(cli, info_name="promptreg", **cli.context_settings)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _read(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


HOOKS = next(block for language, block in FENCE.findall(_read("docs/extending.md")) if language == "python")
"""What docs/extending.md adds to the checks that suites can name."""


def _command_lines(page: Path) -> list[list[str]]:
    """Every `$ promptreg …` of the page's console blocks, split as a shell would, without the word promptreg."""
    found = []
    for language, block in FENCE.findall(_read(page)):
        if language != "console":
            continue
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                for part in re.split(r"&&|\|\||;|\|", line[2:].partition(" #")[0]):
                    words = shlex.split(part)
                    if words and words[0] == "promptreg":
                        found.append(words[1:])
    return found


def _all_commands() -> dict[str, click.Command]:
    """Every command by its name, those of groups as `group name`."""
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = found[name] = cli.get_command(CONTEXT, name)
        if isinstance(command, click.Group):
            below = click.Context(command, parent=CONTEXT)
            found |= {f"{name} {part}": command.get_command(below, part) for part in command.list_commands(below)}
    return found


ALL = _all_commands()


def _option_names(command: click.Command) -> set[str]:
    parameters = command.get_params(click.Context(command, parent=CONTEXT))
    return {name for option in parameters for name in (*option.opts, *option.secondary_opts)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_line_in_the_docs_exists(page):
    for words in _command_lines(page):
        command: click.Command = cli
        if words and not words[0].startswith("-"):
            command = ALL.get(" ".join(words[:2]), ALL.get(words[0]))
            assert command is not None, f"{page}: promptreg {words[0]} does not exist"
        used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert used <= _option_names(command), f"{page}: promptreg {' '.join(words)}"


def test_the_docs_show_every_command():
    lines = [words for page in PAGES for words in _command_lines(page) if words]
    shown = {name for words in lines for name in (words[0], " ".join(words[:2]))}
    assert set(ALL) <= shown


def test_the_reference_is_what_the_commands_say():
    reference = runpy.run_path(str(ROOT / "docs/generate_reference.py"))["reference"]
    assert _read("docs/reference.md") == reference(), "run `make format`"


def test_the_reference_has_every_command_and_option():
    text = _read("docs/reference.md")
    for name, command in ALL.items():
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for option in _option_names(command):
            assert not option.startswith("-") or f"`{option}`" in section, f"{name} {option}"


def test_the_reference_has_every_check_and_its_fields():
    text = _read("docs/reference.md").partition("\n## Checks\n")[2]
    for name, takes in TAKES.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
        assert all(f"`{field}`" in row for field in takes.fields)


@pytest.mark.parametrize("page", ["docs/guide.en.md", "docs/guide.zh-CN.md"])
@pytest.mark.parametrize("name", TAKES)
def test_the_guide_has_a_row_for_every_check_with_its_fields(page, name):
    table = re.split(
        r"^\| (?:check \| holds when|检查项 \| 何时通过) \|$", _read(page), maxsplit=1, flags=re.MULTILINE
    )[1]
    rows = [line.split(" | ")[0] for line in table.partition("\n\n")[0].splitlines() if line.startswith("| `")]
    (row,) = [row for row in rows if re.search(rf"`{name}(?:`|: )", row)]
    assert all(re.search(rf"\b{field}\b", row) for field in TAKES[name].fields)


@pytest.mark.parametrize("name", ALL)
def test_every_command_has_help_an_example_and_help_for_each_option(name):
    command = ALL[name]
    assert command.help
    assert "Example" in (command.epilog or "")
    assert "promptreg " in (command.epilog or "")
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.help, f"promptreg {name} {parameter.opts}"


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_both_languages_have_the_same_structure(english, chinese):
    def structure(name):
        without_code = FENCE.sub(lambda match: f"<{match[1]}>\n", _read(name))
        return re.findall(r"^(#+) |^<(\w*)>$", without_code, re.MULTILINE)

    assert structure(english) == structure(chinese)


@pytest.mark.parametrize(("english", "chinese"), PAIRS)
def test_both_languages_show_the_same_command_lines(english, chinese):
    assert _command_lines(ROOT / english) == _command_lines(ROOT / chinese)


@pytest.mark.parametrize("name", ["docs/guide.en.md", "docs/guide.zh-CN.md"])
def test_the_guide_names_every_configuration_key(name):
    from pydantic import BaseModel

    from promptreg.config import model

    text = _read(name)
    keys = {
        key
        for section in vars(model).values()
        if isinstance(section, type) and issubclass(section, BaseModel) and section.__module__ == model.__name__
        for key, field in section.model_fields.items()
        if key not in {"root", "file", "name"} and field.init is not False
    }
    assert keys
    assert {key for key in keys if f"`{key}`" not in text} == set()


def _blocks(language):
    return [
        pytest.param(block, id=f"{page.relative_to(ROOT).as_posix()}-{number}")
        for page in PAGES
        for number, (found, block) in enumerate(FENCE.findall(_read(page)))
        if found == language
    ]


@pytest.mark.parametrize("block", _blocks("toml"))
def test_every_configuration_in_the_docs_loads(block, tmp_path):
    from promptreg.config import load_config

    (tmp_path / "promptreg.toml").write_text(block, encoding="utf-8")
    assert load_config(None, tmp_path).model_fields_set - {"root", "file"}


@pytest.mark.parametrize("block", _blocks("yaml"))
def test_every_suite_and_script_in_the_docs_loads(block, tmp_path):
    from promptreg.config import Config
    from promptreg.deployment.simulated.loading import load_script
    from promptreg.workflow.project import project_suites

    path = tmp_path / "suites/example.yaml"
    (tmp_path / "suites/schemas").mkdir(parents=True)
    (tmp_path / "suites/schemas/answer.json").write_text('{"type": "object"}', encoding="utf-8")
    (tmp_path / "suites/questions.csv").write_text("id,company,question\ninvoice,长河,怎么开发票？\n", encoding="utf-8")
    path.write_text(block, encoding="utf-8")
    (tmp_path / "promptreg_hooks.py").write_text(HOOKS, encoding="utf-8")
    if block.startswith("kind:"):
        assert load_script(path).rules
    else:
        assert project_suites(Config(root=tmp_path), (), None)[0].cases


@pytest.mark.parametrize("name", [page for pair in PAIRS for page in pair])
def test_every_exit_code_is_explained(name):
    text = _read(name)
    assert [code for code in ExitCode if f"| {int(code)} |" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_relative_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", FENCE.sub("", _read(page))):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_make_target_in_the_docs_exists(page):
    targets = set(re.findall(r"^([a-z-]+):", _read("Makefile"), re.MULTILINE))
    text = _read(page)
    code = "\n".join([*(block for _, block in FENCE.findall(text)), *re.findall(r"`([^`\n]+)`", FENCE.sub("", text))])
    named = set(re.findall(r"^(?:\$ )?make ([a-z][a-z-]*)", code, re.MULTILINE))
    assert named <= targets

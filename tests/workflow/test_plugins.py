"""Hooks of a project and of installed plugins: what they register, and what is said when they are wrong."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import textwrap

import pytest

from promptreg.errors import ConfigError, ExitCode
from promptreg.hooks import Answer, HookSpecs
from promptreg.scoring.checks.registry import CHECK_NAMES, build_checks
from promptreg.scoring.faults.registry import families_with
from promptreg.scoring.score import CHANNEL_NAMES
from promptreg.suite.model import CheckSpec
from promptreg.testing import Project
from promptreg.verdict.words.case_sentences import NAMES
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.registration import RESERVED_CHANNELS

HEAD = """
from promptreg.hooks import (
    BadArgument, Entry, FaultKind, PairwiseChannel, Sentence, Severity, found, hookimpl, must,
)

class Polite:
    rules = must("thank", "感谢")

    def find(self, answer):
        return found("谢" in answer.content, "has thanks", "有感谢")

def polite(argument, setting):
    return Polite()

def entry(kind="X-a", suspects=()):
    text = Sentence("Text", "文字")
    return Entry(kind, text, text, text, Severity.WARNING, suspects)
"""


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch):
    """Whatever is installed on this machine, and no folder of a project left on the path."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    real = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda **asked: () if asked == {"group": "promptreg"} else real(**asked)
    )


def write(folder, code, name="promptreg_hooks.py"):
    (folder / name).write_text(HEAD + textwrap.dedent(code), encoding="utf-8")
    return folder


def line_of(folder, text, name="promptreg_hooks.py"):
    return (folder / name).read_text(encoding="utf-8").splitlines().index(text) + 1


def refused(folder, code):
    """The sentence for a file that is wrong."""
    with pytest.raises(ConfigError) as raised:
        load_extensions(write(folder, code))
    assert raised.value.exit_code == ExitCode.USAGE
    return str(raised.value)


class Installed:
    """An entry point of an installed package."""

    def __init__(self, name, module, package="acme-checks"):
        self.name, self.value, self.module = name, module, module
        self.dist = type("Distribution", (), {"name": package, "version": "1.0"})()

    def load(self):
        return importlib.import_module(self.module)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that installs modules as plugins: names and code."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    points = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: tuple(points))

    def install(name, code):
        module = f"plugin_{tmp_path.name.replace('-', '_')}_{name}"
        write(folder, code, f"{module}.py")
        points.append(Installed(name, module))
        return module

    return install


def test_a_project_without_hooks_has_none(tmp_path):
    found = load_extensions(tmp_path)
    assert (dict(found.checks), found.channels, found.faults, dict(found.embedders)) == ({}, (), (), {})
    assert load_extensions(None).channels == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "promptreg_hooks.py")
    with pytest.raises(ConfigError, match=r"promptreg_hooks\.py: This is no file"):
        load_extensions(tmp_path)


def test_all_four_hooks_register(tmp_path):
    write(
        tmp_path,
        """
        class Fixed:
            name = "fixed-1"
            def encode(self, texts):
                return [[3.0, 4.0]] * len(texts)

        def promptreg_checks(root):
            assert (root / "promptreg_hooks.py").is_file()
            return {"polite": polite}

        def promptreg_channels():
            return [PairwiseChannel("thanks", lambda a, b: abs(a.content.count("谢") - b.content.count("谢")))]

        @hookimpl
        def promptreg_faults(root):
            return (FaultKind(entry(), lambda call: [entry().found("content", call.answer.content)]),)

        def promptreg_embedders():
            return {"fixed": Fixed}
        """,
    )
    found = load_extensions(tmp_path)
    assert set(found.checks) == {"polite"}
    assert [channel.name for channel in found.channels] == ["thanks"]
    assert list(found.entries()) == ["X-a"]
    assert families_with(found.faults)[-1][0].kind == "X-a"
    embedder = found.embedders["fixed"]()
    assert embedder.name == "fixed-1"
    assert embedder.encode(["a", "b"]).ravel().tolist() == pytest.approx([0.6, 0.8] * 2)


def test_a_check_has_its_not_form_and_its_rules(tmp_path):
    own = load_extensions(write(tmp_path, "def promptreg_checks(): return {'polite': polite}")).checks
    from promptreg.errors import Place

    plain, negated = build_checks(
        [CheckSpec(name, None, Place("s.yaml", 3)) for name in ("polite", "not_polite")], tmp_path, own=own
    )
    assert (plain.rule.en, negated.rule.zh) == ("The answer must thank.", "回答不得感谢。")
    assert [plain(Answer(content=text)).passed for text in ("谢谢", "")] == [True, False]
    assert [negated(Answer(content=text)).passed for text in ("谢谢", "")] == [False, True]


def test_the_file_runs_once_until_it_changes(tmp_path):
    write(tmp_path, "with open(__file__ + '.log', 'a') as log: log.write('x')")
    for _ in range(3):
        load_extensions(tmp_path)
    assert (tmp_path / "promptreg_hooks.py.log").read_text() == "x"
    write(tmp_path, "def promptreg_checks(): return {'polite': polite}")
    assert set(load_extensions(tmp_path).checks) == {"polite"}


def test_the_file_may_import_its_neighbours_and_define_dataclasses(tmp_path):
    (tmp_path / "neighbour_of_hooks.py").write_text("NAME = 'thanks'\n", encoding="utf-8")
    code = """
    from dataclasses import dataclass
    import neighbour_of_hooks

    @dataclass(frozen=True)
    class Nothing:
        name: str

        def distances(self, answers):
            return [[0.0] * len(answers)] * len(answers)

    def promptreg_channels():
        return [Nothing(neighbour_of_hooks.NAME)]
    """
    (channel,) = load_extensions(write(tmp_path, code)).channels
    assert channel.name == "thanks"
    assert channel.applies([]) is True
    channel.prepare([[]])


@pytest.mark.parametrize(
    ("code", "line", "said"),
    [
        ("def promptreg_checks():\n    return 1 // 0", "    return 1 // 0", "raised ZeroDivisionError"),
        ("def promptreg_checks():\n    raise SystemExit(3)", "    raise SystemExit(3)", "raised SystemExit: 3"),
        ("VALUE = 1 // 0", "VALUE = 1 // 0", "Loading the project's hooks raised ZeroDivisionError"),
        ("import no_such_module", "import no_such_module", "No module named 'no_such_module'"),
        ("def oops(:\n    pass", "def oops(:", "raised SyntaxError"),
        ("def promptreg_chekcs():\n    pass", "def promptreg_chekcs():", "Did you mean `promptreg_checks`?"),
        ("def promptreg_checks(folder):\n    pass", "def promptreg_checks(folder):", "it may take `root`"),
        ("def promptreg_checks():\n    return [polite]", "def promptreg_checks():", "functions by name"),
        ("def promptreg_checks():\n    return {'a': 3}", "def promptreg_checks():", "'a' names int"),
        ("def promptreg_checks():\n    return {'A b': polite}", "def promptreg_checks():", "is no name for a check"),
        ("def promptreg_checks():\n    return {3: polite}", "def promptreg_checks():", "3 is no name for a check"),
        ("def promptreg_checks():\n    return {'not_a': polite}", "def promptreg_checks():", "makes the `not_` form"),
        ("async def promptreg_checks():\n    return {}", "async def promptreg_checks():", "not coroutine"),
        ("def promptreg_channels():\n    return {'a': 1}", "def promptreg_channels():", "must return a list, not dict"),
        ("def promptreg_channels():\n    return 'ab'", "def promptreg_channels():", "must return a list, not str"),
        ("def promptreg_channels():\n    return [polite]", "def promptreg_channels():", "function is none"),
        ("def promptreg_faults():\n    return [3]", "def promptreg_faults():", "int is none"),
        ("def promptreg_faults():\n    return [FaultKind(entry('p'), list)]", "def promptreg_faults():", "X-price"),
        ("def promptreg_faults():\n    return [FaultKind(entry())]", "def promptreg_faults():", "neither `find` nor"),
        (
            "def promptreg_faults():\n    return [FaultKind(entry(suspects=('mpt',)), list)]",
            "def promptreg_faults():",
            "Did you mean `mtp`?",
        ),
        ("def promptreg_embedders():\n    return {'a': 1}", "def promptreg_embedders():", "'a' names int"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(tmp_path, code, line, said):
    text = refused(tmp_path, code)
    assert text.startswith(f"promptreg_hooks.py:{line_of(tmp_path, line)}: ")
    assert said in text
    assert "\n" not in text


@pytest.mark.parametrize(
    ("hook", "value", "name", "what"),
    [
        ("checks", "{'contains': polite}", "contains", "check"),
        ("channels", "[PairwiseChannel('numbers', max)]", "numbers", "channel"),
        ("channels", "[PairwiseChannel('form', max)]", "form", "channel"),
        ("faults", "[FaultKind(entry('F01'), list)]", "F01", "fault"),
        ("embedders", "{'usem3': list}", "usem3", "embedder"),
    ],
)
def test_a_name_of_promptreg_cannot_be_taken(tmp_path, hook, value, name, what):
    text = refused(tmp_path, f"def promptreg_{hook}(): return {value}")
    assert f"`{name}` is a {what} of promptreg itself, so promptreg_hooks.py cannot register another one." in text


def test_a_name_twice_in_one_list_is_an_error(tmp_path):
    code = "def promptreg_channels(): return [PairwiseChannel('a', max), PairwiseChannel('a', min)]"
    assert "registered twice: by promptreg_hooks.py and by promptreg_hooks.py" in refused(tmp_path, code)


def test_plugins_and_the_project_add_up(tmp_path, installed):
    installed("one", "def promptreg_checks(): return {'one': polite}")
    installed("two", "def promptreg_checks(root): return {'two': polite}")
    write(tmp_path, "def promptreg_checks(): return {'mine': polite}")
    assert list(load_extensions(tmp_path).checks) == ["one", "two", "mine"]


def test_a_clash_names_both(tmp_path, installed):
    installed("polite", "def promptreg_checks(): return {'polite': polite}")
    text = refused(tmp_path, "def promptreg_checks(): return {'polite': polite}")
    assert "The check `polite` is registered twice: by the plugin `polite` of acme-checks 1.0 and by " in text
    assert text.split(": ", 1)[1].count("promptreg_hooks.py") == 1


def test_two_plugins_clash_by_both_names(tmp_path, installed):
    for name in ("one", "two"):
        installed(name, "def promptreg_faults(): return [FaultKind(entry(), list)]")
    with pytest.raises(ConfigError, match=r"by the plugin `one` of acme-checks 1\.0 and by the plugin `two`"):
        load_extensions(tmp_path)


def test_a_plugin_that_cannot_be_loaded_is_named(tmp_path, installed):
    installed("broken", "1 // 0")
    with pytest.raises(ConfigError, match=r"The plugin `broken` of acme-checks 1\.0 cannot be loaded: it raised Zero"):
        load_extensions(tmp_path)


def test_a_plugin_s_line_is_named_by_its_file(tmp_path, installed):
    module = installed("late", "def promptreg_checks():\n    return 1 // 0")
    with pytest.raises(ConfigError, match="The hook `promptreg_checks` of the plugin `late`") as raised:
        load_extensions(tmp_path)
    line = line_of(tmp_path / "site", "    return 1 // 0", f"{module}.py")
    assert f"{module}.py:{line}: " in str(raised.value)


def test_hooks_are_read_from_the_project_s_folder_only(tmp_path, monkeypatch):
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    for folder in (project / "suites", elsewhere):
        folder.mkdir(parents=True)
        write(folder, "raise RuntimeError('was run')")
    write(tmp_path, "raise RuntimeError('was run')")
    monkeypatch.chdir(elsewhere)
    assert not load_extensions(project).checks
    assert not load_extensions(None).checks


def test_a_link_out_of_the_project_is_refused(tmp_path):
    outside, project = tmp_path / "outside", tmp_path / "project"
    for folder in (outside, project):
        folder.mkdir()
    write(outside, "raise RuntimeError('was run')")
    (project / "promptreg_hooks.py").symlink_to(outside / "promptreg_hooks.py")
    with pytest.raises(ConfigError, match="a link to a file outside the project"):
        load_extensions(project)


def test_a_command_ends_with_one_sentence_and_the_code_for_configuration(tmp_path):
    project = Project(tmp_path)
    project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
    project.suite("support", {"a": "退货？"})
    write(tmp_path, "def promptreg_channels():\n    return 1 // 0")
    done = project.run("record")
    line = line_of(tmp_path, "    return 1 // 0")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        f"Error: promptreg_hooks.py:{line}: The hook `promptreg_channels` of promptreg_hooks.py raised "
        "ZeroDivisionError: integer division or modulo by zero.\n"
    )


def test_help_and_schema_run_no_hooks(tmp_path):
    project = Project(tmp_path)
    project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
    write(tmp_path, "raise RuntimeError('was run')")
    for arguments in (["--help"], ["record", "--help"], ["schema", "config"], ["simulate", "--faults"]):
        done = project.run(*arguments)
        assert (done.exit_code, done.stderr) == (0, "")
    assert "was run" in project.run("record").stderr


def test_the_reserved_names_are_those_that_verdicts_use():
    assert set(NAMES) <= CHANNEL_NAMES | RESERVED_CHANNELS


def test_every_hook_says_what_it_returns():
    hooks = {name: value for name, value in vars(HookSpecs).items() if name.startswith("promptreg_")}
    assert set(hooks) == {f"promptreg_{what}" for what in ("checks", "channels", "faults", "embedders")}
    assert all("Returns:" in hook.__doc__ and "Args:" in hook.__doc__ for hook in hooks.values())


def test_no_check_of_promptreg_is_missing_from_what_cannot_be_taken():
    assert {"contains", "not_contains", "judge"} <= CHECK_NAMES

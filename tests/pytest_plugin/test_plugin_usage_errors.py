"""What no comparison can be made with is one usage error, told before the first test and before any call."""

from __future__ import annotations

import pytest

from promptreg.pytest_plugin.options import in_pytest

PASSING = "def test_mine():\n    pass\n"
NO_BASELINE = 'suite: later\ncases:\n- id: one\n  messages: [{role: user, content: "When?"}]\n'


def _suites_at(folder, path):
    text = (folder.folder / "promptreg.toml").read_text(encoding="utf-8")
    folder.write("promptreg.toml", f'{text}\n[paths]\nsuites = "{path}"\n')


@pytest.fixture
def refused(folder):
    """Runs pytest beside a Python test that would pass; gives what is said instead."""
    folder.write("test_mine.py", PASSING)

    def run(*arguments):
        store = folder.folder / ".promptreg/store.db"
        before = store.read_bytes()
        done = folder.pytest(*arguments)
        assert done.ret == pytest.ExitCode.USAGE_ERROR
        assert not any(word in done.stdout.str() for word in ("passed", "failed", "error"))
        assert store.read_bytes() == before
        (said,) = [line for line in done.stderr.lines if line.startswith("ERROR: ")]
        return said

    return run


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--promptreg-target", "ascnd"], "the deployment `ascnd`, which is not defined. Did you mean `ascend`?"),
        (["--promptreg-target", "npu"], "`npu`, which is not defined. Defined are `ascend`, `gpu`."),
        (["--promptreg-run", "nowhere"], "holds no run 'nowhere'"),
        (["--promptreg-no-calls"], "forbids calling the target deployment"),
        (["--promptreg-run", "latest", "--promptreg-report", "report.doc"], "report.doc says nothing about the kind"),
        (["--promptreg-run", "latest", "--promptreg-report", "suites"], "The suffix of "),
        (["--promptreg-run", "latest", "--promptreg-report", "file/r.html"], "cannot be written to "),
        (["--promptreg-run", "latest", "--promptreg-codequality", "file/q.json"], "cannot be written to "),
        (["--promptreg-config", "nowhere.toml"], "or pass another --promptreg-config PATH"),
        (["--promptreg-select", "policy"], "matches none of 2 cases. `policy` is a tag: write `tag:policy`."),
    ],
)
def test_an_option_that_means_nothing(folder, refused, arguments, told):
    folder.write("file", "")
    assert told in refused(*arguments)


def test_a_report_that_cannot_be_written_is_told_before_any_call(folder, refused):
    (folder.folder / "taken.html").mkdir()
    assert refused("--promptreg-report", "taken.html").endswith("taken.html: it is a folder.")


@pytest.mark.parametrize("suites", ["suitez", "empty"])
def test_a_project_whose_suites_are_not_found(folder, refused, suites):
    (folder.folder / "empty").mkdir()
    _suites_at(folder, suites)
    said = refused()
    assert suites in said
    assert said.endswith("To run Python tests alone, name them: `pytest --promptreg tests`.")
    assert folder.pytest("test_mine.py").parseoutcomes() == {"passed": 1}


def test_a_suite_without_a_baseline(folder, refused):
    folder.write("suites/later.yaml", NO_BASELINE)
    said = refused()
    assert "suites/later.yaml: Suite 'later' has no baseline of deployment 'gpu'." in said
    assert "promptreg record" in said


def test_suites_in_a_folder_that_pytest_does_not_look_into(folder, refused):
    (folder.folder / "suites").rename(folder.folder / "build")
    _suites_at(folder, "build")
    assert "`norecursedirs`: name the folder on the command line" in refused()
    assert folder.collected(folder.pytest("--collect-only", "-q", "build"))[0] == "build/moved.yaml::refund"


def test_nothing_is_checked_where_nothing_is_run(folder):
    assert folder.pytest("--collect-only", "-q", "--promptreg-run", "nowhere").ret == 0


@pytest.mark.parametrize(
    ("sentence", "here"),
    [
        ("Take them again with --resume.", "Take them again with --promptreg-resume."),
        ("用 --resume 补采", "用 --promptreg-resume 补采"),
        ("`promptreg compare --run 1 --resume` and --run", "`promptreg compare --run 1 --resume` and --promptreg-run"),
        ("again: promptreg review show a/b --run 1", "again: promptreg review show a/b --run 1"),
        ("It said “--resume” of x--run and --running", "It said “--resume” of x--run and --running"),
        ("pass another --config PATH", "pass another --promptreg-config PATH"),
    ],
)
def test_options_have_their_names_of_pytest(sentence, here):
    assert in_pytest(sentence) == here

"""Suites as test items: what is collected, how items are called, and what pytest's own options do with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.pytest_plugin.names import VERDICT_ITEM, item_name

REFUND, GIFT, VERDICT = "suites/moved.yaml::refund", "suites/moved.yaml::gift", "suites/moved.yaml::[verdict]"
ALL = [REFUND, GIFT, VERDICT]
FOUND = {REFUND: "failed", GIFT: "passed", VERDICT: "failed"}

pytestmark = pytest.mark.every_pytest


def test_collecting_opens_no_store_and_calls_nobody(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.folder.rglob("*.db*")}
    done = folder.pytest("--collect-only", "-q")
    assert folder.collected(done) == ALL
    assert {path: path.stat().st_mtime_ns for path in folder.folder.rglob("*.db*")} == before


@pytest.mark.parametrize("testpaths", ["", "testpaths = tests\n"])
def test_the_suites_are_collected_beside_python_tests(folder, testpaths):
    folder.write("tox.ini", f"[pytest]\n{testpaths}")
    folder.write("tests/test_mine.py", "def test_mine():\n    pass\n")
    done = folder.pytest("--collect-only", "-q")
    assert sorted(folder.collected(done)) == sorted([*ALL, "tests/test_mine.py::test_mine"])


def test_what_the_command_line_names_is_all_there_is(folder):
    folder.write("tests/test_mine.py", "def test_mine():\n    pass\n")
    assert folder.collected(folder.pytest("--collect-only", "-q", "tests")) == ["tests/test_mine.py::test_mine"]
    assert folder.collected(folder.pytest("--collect-only", "-q", "suites")) == ALL
    assert folder.collected(folder.pytest("--collect-only", "-q", "suites/moved.yaml")) == ALL


def test_a_suite_elsewhere_is_taken_when_it_is_named(folder):
    text = (folder.folder / "suites/moved.yaml").read_text(encoding="utf-8").replace('"moved"', '"other"')
    folder.write("more/other.yaml", text)
    folder.write("more/compose.yml", "services: {}\n")
    assert folder.collected(folder.pytest("--collect-only", "-q")) == ALL
    named = folder.pytest("--collect-only", "-q", "more/other.yaml")
    assert folder.collected(named) == [f"more/other.yaml::{name}" for name in ("refund", "gift", "[verdict]")]


def test_the_configuration_is_found_from_below_and_by_option(folder, monkeypatch):
    below = folder.folder / "tests"
    below.mkdir()
    monkeypatch.chdir(below)
    assert folder.collected(folder.pytest("--collect-only", "-q")) == ALL
    (folder.folder / "promptreg.toml").rename(folder.folder / "other.toml")
    assert folder.pytest("--collect-only", "-q").ret == 4
    chosen = folder.pytest("--collect-only", "-q", "--promptreg-config", "../other.toml")
    assert folder.collected(chosen) == ALL


@pytest.mark.parametrize("ini", [True, False])
def test_node_ids_shown_below_the_project_are_found_again_from_there(folder, monkeypatch, ini):
    if not ini:
        (folder.folder / "tox.ini").unlink()
    below = folder.folder / "tests"
    below.mkdir()
    monkeypatch.chdir(below)
    first = folder.stored("-rA")
    shown = folder.outcomes(first)
    assert shown == {f"../{name}": outcome for name, outcome in FOUND.items()}
    for name, outcome in shown.items():
        assert folder.outcomes(folder.stored("-rA", name)) == {name: outcome}
    assert folder.outcomes(folder.stored("-rA", "--lf")) == {f"../{REFUND}": "failed", f"../{VERDICT}": "failed"}


def test_names_and_tags_select(folder):
    def chosen(*arguments):
        return folder.collected(folder.pytest("--collect-only", "-q", "--strict-markers", *arguments))

    assert chosen("-k", "refund") == [REFUND]
    assert chosen("-m", "policy") == [REFUND]
    assert chosen("-m", "标签") == [REFUND]
    assert chosen("-m", "slow-one") == [REFUND]
    assert chosen("-m", "promptreg and not policy") == [GIFT, VERDICT]
    assert chosen("-m", "not promptreg") == []
    assert chosen(GIFT) == [GIFT]
    assert chosen(VERDICT) == [VERDICT]


def test_a_tag_that_pytest_would_act_on_is_no_mark(folder):
    done = folder.stored("-rA", "-m", "policy")
    assert folder.outcomes(done) == {REFUND: "failed"}


def test_unusual_ids_are_found_by_their_node_ids(folder):
    ids = [
        "退货",
        "a::b",
        "a%3A%3Ab",
        "x[1]",
        "x[a::b]",
        "x[1] [y",
        "[verdict]",
        "two words",
        "<b>&",
        "dot.",
        "emoji 🙂",
    ]
    folder.project.suite("odd", {case_id: f"What is {number}?" for number, case_id in enumerate(ids)})
    done = folder.pytest("--collect-only", "-q", "suites/odd.yaml")
    names = folder.collected(done)
    assert len(set(names)) == len(ids) + 1
    for name in names:
        assert folder.collected(folder.pytest("--collect-only", "-q", name)) == [name]


@given(st.lists(st.text(alphabet="a:%325AB[]verdict", max_size=12), unique=True, max_size=20))
def test_no_two_ids_have_the_same_name(ids):
    names = [item_name(case_id) for case_id in ids]
    assert len(set(names)) == len(ids)
    assert VERDICT_ITEM not in names
    assert not any("::" in name for name in names)
    assert all("[" not in name or name.endswith("]") for name in names)  # else pytest 9 shows them with one more


def test_a_wrong_suite_is_a_collection_error_with_its_line(folder):
    text = (folder.folder / "suites/moved.yaml").read_text(encoding="utf-8")
    folder.write("suites/moved.yaml", text.replace('"checks": []', '"check": []'))
    folder.write("suites/b.yaml", "suite: b\ncases:\n- id: x\n  user: hi\n  tag: [a]\n")
    done = folder.stored()
    assert done.ret == 2
    done.stdout.fnmatch_lines(["*ERROR collecting suites/b.yaml*", "suites/b.yaml:*: *"])
    done.stdout.fnmatch_lines(["*ERROR collecting suites/moved.yaml*", "suites/moved.yaml:*: *check*"])
    done.stdout.no_fnmatch_line("*Traceback*")


def test_two_suites_of_one_name_are_an_error(folder):
    text = (folder.folder / "suites/moved.yaml").read_text(encoding="utf-8")
    folder.write("suites/zz.yaml", text)
    done = folder.pytest("--collect-only", "-q")
    assert done.ret == 2
    done.stdout.fnmatch_lines(["suites/zz.yaml: The suite name `moved` is taken by suites/moved.yaml;*"])


def test_last_failed_and_failed_first(folder):
    first = folder.stored("-rA")
    assert folder.outcomes(first) == {REFUND: "failed", GIFT: "passed", VERDICT: "failed"}
    again = folder.stored("-rA", "--lf")
    assert folder.outcomes(again) == {REFUND: "failed", VERDICT: "failed"}
    order = folder.pytest("--collect-only", "-q", "--ff")
    assert folder.collected(order) == [REFUND, VERDICT, GIFT]


def test_the_first_failure_ends_it_where_that_is_asked_for(folder):
    done = folder.stored("-rA", "-x")
    assert folder.outcomes(done) == {REFUND: "failed"}
    done.stdout.fnmatch_lines(["*stopping after 1 failures*"])


def test_durations_show_the_comparison_as_the_setup_of_the_first_item(folder):
    done = folder.stored("--durations=1", "--durations-min=0.01")
    done.stdout.fnmatch_lines(["*s setup    suites/moved.yaml::refund"])

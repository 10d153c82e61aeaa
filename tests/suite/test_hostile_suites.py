"""Suites and case files made to fill the memory or the time of who reads them."""

from __future__ import annotations

import json
import os

import pytest

from promptreg.errors import LONGEST_PROBLEM, SuiteError
from promptreg.suite import document, load, rows
from promptreg.suite.load import load_suites

FROM = "suite: a\nprompts: {p: [user: '{{ q }}']}\ncases: [{cases_from: %s, prompt: p}]\n"
NAMES = frozenset({"contains"})


def problems_of(folder, suite, **files):
    (folder / "a.yaml").write_text(suite, encoding="utf-8")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    with pytest.raises(SuiteError) as raised:
        load_suites([folder / "a.yaml"], folder, check_names=NAMES, param_names=NAMES)
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_pipes_are_no_suites_and_no_case_files(tmp_path):
    os.mkfifo(tmp_path / "r.csv")
    assert problems_of(tmp_path, FROM % "r.csv") == [
        "a.yaml:3: The file `r.csv` does not exist (looked for r.csv).",
    ]
    os.mkfifo(tmp_path / "b.yaml")
    with pytest.raises(SuiteError, match=r"There is no suite file or folder b\.yaml"):
        load_suites([tmp_path / "b.yaml"], tmp_path, check_names=NAMES, param_names=NAMES)
    (tmp_path / "suites").mkdir()
    os.mkfifo(tmp_path / "suites" / "c.yaml")
    with pytest.raises(SuiteError, match=r"suites/c\.yaml: This is a pipe or a device, not a file"):
        load_suites([tmp_path / "suites"], tmp_path, check_names=NAMES, param_names=NAMES)


@pytest.mark.parametrize("target", ["/dev/zero", "/etc/passwd", "../outside.csv"])
def test_a_link_out_of_the_project_is_not_followed(tmp_path, target):
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.csv").write_text("q\nsecret\n", encoding="utf-8")
    (root / "r.csv").symlink_to(target)
    (problem,) = problems_of(root, FROM % "r.csv")
    assert "lies outside the project folder" in problem
    assert "secret" not in problem


def test_a_suite_file_of_a_gigabyte_is_refused_unread(tmp_path):
    with (tmp_path / "a.yaml").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(SuiteError, match=r"a\.yaml: The file is larger than 16 MB"):
        load_suites([tmp_path / "a.yaml"], tmp_path, check_names=NAMES, param_names=NAMES)
    assert load.MAX_BYTES == 16 * 2**20


def test_values_and_what_aliases_stand_for_are_counted_together(tmp_path, monkeypatch):
    monkeypatch.setattr(document, "_MAX_VALUES", 1000)
    (problem,) = problems_of(tmp_path, "suite: a\ncases: [" + "{}, " * 500 + "\n{}, " * 600 + "]\n")
    assert problem.startswith("a.yaml:498: The file has more than 1000 values by here")
    assert "`cases_from`" in problem


def test_what_aliases_stand_for_is_counted_by_its_length(tmp_path, monkeypatch):
    """A thousand aliases of one long text are as large as a thousand long texts, once a template writes them."""
    monkeypatch.setattr(document, "_MAX_VALUES", 1000)
    suite = (
        "suite: a\ncases:\n- id: a\n  messages: [user: x]\n  vars:\n    a: &a "
        + "x" * 9000
        + "\n    b: ["
        + "*a, " * 20
        + "]\n"
    )
    (problem,) = problems_of(tmp_path, suite)
    assert problem.startswith("a.yaml:7: The file has more than 1000 values by here")


def test_a_name_as_long_as_a_file_is_shortened_in_messages(tmp_path):
    (problem,) = problems_of(tmp_path, f"suite: '{'长' * 100_000}'\ncases: [{{id: a, messages: [user: x]}}]\n")
    assert "[…96" in problem
    assert problem.endswith("file names are made of it.")
    assert len(problem) < LONGEST_PROBLEM + 100


def test_a_header_with_many_columns_is_looked_through_once(tmp_path):
    """Each column was looked for in all others: a header of a megabyte took hours."""
    many = ",".join(f"c{number}" for number in range(200_000))
    assert problems_of(tmp_path, FROM % "r.csv", r__csv=f"id,q,{many}\n") == ["r.csv: The case file has no cases."]
    (problem,) = problems_of(tmp_path, FROM % "r.csv", r__csv=f"id,q,{many},q\n")
    assert problem == "r.csv:1: Columns stand twice: `q`. Give each its own name."


def test_a_case_with_too_many_messages_is_one_problem(tmp_path):
    row = json.dumps({"id": "a", "messages": [0] * 150_000})
    (problem,) = problems_of(tmp_path, FROM % "r.jsonl", r__jsonl=row)
    assert problem == "r.jsonl:1: `messages` must have at most 100000 entries."


@pytest.mark.parametrize(("name", "line"), [("r.jsonl", "0"), ("r.jsonl", '{"id": 1}'), ("r.csv", "x,y,z")])
def test_a_case_file_that_is_wrong_all_over_is_not_read_to_its_end(tmp_path, monkeypatch, name, line):
    monkeypatch.setattr("promptreg.suite.rows.MOST_PROBLEMS", 300)
    monkeypatch.setattr("promptreg.suite.build.MOST_PROBLEMS", 300)
    told = problems_of(
        tmp_path, FROM % name, **{name.replace(".", "__"): "id,q\n" * (name == "r.csv") + f"{line}\n" * 500}
    )
    assert len(told) == 201
    assert told[-1] in {f"a.yaml: {more} more problems of this suite are not listed." for more in (101, 102)}


def test_rows_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MOST_ROWS", 10)
    (problem,) = problems_of(tmp_path, FROM % "r.csv", r__csv="q\n" + "".join(f"{number}\n" for number in range(50)))
    assert problem == "r.csv:12: The file has more than 10 rows. Split it into several."


@pytest.mark.parametrize("name", ["x" * 5000 + ".csv", "a\ud800.csv", "rows.csv/" * 2000])
def test_a_name_that_the_system_does_not_take_is_said(tmp_path, name):
    (problem,) = problems_of(tmp_path, FROM % json.dumps(name))
    assert problem.startswith("a.yaml:3: ")
    assert "no name that this system takes" in problem or "does not exist" in problem


def test_a_suite_that_is_a_link_out_of_the_project_is_not_read(tmp_path):
    root = tmp_path / "project"
    (root / "suites").mkdir(parents=True)
    whole = "suite: a\ncases: [{id: a, messages: [user: x]}]\n"
    (tmp_path / "outside.yaml").write_text(whole, encoding="utf-8")
    (root / "suites" / "a.yaml").symlink_to(tmp_path / "outside.yaml")
    with pytest.raises(SuiteError, match=r"suites/a\.yaml: This is a link to a file outside the project"):
        load_suites([root / "suites"], root, check_names=NAMES, param_names=NAMES)
    # One inside the project, and one that the user names, are read.
    (root / "suites" / "a.yaml").unlink()
    (root / "shared.yaml").write_text(whole, encoding="utf-8")
    (root / "suites" / "b.yaml").symlink_to("../shared.yaml")
    for named in ([root / "suites"], [tmp_path / "outside.yaml"]):
        (suite,) = load_suites(named, root, check_names=NAMES, param_names=NAMES)
        assert suite.name == "a"


def test_a_link_to_itself_is_said_with_its_name(tmp_path):
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "a.yaml").symlink_to("a.yaml")
    with pytest.raises(SuiteError, match=r"suites/a\.yaml: The file cannot be read"):
        load_suites([tmp_path / "suites"], tmp_path, check_names=NAMES, param_names=NAMES)

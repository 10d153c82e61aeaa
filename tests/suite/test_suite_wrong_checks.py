"""All problems of a suite come out at once, whatever is wrong with its checks."""

from __future__ import annotations

import pytest

from promptreg.config.params import param_names
from promptreg.errors import SuiteError
from promptreg.scoring.checks.registry import CHECK_NAMES, argument_reader
from promptreg.suite.load import load_suites

SUITE = """\
suite: s
defaults:
  checks:
    - contians: a
    - max_chars: -1
cases:
  - id: one
    messages: [{user: "hi {{ x }}"}]
    checks:
      - jsonn
      - contains_all: "x"
      - finish_reason: done
  - id: one
    messages: [{user: x}]
    requst: {}
    checks: [{regex: "("}]
  - id: one
    messages: [{user: x}]
    checks: [{contains: [a]}, {json_schema: nope.json}]
  - cases_from: rows.jsonl
    checks: [{list: three}]
"""
ROWS = """\
{"id": "r", "messages": [{"role":"user","content":"x"}], "checks": [{"contains": true}, "jsno"]}
{"id": "one", "messages": [{"role":"user","content":"x"}], "checks": [{"length": {"chars": 3}}]}
"""


def problems(folder, **files):
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8", newline="")
    with pytest.raises(SuiteError) as caught:
        load_suites(
            [folder / "a.yaml"],
            folder,
            check_names=CHECK_NAMES,
            param_names=param_names(),
            wrong_check=argument_reader(folder),
        )
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_misspelt_names_wrong_arguments_and_all_else_are_told_together(tmp_path, newline):
    found = problems(tmp_path, a__yaml=SUITE.replace("\n", newline), rows__jsonl=ROWS)
    starts = [
        "a.yaml:4: There is no check `contians`. Did you mean `contains`?",
        "a.yaml:5: `max_chars` needs a whole number from 1",
        "a.yaml:7: Case `one`: The variable `x` is not defined",
        "a.yaml:10: There is no check `jsonn`. Did you mean `json`?",
        "a.yaml:11: `contains_all` needs a list of texts",
        "a.yaml:12: `finish_reason` knows no finish reason “done”",
        "a.yaml:15: Unknown key `requst`. Did you mean `request`?",
        "a.yaml:16: `regex` needs a regular expression",
        "a.yaml:17: The case id `one` stands twice, here and at a.yaml:7",
        "a.yaml:19: `contains` takes one text, not a list",
        "a.yaml:19: The file `nope.json` does not exist",
        "a.yaml:21: `list` needs a whole number",
        "rows.jsonl:1: `contains` needs a text",
        "rows.jsonl:1: There is no check `jsno`. Did you mean `json`?",
        "rows.jsonl:2: `length` has no field `chars`",
        "rows.jsonl:2: The case id `one` stands twice",
    ]
    assert [text[: len(start)] for text, start in zip(found, starts, strict=True)] == starts


def test_every_check_is_named_once_where_a_name_is_unknown(tmp_path):
    (found,) = problems(
        tmp_path, a__yaml="suite: s\ncases:\n  - id: a\n    messages: [{user: x}]\n    checks: [sentiment]\n"
    )

    listed = found.partition("Checks are ")[2]
    assert "more" not in listed
    assert listed.endswith(", each also with `not_` before it.")
    assert {name for name in CHECK_NAMES if f"`{name}`" in listed} == {
        name for name in CHECK_NAMES if not name.startswith("not_")
    }


def test_the_list_of_all_checks_is_told_once_in_a_file(tmp_path):
    found = problems(
        tmp_path,
        a__yaml="suite: s\ncases:\n  - id: a\n    messages: [{user: x}]\n    checks: [sentiment, jsno, rouje]\n",
    )

    assert [text.count(" Checks are ") for text in found] == [1, 0, 0]
    assert [text.endswith("?") for text in found] == [False, True, True]


def test_a_wrong_check_of_all_cases_is_told_once(tmp_path):
    found = problems(
        tmp_path,
        a__yaml="suite: s\ndefaults: {checks: [{max_chars: 0}]}\nprompts: {p: [{user: '{{ q }}'}]}\n"
        "cases: [{cases_from: r.csv, prompt: p}]\n",
        r__csv="id,q\na,1\nb,2\n",
    )

    assert found == ["a.yaml:2: `max_chars` needs a whole number from 1, such as `max_chars: 400`."]


@pytest.mark.parametrize("checks", ["5", "{a: 1}", "[[json]]", "[5]", "[]\n    vars: {checks: [1, {a: 2}]}"])
def test_other_shapes_of_checks_are_no_crash(tmp_path, checks):
    head = "suite: s\ncases:\n  - id: b\n    messages: [{user: x}]\n    checks: [jsonn]\n"
    found = problems(tmp_path, a__yaml=f"{head}  - id: a\n    messages: [{{user: x}}]\n    checks: {checks}\n")

    assert found[0].startswith("a.yaml:5: There is no check `jsonn`.")

"""`noise:` of a suite and of its cases."""

from __future__ import annotations

import pytest

from promptreg.errors import SuiteError
from promptreg.suite.load import load_suites
from promptreg.suite.model import last_user_text
from promptreg.suite.schema import suite_schema


def load(folder, text, **files):
    (folder / "a.yaml").write_text(text, encoding="utf-8")
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content, encoding="utf-8")
    (suite,) = load_suites([folder / "a.yaml"], folder, check_names=frozenset(), param_names=frozenset())
    return {case.case_id: case for case in suite.cases}


HEAD = "suite: a\nprompts: {p: [user: '{{ q }}']}\n"


def test_without_it_nothing_is_varied(tmp_path):
    cases = load(tmp_path, "suite: a\ncases: [{id: x, messages: [user: hi]}]\n")
    assert cases["x"].noise == "none"


def test_a_case_wins_over_the_defaults_and_the_hash_stays(tmp_path):
    cases = load(
        tmp_path,
        "suite: a\ndefaults: {noise: null-perturbation}\ncases:\n- {id: x, messages: [user: hi]}\n"
        "- {id: y, noise: none, messages: [user: hi]}\n",
    )
    assert (cases["x"].noise, cases["y"].noise) == ("null-perturbation", "none")
    assert cases["x"].request.sha256 == cases["y"].request.sha256


def test_rows_and_lines_can_ask_for_it(tmp_path):
    cases = load(
        tmp_path,
        f"{HEAD}cases:\n- {{cases_from: r.csv, prompt: p, noise: null-perturbation}}\n"
        "- {cases_from: l.jsonl, prompt: p, noise: null-perturbation}\n",
        r__csv="id,q\n1,退货\n",
        l__jsonl='{"id": "2", "vars": {"q": "b"}, "noise": "none"}\n{"id": "3", "q": "c"}\n'
        '{"id": "4", "q": "d", "noise": "of the street"}\n',
    )
    assert {name: case.noise for name, case in cases.items()} == {
        "1": "null-perturbation",
        "2": "none",
        "3": "null-perturbation",
        # A record may have a variable of that name.
        "4": "null-perturbation",
    }


@pytest.mark.parametrize("where", ["defaults: {noise: null-pertubation}\n", ""])
def test_another_word_is_an_error_with_the_allowed_ones(tmp_path, where):
    own = "" if where else "noise: null-pertubation, "
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, f"suite: a\n{where}cases:\n- {{id: x, {own}messages: [user: hi]}}\n")
    (problem,) = map(str, caught.value.problems)
    assert "`noise` must be one of `none`, `null-perturbation`, not `null-pertubation`" in problem
    assert "Did you mean `null-perturbation`?" in problem
    assert problem.startswith("a.yaml:")


def test_a_case_without_a_user_s_text_cannot_be_varied(tmp_path):
    with pytest.raises(SuiteError, match=r"Case `x`: `noise: null-perturbation` varies.*this case has none"):
        load(tmp_path, "suite: a\ncases:\n- {id: x, noise: null-perturbation, messages: [system: hi]}\n")


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], None),
        ([{"role": "system", "content": "a"}], None),
        ([{"role": "user", "content": ""}], None),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "退"}], "退"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}], None),
        ([{"role": "user", "content": [{"type": "text", "text": "b"}, {"type": "image_url"}]}], "b"),
    ],
)
def test_the_text_that_is_varied(messages, text):
    assert last_user_text(messages) == text


def test_editors_are_told(tmp_path):
    definitions = suite_schema()["$defs"]
    for name in ("WrittenDefaults", "WrittenCase", "WrittenRows"):
        assert "null-perturbation" in str(definitions[name]["properties"]["noise"])

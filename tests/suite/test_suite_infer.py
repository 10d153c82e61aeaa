from __future__ import annotations

import pytest

from promptreg.errors import SuiteError
from promptreg.suite.load import load_suites


def load(tmp_path, text):
    path = tmp_path / "suite.yaml"
    path.write_text(text, encoding="utf-8")
    (suite,) = load_suites([path], tmp_path, check_names=frozenset(), param_names=frozenset())
    return {case.case_id: case.infer for case in suite.cases}


MESSAGES = "messages: [{role: user, content: 退货需要几天？}]"


def test_the_target_is_held_to_what_the_recorded_answers_share_unless_the_suite_says_no(tmp_path):
    text = f"suite: s\ncases:\n  - id: a\n    {MESSAGES}\n  - id: b\n    infer: false\n    {MESSAGES}\n"
    assert load(tmp_path, text) == {"a": True, "b": False}


def test_a_case_overrides_the_default(tmp_path):
    own = f"  - id: b\n    infer: true\n    {MESSAGES}\n"
    text = f"suite: s\ndefaults: {{infer: false}}\ncases:\n  - id: a\n    {MESSAGES}\n{own}"
    assert load(tmp_path, text) == {"a": False, "b": True}


def test_rows_of_a_file_take_it_too(tmp_path):
    (tmp_path / "rows.csv").write_text("id,q\nx,你好\ny,hello\n", encoding="utf-8")
    text = "suite: s\nprompts: {p: [user: '{{ q }}']}\ncases:\n  - {cases_from: rows.csv, prompt: p, infer: false}\n"
    assert load(tmp_path, text) == {"x": False, "y": False}


@pytest.mark.parametrize("value", ["maybe", "0", "[]"])
def test_it_is_true_or_false(tmp_path, value):
    with pytest.raises(SuiteError) as caught:
        load(tmp_path, f"suite: s\ncases:\n  - id: a\n    infer: {value}\n    {MESSAGES}\n")
    assert "suite.yaml:4" in str(caught.value)
    assert "true" in str(caught.value)

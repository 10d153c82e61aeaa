from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.errors import SuiteError
from promptreg.suite.load import load_suites

KEYS = st.sampled_from(
    [
        "suite",
        "defaults",
        "prompts",
        "cases",
        "id",
        "prompt",
        "messages",
        "vars",
        "tags",
        "checks",
        "request",
        "cases_from",
        "encoding",
        "p",
        "role",
        "content",
        "user",
        "assistant",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "extra_body",
        "temperature",
        "contains",
        "<<",
        "",
        "[case]",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(0, 9)
    | st.sampled_from(["p", "x", "{{ x }}", "user", "rows.csv", "rows.jsonl", ""])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


def folder_of(tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "suite-fuzz"
    folder.mkdir(exist_ok=True)
    return folder


def only_known_errors(folder, data):
    (folder / "a.yaml").write_text(json.dumps(data), encoding="utf-8")
    (folder / "rows.csv").write_text("id,x\n1,2\n", encoding="utf-8")
    (folder / "rows.jsonl").write_text('{"id": 1, "x": 2}\n', encoding="utf-8")
    names = frozenset({"contains", "temperature"})
    problems = ()
    try:
        load_suites([folder / "a.yaml"], folder, check_names=names, param_names=names)
    except SuiteError as error:
        problems = error.problems
    assert all(problem.place and problem.place.path.startswith(("a.yaml", "rows")) for problem in problems)


@settings(max_examples=100, deadline=None)
@given(data=VALUES)
def test_any_tree_loads_or_has_places(tmp_path_factory, data):
    only_known_errors(folder_of(tmp_path_factory), data)


@settings(max_examples=150, deadline=None)
@given(
    case=st.dictionaries(KEYS, VALUES, max_size=3),
    base=st.sampled_from(
        [
            {"id": "a", "prompt": "p"},
            {"id": "a", "messages": [{"user": "x"}]},
            {"cases_from": "rows.csv", "prompt": "p"},
            {},
        ]
    ),
    head=st.dictionaries(st.sampled_from(["defaults", "prompts"]), VALUES, max_size=1),
    row=VALUES,
)
def test_any_case_loads_or_has_places(tmp_path_factory, case, base, head, row):
    data = {"suite": "a", "prompts": {"p": [{"user": "{{ x }}"}]}, **head, "cases": [{**base, **case}, row]}
    only_known_errors(folder_of(tmp_path_factory), data)

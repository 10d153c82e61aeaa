from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.config import load_config
from promptreg.errors import ConfigError

KEYS = st.sampled_from(
    [
        "deployments",
        "gpu",
        "roles",
        "source",
        "plan",
        "seed",
        "judging",
        "alpha",
        "paths",
        "suites",
        "language",
        "base_url",
        "call",
        "model",
        "timeout_s",
        "connect",
        "request",
        "extra_body",
        "provenance",
        "headers_env",
        "server",
        "name",
        "root",
        "api_key",
        "window",
        "verify",
        "",
    ]
)
LEAVES = (
    st.booleans() | st.integers(-1, 10**30) | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["a:b", "http://h/v1", "http://[", "gpu", "zh", "wire", ""])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=10
)


def toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=4), st.dictionaries(KEYS, VALUES, max_size=4))
def test_any_tree_loads_or_says_why_with_a_line(tmp_path_factory, top, gpu):
    top.setdefault("deployments", {"gpu": {"call": "a:b", **gpu}})
    folder = tmp_path_factory.getbasetemp() / "config-fuzz"
    folder.mkdir(exist_ok=True)
    path = folder / "promptreg.toml"
    path.write_text("".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in top.items()), encoding="utf-8")
    problems = ()
    try:
        load_config(path, folder)
    except ConfigError as error:
        problems = error.problems
    assert all(problem.place and problem.place.line for problem in problems)

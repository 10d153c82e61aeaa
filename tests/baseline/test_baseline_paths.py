from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.baseline.paths import baseline_path, safe_name


@pytest.mark.parametrize("name", ["support", "客服", "deepseek-v3.1", "GPU", "a b", "🙂", "x" * 120, "1"])
def test_names_that_every_system_takes_stay_as_they_are(name):
    assert safe_name(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "CON", "con.x", "Nul", "COM1", "LPT9.txt", "a/b", "a\\b", "a:b", "..", ".", "", " ", "end.", "end ", " start",
        ".hidden", "客" * 300, "x" * 400, "tab\tname", "nul\0", 'quote"', "what?", "star*", "pipe|", "<tag>",
        "e\u0301", "\ud800", "😀" * 100,
    ],
)  # fmt: skip
def test_other_names_are_cleaned_and_get_a_hash(name):
    safe = safe_name(name)

    assert safe != name
    assert safe[-11] == "-"
    _is_safe(safe)


def test_cleaned_names_do_not_meet():
    names = [
        "a/b",
        "a:b",
        "a\\b",
        "a_b",
        "客" * 300,
        "客" * 301,
        "e\u0301",
        "\u00e9",
        "CON",
        "_CON",
        "",
        "_",
        ".",
        "..",
    ]

    assert len({safe_name(name) for name in names}) == len(names)


def test_a_name_that_looks_like_a_cleaned_one_does_not_meet_it():
    assert safe_name(safe_name("a/b")) != safe_name("a/b")


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_name_is_safe_and_different_names_stay_different(first, second):
    _is_safe(safe_name(first))
    assert (safe_name(first) == safe_name(second)) == (first == second)


def test_the_path_is_suite_then_deployment(tmp_path):
    assert baseline_path(Path("baselines"), "客服", "gpu") == Path("baselines/客服/gpu.jsonl")
    path = baseline_path(tmp_path, "../../etc", "a/b" + "长" * 300)
    path.parent.mkdir()
    path.write_text("", encoding="utf-8")
    assert path.parent.parent == tmp_path


def _is_safe(name):
    assert 0 < len(name.encode("utf-8")) <= 131
    assert not set(name) & set('<>:"/\\|?*')
    assert all(ord(character) >= 32 for character in name)
    assert not name.startswith((".", " "))
    assert not name.endswith((".", " "))
    assert name.split(".")[0].lower() not in {"con", "prn", "aux", "nul", "com1", "lpt9"}

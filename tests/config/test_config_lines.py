from __future__ import annotations

import tomllib

from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.config.lines import key_lines, line_of

TEXT = '''# comment with [brackets] and = signs
top = 1
"quoted key" = """
not.a = "key"
""" # after
[a.b]  # c
x.y = [1, # [
  "]", {k = 2},
]
'lit' = \'\'\'
'' [z]
\'\'\'\'
  indented = 3
[[list]]
v = 1
[[list]]
v = 2
[list.sub]
w = 3
["中文"]
"转义\\u4e2d" = "a # b"
'''


def test_each_key_has_its_line():
    tomllib.loads(TEXT)
    lines = key_lines(TEXT)
    expected = {
        ("top",): 2,
        ("quoted key",): 3,
        ("a",): 6,
        ("a", "b"): 6,
        ("a", "b", "x", "y"): 7,
        ("a", "b", "lit"): 10,
        ("a", "b", "indented"): 13,
        ("list", 0): 14,
        ("list", 0, "v"): 15,
        ("list", 1): 16,
        ("list", 1, "v"): 17,
        ("list", 1, "sub", "w"): 19,
        ("中文",): 20,
        ("中文", "转义中"): 21,
    }
    assert {path: lines.get(path) for path in expected} == expected
    assert ("a", "b", "z") not in lines
    assert ("not",) not in lines


def test_inner_keys_take_the_nearest_line():
    lines = key_lines("a = {b = {c = 1}}\n")
    assert line_of(lines, ("a", "b", "c")) == 1
    assert line_of(lines, ("nowhere",)) is None


KEYS = st.text(st.sampled_from("ab中_-. \"'\\#[]=\n"), min_size=1, max_size=4)
VALUES = st.recursive(
    st.text(st.sampled_from("a\"'\\#[]{}=\n中,"), max_size=8) | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def _basic(text):
    return '"' + "".join(f"\\u{ord(char):04x}" if char in '"\\\n' else char for char in text) + '"'


def _toml(value, multiline):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        if multiline:
            return '"""\n' + value.replace("\\", "\\\\").replace('"""', '""\\"') + '"""'
        return _basic(value)
    if isinstance(value, list):
        end = "\n  # ] comment\n" if multiline else ""
        return "[" + ",".join(_toml(item, multiline) for item in value) + end + "]"
    return str(value)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, st.dictionaries(KEYS, st.tuples(VALUES, st.booleans()), max_size=4), max_size=4))
def test_every_key_of_a_valid_file_is_found_where_it_was_written(tables):
    pieces = []
    expected = {}
    for name, table in tables.items():
        expected[(name,)] = "".join(pieces).count("\n") + 1
        pieces.append(f"[{_basic(name)}]\n")
        for key, (value, multiline) in table.items():
            expected[(name, key)] = "".join(pieces).count("\n") + 1
            pieces.append(f"{_basic(key)} = {_toml(value, multiline)} # end\n")
    text = "".join(pieces)
    tomllib.loads(text)
    assert dict(key_lines(text)) == expected


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("ab=[]\"'\n#{}., \\"), max_size=60))
def test_the_scan_ends_on_any_text(text):
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    key_lines(text)

"""JSON of files: keys that stand twice, numbers that are none, and objects with too many keys."""

from __future__ import annotations

import json

import pytest

from promptreg.config.json_input import MOST_KEYS, JsonInputError, finite, refuse_constant, unique_keys


def read(text):
    return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=finite)


def test_what_is_json_is_read():
    assert read('{"a": {"b": [1.5, -0.0, 1e308, null]}, "": {}}') == {"a": {"b": [1.5, 0.0, 1e308, None]}, "": {}}
    assert len(read("{" + ",".join(f'"{n}":0' for n in range(MOST_KEYS)) + "}")) == MOST_KEYS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"角色": 1, "b": 2, "角色": 1}', "the key `角色` stands twice in one object"),
        ('[{"x": {"a\\nb": 1, "a\\nb": 2}}]', "the key `a⏎b` stands twice"),
        ('{"a": NaN}', "NaN is not JSON; write null, or quotes around a text"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("1e400", "1e400 is too large a number"),
        ("1" * 400 + ".5", "111… is too large a number"),
        ("{" + ",".join(f'"{n}":0' for n in range(MOST_KEYS + 1)) + "}", "an object has 10001 keys, and at most 10000"),
    ],
)
def test_what_is_not_is_said_in_a_clause(text, said):
    with pytest.raises(JsonInputError) as found:
        read(text)
    assert said.replace("111…", "1" * 39 + "…") in str(found.value)
    assert len(str(found.value)) < 200


def test_the_last_of_many_keys_that_stands_twice_is_found_in_one_look():
    """Comparing each key with all others took hours for a line of 64 MB."""
    steps = 0

    class Counted(str):
        __slots__ = ()

        def __eq__(self, other):
            nonlocal steps
            steps += 1
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    pairs = [(Counted(f"key {n}"), 0) for n in range(2000)]
    with pytest.raises(JsonInputError, match="the key `key 1999` stands twice"):
        unique_keys([*pairs, (Counted("key 1999"), 1)])
    assert steps < 20_000

"""Row 13: nothing is escaped on its way to the model."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "value",
    ['a < b & "c"', "it's <b>bold</b>", "&amp; &lt;", "{\"a\": '<'}", "x > y && y < z", "引号“与”<尖括号>", "a\\nb\tc"],
)
def test_marks_arrive_byte_for_byte(moved, value):
    project = moved()
    project.suite("orders", {"a": value})
    assert project.sent() == [value]
    assert project.source.chats[-1]["messages"][0]["content"].encode() == value.encode()

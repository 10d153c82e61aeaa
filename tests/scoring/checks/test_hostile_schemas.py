"""Schemas made to fetch something, or to fill the memory or the time of who holds an answer against them."""

from __future__ import annotations

import json
import os
import socket

import pytest

from promptreg.answer.model import Answer
from promptreg.errors import SuiteError
from promptreg.scoring import references
from promptreg.scoring.faults.reading.schemas import violations

SECRET = "made-up-word-2718"


def doubled(levels):
    """Each definition holds the one before it twice: two to the power of `levels` steps for one value."""
    definitions = {"d0": {"type": "object"}}
    for level in range(1, levels):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"allOf": [below, below]}
    return {"$ref": f"#/$defs/d{levels - 1}", "$defs": definitions}


def test_references_are_followed_so_often_and_no_more(judge, monkeypatch):
    told = judge("json_schema", doubled(60), "{}")
    assert told.passed is None
    assert "more than 100000 references would have to be followed" in told.sentence.en
    assert violations(doubled(60), {}) == ()
    assert judge("json_schema", doubled(10), "{}").passed
    assert judge("json_schema", doubled(10), "[]").passed is False
    assert [each.rule for each in violations(doubled(3), [])] == ["type"] * 4
    monkeypatch.setattr(references, "MOST_REFERENCES", 40)
    rows = {"items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}}
    for _ in range(3):  # each answer begins anew
        assert judge("json_schema", rows, "[" + "1," * 30 + "1]").passed
    assert judge("json_schema", rows, "[" + "1," * 60 + "1]").passed is None


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("address", ["file://{file}", "{file}", "http://127.0.0.1:{port}/s.json", "secret.json"])
def test_nothing_is_fetched(build, tmp_path, address, inner):
    file = tmp_path / "secret.json"
    file.write_text(json.dumps({"const": SECRET}), encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as server:
        reference = address.format(file=file, port=server.getsockname()[1])
        schema = {"properties": {"a": {"$ref": reference}}}
        if inner:  # identifiers inside change what references are relative to
            schema["$defs"] = {"b": {"$id": "http://127.0.0.1/b", "type": "object"}}
        said = []
        try:
            said.append(build("json_schema", schema)(Answer('{"a": 1}'), None))
        except SuiteError as error:
            said.append(error)
        assert violations(schema, {"a": 1}) == ()
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert SECRET not in str(said)
    assert "Nothing is fetched" in str(said) or said[0].passed is None


def test_a_schema_that_is_nested_without_end_is_refused(refused, tmp_path):
    schema = {}
    for _ in range(300):
        schema = {"items": schema}
    assert "is nested more than 200 levels deep" in refused("json_schema", schema)
    (tmp_path / "suites").mkdir()
    for deep in (b'{"items":' * 900 + b"{}" + b"}" * 900, b'{"items":' * 90_000 + b"{}" + b"}" * 90_000):
        (tmp_path / "suites" / "deep.json").write_bytes(deep)
        assert "deep.json` is" in refused("json_schema", "deep.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_schema_file_is_a_file_of_the_project(refused, tmp_path):
    folder = tmp_path / "suites"
    folder.mkdir()
    os.mkfifo(folder / "pipe.json")
    (folder / "passwd.json").symlink_to("/etc/passwd")
    with (folder / "large.json").open("wb") as file:
        file.truncate(1 << 30)
    assert "does not exist" in refused("json_schema", "pipe.json")
    assert "lies outside the project" in refused("json_schema", "passwd.json")
    assert "lies outside the project" in refused("json_schema", "../../outside.json")
    assert "is an absolute path" in refused("json_schema", "/etc/passwd")
    assert "larger than 1 MB" in refused("json_schema", "large.json")

"""Baselines made to fill the memory or the time of who reads them."""

from __future__ import annotations

import os

import pytest

from promptreg.baseline import read as module
from promptreg.baseline.read import MOST_LINE_BYTES, parse_baseline, peek_header, read_baseline
from promptreg.baseline.write import write_baseline
from promptreg.errors import BaselineError, OutputError

HEADER = (
    '{"schema":"promptreg.baseline/1","suite":"s","deployment":"d","recorded_at":"x","run_id":"r","model":"m",'
    '"server":null,"fingerprint":null,"request_defaults":{},"passes":3,"warnings":[],"provenance":{}}\n'
)
START = '{"case_id":"a","request_sha256":"' + "a" * 64 + '",'


def problems_of(*lines):
    with pytest.raises(BaselineError) as raised:
        parse_baseline((HEADER + "\n".join(lines)).encode(), "b.jsonl")
    return [str(problem) for problem in raised.value.problems]


def test_a_line_without_end_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "b.jsonl"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # sparse: no disk is that large
    assert peek_header(path) is None
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    assert [problem.message for problem in raised.value.problems] == [
        "This line is longer than 64 MB. Restore the file from git.",
        "The rest of this file was not read.",
    ]
    assert raised.value.problems[0].place.line == 1
    assert MOST_LINE_BYTES == 64 * 2**20


def test_a_file_that_is_too_large_is_refused_where_it_is(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", len(HEADER) + 500)
    line = START + '"answers":[],"failed_passes":[0]}'
    assert parse_baseline((HEADER + line).encode(), "b").goldens
    told = problems_of(*[line.replace('"a"', f'"{number}"') for number in range(9)])
    assert told == ["b.jsonl:5: The file is larger than 0 GB by here. Record its suite in parts.", told[1]]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_baseline(tmp_path):
    os.mkfifo(tmp_path / "b.jsonl")
    assert peek_header(tmp_path / "b.jsonl") is None
    with pytest.raises(BaselineError, match="This is a pipe or a device, not a file"):
        read_baseline(tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    "line",
    [
        START + '"answers":[' + "0," * 200_000 + '0],"failed_passes":[]}',
        START + '"answers":[],"failed_passes":[' + "-1," * 200_000 + "0]}",
        START + '"answers":[],"failed_passes":[],"calls":[' + "{}," * 200_000 + "{}]}",
        START + '"answers":[],"failed_passes":[],"together":[' + '"",' * 200_000 + '""]}',
        START + '"answers":[],"failed_passes":[],"prompt_variants":{"space":[' + '"",' * 200_000 + '""]}}',
        START + ",".join(f'"k{number}":0' for number in range(200_000)) + "}",
    ],
)
def test_of_a_line_that_is_wrong_all_over_little_is_said(line):
    """Validation remembers everything that is wrong: a line of a megabyte took gigabytes."""
    told = problems_of(line)
    assert len(told) <= 3
    assert all(each.startswith("b.jsonl:2: ") and len(each) < 500 for each in told)


def test_after_many_problems_nothing_more_is_read():
    told = problems_of(*["{"] * 100_000)
    assert len(told) == 201
    assert told[199].startswith("b.jsonl:201: ")
    assert told[200] == "b.jsonl: The rest of this file was not read."


@pytest.mark.parametrize("content", [b"export PATH\n", b"{}\n", b"\x7fELF"])
def test_a_link_to_what_is_no_baseline_replaces_nothing(tmp_path, content):
    profile = tmp_path / "profile"
    profile.write_bytes(content)
    link = tmp_path / "project" / "gpu.jsonl"
    link.parent.mkdir()
    link.symlink_to(profile)
    whole = parse_baseline(HEADER.encode(), "b")
    with pytest.raises(OutputError, match="which holds no baseline, so nothing was written"):
        write_baseline(link, whole)
    assert profile.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["profile", "project"]
    profile.write_bytes(b"")
    write_baseline(link, whole)
    write_baseline(link, whole)
    assert read_baseline(link) == whole

"""benchmarks/peers.py in short: ours and the bare client on its mock. Counts are held, times are not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES, CONCURRENCY = 40, 4


@pytest.fixture(scope="module")
def bench():
    """The script's modules, and the port of its mock."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import peer_tools
        import peers

        with peers.mock(latency_s=0.001) as port:
            yield peers, peer_tools, port
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def figures(bench, tmp_path_factory):
    """What ours with embeddings from the server, and the bare client, did on the same cases, by name."""
    peers, peer_tools, port = bench
    tools = [
        tool for tool in (*peer_tools.ours(), peer_tools.bare_openai()) if "server" in tool.name or "bare" in tool.name
    ]
    found = {}
    for tool in tools:
        work = peer_tools.Work(tmp_path_factory.mktemp("work"), port, CASES, CONCURRENCY)
        found[tool.name] = [peers.measure(tool, work)]
    return found


def test_every_case_is_asked_once_of_each_side_and_never_more_at_once_than_told(figures):
    for runs in figures.values():
        (run,) = runs
        assert (run.calls, run.asked_again) == (2 * CASES, 0)
        assert 1 <= run.most_in_flight <= CONCURRENCY


def test_ours_embeds_each_distinct_text_once_in_few_requests(figures):
    (ours,) = figures["promptreg, embedder on the server"]
    # Whatever the self-test plants, a case of this suite has at most nine versions of an answer.
    assert CASES / 10 <= ours.embedded_texts <= 11 * CASES
    assert ours.embedding_requests <= 8
    (bare,) = figures["bare openai client"]
    assert bare.embedding_requests == 0


def test_the_table_has_a_row_for_the_ideal_and_one_for_each_tool(bench, figures):
    peers, peer_tools, _ = bench
    tools = [tool for tool in (*peer_tools.ours(), peer_tools.bare_openai()) if tool.name in figures]
    rows = peers.table(tools, figures, dict.fromkeys(figures, 0.1), CONCURRENCY).splitlines()
    assert [row.split("|")[1].strip() for row in rows[2:]] == ["ideal", *figures]
    assert len({row.count("|") for row in rows}) == 1


def test_what_cannot_be_installed_is_said_and_not_measured(bench, monkeypatch, tmp_path):
    _, peer_tools, port = bench
    nothing = peer_tools.peer_setup.Installed(why_not="no network")
    monkeypatch.setattr(peer_tools.peer_setup, "llmshift", lambda _: nothing)
    monkeypatch.setattr(peer_tools.peer_setup, "promptfoo", lambda _: nothing)
    tools, missing = peer_tools.peers(tmp_path, port)
    assert tools == []
    assert missing == [
        "llmshift is not measured: it cannot be installed here (no network).",
        "promptfoo is not measured: it cannot be installed here (no network).",
    ]

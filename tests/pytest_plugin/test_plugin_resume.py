"""--promptreg-resume: a second session takes only what the first one got no answer to (promptfoo#5849)."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer


@pytest.fixture
def target(folder):
    """A target that fails in one of two cases: the questions it was asked since this was last called."""
    with SimulatedServer(seed=1, rules=[{"match": "book", "faults": ["status_500"]}]) as server:
        told = 0

        def questions():
            nonlocal told
            since, told = server.chats[told:], len(server.chats)
            return [chat["messages"][-1]["content"] for chat in since]

        folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
        folder.project.deployment("ascend", server.base_url, role="target", max_retries=0)
        folder.project.section("judging", embedder="letters")
        folder.project.section("plan", record_passes=10, compare_passes=5, looks=[5])
        yield questions


def test_only_what_has_no_answer_is_called(folder, target, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder.folder / "summary.md"))
    first = folder.pytest("-rA")
    assert folder.outcomes(first)["suites/moved.yaml::refund"] == "error"
    first.stdout.fnmatch_lines(["*missing answers with --promptreg-resume*"])
    for told in (first.stdout.str(), (folder.folder / "summary.md").read_text(encoding="utf-8")):
        assert " --resume" not in told
        assert "--promptreg-resume" in told
    assert len(target()) == 10
    second = folder.pytest("-rA", "--promptreg-resume")
    assert target() == ["How many days do I have to return a book?"] * 5
    assert folder.outcomes(second)["suites/moved.yaml::refund"] == "error"
    (run, *_) = folder.project.run("runs", "--json").json["runs"]
    assert (run["kind"], run["answered"], run["failed"]) == ("compare", 5, 5)


def test_without_it_everything_is_called_again(folder, target):
    folder.pytest()
    folder.pytest()
    assert len(target()) == 20


def test_nothing_to_go_on_with_is_an_error(folder, target):
    done = folder.pytest("--promptreg-resume")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: There is nothing to resume: *Leave --promptreg-resume out*"])
    assert target() == []


def test_it_says_nothing_beside_a_stored_run(folder):
    done = folder.pytest("--promptreg-resume", "--promptreg-run", "latest")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*leave --promptreg-resume out*"])

"""--promptreg-resume: a second session takes only what the first one got no answer to (promptfoo#5849)."""

from __future__ import annotations

import pytest

from promptreg.store.store import Store
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
    _broken_off(folder, "running")  # as where the process that compared was killed
    refused = folder.stored()
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: Run * (`latest`) is not finished: it has 5 of 10 samples (running).*"])
    second = folder.pytest("-rA", "--promptreg-resume")
    assert target() == ["How many days do I have to return a book?"] * 5
    assert folder.outcomes(second)["suites/moved.yaml::refund"] == "error"
    (run, *_) = folder.project.run("runs", "--json").json["runs"]
    assert (run["kind"], run["answered"], run["failed"]) == ("compare", 5, 5)


def _broken_off(folder, state):
    """Leaves the newest run as one that ended before it was taken to its end; gives its id."""
    with Store.open(folder.folder / ".promptreg" / "store.db", create=False) as store:
        run_id = store.runs()[0].run_id
        store.update_run(run_id, state=state)
    return run_id


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_the_newest_run_is_no_verdict_while_it_is_unfinished(folder, state):
    run_id = _broken_off(folder, state)
    told = f"Run {run_id} (`latest`) is not finished: "
    done = folder.stored()
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert told in done.stderr.str()
    for command in (("compare", "--run"), ("report",), ("review", "list")):
        refused = folder.project.run(*command, "latest")
        assert (refused.exit_code, told in refused.stderr) == (2, True)
    assert folder.project.run("runs", "latest").exit_code == 0
    by_id = folder.pytest("--promptreg-run", run_id, "-rA")
    assert folder.outcomes(by_id)["suites/moved.yaml::refund"] == "failed"


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


def test_an_embeddings_endpoint_that_is_away_is_told_with_the_way_on(folder, target):
    folder.project.section("judging", embedder="far")
    text = (folder.folder / "promptreg.toml").read_text(encoding="utf-8")
    far = '[embedders.far]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nmax_retries = 0\n'
    folder.write("promptreg.toml", f"{text}\n{far}")
    stored = folder.project.run("compare", "--run", "latest")
    assert stored.exit_code == 4
    assert stored.stderr.rstrip().endswith("under [judging]. Then run the same command again.")
    live = folder.pytest("-rA")
    assert set(folder.outcomes(live).values()) == {"error"}
    live.stdout.fnmatch_lines(["*The samples are stored: then run the command again with --promptreg-resume."])

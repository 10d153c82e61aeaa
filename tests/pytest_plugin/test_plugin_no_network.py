"""--promptreg-run calls nobody: no deployment, no judge, no embeddings endpoint."""

from __future__ import annotations

import re

from promptreg.testing import SimulatedServer


def with_endpoint(folder, server):
    folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
    folder.project.deployment("ascend", server.base_url, role="target")
    folder.project.section("plan", record_passes=10, compare_passes=5, looks=[5])
    folder.project.section("judging", embedder="vectors")
    folder.project.section("embedders", vectors={"base_url": server.base_url, "model": "simulated"})


def test_vectors_come_from_the_store_or_not_at_all(folder):
    with SimulatedServer() as server:
        with_endpoint(folder, server)
        done = folder.stored("-rA")
        assert set(folder.outcomes(done).values()) == {"error"}
        done.stdout.fnmatch_lines(["*holds no vectors of simulated at * and nothing may be called.*compare --run*"])
        assert server.requests == []
        (advice,) = set(re.findall(r"`promptreg (compare --run \S+)`", done.stdout.str()))
        assert folder.project.run(*advice.split()).exit_code == 1
        asked = len(server.requests)
        assert asked
        assert folder.outcomes(folder.stored("-rA"))["suites/moved.yaml::refund"] == "failed"
        assert len(server.requests) == asked


def test_a_judge_is_not_asked_and_what_it_did_not_score_is_no_pass(folder):
    path = folder.folder / "suites/moved.yaml"
    judged = '"checks": [{"judge": {"by": "ascend", "rubric": "It is polite."}}]'
    with SimulatedServer() as server:
        with_endpoint(folder, server)
        folder.project.section("judging", embedder="letters")
        path.write_text(path.read_text(encoding="utf-8").replace('"checks": []', judged), encoding="utf-8")
        done = folder.stored("-rA", "suites/moved.yaml")
        assert server.requests == []
    assert folder.outcomes(done)["suites/moved.yaml::[verdict]"] in {"failed", "error"}
    done.stdout.fnmatch_lines(["*not scored by a `judge` check*"])

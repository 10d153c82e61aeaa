"""Many decisions in one file: one transaction, every file read once however many they are."""

from __future__ import annotations

import json
import time

import pytest

from promptreg.cli.schema import schema_of
from promptreg.workflow.review import apply as review_apply

CASES = 60


@pytest.fixture
def compared(pair_of, monkeypatch):
    """A comparison of many cases that all drifted."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    pair = pair_of(source={"noise": {}}, target={"noise": {}, "rules": [{"match": "parcel", "answers": ["No idea."]}]})
    pair.project.suite("support", {f"用例-{n:03}": f"Where is my parcel {n}?" for n in range(CASES)})
    pair.record("--passes", "1")
    pair.compare("--passes", "1")
    return pair


def test_all_are_decided_at_once(compared, monkeypatch):
    said = compared.run("review", "list", "--all", "--json").json
    assert len(said["cases"]) == CASES
    keys = ("suite", "case_id", "target", "golden_sha256", "candidate_sha256")
    decided = {"reason": "", "expires_on": None, "decided_at": "2026-12-02T09:30:00Z"}
    entries = [
        {**{key: case[key] for key in keys}, "decision": "approve" if number % 2 else "reject", **decided}
        for number, case in enumerate(said["cases"])
    ]
    document = {
        "schema": "promptreg.decisions/1",
        "report_id": said["report_id"],
        "run_id": said["run_id"],
        "baseline": said["source"],
        "exported_at": "2026-12-02T09:31:00Z",
        "reviewer": "李伟",
        "decisions": entries,
    }
    assert set(document) == set(schema_of("decisions")["required"])
    compared.project.write("d.json", json.dumps(document))
    reads = []
    for name in ("standing_decisions", "read_baseline", "stored_goldens"):
        monkeypatch.setattr(review_apply, name, counted(getattr(review_apply, name), name, reads))
    began = time.monotonic()
    done = compared.run("review", "apply", "d.json", "--write", "--quiet")
    assert time.monotonic() - began < 10
    assert (done.exit_code, "Written" in done.stdout) == (0, True)
    assert sorted(reads) == ["read_baseline", "standing_decisions", "stored_goldens"]
    with compared.store() as store:
        logged = store.decisions()
    assert len(logged) == CASES
    assert len({each.applied_at for each in logged}) == 1


def counted(function, name, reads):
    def called(*arguments, **named):
        reads.append(name)
        return function(*arguments, **named)

    return called

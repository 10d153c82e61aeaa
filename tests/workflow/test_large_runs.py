"""A large run judged by one process and by two: the same verdicts and the same report, and no text embedded twice."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from promptreg.config import load_config
from promptreg.scoring import score
from promptreg.scoring.embedders.universal import UniversalEmbedder
from promptreg.scoring.extensions import Extensions
from promptreg.store.store import Store
from promptreg.testing import Project
from promptreg.verdict import comparison
from promptreg.workflow import large
from promptreg.workflow.baselines import stored_goldens
from promptreg.workflow.judging import faults
from promptreg.workflow.views import cases, report

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
CASES = 15


@pytest.fixture(scope="module", params=[7, None], ids=["drift", "self-test"])
def project(request, tmp_path_factory):
    """A stored comparison, made without a call. One with no drift is judged with its self-test."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from stored_runs import stored_project
    finally:
        sys.path.remove(str(BENCHMARKS))
    folder = tmp_path_factory.mktemp("large")
    stored_project(folder, CASES, source_passes=4, target_passes=3, moved_every=request.param)
    return folder


@pytest.fixture
def spread(monkeypatch):
    """Even a small run is spread, in parts of a few cases."""
    monkeypatch.setattr(large, "LARGE", 0)
    for module, name in ((faults, "READ_TOGETHER"), (cases, "READ_TOGETHER"), (score, "BLOCK")):
        monkeypatch.setattr(module, name, 4)
    monkeypatch.setattr(comparison, "PART", 4)
    monkeypatch.setattr(report, "time", SimpleNamespace(time=lambda: 1_764_000_000.0))


def set_workers(folder: Path, workers: int) -> None:
    config = (folder / "promptreg.toml").read_text(encoding="utf-8").partition("[judging]")[0]
    (folder / "promptreg.toml").write_text(f"{config}[judging]\nworkers = {workers}\n", encoding="utf-8")


def judged(folder: Path, workers: int) -> tuple[str, bytes]:
    """What `compare --json` says, and the report."""
    set_workers(folder, workers)
    done = Project(folder).run("compare", "--run", "latest", "--json", "--html", "report.html")
    assert done.exit_code in {1, 3, 0}, done.stderr
    return done.stdout, (folder / "report.html").read_bytes()


def test_two_processes_judge_to_the_byte_as_one_does_and_embed_nothing_again(project, spread, monkeypatch):
    by_one = judged(project, 1)
    monkeypatch.setattr(UniversalEmbedder, "encode", lambda *_: pytest.fail("a stored text was embedded again"))
    assert judged(project, 2) == by_one


def test_two_processes_make_the_goldens_that_one_makes(project, spread, monkeypatch):
    monkeypatch.setattr(stored_goldens, "SAMPLES_TOGETHER", 16)
    made = []
    for workers in (1, 2):
        set_workers(project, workers)
        config = load_config(None, project)
        with Store.open(project / config.paths.store) as store:
            (record,) = (run for run in store.runs() if run.kind == "record")
            made.append(stored_goldens.stored_goldens(config, store, record, "returns"))
    assert made[0] == made[1]
    assert list(made[1]) == sorted(made[1])
    assert [golden.tried for golden in made[1].values()] == [(0, 1, 2, 3)] * CASES


def test_a_small_run_and_a_project_with_code_of_its_own_stay_in_one_process(tmp_path, monkeypatch):
    (tmp_path / "promptreg.toml").write_text("[judging]\nworkers = 2\n", encoding="utf-8")
    config = load_config(None, tmp_path)
    assert large.spread_of(config, large.LARGE - 1) is map
    assert (large.spread_of(config, large.LARGE) is map) == (sys.platform != "linux")
    monkeypatch.setattr(large, "load_extensions", lambda _: Extensions(checks={"polite": lambda *_: None}))
    assert large.spread_of(config, large.LARGE) is map

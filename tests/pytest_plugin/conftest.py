"""One stored comparison with every verdict, made once a process; each test runs pytest on its own copy of it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

import promptreg.pytest_plugin.fixture
import promptreg.pytest_plugin.gate
import promptreg.pytest_plugin.hooks  # noqa: F401 - pytester forgets what an inner session imports, numpy among it
from promptreg.testing import Project, SimulatedServer

HOOKS = (Path(__file__).parents[1] / "data" / "letters_hooks.py").read_text(encoding="utf-8")
"""An embedder of the project's own: the default one takes seconds to load."""

CALM = {
    "hours": "When is your hotline open?",
    "发票": "发票在哪里下载？",
    "points": "What are points for?",
    "shipping": "订单多久能送到？",
    "a::b [c] d": "Where do I find my orders?",
    "size": "How large may a parcel be?",
}
MOVED = {"refund": "How many days do I have to return a book?", "gift": "礼品卡的有效期是多久？"}
OTHER = "No idea. Ask the shop next door about their cats and gardens, or come back in a year."


@pytest.fixture
def hooks():
    """promptreg_hooks.py with an embedder named `letters`."""
    return HOOKS


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    """A project whose newest run has every verdict of a case and of a suite; its deployments are gone."""
    folder = tmp_path_factory.mktemp("stored")
    project = Project(folder, {"promptreg_hooks.py": HOOKS})
    project.section("judging", embedder="letters")
    project.section("plan", record_passes=10, compare_passes=5, looks=[5])
    broken = [
        {"match": "book", "answers": [OTHER]},
        {"match": "waive", "answers": [OTHER]},
        {"match": "language", "faults": ["wrong_language"]},
        {"match": "Nobody", "faults": ["status_400"]},
    ]
    with ExitStack() as stack:
        same = {"seed": 1, "noise": {"wording": 0.5}}
        source = stack.enter_context(SimulatedServer(**same))
        target = stack.enter_context(SimulatedServer(rules=broken, **{**same, "seed": 2}))
        project.deployment("gpu", source.base_url, role="source")
        project.deployment("ascend", target.base_url, role="target", max_retries=0)
        request = {"temperature": 0.7}
        project.suite("calm", CALM, request=request)
        project.suite("moved", {**MOVED, "waived": "May I waive the fee for a delivery?"}, request=request)
        project.suite(
            "worse", {"language": "Which language do you speak?"}, request=request, checks=[{"language": "en"}]
        )
        project.suite("broken", {"nobody": "Nobody answers this, or do they?"}, request=request)
        project.suite("unsure", {"old": "May I pay by card?", "gone": "Is there a shop near me?"}, request=request)
        assert project.run("record").exit_code == 0
        project.suite("unsure", {"old": "May I pay by card?", "fresh": "Is there parking?"}, request=request)
        done = project.run("compare", "--json")
        assert done.stdout, done.stderr
        run_id = done.json["run_id"]
        waive = ("review", "decide", "waive", "moved/waived", "--run", run_id, "--reason", "known since May")
        assert project.run(*waive, "--until", "2099-12-31", "--write").exit_code == 0
        judged = project.run("compare", "--run", run_id, "--json")
        assert judged.stdout, judged.stderr
        project.said = judged.json
    return project


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A project with one small suite, in which one case drifted."""
    project = Project(tmp_path_factory.mktemp("small"), {"promptreg_hooks.py": HOOKS})
    project.section("judging", embedder="letters")
    project.section("plan", record_passes=10, compare_passes=5, looks=[5])
    with ExitStack() as stack:
        same = {"seed": 1, "noise": {"wording": 0.5}}
        source = stack.enter_context(SimulatedServer(**same))
        target = stack.enter_context(SimulatedServer(rules=[{"match": "book", "answers": [OTHER]}], **same))
        project.deployment("gpu", source.base_url, role="source")
        project.deployment("ascend", target.base_url, role="target", max_retries=0)
        project.suite("moved", MOVED, request={"temperature": 0.7})
        _tag(project, "moved", "refund", ["policy", "slow-one", "标签", "skip", "cluster:one two"])
        assert project.run("record").exit_code == 0
        assert project.run("compare").exit_code == 1
    return project


def _tag(project, suite, case_id, tags):
    path = project.folder / "suites" / f"{suite}.yaml"
    content = json.loads(path.read_text(encoding="utf-8"))
    for case in content["cases"]:
        if case["id"] == case_id:
            case["tags"] = tags
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")


class Folder:
    """A copy of the stored project in which pytest is run."""

    def __init__(self, folder, pytester):
        self.folder, self._pytester = folder, pytester
        self.project = Project(folder)

    def write(self, name, text):
        return self.project.write(name, text)

    def pytest(self, *arguments):
        """`pytest --promptreg` in this process, with everything that pytest says of its items."""
        return self.bare("--promptreg", *arguments)

    def stored(self, *arguments):
        """The same on the newest stored run."""
        return self.pytest("--promptreg-run", "latest", *arguments)

    def bare(self, *arguments):
        return self.plain("-p", "promptreg.pytest_plugin.plugin", *arguments)

    def plain(self, *arguments):
        """pytest without any plugin but those that the arguments name: others cost more time than the run itself."""
        rewritten = "ignore::pytest.PytestAssertRewriteWarning"  # plugins are imported already when they are named
        return self._pytester.runpytest_inprocess("-W", rewritten, *map(str, arguments), no_reraise_ctrlc=True)

    @classmethod
    def outcomes(cls, result):
        """Node id → outcome, from the lines of -rA."""
        return cls.outcomes_of(result.outlines)

    @staticmethod
    def outcomes_of(lines):
        """The same from the lines themselves."""
        found = {}
        for line in lines:
            for word in ("PASSED", "FAILED", "ERROR", "XFAIL"):
                if line.startswith(f"{word} ") and "::" in line.split(" - ")[0]:
                    found[line[len(word) + 1 :].split(" - ")[0]] = word.lower()
        return found

    @staticmethod
    def collected(result):
        """The node ids of --collect-only -q."""
        return [line for line in result.outlines if "::" in line]


def _copy(project, pytester, monkeypatch):
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "GITLAB_", "PYTEST_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.delenv("LC_ALL", raising=False)
    shutil.copytree(project.folder, pytester.path, dirs_exist_ok=True)
    pytester.makeini("[pytest]\n")
    return Folder(pytester.path, pytester)


@pytest.fixture
def every(stored, pytester, monkeypatch):
    """A copy of the project with every verdict, as the current folder."""
    return _copy(stored, pytester, monkeypatch)


@pytest.fixture
def folder(small, pytester, monkeypatch):
    """A copy of the small project, as the current folder."""
    return _copy(small, pytester, monkeypatch)

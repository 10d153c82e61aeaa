"""A project with a source and a target that answer as told, for the scenarios of README.md in this folder."""

from __future__ import annotations

import contextlib
import io
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest

from promptreg.testing import Project, SimulatedServer


class Letters:
    """Pairs of letters, counted: the real embedder takes seconds to load."""

    name = "letters"

    def encode(self, texts):
        vectors = np.zeros((len(texts), 256), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for pair in zip(f" {text}", f"{text} ", strict=True):
                vector[zlib.crc32("".join(pair).encode("utf-8", "replace")) % 256] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.fixture(autouse=True)
def quick_embedder(monkeypatch):
    for module in ("compare", "baselines.recording_check"):
        monkeypatch.setattr(f"promptreg.workflow.{module}.load_embedder", lambda *_: Letters())


class Moved(Project):
    """A project whose source and target are simulated."""

    def __init__(self, folder, source, target):
        super().__init__(folder)
        self.source, self.target = source, target
        self.section("plan", record_passes=10, compare_passes=5)
        self.deployment("gpu", source.base_url, role="source")
        self.deployment("ascend", target.base_url, role="target")

    def sent(self):
        """The texts of all messages that the source got, after one pass."""
        done = self.run("record", "--passes", "1")
        assert done.exit_code == 0, done.stderr
        return [message["content"] for chat in self.source.chats for message in chat["messages"]]

    def refused(self):
        """What `record` says when it cannot use the project; nothing was sent."""
        done = self.run("record", "--passes", "1")
        assert (done.exit_code, done.stdout) == (2, ""), done.stderr
        assert self.source.chats == []
        return done.stderr

    def judged(self, *arguments):
        """Exit code and object of `record` and `compare --json`."""
        recorded = self.run("record")
        assert recorded.exit_code == 0, recorded.stderr
        done = self.run("compare", "--json", *arguments)
        assert done.stdout, done.stderr
        return done.exit_code, done.json


@pytest.fixture
def moved(tmp_path):
    """A function that starts both deployments, each from the fields of its script."""
    servers = []

    def start(source=None, target=None):
        both = [
            SimulatedServer(**{"seed": seed, **(fields or {})}).start() for seed, fields in ((1, source), (2, target))
        ]
        servers.extend(both)
        return Moved(tmp_path, *both)

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def answers():
    """A function that makes the fields of a script which gives these answers to everything."""

    def make(*contents):
        return {"rules": [{"match": "", "answers": list(contents)}]}

    return make


@pytest.fixture
def cases_of():
    """A function that gives the cases of a comparison by id."""

    def cases(said):
        return {case["case_id"]: case for suite in said["suites"] for case in suite["cases"]}

    return cases


@pytest.fixture
def gate(monkeypatch):
    """A function that runs `pytest --promptreg` in a project: what it said, and the kinds of JUnit results by case."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def run(project, *arguments, stored=True):
        monkeypatch.chdir(project.folder)
        newest = ("--promptreg-run", "latest") if stored else ()
        alone = ("-p", "promptreg.pytest_plugin.plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning")
        told = (*alone, "--rootdir", project.folder, "--capture=no", "--junitxml", "junit.xml")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            pytest.main([*map(str, told), "--promptreg", *newest, *arguments])
        cases = ET.parse(project.folder / "junit.xml").getroot().iter("testcase")
        kinds = {case.get("name"): {part.tag for part in case if part.tag != "properties"} for case in cases}
        return said.getvalue(), kinds

    return run

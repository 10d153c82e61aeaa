"""A worker by itself, in this process: what it hands over, and when it says that its node cannot be used."""

from __future__ import annotations

import asyncio
import pickle
import platform
from dataclasses import replace

import pytest

from promptreg import __version__
from promptreg.config import Deployment
from promptreg.engine_ray.limiter import Limiter
from promptreg.engine_ray.worker import Job, Worker
from promptreg.errors import ConfigError, Place
from promptreg.replay.plan import plan_passes
from promptreg.suite.model import Case, Request
from promptreg.testing import SimulatedServer
from promptreg.text.redaction import NOTHING, REDACTED, Redaction

VERSIONS = (__version__, platform.python_version())


class Near(Limiter):
    """The limiter in this process: what `leave` returns is awaited by nobody."""

    def leave(self, worker, count, learned):
        self.task = asyncio.create_task(super().leave(worker, count, learned))


@pytest.fixture
def job(tmp_path):
    (tmp_path / "promptreg.toml").write_text("", encoding="utf-8")
    with SimulatedServer(seed=1) as server:
        deployment = Deployment.model_validate(
            {"name": "ascend", "base_url": server.base_url, "model": "simulated", "concurrency": 3}
        )
        yield Job(tmp_path, tmp_path / "promptreg.toml", deployment, keep_sent=False, redaction=NOTHING)


def plan(cases=5, passes=2, params=None):
    questions = [f"第 {number} 个订单多久能送到？" for number in range(cases)]
    return plan_passes(
        [
            Case("客服", str(number), Request(({"role": "user", "content": text},), params or {}), Place("s.yaml", 1))
            for number, text in enumerate(questions)
        ],
        range(passes),
        0,
    )


async def begun(job):
    worker = Worker("0.0", 0, job, Near(job.deployment))
    return worker, await worker.begin(VERSIONS)


async def closed(worker):
    await worker._client.__aexit__(None, None, None)


async def test_every_call_is_handed_over_once_and_can_be_sent_between_processes(job):
    worker, said = await begun(pickle.loads(pickle.dumps(job)))
    assert said is None
    calls = plan()
    parts = [part async for part in worker.take(pickle.loads(pickle.dumps(calls)))]
    await closed(worker)
    answered = pickle.loads(pickle.dumps([one for part in parts for one in part]))
    assert sorted(one.key for one in answered) == sorted(call.key for call in calls)
    assert all(one.reading.answer.content and 1 <= one.in_flight <= 3 for one in answered)


async def test_what_the_project_never_keeps_does_not_leave_the_worker(job):
    private = pickle.loads(pickle.dumps(replace(job, redaction=Redaction.of(patterns=["订单"]))))
    worker, _ = await begun(private)
    answered = [one async for part in worker.take(plan()) for one in part]
    await closed(worker)
    assert any(REDACTED in one.reading.answer.content for one in answered)
    assert not any("订单" in one.attempts[-1].body.decode() for one in answered)


async def test_an_error_that_ends_the_calls_comes_last(job):
    worker, _ = await begun(job)
    *_, last = [part async for part in worker.take(plan(params={"n": 3}))]
    await closed(worker)
    assert isinstance(last, ConfigError)


async def test_a_node_without_the_project_the_key_or_the_same_versions_says_so(job, tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    _, said = await begun(replace(job, file=tmp_path / "elsewhere" / "promptreg.toml"))
    assert "does not have the project" in said
    assert "same path on every node" in said
    keyed = job.deployment.model_copy(update={"api_key_env": "NO_SUCH_KEY"})
    _, said = await begun(replace(job, deployment=keyed))
    assert "NO_SUCH_KEY" in said
    assert said.startswith(f"Node {platform.node()}")
    said = await Worker("0.0", 0, job, Near(job.deployment)).begin(("0.0.1", "3.11.0"))
    assert "was started with 0.0.1 on 3.11.0" in said

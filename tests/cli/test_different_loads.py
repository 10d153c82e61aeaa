"""promptreg compare: sides that were measured at different loads; one limit for all suites of a run."""

from __future__ import annotations

import statistics

import jsonschema
import pytest

from promptreg.cli.schema import schema_of

SLOW = {"seed": 1, "noise": {}, "latency": {"first_ms": 10}}
"""Long enough that calls meet each other."""


class Counting:
    """A server's application that counts the chats whose answer has not ended yet."""

    def __init__(self, app):
        self._app, self._now, self.most = app, 0, 0

    async def __call__(self, scope, receive, send):
        if not scope.get("path", "").endswith("/chat/completions"):
            await self._app(scope, receive, send)
            return
        self._now += 1
        self.most = max(self.most, self._now)
        ended = False

        async def told(message):
            nonlocal ended
            # A client goes on as soon as it has read the end, which may be before this function returns.
            if not ended and (b"[DONE]" in message.get("body", b"") or message.get("more_body") is False):
                ended = True
                self._now -= 1
            await send(message)

        await self._app(scope, receive, told)


def typical(pair):
    """The lower median of the calls in flight of the newest recording."""
    with pair.store() as store:
        run = next(run for run in store.runs() if run.kind == "record")
        return statistics.median_low([sample.in_flight for sample in store.samples(run.run_id)])


@pytest.fixture
def pair(pair_of, monkeypatch):
    """A source that is asked by six at once, and a target that is asked one by one."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    pair = pair_of(source=SLOW, target=SLOW)
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=6)
    pair.project.deployment("ascend", pair.target.base_url, role="target", concurrency=1)
    return pair


def test_different_loads_are_told_everywhere_and_in_a_fresh_clone_too(pair, monkeypatch):
    pair.record()
    load = typical(pair)
    assert pair.header()["in_flight"] == load > 2
    _, said = pair.compare("--passes", "1")
    jsonschema.validate(said, schema_of("comparison"))
    assert said["loads"] == [{"suite": "support", "source": load, "target": 1}]
    (en,), (zh,) = said["warnings"], said["warnings_zh"]
    assert f"a typical call of the source was one of {load} in flight, one of the target one of 1." in en
    assert f"源部署的典型调用发出时共有 {load} 个调用在进行，目标部署为 1 个" in zh
    judged = ("compare", "--run", said["run_id"])
    assert f"Warning: {en[:60]}" in pair.run(*judged).stdout
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert f"警告：{zh[:30]}" in pair.run(*judged).stdout
    page = "".join(pair.report_payload(said["run_id"]))
    assert (en in page, zh in page, '"in_flight"' in page) == (True, True, True)

    pair.recorded_elsewhere()
    assert pair.compare("--run", said["run_id"])[1]["loads"] == said["loads"]
    header, *cases = pair.lines()
    pair.rewrite([{key: value for key, value in header.items() if key != "in_flight"}, *cases])
    unknown = pair.compare("--run", said["run_id"])[1]
    assert unknown["loads"] == [{"suite": "support", "source": None, "target": 1}]
    assert unknown["warnings"] == []


def test_a_baseline_that_does_not_tell_leaves_it_to_the_store(pair):
    pair.record("--passes", "2")
    header, *cases = pair.lines()
    pair.rewrite([{key: value for key, value in header.items() if key != "in_flight"}, *cases])
    assert pair.compare("--passes", "1")[1]["loads"] == [{"suite": "support", "source": typical(pair), "target": 1}]


def test_more_passes_at_another_load_and_a_promotion(pair):
    pair.record("--passes", "2")
    load = typical(pair)
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=1)
    pair.record("--passes", "3", "--top-up")
    assert pair.header()["in_flight"] == load  # of two thirds of its calls
    pair.record("--passes", "6", "--top-up")
    assert pair.header()["in_flight"] == 1
    _, said = pair.compare("--passes", "1")
    assert said["loads"] == [{"suite": "support", "source": 1, "target": 1}]
    assert not any("different loads" in warning for warning in said["warnings"])
    assert pair.run("baseline", "promote", said["run_id"], "--write").exit_code == 0
    ascend = pair.folder / "baselines" / "support" / "ascend.jsonl"
    assert '"in_flight":1,' in ascend.read_text(encoding="utf-8")


def test_all_suites_of_a_run_share_one_limit_that_is_never_passed(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=3)
    pair.project.suite("orders", {f"order-{number}": f"Where is order {number}?" for number in range(6)})
    pair.source.app = counting = Counting(pair.source.app)
    pair.record("--passes", "3")
    assert counting.most == 3
    with pair.store() as store:
        (run,) = store.runs()
        counts = [store.in_flight(run.run_id, suite) for suite in ("orders", "support")]
    assert [sum(of_suite.values()) for of_suite in counts] == [18, 18]
    assert max(max(of_suite) for of_suite in counts) == 3
    assert min(min(of_suite) for of_suite in counts) == 1  # the very first call, of whichever suite
    assert sum(of_suite.get(3, 0) for of_suite in counts) >= 24


def test_an_overload_in_one_suite_lowers_the_limit_of_all(pair):
    busy = {"match": "order 3", "faults": [{"name": "status_429_bare", "at_most": 1}]}
    pair.source.becomes(1, **SLOW, rules=[busy])
    pair.project.suite("orders", {f"order-{number}": f"Where is order {number}?" for number in range(6)})
    done = pair.run("record", "--passes", "2", "--json")
    assert done.exit_code == 0, done.stderr
    assert done.json["answered"] == 24
    (told,) = [warning for warning in done.json["warnings"] if "was overloaded" in warning]
    assert "at times only 3 of 6 calls were made at once" in told

"""A project with a recorded and a compared run in its store, made without a call: what rejudge.py judges again."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING

from peer_mock import stream_of

from promptreg.baseline.model import Baseline, Header, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.write import write_baseline
from promptreg.config import load_config
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.reader import read_exchange
from promptreg.replay.sample import Call, Sample
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store
from promptreg.testing import Project
from promptreg.workflow.project import project_suites

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.store.runs import RunKind
    from promptreg.suite.model import Suite

_WORDINGS = (
    "Item {n} can be returned within {days} days of delivery. Please keep the receipt, leave it unopened and write.",
    "You have {days} days after delivery to send item {n} back to {city}. It has to be unopened and have its receipt.",
    "Returns of item {n} are accepted for {days} days from delivery, unopened and with the receipt, in {city}.",
    "Within {days} days of delivery item {n} may go back to the {city} warehouse, if unopened and has the receipt.",
)
_WORDINGS_ZH = (
    "第 {n} 号商品可在收货后 {days} 天内退货。请保留小票，不要拆封，并先联系客服；{city}仓库收件至 17:30。",
    "收到商品后 {days} 天内可以退回第 {n} 号商品，须未拆封并附上小票；{city}仓库 9:00 至 17:30 开放。",
    "第 {n} 号商品自签收之日起 {days} 天内接受退货，要求未拆封、附小票，寄往{city}仓库（9:00 至 17:30）。",
    "签收后 {days} 天内，第 {n} 号商品若未拆封且附有小票，可退回{city}仓库。开放时间：9:00 至 17:30。",
)
_CITIES, _CITIES_ZH = ("Leeds", "Hamburg", "Lyon"), ("上海", "广州", "成都")


def text_of(number: int, draw: random.Random, *, moved: bool) -> str:
    """An answer to a case; every second case is Chinese, and every third always answers alike."""
    wordings, cities = (_WORDINGS, _CITIES) if number % 2 else (_WORDINGS_ZH, _CITIES_ZH)
    wording = wordings[0] if number % 3 == 0 else draw.choice(wordings)
    days = 7 + number % 20 + (1 if moved else 0)
    return wording.format(n=number, days=days, city=cities[number % 3])


def stored_project(
    folder: Path, cases: int, *, source_passes: int = 10, target_passes: int = 5, moved_every: int | None = 50
) -> None:
    """Write the project. One case in so many answers with another number on the target; None for none."""
    project = Project(folder)
    for role in ("source", "target"):
        # Nobody listens there: a call would fail.
        project.deployment(role, "http://127.0.0.1:9/v1", role=role, server="vllm")
    project.section("plan", record_passes=source_passes, compare_passes=target_passes, looks=[target_passes])
    rows = [json.dumps({"id": f"q{n:06}", "question": f"Q{n}: How long may I return it?"}) for n in range(cases)]
    project.write("suites/questions.jsonl", "\n".join(rows) + "\n")
    suite = {
        "suite": "returns",
        "defaults": {"checks": ["not_refusal", {"max_chars": 400}]},
        "prompts": {"ask": [{"user": "{{ question }}"}]},
        "cases": [{"cases_from": "questions.jsonl", "prompt": "ask"}],
    }
    project.write("suites/returns.yaml", json.dumps(suite))
    config = load_config(None, folder)
    (loaded,) = project_suites(config, (), None)
    with Store.open(folder / config.paths.store) as store:
        run_id, answers = _run(store, loaded, "record", source_passes, None)
        goldens = {
            case.case_id: golden_of(case.case_id, case.request.sha256, answers[case.case_id]) for case in loaded.cases
        }
        header = Header("returns", "source", "2026-12-01T00:00:00+00:00", run_id, "simulated", source_passes, "vllm")
        path = baseline_path(folder / config.paths.baselines, "returns", "source")
        write_baseline(path, Baseline(header, goldens))
        _run(store, loaded, "compare", target_passes, moved_every)


def _run(
    store: Store, suite: Suite, kind: RunKind, passes: int, moved_every: int | None
) -> tuple[str, dict[str, dict[int, Answer | None]]]:
    deployment = "source" if kind == "record" else "target"
    options = {"select": None, "source": "source", "suites": [suite.name], "paths": [], "looks": [passes]}
    spec = RunSpec(kind, deployment, "simulated", passes, 0, (suite.name,), suite.cases, "vllm", options=options)
    run_id = store.start_run(spec)
    answers: dict[str, dict[int, Answer | None]] = {}
    for number, case in enumerate(suite.cases):
        draw = random.Random(f"{kind} {number}")
        for index in range(passes):
            text = text_of(number, draw, moved=moved_every is not None and number % moved_every == 1)
            frames = stream_of("simulated", text)
            chunks = tuple(Chunk(0.05 + place * 0.002, frame) for place, frame in enumerate(frames))
            exchange = Exchange(time.time(), chunks[-1].at_s, 200, (("content-type", "text/event-stream"),), chunks)
            reading = read_exchange(exchange)
            answers.setdefault(case.case_id, {})[index] = reading.answer
            store.add_sample(run_id, Sample(Call(case, index), (exchange,), reading, 1))
    store.update_run(run_id, state="done", ended_at=time.time())
    return run_id, answers

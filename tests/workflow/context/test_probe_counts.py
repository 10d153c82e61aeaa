"""Prompts of strategies that a server refuses as too long: its count stands beside ours."""

from __future__ import annotations

import json
from types import SimpleNamespace

from promptreg.context.trial.probe_report import ProbeReport, Totals
from promptreg.context.trial.probe_tallies import FULL, NONE, Arm, Drift, Paired
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.workflow.context.probe import _undercounted
from promptreg.workflow.context.probe_plan import Question


def refused(tokens):
    said = f"The input ({tokens} tokens) is longer than the model's context length (600 tokens)."
    body = json.dumps({"object": "error", "message": said, "code": 400}).encode()
    return sample(Exchange(1.0, 0.1, 400, (), (Chunk(0.1, body),)), None)


def sample(exchange, answer):
    return SimpleNamespace(attempts=(exchange,), reading=SimpleNamespace(answer=answer, problem=None))


def test_the_largest_difference_of_the_strategies_prompts_is_told():
    said = {name: refused(tokens) for name, tokens in {"full": 9000, "a": 610, "b": 700, "fewer": 601}.items()}
    said["answered"] = sample(Exchange(1.0, 0.1, 200), "yes")
    plan = SimpleNamespace(
        deployment=SimpleNamespace(server="sglang"),
        arms={
            FULL: (Question("full"),),
            Arm("strategy", "x", 600): (Question("a"), Question("b"), Question("answered"), Question(None)),
            Arm("strategy", "y", 600): (Question("fewer"),),
        },
        tokens={"full": 100, "a": 590, "b": 595, "answered": 1, "fewer": 640},
    )

    assert _undercounted(plan, said) == (595, 700)
    assert _undercounted(SimpleNamespace(**{**vars(plan), "tokens": {}}), said) is None

    totals = Totals(5, 1, 4, 0, 0, undercounted=(595, 700))
    report = ProbeReport(
        "ascend", "m", (), 0, {FULL: (), NONE: ()}, (), totals, Drift(0, None, None), Paired(0, 0, 0, 0), "words"
    )
    (remark,) = [one for one in report.remarks if "700" in one.en]
    assert remark.en.startswith("ascend counts 700 tokens in a strategy's prompt where words counted 595. Check")
    assert "ascend 计为 700 个 token，words 计为 595 个" in remark.zh

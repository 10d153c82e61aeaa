"""Other tool calls are named: which tool got other values, and whether it is called more or less often."""

from __future__ import annotations

import pytest

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.channels.tool_calls import ToolCallsChannel
from promptreg.scoring.contract.contract import contract_of
from promptreg.scoring.contract.shared import breaches
from promptreg.scoring.traits import traits_of
from promptreg.text.sentence import Sentence
from promptreg.verdict.causes.clusters import clusters_of
from promptreg.verdict.causes.signs import signs_of
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseJudgement
from promptreg.verdict.verdicts import CaseVerdict

CANCEL = '{"order_id": "55012", "reason": "买错了"}'


def answer(*calls):
    made = tuple(ToolCall(name, arguments) for name, arguments in calls)
    return Answer("", tool_calls=made, finish_reason="tool_calls")


def titles(source, target):
    answers = [*source, *target]
    distances = {"tool_calls": ToolCallsChannel().distances(answers)}
    contract = contract_of(answers)
    case = CaseEvidence("c", len(source), len(target), distances, traits_of(answers), contract=contract)
    signs = signs_of(case, breaches(contract, len(source)))
    judged = CaseJudgement("c", CaseVerdict.DRIFT, 0.001, Sentence("Said.", "说了。"), signs=signs)
    return [(cluster.title.en, cluster.title.zh) for cluster in clusters_of([judged])]


VALUES = ("Other values for tool cancel_order", "工具 cancel_order 的参数值变了")


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ([("cancel_order", CANCEL)], [("cancel_order", CANCEL.replace("55012", "55021"))], [VALUES]),
        (
            [("cancel_order", CANCEL), ("track", '{"id": 1}')],
            [("cancel_order", CANCEL.replace("买", "卖")), ("track", '{"id": 1}')],
            [VALUES],
        ),
        (
            [("track", '{"id": 11}'), ("track", '{"id": 12}')],
            [("track", '{"id": 11}')],
            [("Fewer tool calls", "工具调用次数变少")],
        ),
        ([("track", '{"id": 11}')], [("track", '{"id": 11}')] * 2, [("More tool calls", "工具调用次数变多")]),
        (
            [("track", '{"id": 11}')],
            [("track", '{"id": "11"}')],
            [("Other arguments for tool track", "工具 track 的参数变了")],
        ),
        (
            [("track", '{"id": 11}')],
            [("trace", '{"id": 11}')],
            [("Tool track no longer called", "不再调用工具 track")],
        ),
    ],
)  # fmt: skip
def test_a_call_that_is_otherwise_has_its_name(source, target, told):
    assert titles([answer(*source)] * 10, [answer(*target)] * 3) == told


def test_values_that_the_source_varies_itself_are_no_cause():
    source = [answer(("cancel_order", CANCEL.replace("买错了", f"原因{number}"))) for number in range(10)]
    target = [answer(("cancel_order", CANCEL.replace("买错了", f"理由{number}"))) for number in range(3)]
    assert VALUES not in titles(source, target)


def test_key_order_and_blanks_are_no_other_values():
    target = answer(("cancel_order", '{"reason":"买错了","order_id":"55012"}'))
    assert VALUES not in titles([answer(("cancel_order", CANCEL))] * 10, [target] * 3)

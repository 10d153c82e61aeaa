"""From a fitted case to the lines of the report and to the sentence of a verdict."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from promptreg.context.budget import Budget
from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.named import strategy_from
from promptreg.errors import Place
from promptreg.report.payload import to_json
from promptreg.suite.model import Case, Request
from promptreg.text.redaction import NOTHING
from promptreg.text.sentence import Sentence
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.context.contexts import Contexts, FittedCase
from promptreg.workflow.context.said import told
from promptreg.workflow.context.view import context_view

WORDS = "one two three four five six seven eight"


def conversation(turns=6):
    messages = [{"role": "system", "content": "rules"}, {"role": "user", "content": "begin"}]
    for turn in range(turns):
        call = {"id": f"c{turn}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"{WORDS} " * 3})
        messages += [{"role": "assistant", "content": WORDS}, {"role": "user", "content": f"question {turn}"}]
    return messages


def fitted(strategy, tokens, messages=None):
    messages = conversation() if messages is None else messages
    result = fit(messages, tokens, counter=WordCounter(), strategy=strategy_from(strategy))
    case = Case("s", "a", Request(tuple(dict(m) for m in result.messages), {}), Place("s.yaml"))
    return FittedCase(
        case, tuple(messages), strategy, Budget.exactly(tokens), "words", exact=True, provable=True, fitted=result
    )


def view(source, target):
    case = source.case
    sides = [Contexts(name, {("s", "a"): side}) for name, side in (("gpu", source), ("ascend", target))]
    return context_view(SimpleNamespace(source=sides[0], target=sides[1]), case, NOTHING)


def test_dropped_neighbours_are_one_line():
    found = view(fitted("sliding-window", 10_000), fitted("sliding-window", 80))
    assert found.source.changes == ()
    (change,) = found.target.changes
    assert (change.action, change.text, change.kept) == ("dropped", "", 0)
    first, last = map(int, change.places.split("–"))
    assert tuple(range(first, last + 1)) == found.target.dropped
    assert change.roles == ("user", "assistant", "tool")


def test_messages_replaced_alike_are_one_line_with_the_words_sent_for_them():
    found = view(fitted("prune-results:keep=1", 10_000), fitted("prune-results:keep=1", 130))
    (change,) = found.target.changes
    assert change.action == "replaced"
    assert change.text
    assert found.target.dropped == ()
    assert change.tokens > change.kept > 0
    assert change.places.count(",") >= 1


def test_a_summary_is_shown_as_put_in():
    found = view(fitted("summary-on-cut", 10_000), fitted("summary-on-cut", 90))
    assert [message.role for message in found.target.inserted] == ["user", "assistant"]
    assert found.target.inserted[0].text
    assert to_json(found)["target"]["inserted"]


def test_a_case_without_a_context_has_no_view():
    nothing = Contexts("gpu", {})
    case = fitted("sliding-window", 80).case
    assert context_view(SimpleNamespace(source=nothing, target=nothing), case, NOTHING) is None


def test_what_was_not_sent_has_its_problem_and_no_numbers():
    side = replace(fitted("sliding-window", 80), fitted=None, problem=Sentence("Too long.", "太长。"))
    found = view(fitted("sliding-window", 10_000), side)
    assert (found.target.total, found.target.whole, found.target.problem.zh) == (None, None, "太长。")


WHOLE, CUT = fitted("sliding-window", 10_000), fitted("sliding-window", 80)


@pytest.mark.parametrize(
    ("source", "target", "verdict", "en", "zh"),
    [
        (WHOLE, CUT, CaseVerdict.DRIFT, "what is missing there is a likely reason.", "缺少的内容很可能就是原因。"),
        (WHOLE, CUT, CaseVerdict.PASS, "the source the whole one.", "源部署收到的是完整对话。"),
        (CUT, WHOLE, CaseVerdict.FAIL, "that is a likely reason.", "这很可能就是原因。"),
        (CUT, WHOLE, CaseVerdict.ERROR, "messages dropped).", "条）。"),
    ],
)
def test_what_a_verdict_says_of_two_prompts(source, target, verdict, en, zh):
    said = told(source, target, verdict)
    assert said.en.endswith(en)
    assert said.zh.endswith(zh)


def test_nothing_is_said_where_both_sides_were_sent_the_same():
    assert told(WHOLE, WHOLE, CaseVerdict.DRIFT) is None
    assert told(CUT, CUT, CaseVerdict.DRIFT) is None

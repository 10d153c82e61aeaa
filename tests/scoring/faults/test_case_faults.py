"""Faults of one case on both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.answer.model import Answer, Usage
from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.case import CaseFaults, Noted, case_faults
from promptreg.scoring.faults.catalogue import Entry
from promptreg.scoring.faults.model import Probe, Rule, Severity
from promptreg.scoring.faults.reading.golden import Golden
from promptreg.scoring.faults.reading.observe import observe_answer
from promptreg.scoring.faults.recorded import golden_of
from promptreg.text.sentence import Sentence


def call(content, **message):
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": "deepseek-chat",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21},
    }
    request = {"model": "deepseek-chat", "messages": [{"role": "user", "content": "退货期是几天？"}]}
    (seen,) = observations_from_json({"request": request, "status": 200, "body": body})
    return seen


def faults(source, target):
    sources = [call(text) for text in source]
    golden = golden_of(sources)
    return case_faults(sources, [replace(call(text), golden=golden) for text in target]).told


GOOD = "收到商品后 30 天内可以退货。"


def test_a_kind_that_only_the_target_has_is_told_with_counts_of_both_sides():
    (fault,) = faults([GOOD] * 10, [GOOD, "好的。</think>" + GOOD, "我想想。</think>" + GOOD])
    assert fault.finding.kind == "F09"
    assert fault.finding.severity is Severity.ERROR
    assert (fault.target, fault.target_calls, fault.source, fault.source_calls) == (2, 3, 0, 10)
    assert fault.shown_by == (1, 2)
    assert fault.title.zh
    assert fault.suspects[0].en


@pytest.mark.parametrize("text", [GOOD, "", "Returns are free for 30 days. 😀\r\n"], ids=["zh", "empty", "crlf"])
def test_the_same_answers_have_none(text):
    assert faults([text] * 4, [text] * 3) == ()


def test_a_kind_as_frequent_on_the_source_is_no_fault_of_the_target():
    broken = "退货期是 30 天\ufffd。"
    assert faults([broken, GOOD], [broken, GOOD]) == ()
    # Without a golden the rules speak of both sides, and the shares decide.
    good, bad = call(GOOD), call(broken)
    assert case_faults([bad, good], [bad, good]).told == ()
    (fault,) = case_faults([bad, good, good, good], [bad, bad, good, good]).told
    assert (fault.finding.kind, fault.target, fault.source) == ("F07", 2, 1)


def test_without_the_source_s_calls_the_recorded_answers_are_the_golden():
    golden = Golden(contents=("!" * 40,))
    loud = replace(call("!" * 40), golden=golden)
    assert case_faults([], [loud]).told == ()
    (fault,) = case_faults([], [replace(call("!" * 40), golden=Golden(contents=(GOOD,)))]).told
    assert (fault.finding.kind, fault.source_calls) == ("F01", 0)


def test_errors_come_first_and_json_has_both_languages():
    found = faults([GOOD] * 3, ["<think>嗯</think>" + GOOD + "\ufffd"] * 2)
    severities = [fault.finding.severity.value for fault in found]
    assert severities == sorted(severities)
    entry = found[0].to_json()
    assert entry["title"] != entry["title_zh"]
    assert entry["target"] == entry["target_calls"] == 2


SHOWN = GOOD + "<｜end▁of▁sentence｜>"


def found_in(source, target, **more):
    sources = [None if text is None else call(text) for text in source]
    golden = golden_of(one for one in sources if one is not None)
    return case_faults(sources, [replace(call(text), golden=golden) for text in target], **more)


def test_every_call_of_both_sides_is_told_apart():
    found = found_in([GOOD] * 3, [GOOD, SHOWN])
    (passes,) = found.passes
    assert (passes.kind, passes.severity) == ("F33", Severity.ERROR)
    assert passes.target == (False, True)
    assert passes.source == (False,) * 3
    assert passes.never_on_source
    assert (found.target_calls, found.source_calls) == (2, 3)


def test_rules_that_know_no_golden_see_both_sides_alike():
    # With the golden, the target is excused for what the source does as well; without it both sides show the kind.
    found = found_in([SHOWN, GOOD], [SHOWN, GOOD])
    assert found.passes == ()
    (blind,) = found.blind
    assert (blind.kind, blind.source, blind.target) == ("F33", (True, False), (True, False))


@pytest.mark.parametrize("source", [[], [None, None], [GOOD, None]], ids=["none", "unknown", "in part"])
def test_without_all_calls_of_the_source_nothing_can_be_permuted(source):
    found = found_in(source, [GOOD, SHOWN])
    assert found.blind == ()
    assert [passes.kind for passes in found.passes] == ["F33"]


def test_the_recorded_answer_tells_of_kinds_that_an_answer_shows():
    target = [replace(call(SHOWN), golden=Golden(contents=(GOOD,)))]
    recorded = [observe_answer(Answer(content=GOOD, finish_reason="stop"))] * 2
    (passes,) = case_faults([None, None], target, recorded=recorded).passes
    assert passes.source == (False, False)
    recorded[1] = observe_answer(Answer(content=SHOWN, finish_reason="stop"))
    (passes,) = case_faults([None, None], target, recorded=recorded).passes
    assert passes.source == (False, True)
    # What stands in the stream or in the counts is not in a recorded answer.
    cut = replace(call("好\ufffd"), golden=Golden(contents=(GOOD,)))
    (damaged,) = case_faults([None], [cut], recorded=recorded[:1]).passes
    assert (damaged.kind, damaged.source) == ("F07", (None,))


def test_an_empty_recorded_answer_may_have_been_billed():
    billed = replace(call(""), usage=Usage(12, 40, 52))
    found = case_faults([None], [billed], recorded=[observe_answer(Answer(finish_reason="stop"))])
    by_kind = {passes.kind: passes for passes in found.passes}
    assert by_kind["F01"].source == (True,)


def test_calls_side_by_side():
    def thinking(*reasonings):
        return [call(GOOD, reasoning_content=text) if text else call(GOOD) for text in reasonings]

    def look(calls):
        without = [one for one in calls if one.reasoning.blank]
        return [entry.found("reasoning", "some")] if 0 < len(without) < len(calls) else []

    entry = Entry("X-some", Sentence("Some", "部分"), Sentence("s", "看"), Sentence("n", "做"), Severity.WARNING)
    rules = {"families": [[Rule("X-some", Probe.REPEATS, find_in_run=look)]], "own": {"X-some": entry}}
    target = thinking("想一想。", "", "再想一想。")
    found = case_faults(thinking("想。", "想想。"), target, **rules)
    (unsteady,) = found.told
    assert (unsteady.finding.kind, unsteady.together, unsteady.target, unsteady.source) == ("X-some", True, 3, 0)
    assert unsteady.to_json()["together"] is True
    assert case_faults(thinking("想。", ""), target, **rules).told == ()
    assert case_faults(thinking("想。", "想想。"), target, repeated=False, **rules).told == ()
    assert case_faults(thinking("想。", "想想。"), target).told == ()  # F13 only where thinking was asked for


def test_a_kind_of_the_project_s_own_is_told_with_its_own_words():
    entry = Entry("X-price", Sentence("Price", "价格"), Sentence("s", "看"), Sentence("n", "做"), Severity.ERROR)
    rule = Rule("X-price", Probe.ONE, lambda one: [entry.found("content", "x")] if "30" in one.answer.content else [])
    found = case_faults([call("七天")], [call(GOOD)], families=[[rule]], own={"X-price": entry})
    (fault,) = found.told
    assert (fault.title, fault.source_calls) == (Sentence("Price", "价格"), 1)
    assert found.blind[0].kind == "X-price"


def test_no_calls_at_all():
    assert case_faults([], []) == CaseFaults()


RUIN = GOOD + "\ufffd\ufffd\ufffd"


def cached(texts):
    """Calls of which the first is cold, by the counts of the server."""
    return [
        replace(call(text), usage=Usage(12, 9, 21, cached_tokens=0 if n == 0 else 8)) for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ([GOOD] * 10, [GOOD, RUIN, RUIN, RUIN, RUIN], True),
        ([GOOD] * 10, [GOOD, RUIN, GOOD, RUIN, GOOD], True),
        ([GOOD] * 10, [GOOD, GOOD, GOOD, RUIN, GOOD], False),
        ([GOOD] * 10, [GOOD, RUIN], False),
        ([GOOD] * 9 + [RUIN], [GOOD, RUIN, RUIN, RUIN, RUIN], False),
        ([GOOD] * 10, [GOOD] * 5, False),
    ],
    ids=["all warm ones", "two", "one may be chance", "a single warm call", "the source too", "none"],
)
def test_a_warm_cache_breaks_answers_in_several_calls_or_it_is_not_told(source, target, told):
    sources = cached(source)
    golden = golden_of(sources)
    found = case_faults(sources, [replace(one, golden=golden) for one in cached(target)])
    assert ("F36" in {passes.kind for passes in found.passes}) is told
    if told:
        passes = next(passes for passes in found.passes if passes.kind == "F36")
        assert passes.together
        assert passes.never_on_source


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ([GOOD] * 10, [GOOD, RUIN, RUIN, RUIN, RUIN]),
        ([GOOD] * 9 + [RUIN], [GOOD, RUIN, RUIN, RUIN, RUIN]),
        ([GOOD] + [RUIN] * 9, [GOOD, RUIN, RUIN, RUIN, RUIN]),
        ([GOOD] * 5, ["好的。</think>" + GOOD, GOOD, GOOD]),
        (["好的。</think>" + GOOD] * 5, ["好的。</think>" + GOOD] * 3),
        (["", GOOD, ""], ["", "", GOOD]),
        ([GOOD] * 5, [GOOD] * 3),
        ([GOOD], [GOOD, "!" * 40]),
    ],
    ids=["warm", "one warm on both", "warm on both", "think", "think on both", "empty at times", "clean", "one pass"],
)
def test_what_was_noted_stands_for_the_calls(source, target):
    sources = cached(source)
    golden = golden_of(sources)
    targets = [replace(one, golden=golden) for one in cached(target)]
    noted = Noted.of(dict(enumerate(sources)))
    recorded = [observe_answer(one.answer, one.request, prompt_tokens=12) for one in sources]
    unknown: list[None] = [None] * len(sources)
    assert case_faults(unknown, targets, recorded=recorded, noted=noted) == case_faults(sources, targets)
    for first in range(len(sources)):  # some of the calls are at hand
        partly = [*sources[:first], *unknown[first:]]
        rest = [*unknown[:first], *recorded[first:]]
        assert case_faults(partly, targets, recorded=rest, noted=noted) == case_faults(sources, targets)


def test_what_a_call_shows_alone_is_not_what_all_show_together():
    noted = Noted.of(dict(enumerate(cached([GOOD, RUIN, RUIN]))))
    assert noted.together == {"F36"}


def test_of_a_varied_prompt_the_calls_are_not_held_against_each_other():
    noted = Noted.of(dict(enumerate(cached([GOOD, RUIN, RUIN]))), repeated=False)
    assert noted.together is None
    assert [sorted(noted.calls[index]) for index in range(3)] == [[], ["F07"], ["F07"]]


def test_an_answer_that_calls_a_tool_is_no_empty_golden():
    book = {"id": "c", "type": "function", "function": {"name": "book", "arguments": "{}"}}
    source = [call(None, tool_calls=[book])] * 8
    golden = golden_of(source)
    every = case_faults(source, [replace(call(""), golden=golden)] * 3)
    assert "F51" in {fault.finding.kind for fault in every.told}
    silent = [call("")] * 8
    assert "F51" not in {
        fault.finding.kind for fault in case_faults(silent, [replace(call(""), golden=golden_of(silent))] * 3).told
    }


def test_what_is_found_without_the_golden_is_kept_as_it_would_be_told():
    every = case_faults([call(GOOD)] * 4, [call("")] * 2)
    (kept,) = [fault for fault in every.blind_told if fault.finding.kind == "F51"]
    assert (kept.target, kept.target_calls, kept.source, kept.source_calls) == (2, 2, 0, 4)
    assert not case_faults([call("")] * 4, [call("")] * 2).blind_told

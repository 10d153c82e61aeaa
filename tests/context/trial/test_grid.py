from __future__ import annotations

import copy

import pytest

from promptreg.context.budget import Budget
from promptreg.context.conversations import Recording
from promptreg.context.count.counting import WordCounter, calls_of
from promptreg.context.count.exact import RenderedCounter
from promptreg.context.count.tokens import DeepseekTokenizer
from promptreg.context.encoders.v4 import DeepseekV4
from promptreg.context.named import strategy_from
from promptreg.context.trial.calls import calls_of_conversation
from promptreg.context.trial.corpus import Shape, generate
from promptreg.context.trial.grid import Cell, Function, Ours, run_cell, run_grid
from promptreg.context.trial.grid_rows import Finding, Pooled, Row, SummaryCost, pareto, pooled
from promptreg.context.trial.invariants import Case, Invariant, Rules
from promptreg.context.trial.known import Kind
from promptreg.context.trial.planting import plant
from promptreg.context.trial.prefix import Basis, Cause, Reuse
from promptreg.context.trial.retention import Fate
from promptreg.errors import EncodingError
from promptreg.text.sentence import Sentence

COUNTER = WordCounter(4)
HUGE = Budget.exactly(10_000_000)


def planted(seed=1, turns=24, **shape):
    (recording,) = generate(1, seed, Shape(turns=turns, script="en", system_sentences=6, **shape))
    return plant(recording, seed)


TALK = planted(tools=False)
TOOLS = planted(seed=2)


def row_of(contestant, budget, recording=TALK):
    return run_cell(Cell(recording, contestant, Budget.exactly(budget)), Rules(COUNTER, recording.tools))


def ours(name):
    return Ours(strategy_from(name), COUNTER)


def newest(messages, budget):
    kept = []
    for message in reversed(messages):
        if COUNTER.prompt([message, *kept]) > budget:
            break
        kept.insert(0, message)
    return kept


def test_the_model_is_called_before_each_answer_and_at_the_end():
    user, call, result, answer = (
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
        {"role": "assistant", "content": "!"},
    )

    assert calls_of_conversation([user, call, result, answer, user]) == (1, 3, 5)
    assert calls_of_conversation([answer, user, answer]) == (2,)
    assert calls_of_conversation([user, call, result]) == (1, 3)
    assert calls_of_conversation([]) == ()


@pytest.mark.parametrize("recording", [TALK, TOOLS], ids=["talk", "tools"])
def test_the_whole_conversation_is_the_control_that_keeps_everything(recording):
    before = copy.deepcopy(recording)

    row = row_of(Function("everything", lambda messages, _: messages), 10_000_000, recording)

    assert row.retained.recall == 1.0
    assert set(row.fates) == {Fate.VERBATIM}
    assert row.decoys_found == 0
    assert row.findings == ()
    assert row.steady == len(row.calls) == len(calls_of_conversation(recording.messages))
    assert row.reused(1).hit_ratio is None
    assert recording == before


def test_nothing_is_the_control_that_keeps_nothing():
    row = row_of(Function("nothing", lambda *_: []), 1000)

    assert row.retained.recall == 0.0
    assert row.decoys_found == 0
    assert Invariant.I5 in {finding.invariant for finding in row.findings}


def test_the_oracle_keeps_every_fact():
    places = {fact.index for fact in TALK.facts}
    row = row_of(
        Function("oracle", lambda messages, _: [m for place, m in enumerate(messages) if place in places]), 10_000_000
    )

    assert row.retained.recall == 1.0


@pytest.mark.parametrize("name", ["oldest-first", "sliding-window", "hysteresis", "first-and-last", "middle-out"])
@pytest.mark.parametrize("recording", [TALK, TOOLS], ids=["talk", "tools"])
def test_recall_is_what_the_ledger_says_and_nothing_is_violated(name, recording):
    row = row_of(ours(name), 2600, recording)

    assert 0 < row.retained.recall < 1
    assert row.retained.recall == row.expected
    assert row.findings == ()
    assert row.refused == row.decoys_found == 0
    assert row.basis is Basis.MESSAGES


def test_recall_over_time_is_a_mean_of_what_was_said_until_then():
    row = row_of(ours("sliding-window"), 2600)

    assert len(row.recalls) == -(-(len(row.calls) - row.steady) // 4)
    assert row.recall == pytest.approx(sum(row.recalls) / len(row.recalls))
    assert row.recalls[0] > row.recalls[-1]
    assert row_of(ours("sliding-window"), 10_000_000).recall == 1.0


def test_a_window_that_moves_each_turn_loses_the_cache_and_one_that_waits_does_not():
    sliding, waiting = row_of(ours("sliding-window"), 2000), row_of(ours("hysteresis:target=0.5"), 2000)

    assert sliding.reused(1).hit_ratio + 0.2 < waiting.reused(1).hit_ratio
    assert sliding.reused(1).reanchors > 2 * waiting.reused(1).reanchors
    assert set(sliding.reused(1).causes) == {Cause.WINDOW}
    assert sliding.reused(4096).hit_ratio == 0.0


def test_summaries_cost_something_and_pay_after_some_calls():
    row = row_of(ours("summary-on-cut"), 2000)

    assert row.summaries.calls == row.reused(1).causes[Cause.SUMMARY]
    assert row.summaries.input_tokens > row.summaries.output_tokens > 0
    assert row.expected is None
    saved = [whole - call.prompt for whole, call in zip(row.whole, row.calls, strict=True) if whole > 2000]
    assert row.break_even == pytest.approx(row.summaries.tokens / (sum(saved) / len(saved)))
    assert row_of(ours("hysteresis"), 2000).break_even is None


def test_a_function_that_tears_tool_calls_is_shown_with_a_small_example():
    row = row_of(Function("newest", newest), 1200, TOOLS)

    findings = {finding.invariant: finding for finding in row.findings}
    torn = findings[Invariant.I3]
    assert torn.shrunken
    assert torn.times > 1
    assert len(torn.example.messages) <= 4
    assert torn.example.budget >= Rules(COUNTER, TOOLS.tools).least(torn.example.messages)
    assert calls_of(torn.example.messages[0])
    assert findings[Invariant.I4].shrunken


def test_a_fault_that_needs_the_calls_before_is_shown_as_it_was():
    seen = []

    def forgets(messages, _):
        seen.append(len(messages))
        return messages[1:] if len(seen) == 5 else messages

    row = row_of(Function("forgets", forgets), 10_000_000)

    (finding,) = row.findings
    assert (finding.invariant, finding.times, finding.shrunken) == (Invariant.I4, 1, False)


def test_errors_of_a_function_are_findings_and_right_refusals_are_not():
    def crashes(messages, budget):
        raise TypeError("content is a list")

    crashed, refused = row_of(Function("crashes", crashes), 1000), row_of(ours("sliding-window"), 5)

    assert "TypeError" in crashed.findings[0].sentence.en
    assert crashed.refused == refused.refused == len(calls_of_conversation(TALK.messages))
    assert refused.findings == ()
    assert refused.retained.recall == 0.0


def test_the_grid_yields_a_row_for_each_cell_and_tells_its_progress():
    told = []
    rows = list(
        run_grid(
            [TALK, TOOLS],
            [ours("sliding-window"), Function("newest", newest)],
            [Budget(3000, 500), Budget(1500, 100, 0)],
            COUNTER,
            progress=lambda done, of: told.append((done, of)),
        )
    )

    assert told == [(number, 8) for number in range(1, 9)]
    assert [(row.strategy, row.window, row.budget) for row in rows[:4]] == [
        ("sliding-window", 3000, 2470),
        ("sliding-window", 1500, 1400),
        ("newest", 3000, 2470),
        ("newest", 1500, 1400),
    ]
    both = pooled(rows)
    assert len(both) == 4
    first = both[0]
    assert first.retained.total == len(TALK.facts) + len(TOOLS.facts)
    assert sum(one.total for one in first.by_kind.values()) == first.retained.total
    assert sum(one.total for one in first.by_role.values()) == first.retained.total
    assert list(first.by_depth) == sorted(first.by_depth)
    both_keys = first.by(lambda fact: None if fact.depth is None else (fact.depth, fact.kind))
    assert {one.total for one in both_keys.values()} == {2}
    assert first.by_depth[1.0].recall == 1.0
    assert first.by_depth[0.0].recall < 0.5
    assert first.by_role["system"].recall == 1.0
    assert {finding.invariant for finding in both[3].findings} >= {Invariant.I3, Invariant.I4}
    examples = [row.findings[0].example for row in rows if row.strategy == "newest" and row.findings]
    assert len(examples) == 4
    assert all(len(example.messages) <= 3 for example in examples)
    assert examples[0] is examples[1]  # of one conversation, made small once


def test_a_conversation_that_the_format_has_no_place_for_is_no_strategys_fault():
    counter = RenderedCounter(DeepseekV4(), DeepseekTokenizer())
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
    cell = Cell(Recording("一号", (picture,)), Ours(strategy_from("sliding-window"), counter), HUGE)

    with pytest.raises(EncodingError, match="`一号` has no prompt"):
        run_cell(cell, Rules(counter))


def test_a_recording_with_broken_tool_calls_is_mended_and_nothing_is_said_of_the_strategy():
    (recording,) = generate(1, 3, Shape(turns=12, script="zh"))
    places = [place for place, message in enumerate(recording.messages) if message["role"] == "tool"]
    orphan = {"role": "tool", "tool_call_id": "nowhere", "content": "[]"}
    broken = [*recording.messages[: places[0]], *recording.messages[places[0] + 1 :]]
    broken.insert(3, orphan)

    row = row_of(ours("hysteresis"), 150, Recording("broken", tuple(broken)))

    assert row.calls
    assert row.findings == ()


def test_pinned_messages_are_a_rule_for_all():
    def is_first(message):
        return message is TALK.messages[1]

    rows = run_grid([TALK], [ours("sliding-window")], [Budget.exactly(1500)], COUNTER, pinned=is_first)

    assert [finding.invariant for row in rows for finding in row.findings] == [Invariant.I4]


def test_a_conversation_without_calls_or_facts_is_an_empty_row():
    row = row_of(ours("sliding-window"), 100, Recording("empty", ({"role": "system", "content": "x"},)))

    assert (row.calls, row.fates, row.retained.recall, row.findings) == ((), (), None, ())


def point(strategy, kept, lost, common, window=8, violated=()):
    fates = (Fate.VERBATIM,) * kept + (Fate.LOST,) * lost
    facts = tuple(TALK.facts[0] for _ in fates)
    calls = (Reuse(100, common, None, reanchored=False),)
    example = Case((), 1)
    findings = tuple(Finding(one, Sentence("wrong", "错"), 1, example, shrunken=False) for one in violated)
    row = Row("c", strategy, window, 50, "n", Basis.TOKENS, facts, fates, 0, None, calls, (200,), (), 0, findings)
    return Pooled(strategy, window, (row,))


def test_the_front_leaves_out_what_another_beats_in_both():
    best_recall, best_hits = point("a", 9, 1, 20), point("b", 2, 8, 90)
    beaten, equal, elsewhere = point("c", 2, 8, 80), point("d", 9, 1, 20), point("e", 1, 9, 10, window=4)
    without = Pooled("f", 8, ())

    front = pareto([beaten, best_hits, best_recall, equal, elsewhere, without], 1)

    assert [one.strategy for one in front] == ["e", "a", "d", "b"]
    assert [one.strategy for one in pareto([best_recall, best_hits], 16_384)] == ["a"]
    assert not best_recall.possible(50)
    assert best_recall.possible(49)


@pytest.mark.parametrize("kind", Invariant)
def test_prompts_that_should_not_be_sent_are_never_on_the_front_and_beat_nobody(kind):
    all_of_it = point("a", 10, 0, 97, violated=[kind])
    right = point("b", 7, 3, 80)
    spoils = kind not in (Invariant.I7, Invariant.I8, Invariant.I9)

    assert all_of_it.valid is not spoils
    assert [one.strategy for one in pareto([all_of_it, right], 1)] == (["b"] if spoils else ["a"])
    assert [one.strategy for one in pareto([all_of_it], 1)] == ([] if spoils else ["a"])


def test_no_summary_costs_nothing():
    assert SummaryCost().tokens == 0
    assert {fact.kind for fact in TALK.facts} == set(Kind)


def test_a_function_gets_a_copy_and_what_it_changes_is_a_finding():
    def careless(messages, _):
        messages[0]["content"] = "cut"
        return messages

    def reverses(messages, _):
        kept = list(messages)
        messages.reverse()
        return kept

    before = [dict(message) for message in TALK.messages]
    rows = [row_of(Function(call.__name__, call), 10_000_000) for call in (careless, reverses)]

    assert [dict(message) for message in TALK.messages] == before
    assert [{finding.invariant for finding in row.findings} for row in rows] == [
        {Invariant.I4, Invariant.I6},
        {Invariant.I6},
    ]
    assert all(finding.shrunken for row in rows for finding in row.findings)


@pytest.mark.parametrize("name", ["sliding-window", "hysteresis:target=0.3", "first-and-last", "summary-on-cut"])
@pytest.mark.parametrize("seed", range(4))
def test_what_the_newest_user_message_says_is_always_kept(name, seed):
    row = row_of(ours(name), 1500, planted(seed))

    assert row.refused == 0
    assert Pooled(name, 1500, (row,)).by_depth[1.0].recall == 1.0


def test_calls_for_which_nothing_is_sent_count_as_prompts_without_facts():
    def gives_up(messages, _):
        if len(messages) > 20:
            raise KeyError("content")
        return messages

    row = row_of(Function("gives up", gives_up), 10_000_000)

    assert row.refused > 0
    assert set(row.recalls) == {0.0}
    assert row.recall == 0.0

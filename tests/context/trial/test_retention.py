from __future__ import annotations

import time

import pytest

from promptreg.context.conversations import Recording
from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.strategies.window import OldestFirst, SlidingWindow
from promptreg.context.trial.corpus import generate
from promptreg.context.trial.known import Kind, KnownFact
from promptreg.context.trial.planting import DEPTHS, plant
from promptreg.context.trial.retention import FactReader, Fate, expected_recall, retained, retained_by


def fate(fact, *texts, role="user"):
    return FactReader().fates([fact], [{"role": role, "content": text} for text in texts])[0]


def fact(value, kind=Kind.IDENTIFIER, outdated=()):
    return KnownFact("f", kind, value, tuple(outdated))


@pytest.mark.parametrize(
    ("value", "kind", "text", "expected"),
    [
        ("KX7-4821", Kind.IDENTIFIER, "code KX7-4821.", Fate.VERBATIM),
        ("KX7-4821", Kind.IDENTIFIER, "code KX7-48213", Fate.LOST),
        ("KX7-4821", Kind.IDENTIFIER, "代码ＫＸ７－４８２１。", Fate.NORMALISED),
        ("KX7-4821", Kind.IDENTIFIER, "code kx7‑4821", Fate.NORMALISED),
        ("4821", Kind.NUMBER, "14821", Fate.LOST),
        ("4821", Kind.NUMBER, "4821.5", Fate.LOST),
        ("4821", Kind.NUMBER, "3\n4821\n", Fate.VERBATIM),
        ("4821", Kind.NUMBER, "It is 4,821.", Fate.NORMALISED),
        ("4821", Kind.NUMBER, "四千八百二十一", Fate.NORMALISED),
        ("18,250.50 euros", Kind.NUMBER, "18,250.50 euros", Fate.VERBATIM),
        ("18,250.50 euros", Kind.NUMBER, "共18250.5欧元", Fate.NORMALISED),
        ("18,250.50 euros", Kind.NUMBER, "18250.5 dollars", Fate.LOST),
        ("14 March 2047", Kind.DATE, "due 2047-03-14", Fate.NORMALISED),
        ("14 March 2047", Kind.DATE, "2047年3月14日交接", Fate.NORMALISED),
        ("14 March 2047", Kind.DATE, "15 March 2047", Fate.LOST),
        ("陈思远", Kind.NAME, "联系人陈思远", Fate.VERBATIM),
        ("陈思远", Kind.NAME, "联系人 陈 思 远", Fate.NORMALISED),
        ("Linnea Vasquez", Kind.NAME, "LINNEA  VASQUEZ", Fate.NORMALISED),
        ("café ☕", Kind.PREFERENCE, "cafe\u0301 ☕", Fate.VERBATIM),
        ("陈思远", Kind.NAME, '{"name": "\\u9648\\u601d\\u8fdc"}', Fate.NORMALISED),
        ("x", Kind.NUMBER, "", Fate.LOST),
    ],
)
def test_values_in_their_writings(value, kind, text, expected):
    assert fate(fact(value, kind), text) is expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["The code is OLD-1.", "Correction: it is NEW-2."], Fate.VERBATIM),
        (["The code is OLD-1."], Fate.STALE),
        (["The code is new-2.", "more"], Fate.NORMALISED),
        (["Code NEW-2. Code OLD-1."], Fate.CONTRADICTED),
        (["Code NEW-2.", "Code OLD-1."], Fate.CONTRADICTED),
        (["The code was OLD-1, now it is NEW-2."], Fate.VERBATIM),
        (["代码由OLD-1改为NEW-2。"], Fate.VERBATIM),
        (["代码是OLD-1。代码是NEW-2。"], Fate.CONTRADICTED),
        (["nothing"], Fate.LOST),
    ],
)
def test_corrected_values(texts, expected):
    assert fate(fact("NEW-2", Kind.UPDATE, ["OLD-1"]), *texts) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Crate BX-7712 must never be opened.", Fate.VERBATIM),
        ("Do not open crate bx-7712!", Fate.NORMALISED),
        ("Crate BX-7712 must be opened.", Fate.CONTRADICTED),
        ("Never do that. Crate BX-7712 must be opened.", Fate.CONTRADICTED),
        ("BX-7712号箱不得打开。", Fate.VERBATIM),
        ("BX-7712号箱可以打开。", Fate.CONTRADICTED),
        ('{"remark": "Crate BX-7712 must never be opened on the way.", "rows": []}', Fate.VERBATIM),
        ("Never open anything.", Fate.LOST),
    ],
)
def test_what_is_denied(text, expected):
    assert fate(fact("BX-7712", Kind.NEGATION), text) is expected


def test_arguments_of_calls_are_seen_and_reasoning_is_not():
    call = {"function": {"name": "find", "arguments": '{"code": "KX7-4821"}'}}
    reader = FactReader()

    assert reader.fates([fact("KX7-4821")], [{"role": "assistant", "content": None, "tool_calls": [call]}]) == (
        Fate.VERBATIM,
    )
    assert reader.fates([fact("KX7-4821")], [{"role": "assistant", "reasoning_content": "KX7-4821"}]) == (Fate.LOST,)


def test_counts_by_key_leave_out_what_has_none():
    facts = [KnownFact("a", Kind.DATE, "x", depth=0.0), KnownFact("b", Kind.NAME, "y"), KnownFact("c", Kind.NAME, "z")]
    fates = [Fate.VERBATIM, Fate.LOST, Fate.NORMALISED]

    assert retained(fates).recall == 2 / 3
    assert retained([]).recall is None
    assert {kind: one.recall for kind, one in retained_by(facts, fates, lambda one: one.kind).items()} == {
        Kind.DATE: 1.0,
        Kind.NAME: 0.5,
    }
    assert list(retained_by(facts, fates, lambda one: one.depth)) == [0.0]


@pytest.mark.parametrize("strategy", [OldestFirst(), SlidingWindow(), SlidingWindow(0.5)])
@pytest.mark.parametrize("budget", [1500, 3000, 6000])
def test_recall_of_a_strategy_that_rewrites_nothing_is_what_its_ledger_says(strategy, budget):
    planted = plant(generate(1, 11)[0], 11)

    fitted = fit(planted.messages, budget, counter=WordCounter(), strategy=strategy, tools=planted.tools)

    fates = FactReader().fates(planted.facts, fitted.messages)
    kept = {place for place in fitted.origins if place is not None}
    assert len(kept) < len(planted.messages)
    assert retained(fates).recall == expected_recall(planted.facts, kept)


@pytest.mark.parametrize("kept_turns", [1, 20, 41, 80])
def test_recall_of_the_last_turns_by_depth_in_closed_form(kept_turns):
    """Without tools every fact stands in its own turn or the next, so depth d is kept when its turn is."""
    from promptreg.context.trial.corpus import Shape

    turns = 80
    planted = plant(generate(1, 12, Shape(turns=turns, tools=False, system_sentences=0))[0], 12, kinds=[Kind.DATE])
    users = [index for index, message in enumerate(planted.messages) if message["role"] == "user"]

    fates = FactReader().fates(planted.facts, planted.messages[users[turns - kept_turns] :])

    by_depth = retained_by(planted.facts, fates, lambda one: one.depth)
    for depth in DEPTHS:
        turn = round(depth * (turns - 1))
        assert by_depth[depth].recall == float(turn >= turns - kept_turns)


def test_the_oracle_keeps_everything():
    planted = plant(generate(1, 13)[0], 13)
    places = {one.index for one in planted.facts}

    fates = FactReader().fates(planted.facts, [planted.messages[place] for place in sorted(places)])

    assert retained(fates).recall == expected_recall(planted.facts, places) == 1.0


@pytest.mark.parametrize("piece", ["9,", "KX7-", "\\u", " ", "不", "“"])
def test_time_to_read_a_hostile_text_grows_no_faster_than_it(piece):
    def seconds(size):
        text, took = (piece * size)[:size], []
        for _ in range(2):
            began = time.process_time()
            assert fate(fact("48,217 euros", Kind.NUMBER), text) is Fate.LOST
            took.append(time.process_time() - began)
        return min(took)

    short, long = seconds(15_000), seconds(120_000)
    # Eight times as long; 8 is linear and 64 quadratic. The constant covers a busy machine.
    assert long < 24 * short + 0.2


def test_a_conversation_known_to_say_nothing():
    recording = Recording("x", ({"role": "user", "content": "hi"},))

    assert FactReader().fates(recording.facts, recording.messages) == ()
    assert expected_recall(recording.facts, {0}) is None

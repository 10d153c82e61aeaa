"""A user's own check, channel, fault rule or embedder that does something wrong: one sentence, never a crash."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.errors import ConfigError, Place, SuiteError
from promptreg.hooks import (
    Answer,
    BadArgument,
    Entry,
    FaultKind,
    Observation,
    PairwiseChannel,
    Sentence,
    Severity,
    found,
    must,
)
from promptreg.scoring.checks.registry import build_checks
from promptreg.scoring.extensions import NO_EXTENSIONS, Extensions
from promptreg.scoring.faults.registry import FAMILIES, families_with, find_faults
from promptreg.scoring.guards import GuardedChannel, GuardedEmbedder, guarded_builder, guarded_rule
from promptreg.scoring.origin import Origin
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import CHANNEL_NAMES, score_suite
from promptreg.suite.model import CheckSpec

HERE = Path(__file__).parent
ORIGIN = Origin("promptreg_hooks.py", HERE, HERE)
FILE = Path(__file__).name
ANSWERS = tuple(Answer(content=text) for text in ("谢谢", "", "ok 👍"))


class Rule:
    rules = must("be fine", "良好")

    def __init__(self, function):
        self.function = function

    def find(self, answer):
        return self.function(answer)


def built(build, argument=None):
    (check,) = build_checks(
        [CheckSpec("fine", argument, Place("suites/s.yaml", 7))],
        HERE,
        own={"fine": guarded_builder("fine", build, ORIGIN)},
    )
    return check


@pytest.mark.parametrize("holds", [True, False, None, np.True_, np.False_])
def test_a_finding_counts_as_it_is(holds):
    check = built(lambda _argument, _setting: Rule(lambda _answer: found(holds, "is", "是")))
    assert check(Answer()).passed is (None if holds is None else bool(holds))


@pytest.mark.parametrize("returned", [True, None, "yes", found("no", "is", "是"), (True, "reason")])
def test_what_is_no_finding_leaves_the_answer_unscored(returned):
    result = built(lambda _argument, _setting: Rule(lambda _answer: returned))(Answer())
    assert result.passed is None
    assert "not a Finding" in result.sentence.en
    assert "而不是" in result.sentence.zh


@pytest.mark.parametrize("error", [ValueError("kaputt\x1b[31m\n"), SystemExit(3), RecursionError("deep")])
def test_a_check_that_raises_leaves_the_answer_unscored_and_names_the_line(error):
    def find(_answer):
        raise error

    result = built(lambda _argument, _setting: Rule(find))(Answer())
    assert result.passed is None
    assert type(error).__name__ in result.sentence.en
    assert f"({FILE}:{find.__code__.co_firstlineno + 1})" in result.sentence.en
    assert not {"\x1b", "\n"} & set(result.sentence.en)


def test_a_builder_s_own_sentence_is_told_as_it_is():
    def build(argument, _setting):
        raise BadArgument(f"`fine` needs a number, not {argument}.")

    with pytest.raises(SuiteError, match=r"suites/s\.yaml:7: `fine` needs a number, not 甲\."):
        built(build, "甲")


def test_a_builder_that_raises_is_told_with_the_suite_s_line_and_its_own():
    def build(argument, _setting):
        return Rule(int(argument))

    with pytest.raises(SuiteError, match="it raised ValueError: invalid literal") as raised:
        built(build, "甲")
    assert str(raised.value).startswith("suites/s.yaml:7: The check `fine` of promptreg_hooks.py cannot be made")
    assert f"({FILE}:{build.__code__.co_firstlineno + 1})" in str(raised.value)


@pytest.mark.parametrize("made", [None, 3, must("a", "b"), type("Odd", (), {"rules": "must", "find": len})()])
def test_a_builder_that_returns_no_check_is_told(made):
    with pytest.raises(SuiteError, match="cannot be"):
        built(lambda _argument, _setting: made)


class Table:
    name = "table"

    def __init__(self, values):
        self.values = values

    def distances(self, _answers):
        return self.values


GOOD = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]


def test_good_distances_come_back_as_doubles():
    values = GuardedChannel("table", Table(GOOD), ORIGIN).distances(ANSWERS)
    assert values.dtype == np.float64
    assert values.tolist() == GOOD


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ("abc", "no table of numbers"),
        (None, r"shape \(\)"),
        ([[0, 1], [1, 0]], r"shape \(2, 2\) for 3 answers"),
        ([[0, 1, 2], [1, 0], [2]], "no table of numbers"),
        ([[0, -1, 2], [-1, 0, 3], [2, 3, 0]], "negative"),
        ([[0, np.nan, 2], [np.nan, 0, 3], [2, 3, 0]], "no number"),
        ([[0, np.inf, 2], [np.inf, 0, 3], [2, 3, 0]], "infinite"),
        ([[0, 1, 2], [2, 0, 3], [2, 3, 0]], "depends on their order"),
        ([[1, 1, 2], [1, 0, 3], [2, 3, 0]], "distance to itself"),
    ],
)
def test_distances_that_are_none_are_refused(values, why):
    with pytest.raises(ConfigError, match=why) as raised:
        GuardedChannel("table", Table(values), ORIGIN).distances(ANSWERS)
    assert str(raised.value).startswith(f"{FILE}:{Table.distances.__code__.co_firstlineno}: The channel `table`")


def test_rounding_does_not_break_the_symmetry():
    values = np.array(GOOD, dtype=float)
    values[0, 1] += 1e-13
    back = GuardedChannel("table", Table(values), ORIGIN).distances(ANSWERS)
    assert (back == back.T).all()


@pytest.mark.parametrize("where", ["prepare", "applies", "distances"])
def test_a_channel_that_raises_is_told_with_its_line(where):
    def fail(*_arguments):
        raise KeyError("价格")

    channel = Table(GOOD)
    setattr(channel, where, fail)
    guarded = GuardedChannel("table", channel, ORIGIN)
    with pytest.raises(
        ConfigError, match=r"The channel `table` of promptreg_hooks\.py raised KeyError: '价格'"
    ) as raised:
        getattr(guarded, where)(ANSWERS)
    assert str(raised.value).startswith(f"{FILE}:{fail.__code__.co_firstlineno + 1}: ")


@given(st.lists(st.text(max_size=6), min_size=1, max_size=8))
def test_a_pairwise_channel_is_always_a_distance(texts):
    channel = PairwiseChannel("length", lambda one, other: abs(len(one.content) - len(other.content)))
    answers = [Answer(content=text) for text in texts]
    values = GuardedChannel("length", channel, ORIGIN).distances(answers)
    assert values.tolist() == [[abs(len(one) - len(other)) for other in texts] for one in texts]


def test_a_pairwise_channel_leaves_out_cases_without_what_it_looks_at():
    channel = PairwiseChannel("thanks", lambda _one, _other: 1.0, looks_at=lambda answer: "谢" in answer.content)
    assert channel.applies(ANSWERS) is True
    assert channel.applies(ANSWERS[1:]) is False


TEXT = Sentence("Text", "文字")
ENTRY = Entry("X-a", TEXT, TEXT, TEXT, Severity.ERROR)


def test_an_own_fault_is_found_beside_the_others():
    def find(call):
        if "999" in call.answer.content:
            yield ENTRY.found("content[0]", call.answer.content + "\x1b[2J")

    extensions = Extensions(faults=(FaultKind(ENTRY, guarded_rule("X-a", find, ORIGIN)),))
    findings = find_faults(Observation(answer=Answer(content="999")), families_with(extensions.faults))
    (finding,) = [finding for finding in findings if finding.kind == "X-a"]
    assert (finding.severity, finding.where) == (Severity.ERROR, "content[0]")
    assert "\x1b" not in finding.evidence.en
    assert families_with(NO_EXTENSIONS.faults) is FAMILIES


@pytest.mark.parametrize("returned", [[3], ["text"], [Entry("F01", TEXT, TEXT, TEXT, Severity.ERROR).found("a", "b")]])
def test_a_rule_may_only_find_its_own_kind(returned):
    with pytest.raises(ConfigError, match="it must yield findings of its own kind"):
        guarded_rule("X-a", lambda _call: returned, ORIGIN)(Observation())


def test_a_rule_that_raises_half_way_is_told():
    def find(_call):
        yield ENTRY.found("a", "b")
        raise IndexError("late")

    with pytest.raises(
        ConfigError, match=r"The rule of the fault `X-a` of promptreg_hooks\.py raised IndexError: late"
    ):
        guarded_rule("X-a", find, ORIGIN)(Observation())


class Vectors:
    name = "vectors-1"

    def __init__(self, values):
        self.values = values

    def encode(self, _texts):
        return self.values


@pytest.mark.parametrize("values", [[[1.0]], [1.0, 2.0], [[0.0, 0.0], [1.0, 0.0]], [[np.nan, 1.0], [1.0, 0.0]], []])
def test_vectors_that_are_none_are_refused(values):
    with pytest.raises(ConfigError, match="The embedder `vectors-1`"):
        GuardedEmbedder(Vectors(values), ORIGIN).encode(["a", "b"])


@pytest.mark.parametrize("embedder", [3, type("NoName", (), {"encode": len})(), type("NoCode", (), {"name": "n"})()])
def test_an_object_that_is_no_embedder_is_refused(embedder):
    with pytest.raises(ConfigError, match="needs `name`, a text, and `encode"):
        GuardedEmbedder(embedder, ORIGIN)


def test_the_scores_have_the_own_channel_and_the_names_are_those_of_the_built_in_ones(make_case, embedder):
    case = make_case()
    extensions = Extensions(channels=(GuardedChannel("own", PairwiseChannel("own", lambda _one, _other: 2.0), ORIGIN),))
    call = [Answer(content=f'{{"a": {number}, "not": "Berlin"}}', reasoning="r" * number) for number in range(4)]
    (scores,) = score_suite(
        [CasePair(case, tuple(call[:2]), tuple(call[2:]))], root=HERE, embedder=embedder, extensions=extensions
    )
    assert scores.distances["own"].tolist() == (2 - 2 * np.eye(4)).tolist()
    assert set(scores.distances) - {"own"} <= CHANNEL_NAMES

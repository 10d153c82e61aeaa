"""What the product says of suites recorded from a real model: false alarms without a change, drift with one."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from intervals import wilson
from real_suites import (
    MAX_TOKENS,
    SOURCE_PASSES,
    SUITE_FILE,
    TARGET_PASSES,
    Answers,
    read_answers,
    record_suites,
    suite_cases,
)
from recorded_suites import VectorCache

from promptreg.answer.model import Answer
from promptreg.scoring.embedders.registry import DEFAULT_EMBEDDER, load_embedder
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import CaseScores, score_suite
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.power import judge_with_self_test, planter
from promptreg.verdict.recording import judge_recording
from promptreg.verdict.rules import Look, Rules, plan_looks
from promptreg.verdict.verdicts import CaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from real_suites import Part, RealSuite, Reply

    from promptreg.verdict.model import SuiteJudgement

LOOKS = (3, TARGET_PASSES)

_ROWS: tuple[tuple[Part, str], ...] = (("again", "A/A"), ("q4", "q4 KV cache"))


class RealJudge:
    """Judges a suite as `record` and `compare` do with their defaults."""

    def __init__(self, *, self_test: bool = False) -> None:
        """Prepare for any number of suites.

        Args:
            self_test: whether the planted-drift self-test decides between EQUIVALENT and INCONCLUSIVE, which takes
                seconds a suite. Alarms do not depend on it.
        """
        self._cases, self._self_test = {case.case_id: case for case in suite_cases()}, self_test
        self._embedder, self._cache = load_embedder(DEFAULT_EMBEDDER), VectorCache()

    def exchangeable(self, suite: RealSuite) -> bool:
        """Whether the source's first half looks like its second."""
        half = SOURCE_PASSES // 2
        halves = self._pairs(_passes(suite, "source", range(half)), _passes(suite, "source", range(half, 2 * half)))
        return judge_recording(self._score(halves), Rules()).exchangeable is not False

    def __call__(self, suite: RealSuite, part: Part, *, exchangeable: bool) -> SuiteJudgement:
        """The judgement at the last look that was needed."""
        judgement: SuiteJudgement | None = None
        for look in plan_looks(LOOKS):
            pairs = self._pairs(suite["source"], _passes(suite, part, range(look.passes)))
            standing = judgement if judgement is not None and judgement.rejected else None
            judgement = self._at_look(pairs, look, standing, exchangeable=exchangeable)
            if judgement.settled:
                break
        if judgement is None:
            raise AssertionError("unreachable because there are looks")
        return judgement

    def _at_look(
        self, pairs: Sequence[CasePair], look: Look, standing: SuiteJudgement | None, *, exchangeable: bool
    ) -> SuiteJudgement:
        rules, scores = Rules(), self._score(pairs)
        if not self._self_test:
            return judge_suite("short", scores, rules=rules, look=look, standing=standing, exchangeable=exchangeable)
        plant = planter(pairs, self._score, rules.seed)
        return judge_with_self_test(
            "short", scores, plant, rules=rules, look=look, standing=standing, exchangeable=exchangeable
        )

    def _pairs(self, source: Mapping[str, Sequence[Reply]], target: Mapping[str, Sequence[Reply]]) -> list[CasePair]:
        unknown = source.keys() - self._cases.keys()
        if unknown:
            raise SystemExit(
                f"The recorded answers have cases that {SUITE_FILE.name} lacks: {', '.join(sorted(unknown))}."
            )
        return [
            CasePair(self._cases[case_id], _answers(replies), _answers(target[case_id]))
            for case_id, replies in source.items()
        ]

    def _score(self, pairs: Sequence[CasePair]) -> Sequence[CaseScores]:
        return score_suite(pairs, root=Path(), embedder=self._embedder, cache=self._cache)


def _passes(suite: RealSuite, part: Part, passes: range) -> dict[str, list[Reply]]:
    return {case_id: [replies[index] for index in passes] for case_id, replies in suite[part].items()}


def _answers(replies: Iterable[Reply]) -> tuple[Answer | None, ...]:
    return tuple(None if reply is None else Answer(content=reply[0], finish_reason=reply[1]) for reply in replies)


# --- the table -------------------------------------------------------------------------------------------------------


def real_suites(
    temperatures: Sequence[float],
    suites: int,
    *,
    keep: Path | None = None,
    kept: Path | None = None,
    self_test: bool = False,
) -> None:
    """Record suites, or read them, and print what they are judged to be.

    Args:
        temperatures: of sampling.
        suites: of each temperature; those that `keep` holds already are not recorded again.
        keep: file that the answers are written to, suite by suite.
        kept: file of an earlier `keep`; nothing is recorded.
        self_test: whether EQUIVALENT and INCONCLUSIVE are told apart.
    """
    if kept is None:
        answers = Answers(keep)
        record_suites(answers, temperatures, suites)
        by_temperature = answers.suites
    else:
        by_temperature = read_answers(kept)
    judge = RealJudge(self_test=self_test)
    asked = {case_id for suites_of in by_temperature.values() for suite in suites_of for case_id in suite["source"]}
    # A kept file may come from an older version, with another limit of the answers.
    limit = f"at most {MAX_TOKENS} tokens, " if kept is None else ""
    print(
        f"SmolLM2-135M on llama.cpp, {len(asked)} prompts, {limit}n = {SOURCE_PASSES}, looks after "
        f"{' and '.join(map(str, LOOKS))} passes. Every suite was recorded afresh; the two rows of a temperature share "
        "the source's passes."
    )
    share = f"{'share':>7}{'95 % interval':>16}"
    print(f"{'':32}{'drift':^23}{'regression':^23}{'either':^23}")
    print(f"{'temperature':13}{'target':12}{'suites':>7}{share * 3}{'case named':>12}")
    for temperature in temperatures:
        found = by_temperature.get(temperature, [])[:suites]
        if not found:
            print(f"{temperature:<13}none recorded")
            continue
        exchangeable, judged = _judge_all(judge, found, f"temperature {temperature}")
        for part, name in _ROWS:
            print(f"{temperature:<13}{name:12}{_row(judged[part])}", flush=True)
            if self_test:
                verdicts = Counter(judgement.verdict.value for judgement in judged[part])
                print(f"{'':13}{', '.join(f'{count} {verdict}' for verdict, count in verdicts.most_common())}")
        print(f"{'':13}{exchangeable.count(False)} of {len(found)} recordings judged not exchangeable", flush=True)


def _judge_all(
    judge: RealJudge, suites: Sequence[RealSuite], title: str
) -> tuple[list[bool], dict[Part, list[SuiteJudgement]]]:
    """Of each suite: whether its recording is exchangeable, and the judgements of what it was compared with."""
    exchangeable: list[bool] = []
    judged: dict[Part, list[SuiteJudgement]] = {part: [] for part, _ in _ROWS}
    for number, suite in enumerate(suites, start=1):
        exchangeable.append(judge.exchangeable(suite))
        for part, judgements in judged.items():
            judgements.append(judge(suite, part, exchangeable=exchangeable[-1]))
        if number % 10 == 0 or number == len(suites):
            print(f"{title}: judged {number} of {len(suites)}", file=sys.stderr, flush=True)
    return exchangeable, judged


def _row(judged: Sequence[SuiteJudgement]) -> str:
    count = len(judged)
    cells = "".join(
        _share(hits, count)
        for hits in (
            sum(judgement.drift_rejected for judgement in judged),
            sum(judgement.regression.rejected for judgement in judged),
            sum(judgement.rejected for judgement in judged),
        )
    )
    bad = {CaseVerdict.DRIFT, CaseVerdict.FAIL}
    named = sum(any(case.verdict in bad for case in judgement.cases) for judgement in judged)
    return f"{count:7}{cells}{named / count:12.2f}"


def _share(hits: int, trials: int) -> str:
    low, high = wilson(hits, trials)
    return f"{hits / trials:7.3f}{f'{low:.3f} to {high:.3f}':>16}"

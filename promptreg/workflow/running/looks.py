"""The looks of a comparison: take passes up to one, judge with its share of the budget, go on where that is too little.

A suite is settled when something was found and it is known in which cases; then it is not called again. A suite in
which nothing was found goes on to the last look, because equivalence is never given early. A run judged again goes
through the same looks, as far as its passes were taken, and so comes to the same verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from promptreg.text.sentence import Sentence
from promptreg.verdict.rules import plan_looks
from promptreg.workflow.running.collect import Stretch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from promptreg.store.runs import RunRecord
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.verdict.rules import Look
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.pairing import Pairing


class Judge(Protocol):
    """Judges one suite at one look."""

    def __call__(self, pairing: Pairing, look: Look, standing: SuiteJudgement | None, /) -> JudgedSuite:
        """`standing` is the judgement at an earlier look, where that found something."""


def looks_of(record: RunRecord) -> tuple[int, ...]:
    """The looks that a run was planned with; runs of older versions had one, after all passes."""
    planned = record.options.get("looks")
    numbers = tuple(number for number in planned if isinstance(number, int)) if isinstance(planned, list) else ()
    return numbers or (record.passes,)


def judged_in_looks(
    pairings: Sequence[Pairing],
    looks: Sequence[int],
    judge: Judge,
    *,
    take: Callable[[Stretch], None] = lambda _: None,
    taken: Mapping[str, int] | None = None,
    on_look: Callable[[Sentence], None] = lambda _: None,
) -> tuple[JudgedSuite, ...]:
    """Judge every suite at each look until it is settled.

    Args:
        pairings: the suites beside their baselines.
        looks: numbers of target passes, increasing.
        judge: judges one suite at one look.
        take: takes the calls of a stretch into the store; called once a look with the suites that are still open.
        taken: of a stored run, how many passes of each suite were begun; a suite is not judged at a look for which
            nothing was taken. None while passes are being taken.
        on_look: told in a sentence what a look before the last one decided.
    """
    judged: dict[str, JudgedSuite] = {}

    def goes_on(pairing: Pairing, before: int) -> bool:
        """Whether there is more to be known of a suite, and samples to know it from."""
        name = pairing.suite.name
        more = bool(pairing.known) if taken is None else taken.get(name, 0) > before
        return more and not judged[name].judgement.settled

    before = 0
    for look in plan_looks(looks):
        going_on = [pairing for pairing in pairings if not before or goes_on(pairing, before)]
        if not going_on:
            break
        take(Stretch(range(before, look.passes), frozenset(pairing.suite.name for pairing in going_on)))
        for pairing in going_on:
            name = pairing.suite.name
            earlier = judged[name].judgement if name in judged else None
            judged[name] = judge(pairing, look, earlier if earlier is not None and earlier.rejected else None)
        if not look.last:
            on_look(_told(look, [judged[pairing.suite.name].judgement for pairing in going_on]))
        before = look.passes
    return tuple(judged[pairing.suite.name] for pairing in pairings)


def _told(look: Look, judgements: Sequence[SuiteJudgement]) -> Sentence:
    settled = [f"{judgement.suite} {judgement.verdict.value}" for judgement in judgements if judgement.settled]
    found = [judgement.suite for judgement in judgements if judgement.rejected and not judgement.settled]
    open_ = [judgement.suite for judgement in judgements if not judgement.rejected]
    en, zh = [], []
    if settled:
        en.append(f"decided: {', '.join(settled)}; not called again")
        zh.append(f"已得出结论：{'、'.join(settled)}，不再调用")
    if found:
        en.append(f"changed, going on to find the cases: {', '.join(found)}")
        zh.append(f"有变化，继续调用以定位用例：{'、'.join(found)}")
    if open_:
        en.append(f"nothing found so far, going on: {', '.join(open_)}")
        zh.append(f"尚未发现变化，继续：{'、'.join(open_)}")
    return Sentence(
        f"look after {look.passes} of {look.plan[-1]} passes: {'. '.join(en)}.",
        f"计划 {look.plan[-1]} 遍，第 {look.passes} 遍之后的判断：{'；'.join(zh)}。",
    )

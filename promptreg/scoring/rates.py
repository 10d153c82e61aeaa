"""How often checks pass on both sides of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer
    from promptreg.scoring.checks.base import Measured
    from promptreg.scoring.checks.registry import BuiltCheck, CheckResult


_NOTHING: Final = Sentence("", "")


@dataclass(frozen=True, slots=True)
class CheckRate:
    """One check on all samples of a case. Unscored and missing answers are in neither total."""

    check: str
    """Label: the check's name, and its argument where it is short."""
    name: str
    rule: Sentence
    """What an answer must do to pass."""
    results: tuple[CheckResult | None, ...]
    """By sample, source passes first; None where the answer is missing."""
    n: int
    """Source passes."""

    @property
    def passed(self) -> tuple[bool | None, ...]:
        """By sample, source passes first: True passed, False failed, None unscored or missing."""
        return tuple(None if result is None else result.passed for result in self.results)

    @property
    def source_passed(self) -> int:
        """Source answers that pass."""
        return self.passed[: self.n].count(True)

    @property
    def source_total(self) -> int:
        """Source answers that were scored."""
        return self.n - self.passed[: self.n].count(None)

    @property
    def target_passed(self) -> int:
        """Target answers that pass."""
        return self.passed[self.n :].count(True)

    @property
    def target_total(self) -> int:
        """Target answers that were scored."""
        return len(self.results) - self.n - self.passed[self.n :].count(None)

    @property
    def example(self) -> Sentence:
        """What the first target answer that breaks the rule did instead, or why answers were not scored; else empty."""
        target = [result for result in self.results[self.n :] if result is not None]
        broken = next((result for result in target if result.passed is False), None)
        if broken is not None:
            return Sentence(f" For example: {broken.sentence.en}", f"例如：{broken.sentence.zh}")
        unscored = next((result for result in (*target, *self.results) if result and result.passed is None), None)
        if unscored is None:
            return _NOTHING
        return Sentence(f" Not scored, for example: {unscored.sentence.en}", f"未评分，例如：{unscored.sentence.zh}")

    @property
    def sentence(self) -> Sentence:
        """The rule, how often each side keeps it, and an example."""
        example = self.example
        source_en = _share_en(self.source_passed, self.source_total, "recorded answers")
        return Sentence(
            f"{self.rule.en} {source_en[0].upper()}{source_en[1:]}, "
            f"{_share_en(self.target_passed, self.target_total, 'answers of the target')}.{example.en}",
            f"{self.rule.zh}{_share_zh(self.source_passed, self.source_total, '录制的回答')}，"
            f"{_share_zh(self.target_passed, self.target_total, '目标部署的回答')}。{example.zh}",
        )


def check_rates(
    checks: Sequence[BuiltCheck],
    answers: Sequence[Answer | None],
    n: int,
    calls: Sequence[Measured | None] = (),
) -> tuple[CheckRate, ...]:
    """Run checks on the answers of one case, each on each distinct answer once, or on each distinct call.

    Args:
        checks: Of the case.
        answers: Of the case, as received, source passes first; None where missing.
        n: Source passes.
        calls: What is known of the calls that gave the answers, one an answer; empty when nothing is.
    """
    return tuple(_rate(check, answers, n, calls) for check in checks)


def _rate(check: BuiltCheck, answers: Sequence[Answer | None], n: int, calls: Sequence[Measured | None]) -> CheckRate:
    known: dict[tuple[Answer, Measured | None], CheckResult] = {}
    results: list[CheckResult | None] = []
    measured = calls if check.needs_call and calls else [None] * len(answers)
    for answer, call in zip(answers, measured, strict=True):
        if answer is None:
            results.append(None)
            continue
        if (answer, call) not in known:
            known[answer, call] = check(answer, call)
        results.append(known[answer, call])
    return CheckRate(check.label, check.spec.name, check.rule, tuple(results), n)


def _share_en(passed: int, total: int, whose: str) -> str:
    return f"{passed} of {total} {whose} pass" if total else f"none of the {whose} could be judged"


def _share_zh(passed: int, total: int, whose: str) -> str:
    if not total:
        return f"{whose}均无法判定"
    if passed in {0, total}:
        said = "通过" if passed else "不通过"
        return f"{whose}只有 1 条，{said}" if total == 1 else f"{whose} {total} 条全部{said}"
    return f"{whose} {total} 条中有 {passed} 条通过"

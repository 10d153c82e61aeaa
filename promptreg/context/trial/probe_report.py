"""What live probes found: for each strategy and window what a model still knew, beside what it knew with everything."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.trial.probe_tallies import ENOUGH, FULL, NONE, Arm, Drift, Graded, Paired, counted, share
from promptreg.context.trial.probes import Grade
from promptreg.text.counted import counted as counted_words
from promptreg.text.counted import part_of
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.canonical import Json
    from promptreg.context.trial.probes import Probe

FALSE_SHARE: Final = 0.05
"""Of the losses that are called real, at most this share is expected to be chance (Benjamini and Hochberg)."""
_MOST_ARMS: Final = 6
"""That a sentence names."""
_NEVER_SAID: Final = Sentence("never said", "未说过的")
_SHOWN: Final = 300
"""Characters of an answer in the JSON output."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What was sent and what came back."""

    calls: int
    answered: int
    too_long: int
    """Calls that were refused because the prompt does not fit."""
    prompt_tokens: int
    """As the server bills them."""
    answer_tokens: int
    window: int | None = None
    """The limit that it named."""
    undercounted: tuple[int, int] | None = None
    """Of a strategy's prompt that was refused: the tokens as counted here, and as the server counts them, which are
    more."""

    @property
    def failed(self) -> int:
        """Calls without an answer for any other reason."""
        return self.calls - self.answered - self.too_long


@dataclass(frozen=True, slots=True)
class ProbeCell:
    """One strategy and window."""

    strategy: str
    window: int
    pairs: Paired
    """Beside the whole conversation, over the questions about what was said."""
    p: float
    """Probability of at least so many losses among so many changes if the strategy lost nothing (McNemar, exact)."""
    real: bool
    """Whether the loss stands among all cells (`FALSE_SHARE`)."""
    answers: tuple[Graded, ...]
    """To questions about what was said."""
    unsaid: tuple[Graded, ...]
    """To questions about what was not."""
    drift: Drift
    """How far its answers are from those with everything."""

    @property
    def abstained(self) -> float | None:
        """Share of the questions about what was never said that are answered by "not known", 0 to 1."""
        return share(self.unsaid, Grade.ABSTAINED)

    @property
    def unscored(self) -> Mapping[Sentence, int]:
        """Why questions about what was said do not count, the most frequent first."""
        return _reasons(self.answers)

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        grades = counted(self.answers)
        return {
            "strategy": self.strategy,
            "window": self.window,
            **self.pairs.to_json(),
            "mcnemar_p": self.p,
            "loss_is_real": self.real,
            "grades": {grade.value: count for grade, count in grades.items()},
            "never_said": len(self.unsaid),
            "abstained": self.abstained,
            "drift": self.drift.to_json(),
            "unscored": [{"why": why.to_json(), "count": count} for why, count in self.unscored.items()],
        }


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """A deployment's answers to questions about conversations."""

    deployment: str
    model: str
    probes: tuple[Probe, ...]
    said: int
    arms: Mapping[Arm, tuple[Graded, ...]]
    cells: tuple[ProbeCell, ...]
    totals: Totals
    noise: Drift
    """Between the answers to the same prompts, asked twice with the whole conversation."""
    flips: Paired
    """The same as right and wrong."""
    counter: str
    """What counts for the deployment."""
    shortened_by: str | None = None
    """What the strategies counted by, where that is another counter."""

    @property
    def full(self) -> tuple[Graded, ...]:
        """With the whole conversation, of what was said."""
        return self.arms[FULL][: self.said]

    @property
    def unscored(self) -> Mapping[Sentence, Mapping[Sentence, int]]:
        """Why answers do not count, the most frequent first, and how many of which arm.

        Those to questions about what was never said stand apart, so that the others add up to what tables count.
        """
        found: dict[Sentence, Tally[Sentence]] = {}
        for arm, answers in self.arms.items():
            for number, answer in enumerate(answers):
                if answer.why is not None:
                    found.setdefault(answer.why, Tally())[arm.label if number < self.said else _NEVER_SAID] += 1
        return dict(sorted(found.items(), key=lambda item: -item[1].total()))

    @property
    def unscored_words(self) -> tuple[Sentence, ...]:
        """The same in words."""
        return tuple(
            Sentence(
                f"Not scored ({', '.join(f'{arm.en}: {count}' for arm, count in _most(arms).items())}): {why.en}.",
                f"未计分（{'，'.join(f'{arm.zh}：{count}' for arm, count in _most(arms).items())}）：{why.zh}。",
            )
            for why, arms in self.unscored.items()
        )

    @property
    def guessed(self) -> float | None:
        """Share that is right without any conversation, 0 to 1."""
        return share(self.arms[NONE], Grade.CORRECT)

    def of(self, window: int) -> tuple[ProbeCell, ...]:
        """The cells of one window."""
        return tuple(cell for cell in self.cells if cell.window == window)

    @property
    def headline(self) -> Sentence:
        """What was asked and what the model knows with everything."""
        known = share(self.full, Grade.CORRECT)
        scored = len(self.full) - counted(self.full)[Grade.UNSCORED]
        en = f"{self.deployment} was asked {counted_words(self.said, 'question')} about what was said: "
        zh = f"向 {self.deployment} 提了 {self.said} 个关于对话内容的问题："
        if known is None:
            return Sentence(
                f"{en}none could be answered with the whole conversation, so nothing can be compared.",
                f"{zh}带完整对话时无一得到可计分的回答，无法比较。",
            )
        if self.guessed is None:
            without = Sentence("without any none is scored", "不带对话时无一计分")
        else:
            without = Sentence(f"without any {self.guessed:.0%}", f"不带对话时答对 {self.guessed:.0%}")
        right = f"{known:.0%} of {scored} are right" if scored > 1 else f"the one that is scored is {_right(known)}"
        return Sentence(
            f"{en}with the whole conversation {right}, {without.en}.",
            f"{zh}带完整对话时 {scored} 个中答对 {known:.0%}，{without.zh}。",
        )

    @property
    def noise_words(self) -> Sentence:
        """How much the same prompts differ by themselves."""
        changed = self.flips.lost + self.flips.gained
        f1, numbers = self.noise.f1, self.noise.numbers
        return Sentence(
            f"Noise: asked twice with the whole conversation, {changed} of {self.flips.asked} answers change between "
            f"right and not right; words agree by {_percent(f1)} (F1), {_percent(numbers)} of their numbers differ.",
            f"噪声：带完整对话重复提问，{self.flips.asked} 个回答中有 {changed} 个在对错之间变化；"
            f"用词一致度 {_percent(f1)}（F1），数字差异 {_percent(numbers)}。",
        )

    @property
    def remarks(self) -> tuple[Sentence, ...]:
        """What limits the numbers."""
        found: list[Sentence] = []
        if self.shortened_by is not None:
            found.append(
                Sentence(
                    f"The strategies counted by {self.shortened_by}, but {self.deployment} is counted for by "
                    f"{self.counter}: what fits by one may be too long by the other. To test by its own count, give "
                    f"--deployment {self.deployment}, without --counter and --encoder.",
                    f"各策略按 {self.shortened_by} 计数，而 {self.deployment} 的计数器是 {self.counter}："
                    f"按前者放得下的，按后者可能放不下。如需按其自身计数测试，请使用 --deployment {self.deployment}，"
                    "并去掉 --counter 与 --encoder。",
                )
            )
        totals, small = self.totals, min((cell.pairs.asked for cell in self.cells), default=0)
        if totals.too_long:
            limit = "" if totals.window is None else f" (its window: {totals.window:,} tokens)"
            limit_zh = "" if totals.window is None else f"（窗口 {totals.window:,} token）"
            found.append(
                Sentence(
                    f"{part_of(totals.too_long, totals.calls, 'prompt', 'is', 'are')} too long for "
                    f"{self.deployment}{limit}; what was asked there is not scored. Ask a deployment with a larger "
                    "window, where there is one.",
                    f"{totals.calls} 个提示词中有 {totals.too_long} 个超出 {self.deployment} 的窗口{limit_zh}，"
                    "相应问题不计分。如有窗口更大的部署，请改问它。",
                )
            )
        if totals.undercounted is not None:
            ours, theirs = totals.undercounted
            found.append(
                Sentence(
                    f"{self.deployment} counts {theirs:,} tokens in a strategy's prompt where {self.counter} counted "
                    f"{ours:,}. Check `tokenizer` under [deployments.{self.deployment}], or raise --reserve.",
                    f"策略缩短后的提示词，{self.deployment} 计为 {theirs:,} 个 token，{self.counter} 计为 {ours:,} 个。"
                    f"请检查 [deployments.{self.deployment}] 的 `tokenizer`，或调大 --reserve。",
                )
            )
        if totals.failed:
            found.append(
                Sentence(
                    f"{part_of(totals.failed, totals.calls, 'call', 'has', 'have')} failed; what was asked there is "
                    "not scored.",
                    f"{totals.calls} 次调用中有 {totals.failed} 次失败，相应问题不计分。",
                )
            )
        if small < ENOUGH:
            found.append(
                Sentence(
                    f"Fewer than {ENOUGH} questions count in some rows (the fewest: {small}), so their shares are "
                    "uncertain by more than ±14 points. Ask more with --questions, or give more conversations.",
                    f"部分行计分的问题不足 {ENOUGH} 个（最少 {small} 个），其占比误差超过 ±14 个百分点。"
                    "可用 --questions 多问，或提供更多对话。",
                )
            )
        return tuple(found)

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output of `context test`."""
        totals = self.totals
        return {
            "deployment": self.deployment,
            "model": self.model,
            "counter": self.counter,
            "strategies_counter": self.shortened_by or self.counter,
            "questions": self.said,
            "never_said": len(self.probes) - self.said,
            "calls": totals.calls,
            "answered": totals.answered,
            "too_long": totals.too_long,
            "undercounted": None if totals.undercounted is None else list(totals.undercounted),
            "failed": totals.failed,
            "prompt_tokens": totals.prompt_tokens,
            "answer_tokens": totals.answer_tokens,
            "full": _arm(self.full),
            "full_abstained": share(self.arms[FULL][self.said :], Grade.ABSTAINED),
            "none": _arm(self.arms[NONE]),
            "noise": {**self.noise.to_json(), "changed": self.flips.lost + self.flips.gained, "n": self.flips.asked},
            "cells": [cell.to_json() for cell in self.cells],
            "answers": [self._answers(number, probe) for number, probe in enumerate(self.probes)],
            "unscored": [
                {"why": why.to_json(), "count": sum(arms.values()), "words": words.to_json()}
                for (why, arms), words in zip(self.unscored.items(), self.unscored_words, strict=True)
            ],
            "remarks": [sentence.to_json() for sentence in self.remarks],
        }

    def _answers(self, number: int, probe: Probe) -> dict[str, Json]:
        given: list[Json] = [
            {
                "arm": arm.name,
                "strategy": arm.strategy or None,
                "window": arm.window or None,
                "grade": answers[number].grade.value,
                "answer": preview(answers[number].text, _SHOWN),
            }
            for arm, answers in self.arms.items()
            if number < len(answers)
        ]
        fact = probe.fact
        return {
            "conversation": probe.conversation,
            "fact": fact.fact_id,
            "kind": fact.kind.value,
            "depth": fact.depth,
            "said": probe.said,
            "question": probe.question,
            "value": fact.value,
            "arms": given,
        }


def _reasons(answers: Sequence[Graded]) -> Mapping[Sentence, int]:
    return dict(Tally(one.why for one in answers if one.why is not None).most_common())


def _arm(answers: Sequence[Graded]) -> dict[str, Json]:
    return {
        "correct": share(answers, Grade.CORRECT),
        **{grade.value: count for grade, count in counted(answers).items() if grade is not Grade.CORRECT},
        "right": counted(answers)[Grade.CORRECT],
    }


def _most(arms: Mapping[Sentence, int]) -> Mapping[Sentence, int]:
    """The first arms, the rest as one."""
    shown = dict(list(arms.items())[:_MOST_ARMS])
    rest = sum(arms.values()) - sum(shown.values())
    return {**shown, Sentence("others", "其他"): rest} if rest else shown


def _right(known: float) -> str:
    return "right" if known else "not right"


def _percent(value: float | None) -> str:
    return "—" if value is None else f"{value:.0%}"

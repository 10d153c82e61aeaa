"""Live probes: a deployment is asked about planted facts, and what it answers is graded.

The calls go through the same client as all others: concurrency, retries, redaction, limits. A prompt that is too long
for the deployment is no wrong answer, it is none: the question counts in no share of that arm.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from promptreg.config import secrets_of
from promptreg.context.cut import ESTIMATE_TOLERANCE, TEMPLATE_SLACK, silent_cut
from promptreg.context.trial.probe_report import FALSE_SHARE, ProbeCell, ProbeReport, Totals
from promptreg.context.trial.probe_tallies import AGAIN, FULL, Graded, drift, paired
from promptreg.context.trial.probes import Grade, grade
from promptreg.context.trial.retention import FactReader
from promptreg.deployment.client import Client
from promptreg.deployment.overflow import read_overflow
from promptreg.deployment.request import request_body
from promptreg.errors import EndpointError, UsageError
from promptreg.replay.engine import replay
from promptreg.replay.sample import Call
from promptreg.replay.tally import GONE_KINDS
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.statistics.multiple import benjamini_hochberg
from promptreg.verdict.statistics.regression import mcnemar_p
from promptreg.workflow.context.probe_plan import Key, plan_probes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from promptreg.config import Deployment
    from promptreg.context.budget import Budget
    from promptreg.context.conversations import Recording
    from promptreg.context.count.counting import Counter
    from promptreg.context.trial.grid import Contestant
    from promptreg.context.trial.probe_tallies import Arm
    from promptreg.context.trial.probes import Probe
    from promptreg.deployment.overflow import Overflow
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Sample
    from promptreg.workflow.context.probe_plan import Plan, Question

DEFAULT_QUESTIONS: Final = 50
"""Questions about facts where the command does not say how many."""
_CUT: Final = "length"
"""Finish reason of an answer that its token limit cut off."""


@dataclass(frozen=True, slots=True)
class Probing:
    """Who is asked, and how much."""

    deployment: Deployment
    questions: int = DEFAULT_QUESTIONS
    root: Path | None = None
    """The project's folder, where certificates and functions are found."""
    on_plan: Callable[[Plan], None] = lambda _: None
    """Told before the first call what will be sent."""
    on_progress: Callable[[Progress], None] = lambda _: None
    on_prompts: Callable[[int, int], None] = lambda _, __: None
    """Told how many prompts are made, of how many."""

    def plan(
        self,
        recordings: Sequence[Recording],
        contestants: Sequence[Contestant],
        budgets: Sequence[Budget],
        counter: Counter,
        seed: int,
        *,
        shortened_by: str | None = None,
    ) -> Plan:
        """What would be asked; nothing is sent.

        Args:
            recordings: with their facts.
            contestants: what leaves a part of the conversations.
            budgets: the windows.
            counter: counts prompts as the deployment does.
            seed: of which facts are asked for.
            shortened_by: what the contestants count by, where that is another counter.

        Raises:
            ConfigError: the deployment's requests ask for several answers.
            UsageError: no conversation has a fact that can be asked for.
        """
        plan = plan_probes(
            self.deployment,
            recordings,
            contestants,
            budgets,
            counter,
            shortened_by=shortened_by,
            most=self.questions,
            seed=seed,
            progress=self.on_prompts,
        )
        if not plan.probes:
            raise UsageError(
                f"There is nothing to ask `{self.deployment.name}`: no conversation has facts with a `question` or a "
                "`subject`. Give facts of your own one; conversations without facts get some that can be asked about, "
                "but not with --no-plant."
            )
        return plan

    def run(self, plan: Plan) -> ProbeReport:
        """Ask and grade.

        Raises:
            ConfigError: a key is not set, or the deployment cannot be used as it is configured.
            EndpointError: the deployment is gone, refuses every call, or answers none.
            KeyboardInterrupt: after Ctrl-C.
        """
        self.on_plan(plan)
        said: dict[Key, Sample] = {}
        try:
            asyncio.run(self._ask(plan, said))
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise KeyboardInterrupt(
                f"Interrupted after {len(said)} of {counted(len(plan.requests), 'call')} on {self.deployment.name}. "
                "Answers to such questions are not stored."
            ) from None
        except EndpointError as error:
            raise _gave_up(plan, said, error) from None
        if all(sample.reading.answer is None and _overflow(sample, plan) is None for sample in said.values()):
            raise _gave_up(plan, said, None)
        return _graded(plan, said)

    async def _ask(self, plan: Plan, said: dict[Key, Sample]) -> None:
        deployment = plan.deployment
        keys = {case.case_id: key for key, case in plan.requests.items()}
        what = Sentence(f"questions on {deployment.name}", f"个发给 {deployment.name} 的问题")

        def keep(sample: Sample) -> None:
            said[keys[sample.call.case.case_id]] = sample

        async with Client(deployment, secrets_of(deployment), root=self.root) as client:
            await replay(
                [Call(case, 0) for case in plan.requests.values()],
                client,
                body_of=partial(request_body, deployment=deployment),
                concurrency=deployment.concurrency,
                on_sample=keep,
                on_progress=lambda progress: self.on_progress(replace(progress, what=what)),
            )


def _gave_up(plan: Plan, said: dict[Key, Sample], error: EndpointError | None) -> EndpointError:
    """How far the questions came, and what ended them."""
    last = list(said.values())[-1] if said else None
    reason = "" if error is None else str(error)
    if last is not None and last.reading.problem is not None:
        failure = last.attempts[-1].failure
        if error is None or (failure is not None and failure.kind in GONE_KINDS):
            reason = last.reading.problem.message
    answered = sum(sample.reading.answer is not None for sample in said.values())
    return EndpointError(
        f"Deployment `{plan.deployment.name}` cannot be asked: {reason.rstrip('.')}. {len(said)} of "
        f"{counted(len(plan.requests), 'call')} were made, {answered} were answered."
    )


def _graded(plan: Plan, said: dict[Key, Sample]) -> ProbeReport:
    reader = FactReader()
    arms = {
        arm: tuple(_grade(plan, probe, question, said, reader) for probe, question in zip(plan.probes, asked))  # noqa: B905 - `again` and `none` are asked about what was said only
        for arm, asked in plan.arms.items()
    }
    samples = list(said.values())
    usage = [sample.reading.usage for sample in samples if sample.reading.usage is not None]
    overflows = [found for sample in samples if (found := _overflow(sample, plan)) is not None]
    totals = Totals(
        calls=len(samples),
        answered=sum(sample.reading.answer is not None for sample in samples),
        too_long=len(overflows),
        prompt_tokens=sum(one.prompt_tokens or 0 for one in usage),
        answer_tokens=sum(one.completion_tokens or 0 for one in usage),
        window=next((found.window for found in overflows if found.window is not None), None),
        undercounted=_undercounted(plan, said),
    )
    return _report(plan, arms, totals)


def _undercounted(plan: Plan, said: dict[Key, Sample]) -> tuple[int, int] | None:
    """The largest difference between the counts of a strategy's prompt that was refused as too long."""
    asked = (question for arm, questions in plan.arms.items() if arm.name == "strategy" for question in questions)
    found: list[tuple[int, int]] = []
    for key in {question.key for question in asked if question.key is not None}:
        overflow, ours = _overflow(said[key], plan), plan.tokens.get(key, 0)
        if overflow is not None and overflow.prompt is not None and 0 < ours < overflow.prompt:
            found.append((ours, overflow.prompt))
    return max(found, key=lambda pair: (pair[1] - pair[0], pair), default=None)


def _grade(plan: Plan, probe: Probe, question: Question, said: dict[Key, Sample], reader: FactReader) -> Graded:
    if question.key is None:
        return Graded(Grade.UNSCORED, why=question.why)
    sample = said[question.key]
    answer = sample.reading.answer
    if answer is None:
        return _unanswered(sample, plan)
    usage = sample.reading.usage
    billed = None if usage is None else usage.prompt_tokens
    if question.counted is not None:
        # A count is a guess where the server's template is set otherwise; what a server cuts off is far more.
        cut = silent_cut(
            question.counted, billed, counter=plan.counter, tolerance=ESTIMATE_TOLERANCE, slack=TEMPLATE_SLACK
        )
        if cut is not None:
            why = Sentence(
                f"the server cut the prompt without a word: it counted far fewer tokens than {plan.counter}",
                f"服务端悄悄截断了提示词：其 token 数远少于 {plan.counter} 的计数",
            )
            return Graded(Grade.UNSCORED, answer.content, why)
    found = grade(probe, answer.content, reader)
    if found is not Grade.CORRECT and answer.finish_reason == _CUT:
        why = Sentence("the answer was cut off by its token limit", "回答被 token 上限截断")
        return Graded(Grade.UNSCORED, answer.content, why)
    if not answer.content.strip() and answer.tool_calls:
        return Graded(Grade.UNSCORED, why=Sentence("it called a tool instead of answering", "调用了工具而没有回答"))
    return Graded(found, answer.content)


def _unanswered(sample: Sample, plan: Plan) -> Graded:
    if _overflow(sample, plan) is not None:
        why = Sentence("the prompt is too long for the deployment", "提示词超出该部署的窗口")
    else:
        problem = sample.reading.problem
        message = "" if problem is None else problem.message.rstrip(".")
        why = Sentence(f"the call failed: {message}", f"调用失败：{message}")
    return Graded(Grade.UNSCORED, why=why)


def _overflow(sample: Sample, plan: Plan) -> Overflow | None:
    """Whether a call was refused for its length."""
    if sample.reading.answer is not None:
        return None
    last, problem = sample.attempts[-1], sample.reading.problem
    status = last.status if problem is None or problem.status is None else problem.status
    return read_overflow(status, last.body, plan.deployment.server)


def _report(plan: Plan, arms: Mapping[Arm, tuple[Graded, ...]], totals: Totals) -> ProbeReport:
    """Each strategy beside the whole conversation; which losses are real is decided over all of them together."""
    said, full = plan.said, arms[FULL][: plan.said]
    strategies = [arm for arm in arms if arm.name == "strategy"]
    pairs = [paired(full, arms[arm][:said]) for arm in strategies]
    p_values = [mcnemar_p(one.lost, one.gained) for one in pairs]
    real = benjamini_hochberg(p_values, FALSE_SHARE)
    cells = tuple(
        ProbeCell(
            arm.strategy,
            arm.window,
            one,
            p,
            bool(stands) and one.lost > 0,
            arms[arm][:said],
            arms[arm][said:],
            drift(full, arms[arm][:said]),
        )
        for arm, one, p, stands in zip(strategies, pairs, p_values, real, strict=True)
    )
    again = arms[AGAIN]
    return ProbeReport(
        plan.deployment.name,
        plan.deployment.model,
        plan.probes,
        said,
        arms,
        cells,
        totals,
        drift(full, again),
        paired(full, again),
        plan.counter,
        plan.shortened_by,
    )

"""Calls of judges: the questions of a suite are gathered, asked together and answered from the store from then on.

Scoring then reads replies only: it is as pure as without a judge. A question without a reply leaves its answer
unscored, with the reason.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import Answer
from promptreg.config import secrets_of
from promptreg.deployment.client import Client
from promptreg.deployment.question import question_request, question_sha256
from promptreg.deployment.request import request_body
from promptreg.errors import EndpointError, Place
from promptreg.replay.engine import replay
from promptreg.replay.sample import Call
from promptreg.scoring.checks.registry import build_checks
from promptreg.scoring.questions import questions_of
from promptreg.store.replies import JudgeReply
from promptreg.store.store import Store
from promptreg.suite.model import Case
from promptreg.text.sentence import Sentence
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from promptreg.config import Config, Deployment
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Sample
    from promptreg.scoring.checks.base import Question
    from promptreg.scoring.pairs import CasePair

_ANY_ANSWER: Final = Answer("An answer.")
"""Stands for an answer that is not known yet, where questions are counted."""

_CUT: Final = "length"
"""Finish reason of a reply that its token limit cut off."""


@dataclass(frozen=True, slots=True)
class Replies:
    """What judges said to the questions of one suite."""

    deployments: Mapping[str, Deployment] = field(default_factory=lambda: MappingProxyType({}))
    said: Mapping[str, JudgeReply] = field(default_factory=lambda: MappingProxyType({}))
    """By question hash."""
    failed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """By question hash, why there is no reply."""

    def ask(self, by: str, prompt: str) -> str:
        """The reply to a question that was gathered before.

        Raises:
            EndpointError: there is none, with the reason.
        """
        if by not in self.deployments:
            raise EndpointError(f"{by} was not asked")
        question = question_sha256(prompt, self.deployments[by])
        reply = self.said.get(question)
        if reply is None:
            raise EndpointError(self.failed.get(question, f"{by} was not asked about this text"))
        if reply.finish_reason == _CUT:
            raise EndpointError(f"the reply of {by} was cut off by its token limit; raise max_tokens of [deployments]")
        return reply.text


class Judges:
    """Asks the judges that the suites of a project name."""

    def __init__(
        self,
        config: Config,
        store: Store,
        *,
        on_progress: Callable[[Progress], None] = lambda _: None,
        may_ask: bool = True,
    ) -> None:
        """Ask nothing yet.

        Args:
            config: the project.
            store: open for writing; it keeps the replies.
            on_progress: called as replies arrive.
            may_ask: False to read stored replies only.
        """
        self._config, self._store, self._on_progress, self._may_ask = config, store, on_progress, may_ask
        self.failed: set[str] = set()
        """Hashes of the questions that have no reply, after all their attempts."""

    def check_keys(self, cases: Sequence[Case]) -> None:
        """Read the keys of every judge that the cases name, so that a missing one is found before the first call.

        Raises:
            ConfigError: an environment variable that a judge's deployment names is not set.
        """
        for name in sorted(calls_per_answer(self._config, cases)):
            secrets_of(self._config.deployment(name))

    def replies(self, pairs: Sequence[CasePair]) -> Replies:
        """What judges say of the answers of a suite. What is not stored yet is asked, with the judge's concurrency.

        Raises:
            ConfigError: a key is not set, or a judge's deployment cannot be used as it is configured.
            StoreError: the store cannot be written; replies that are stored stay.
            KeyboardInterrupt: after Ctrl-C; replies that are stored stay.
        """
        asked = self._questions(pairs)
        deployments = {name: self._config.deployment(name) for name in asked}
        failed: dict[str, str] = {}
        for name, questions in asked.items():
            stored = self._store.judge_replies(questions)
            missing = {question: prompt for question, prompt in questions.items() if question not in stored}
            if missing and self._may_ask:
                failed.update(self._ask(deployments[name], missing))
            elif missing:
                failed.update(dict.fromkeys(missing, f"no reply of {name} is stored"))
        # Read back, so that a fresh reply is, to the byte, what a later run will find.
        said = self._store.judge_replies(question for questions in asked.values() for question in questions)
        self.failed = (self.failed | failed.keys()) - said.keys()
        return Replies(deployments, said, failed)

    def missing(self, pairs: Sequence[CasePair]) -> Counter[str]:
        """How many questions about these answers are not stored yet, by judge."""
        asked = self._questions(pairs)
        return Counter(
            {name: len(questions) - len(self._store.judge_replies(questions)) for name, questions in asked.items()}
        )

    def _questions(self, pairs: Sequence[CasePair]) -> dict[str, dict[str, str]]:
        """By judge, the prompts by question hash."""
        asked: dict[str, dict[str, str]] = {}
        for by, prompt in _gathered(self._config, pairs):
            asked.setdefault(by, {})[question_sha256(prompt, self._config.deployment(by))] = prompt
        return asked

    def _ask(self, judge: Deployment, prompts: Mapping[str, str]) -> dict[str, str]:
        """Ask and store; returns why questions got no reply, by hash."""
        failed: dict[str, str] = {}
        answered: set[str] = set()

        def keep(sample: Sample) -> None:
            question, reading = sample.call.case.case_id, sample.reading
            if reading.answer is None:
                message = "" if reading.problem is None else reading.problem.message
                failed[question] = f"{judge.name} gave no reply: {message}"
                return
            answered.add(question)
            reply = JudgeReply(reading.answer.content, reading.answer.finish_reason)
            self._store.add_judge_reply(question, judge.name, reply, time.time())

        try:
            asyncio.run(self._replay(judge, prompts, keep))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        except EndpointError as error:
            # The engine gave up, for every further call would fail alike. What was said before stays.
            for question in prompts:
                if question not in answered:
                    failed.setdefault(question, f"{judge.name} was not asked any more. {error}")
        return failed

    async def _replay(self, judge: Deployment, prompts: Mapping[str, str], keep: Callable[[Sample], None]) -> None:
        calls = [
            Call(Case(judge.name, question, question_request(prompt, judge), Place(self._config.file)), 0)
            for question, prompt in prompts.items()
        ]
        what = Sentence(f"judge calls on {judge.name}", f"次对评判部署 {judge.name} 的调用")
        redaction = redaction_of(self._config)
        async with Client(judge, secrets_of(judge), root=self._config.root, redaction=redaction) as client:
            await replay(
                calls,
                client,
                body_of=partial(request_body, deployment=judge),
                concurrency=judge.concurrency,
                on_sample=keep,
                on_progress=lambda progress: self._on_progress(replace(progress, what=what)),
            )


def calls_per_answer(config: Config, cases: Sequence[Case]) -> Counter[str]:
    """How many questions one answer to each of these cases raises, by judge; empty when no check asks one."""
    counts: Counter[str] = Counter()
    specs = [spec for case in cases for spec in case.checks]
    built = iter(build_checks(specs, config.root, own=load_extensions(config.root).checks))
    for case in cases:
        checks = [next(built) for _ in case.checks]
        questions = {question: None for check in checks for question in check.questions(_ANY_ANSWER)}
        counts.update(question.by for question in questions)
    return counts


def calls_at_most(
    config: Config, cases: Sequence[Case], passes: int, recorded: Sequence[CasePair] = ()
) -> Counter[str]:
    """How many calls judging takes at most, by judge: every new answer another, and no reply to it stored.

    Args:
        config: the project.
        cases: of which answers will be taken.
        passes: how many of each.
        recorded: cases with answers that are known already; only those that no stored reply answers are asked about.
    """
    calls = Counter({name: passes * count for name, count in calls_per_answer(config, cases).items()})
    if not calls:
        return calls
    path = config.root / config.paths.store
    if not path.exists():
        return calls + Counter(question.by for question in _gathered(config, recorded))
    with Store.open(path, create=False) as store:
        return calls + Judges(config, store).missing(recorded)


def _gathered(config: Config, pairs: Sequence[CasePair]) -> Iterator[Question]:
    return questions_of(pairs, root=config.root, extensions=load_extensions(config.root))

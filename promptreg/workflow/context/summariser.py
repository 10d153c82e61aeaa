"""A deployment that writes summaries: its calls, what they cost, and what it said before.

An equal request is asked once and remembered, so that a strategy that is applied again writes the same summary. What is
sent and received goes through the same client as all calls: retries, limits, redaction.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from promptreg.canonical import sha256_of
from promptreg.config import secrets_of
from promptreg.config.hints import listing
from promptreg.context.budget import Budget
from promptreg.context.summarise.asked import Asked
from promptreg.context.summarise.use import Use
from promptreg.context.trial.grid_rows import SummaryCost
from promptreg.deployment.blocking import BlockingLoop
from promptreg.deployment.client import Client
from promptreg.deployment.request import request_body
from promptreg.deployment.targets.target import target_of
from promptreg.errors import EndpointError, UsageError
from promptreg.suite.model import Request
from promptreg.text.counted import counted
from promptreg.text.segment import sentences
from promptreg.workflow.context.configured import configured_counter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from types import TracebackType

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.context.count.counting import Counter, Message
    from promptreg.deployment.client import Outcome
    from promptreg.workflow.context.servers import Servers

USED_BY: Final = ("summary-on-cut", "summary-and-recent")
"""The strategies that have a summariser."""
_IN_A_ROW: Final = 3
"""So many failures one after the other, and none is asked any more."""
_CUT: Final = "length"
_LIMITS: Final = ("max_tokens", "max_completion_tokens")


class SummaryModel:
    """Asks a deployment for summaries. Used as a context manager; it blocks its caller."""

    def __init__(self, deployment: Deployment, counter: Counter, *, root: Path | None = None) -> None:
        """Prepares it; nothing is sent before a summary is wanted.

        Args:
            deployment: who writes.
            counter: counts its prompts.
            root: folder of the project, where certificates and functions are found.

        Raises:
            ConfigError: a key is not set, or the deployment cannot be used as it is configured.
            UsageError: its window is not known.
        """
        window = target_of(deployment).window
        if window is None:
            raise UsageError(
                f"The window of the summariser `{deployment.name}` is not known. Give a `window` under "
                f"[deployments.{deployment.name}], in tokens, such as 8192."
            )
        self._deployment = deployment
        self._counter = counter
        self._client = Client(deployment, secrets_of(deployment), root=root)
        self._loop = BlockingLoop("promptreg-summaries")
        self._known: dict[str, tuple[str, SummaryCost]] = {}
        self._row = self._failed = 0
        self._problem = ""
        self._sent = SummaryCost()
        self._spent = SummaryCost()
        self.summariser = Asked(self.ask, _Counted(counter, self._count), Budget(window, 0), deployment.name)
        """For strategies."""

    def __enter__(self) -> Self:
        self._loop.__enter__()
        self._loop.run(self._client.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self._loop.run(self._client.__aexit__(kind, error, traceback))
        finally:
            self._loop.__exit__(kind, error, traceback)

    def spent(self) -> SummaryCost:
        """What all summaries took that were wanted so far, remembered ones included."""
        return self._spent

    @property
    def use(self) -> Use:
        """What was sent."""
        sent = self._sent
        return Use(
            self._deployment.name, sent.asked, sent.input_tokens, sent.output_tokens, self._failed, self._problem
        )

    def ask(self, messages: Sequence[Message], limit: int) -> str:
        """The answer to a request for a summary of at most `limit` tokens. The last sentence goes where it was cut off.

        Raises:
            EndpointError: there is no answer, or too often there was none.
            KeyboardInterrupt: after Ctrl-C.
        """
        body = self._body(messages, limit)
        key = sha256_of(body)
        if key not in self._known:
            if self._row >= _IN_A_ROW:
                raise self._given_up()
            self._known[key] = self._send(body, messages)
        text, cost = self._known[key]
        self._spent += cost
        return text

    def _body(self, messages: Sequence[Message], limit: int) -> JsonObject:
        sets = request_body(Request((), {}), self._deployment)
        params: dict[str, Json] = {} if "temperature" in sets else {"temperature": 0}
        if not any(name in sets for name in _LIMITS):
            params["max_tokens"] = limit
        return request_body(Request(tuple(dict(message) for message in messages), params), self._deployment)

    def _send(self, body: JsonObject, messages: Sequence[Message]) -> tuple[str, SummaryCost]:
        try:
            outcome: Outcome = self._loop.run(self._client.ask(body))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"Interrupted after {counted(self._sent.asked, 'call')} for summaries on {self._deployment.name}."
            ) from None
        answer, usage = outcome.reading.answer, outcome.reading.usage
        text = "" if answer is None else answer.content.strip()
        if answer is not None and answer.finish_reason == _CUT:
            text = "".join(sentences(text)[:-1]).strip()
        told = None if usage is None else (usage.prompt_tokens, usage.completion_tokens)
        read, wrote = told or (None, None)
        cost = SummaryCost(
            asked=1,
            input_tokens=self._counter.prompt(messages) if read is None else read,
            output_tokens=self._counter.message({"role": "assistant", "content": text}) if wrote is None else wrote,
        )
        cost = cost if answer is not None else SummaryCost(asked=1)
        self._sent += cost
        if text:
            self._row = 0
            return text, cost
        self._spent += cost
        self._fail(_why(outcome))
        raise EndpointError(self._problem)

    def _fail(self, problem: str) -> None:
        self._row += 1
        self._failed += 1
        self._problem = problem

    def _given_up(self) -> EndpointError:
        return EndpointError(f"{self._problem.rstrip('.')}; after {_IN_A_ROW} failures it is not asked any more")

    def _count(self, messages: Sequence[Message], tools: Sequence[JsonObject]) -> int:
        """Tokens of a request, by a server that may be the one that is down."""
        if self._row >= _IN_A_ROW:
            raise self._given_up()
        try:
            return self._counter.prompt(messages, tools=tools)
        except EndpointError as error:
            self._fail(str(error))
            raise


@dataclass(frozen=True, slots=True)
class _Counted:
    """A counter whose failures are failures of the summariser."""

    counter: Counter
    count: Callable[[Sequence[Message], Sequence[JsonObject]], int]

    @property
    def name(self) -> str:
        """See `Counter`."""
        return self.counter.name

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:
        """See `Counter`."""
        return self.count(messages, tools)

    def message(self, message: Message) -> int:
        """See `Counter`."""
        return self.counter.message(message)


def summary_model(
    name: str | None, config: Config | None, strategies: Sequence[str], servers: Servers
) -> AbstractContextManager[SummaryModel | None]:
    """The deployment that writes the summaries of these strategies; None where no name is given.

    Raises:
        ConfigError: the deployment does not exist, or its key is not set.
        UsageError: none of the strategies writes summaries, or the window of the deployment is not known.
    """
    if name is None or config is None:
        return nullcontext()
    names = {part.partition(":")[0].strip() for text in strategies for part in text.split("+")}
    if not names & set(USED_BY):
        raise UsageError(
            f"No strategy here writes summaries, so `{name}` would never be asked. Name one with --strategy: "
            f"{listing(USED_BY)}."
        )
    deployment = config.deployment(name)
    counter = configured_counter(config, deployment, servers).counter
    return SummaryModel(deployment, counter, root=config.root)


def _why(outcome: Outcome) -> str:
    problem = outcome.reading.problem
    if problem is not None:
        return problem.message
    answer = outcome.reading.answer
    cut = answer is not None and answer.finish_reason == _CUT
    return "its answer was cut off by its token limit" if cut else "its answer is empty"

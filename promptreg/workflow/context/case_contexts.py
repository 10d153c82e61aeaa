"""Fits cases under a context: what a deployment is sent of each, by its own window and its own counter."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.canonical import canonical_json
from promptreg.config.hints import listing
from promptreg.context.adapters.registry import ADAPTERS, FUNCTION
from promptreg.context.culprit import with_message
from promptreg.context.fit import fit
from promptreg.context.ledger import NoteKind
from promptreg.context.named import strategy_from
from promptreg.context.strategies.offered import Given
from promptreg.context.strategies.registry import STRATEGIES
from promptreg.deployment.request import request_body
from promptreg.deployment.targets.target import target_of
from promptreg.errors import CannotFit, ConfigError, ContextError, EncodingError, Problem, SuiteError, UsageError
from promptreg.suite.context import NONE
from promptreg.suite.model import Request
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.configured import configured_counter
from promptreg.workflow.context.contexts import UNSENT, Contexts, FittedCase
from promptreg.workflow.context.sides import budget_of, format_tokens, reserve_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.context.count.counters import Chosen
    from promptreg.context.strategies.base import Strategy
    from promptreg.suite.model import Case, CaseContext, Suite

_SWITCHES: Final = ("chat_template_kwargs", "thinking", "reasoning_effort")
"""Parts of a request that change how its prompt is counted, beside messages and tools."""


def check_strategies(suites: Iterable[Suite]) -> None:
    """Find strategies that do not exist before anything is sent.

    Raises:
        SuiteError: with each of them, once a place.
    """
    problems: dict[CaseContext, Problem] = {}
    for suite in suites:
        for case in suite.cases:
            context = case.context
            if context is None or context in problems:
                continue
            try:
                _check_repeats(context.strategy)
                # an embedder is at hand when it comes to that
                strategy_from(context.strategy, Given(embed=lambda texts: texts, own_only=True))
            except UsageError as error:
                problems[context] = Problem(f"`context`: {error}", context.place)
    if problems:
        raise SuiteError(tuple(dict.fromkeys(problems.values())))


def _check_repeats(text: str) -> None:
    """A case has to be the same prompt another time, which only our own strategies promise.

    Raises:
        UsageError: a part is a library's or the user's own, or `none`, which is no part of anything.
    """
    foreign = {FUNCTION, *(name.partition(":")[0] for name in ADAPTERS)}
    for part in text.split("+"):
        if part.partition(":")[0].strip() == NONE:
            raise UsageError(
                f"`{NONE}` stands alone: it sends the messages as they are written, so it has no options and nothing "
                "goes before or after it."
            )
        if part.partition(":")[0].strip() in foreign:
            raise UsageError(
                f"`{part.strip()}` is not taken in a suite: what it returns may change, and then the same case would "
                f"be another prompt. Allowed: {listing(STRATEGIES)}. `promptreg context test` takes it."
            )


class CaseFitter:
    """Fits cases of a project; strategies and the embedder are made once."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._embedder: Any = None
        self._given = Given(embed=self._embed)
        self._strategies: dict[str, Strategy] = {}

    def fit(self, deployment: Deployment, suites: Iterable[Suite]) -> Contexts:
        """What a deployment is sent of every case under a context. Nothing is sent or asked.

        Raises:
            ConfigError: the deployment's window or tokenizer is not known, or a request asks for several samples.
            SuiteError: nothing of the window is left for the prompt of a case, whatever it says.
        """
        cases = [case for suite in suites for case in suite.cases if case.context is not None]
        _check_windows(deployment, cases)
        fitting = _Fitting(self._config, deployment)
        fitted = {
            (case.suite, case.case_id): fitting.fitted(case, context, self._strategy(context.strategy))
            for case in cases
            if (context := case.context) is not None
        }
        _check_room(deployment, fitted.values())
        return Contexts(deployment.name, MappingProxyType(fitted))

    def _strategy(self, text: str) -> Strategy:
        if text not in self._strategies:
            self._strategies[text] = strategy_from(text, self._given)
        return self._strategies[text]

    def _embed(self, texts: Sequence[str]) -> Any:
        if self._embedder is None:
            from promptreg.scoring.embedders.registry import load_embedder  # noqa: PLC0415 - rarely needed, slow

            self._embedder = load_embedder(self._config.judging.embedder, self._config)
        return self._embedder.encode(texts)


def _check_windows(deployment: Deployment, cases: Sequence[Case]) -> None:
    """Every case needs a window.

    Raises:
        ConfigError: naming the first case of each place without one.
    """
    if target_of(deployment).window is not None:
        return
    lacking: dict[CaseContext, list[str]] = {}
    for case in cases:
        if case.context is not None and case.context.window is None:
            lacking.setdefault(case.context, []).append(case.case_id)
    if lacking:
        raise ConfigError(
            [
                Problem(
                    f"Case `{names[0]}`{f' and {len(names) - 1} more' if len(names) > 1 else ''} has a `context`, and "
                    f"the window of deployment `{deployment.name}` is not known. Write it in tokens, such as "
                    f"`window = 8192` under [deployments.{deployment.name}], or as `window` in the `context`.",
                    context.place,
                )
                for context, names in lacking.items()
            ]
        )


def _check_room(deployment: Deployment, fitted: Iterable[FittedCase]) -> None:
    """Every case needs room for a prompt beside its answer; where there is none, no conversation would ever fit.

    Raises:
        SuiteError: naming the first case of each place without.
    """
    lacking: dict[tuple[str, CaseContext], list[str]] = {}
    for found in fitted:
        context = found.case.context
        if found.budget.tokens < 1 and context is not None:
            lacking.setdefault((_no_room(found, context, deployment), context), []).append(found.case.case_id)
    if lacking:
        raise SuiteError(
            [
                Problem(f"Case `{names[0]}`{f' and {len(names) - 1} more' if len(names) > 1 else ''} {why}", at.place)
                for (why, at), names in lacking.items()
            ]
        )


def _no_room(found: FittedCase, context: CaseContext, deployment: Deployment) -> str:
    budget = found.budget
    origin = reserve_of(context.reserve, request_body(found.case.request, deployment), budget.window)[1]
    of = {"option": " (`reserve`)", "request": " (`max_tokens` of the request)", "default": ""}[origin]
    lower = {"option": "Lower `reserve`", "request": "Lower `max_tokens`, write a smaller `reserve` in the `context`"}
    window = "`window` in the `context`" if context.window is not None else "the window"
    return (
        f"can never be sent to `{deployment.name}`: of its window of {counted(budget.window, 'token')}, "
        f"{budget.reserve}{of} {'is' if budget.reserve == 1 else 'are'} kept free for the answer and {budget.margin} "
        f"as a margin, which leaves nothing for a prompt. {lower.get(origin, 'Write a smaller `reserve`')}, or raise "
        f"{window}."
    )


class _Fitting:
    """Fits cases for one deployment; cases with the same switches share a counter, which remembers what it counted."""

    def __init__(self, config: Config, deployment: Deployment) -> None:
        self._config = config
        self._deployment = deployment
        self._counters: dict[str, Chosen] = {}

    def fitted(self, case: Case, context: CaseContext, strategy: Strategy) -> FittedCase:
        deployment = self._deployment
        body = request_body(case.request, deployment)
        if context.window is not None:
            deployment = deployment.model_copy(update={"window": context.window})
        target = target_of(deployment)
        window = context.window or target.window
        if window is None:
            raise AssertionError("unreachable because windows are checked before")
        chosen = self._counter(body)
        budget = budget_of(window, reserve_of(context.reserve, body, window)[0], target)
        asked = format_tokens(body.get("response_format"), chosen.counter)
        budget = replace(budget, safety=budget.margin + asked)
        found = FittedCase(
            replace(case, request=Request((), case.request.params)),
            case.request.messages,
            context.strategy,
            budget,
            chosen.counter.name,
            exact=chosen.encoder is not None and chosen.guessed is None,
            provable=deployment.call is None,
            guessed=chosen.guessed,
        )
        if budget.tokens < 1:
            return found
        tools = tools if isinstance(tools := body.get("tools"), list) else ()
        try:
            result = fit(
                case.request.messages,
                budget,
                counter=chosen.counter,
                strategy=strategy,
                tools=tools,
                pinned=_places(context.pinned, len(case.request.messages)),
            )
        except CannotFit as error:
            return replace(found, problem=_cannot_fit(error))
        except (ContextError, EncodingError) as error:
            why = with_message(case.request.messages, chosen.counter, error, tools)
            return replace(found, problem=Sentence(f"{UNSENT.en}{why}", f"{UNSENT.zh}{why}"))
        failed = next((note for note in result.ledger.notes if note.kind is NoteKind.RETRIEVAL_FAILED), None)
        if failed is not None:
            # The embedder would be there another time, and then the very same case would be another prompt.
            said = failed.sentence
            return replace(found, problem=Sentence(f"{UNSENT.en}{said.en}", f"{UNSENT.zh}{said.zh}"))
        messages = tuple(dict(message) for message in result.messages)
        return replace(found, case=replace(case, request=Request(messages, case.request.params)), fitted=result)

    def _counter(self, body: JsonObject) -> Chosen:
        """What counts a request: thinking may be switched in each case."""
        switches = {name: body[name] for name in _SWITCHES if name in body}
        key = canonical_json(switches)
        if key not in self._counters:
            deployment = self._deployment.model_copy(update={"request": switches, "extra_body": {}})
            self._counters[key] = configured_counter(self._config, deployment)
        return self._counters[key]


def _places(pinned: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place % count for place in pinned))


def _cannot_fit(error: CannotFit) -> Sentence:
    return Sentence(
        f"{UNSENT.en}the conversation cannot be shortened enough. System messages, pinned messages, tools "
        f"and the preamble of the format take {counted(error.fixed, 'token')} and the newest user message "
        f"{error.newest}, but the prompt may have {error.budget} (the window less {error.reserve} for the "
        f"answer and as a margin), counted by {error.counter}.",
        f"{UNSENT.zh}对话无法缩短到窗口之内。系统消息、固定消息、工具和格式前导占 {error.fixed} 个 token，"
        f"最新的用户消息占 {error.newest} 个，而提示词最多 {error.budget} 个"
        f"（窗口减去留给回答和作为余量的 {error.reserve} 个），计数器：{error.counter}。",
    )

"""A deployment as the context manager sees it: its window, what is kept free of it, and what counts for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from promptreg.context.budget import Budget
from promptreg.context.count.counters import choose_counter
from promptreg.deployment.targets.target import target_of
from promptreg.deployment.tokenize import SERVER, counter_for
from promptreg.errors import UsageError
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.configured import configured_counter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.config.model import Deployment
    from promptreg.context.count.counters import Chosen
    from promptreg.context.count.counting import Counter
    from promptreg.deployment.targets.target import Target
    from promptreg.workflow.context.servers import Servers

DEFAULT_RESERVE: Final = 1024
"""Tokens kept free for the answer where neither the command nor the deployment's request says how many."""
_MOST_TOKENS: Final = ("max_completion_tokens", "max_tokens")
"""Request parameters that say how long an answer may be, the newer one first."""
_OF_THE_BUDGET: Final = 4
"""The default reserve takes no more than this part of a window, or small ones would have no room for the prompt."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a command line says of a side; None is left to the configuration."""

    deployment: str | None = None
    window: int | None = None
    reserve: int | None = None
    counter: str | None = None
    encoder: str | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a change of windows."""

    name: str
    budget: Budget
    chosen: Chosen
    target: Target | None = None
    """What is known of the end of its window; None where only a number was given."""
    reserve_from: Literal["option", "request", "default"] = "option"
    """Where the reserve comes from."""
    format_tokens: int = 0
    """Of the `response_format` of its requests; a part of the budget's margin."""


def side_of(wanted: Wanted, config: Config | None, name: str, servers: Servers | None = None) -> Side:
    """The side that is meant.

    Args:
        wanted: what the command line says.
        config: the project, where a deployment is named.
        name: what a side that is only a number is called.
        servers: asked to count where a deployment's `tokenizer` is its server; None where nothing may be sent.

    Raises:
        ConfigError: the deployment does not exist.
        UsageError: no window is known, or the reserve and the margin leave no room for a prompt.
    """
    deployment = None if config is None or wanted.deployment is None else config.deployment(wanted.deployment)
    if deployment is not None and wanted.window is not None:
        deployment = deployment.model_copy(update={"window": wanted.window})
    target = None if deployment is None else target_of(deployment)
    window = wanted.window if target is None else target.window
    if window is None:
        called = "--window N" if wanted.deployment is None else f"a `window` under [deployments.{wanted.deployment}]"
        raise UsageError(f"The window is not known. Give {called}, in tokens, such as 8192.")
    reserve, origin = reserve_of(wanted.reserve, {} if deployment is None else deployment.request, window)
    budget = budget_of(window, reserve, target)
    chosen = _counter(wanted, config, deployment, servers)
    form = format_tokens(None if deployment is None else deployment.request.get("response_format"), chosen.counter)
    if form:
        budget = replace(budget, safety=budget.margin + form)
    if budget.tokens < 1:
        raise UsageError(
            f"A window of {counted(window, 'token')} has no room for a prompt when {reserve} {_are(reserve)} kept free "
            f"for the answer and {budget.margin} as a margin. Use a larger window or a smaller --reserve."
        )
    return Side(name if deployment is None else deployment.name, budget, chosen, target, origin, form)


def format_tokens(form: Json, counter: Counter) -> int:
    """What a `response_format` needs where a server writes it into the prompt; room for it is kept in any case."""
    if form is None:
        return 0
    written = json.dumps(form, ensure_ascii=False)
    return counter.prompt([{"role": "user", "content": written}]) - counter.prompt([{"role": "user", "content": ""}])


def budget_of(window: int, reserve: int, target: Target | None) -> Budget:
    """The budget of a window; a limit of the server's own for prompts is kept like the margin."""
    budget = Budget(window, reserve)
    if target is None or target.longest_prompt is None:
        return budget
    return Budget(window, reserve, max(budget.margin, window - reserve - target.longest_prompt))


def _counter(wanted: Wanted, config: Config | None, deployment: Deployment | None, servers: Servers | None) -> Chosen:
    counter, form = wanted.counter, wanted.encoder
    if deployment is not None and counter is not None and counter.partition(":")[0] == SERVER:
        tokenizer = f"{counter}:{form}" if form is not None and counter == SERVER else counter
        asked = deployment.model_copy(update={"tokenizer": tokenizer})
        return counter_for(asked, None if servers is None else servers.endpoint(asked))
    if config is None or deployment is None or counter is not None or form is not None:
        return choose_counter(counter, form)
    return configured_counter(config, deployment, servers)


def reserve_of(
    wanted: int | None, request: JsonObject, window: int
) -> tuple[int, Literal["option", "request", "default"]]:
    """What is kept free of a window for the answer, and where that comes from.

    Args:
        wanted: what was asked for by name; it wins.
        request: parameters of the request, of which `max_tokens` counts.
        window: in tokens; a small one has a small default.
    """
    if wanted is not None:
        return wanted, "option"
    for key in _MOST_TOKENS:
        value = request.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value, "request"
    return min(DEFAULT_RESERVE, window // _OF_THE_BUDGET), "default"


_RESERVED: Final = MappingProxyType(
    {
        "option": Sentence("as asked for", "按指定"),
        "request": Sentence("the max_tokens of its requests", "其请求的 max_tokens"),
        "default": Sentence("a default; set it with --reserve", "默认值，可用 --reserve 设置"),
    }
)


def reserve_words(side: Side) -> Sentence:
    """Where the reserve of a side comes from."""
    return _RESERVED[side.reserve_from]


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def budget_words(side: Side) -> Sentence:
    """How the budget of a side came about."""
    budget, origin, form = side.budget, reserve_words(side), side.format_tokens
    form_en = f", {form} of them for the response_format" if form else ""
    form_zh = f"（其中 {form} 留给 response_format）" if form else ""
    return Sentence(
        f"The prompt may have {budget.tokens} of {counted(budget.window, 'token')}: {budget.reserve} "
        f"{_are(budget.reserve)} kept free for the answer ({origin.en}), {budget.margin} as a margin{form_en}. "
        f"Counted by {side.chosen.counter.name}.",
        f"窗口 {budget.window} token，提示词最多 {budget.tokens}：为回答预留 {budget.reserve}（{origin.zh}），"
        f"余量 {budget.margin}{form_zh}。计数器：{side.chosen.counter.name}。",
    )


def guesses(sides: Sequence[Side]) -> tuple[Sentence, ...]:
    """What was guessed about the counters of these sides, each once."""
    return tuple(dict.fromkeys(side.chosen.guessed for side in sides if side.chosen.guessed is not None))

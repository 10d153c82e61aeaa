"""Strategies that put a summary in the place of the turns that leave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.context.ledger import Action, Note, Reason
from promptreg.context.strategies.state import Summary
from promptreg.context.strategies.window import check_share, drop, make_room, moved, resumed
from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.gate import Gate
from promptreg.context.summarise.source import Room, Source, passage_of
from promptreg.context.summarise.write import no_summary, write_summary
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from promptreg.context.count.counting import Message
    from promptreg.context.strategies.base import Steps
    from promptreg.context.strategies.draft import Draft
    from promptreg.context.summarise.source import Summariser

_HEADINGS: Final = {"en": "Summary of the earlier conversation:\n", "zh": "此前对话的摘要：\n"}
ACKNOWLEDGEMENT: Final = "OK"
"""Answers the summary, so that no two user messages stand side by side (context.md 5.9)."""

_SMALLEST: Final = 8
"""Tokens below which a summary says nothing."""


@dataclass(frozen=True, slots=True)
class SummaryOnCut:
    """Keeps the newest turns and a summary of all before, which is written anew only when the window is full.

    Given the state of the turn before, the prompt keeps its beginning until then. The new summary is made of the old
    one and of the messages that leave now. It stands as a user message with the answer "OK" after the system messages,
    the one place that all DeepSeek templates render well.
    """

    summariser: Summariser = Extractive()  # noqa: RUF009 - a frozen value
    target: float = 0.5
    """Share of the budget that is filled after a cut, the summary included; above 0, at most 1."""
    tokens: int = 400
    """Most tokens of the summary; never more than half of the target."""
    gate: Gate = Gate()  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        check_share("target", self.target)
        _check_tokens(self.tokens)

    @property
    def name(self) -> str:
        """`summary-on-cut` and the summariser."""
        return f"summary-on-cut({self.summariser.name})"

    def apply(self, draft: Draft) -> Steps:
        """See the class."""
        earlier = _resumed(draft)
        if earlier.fits:
            return earlier
        allowance = _allowance(draft, self.tokens, self.target)
        base = earlier.without_summary()
        turns = draft.task.conversation.turns
        steps = [drop(base, turn, Reason.BEFORE_WINDOW) for turn in turns]
        cut = make_room(base, steps, Reason.BEFORE_WINDOW, target=self.target, taken=allowance)
        return (yield from _summarised(cut, base, earlier.state.summary, allowance, self.summariser, self.gate))


@dataclass(frozen=True, slots=True)
class SummaryAndRecent:
    """Keeps so many of the newest turns and a summary of all before, written anew with every turn that leaves."""

    turns: int = 4
    """Turns before the newest that stay word for word while they fit, 0 or more."""
    summariser: Summariser = Extractive()  # noqa: RUF009 - a frozen value
    tokens: int = 400
    """Most tokens of the summary; never more than half of the budget."""
    gate: Gate = Gate()  # noqa: RUF009 - a frozen value

    def __post_init__(self) -> None:
        _check_tokens(self.tokens)
        if self.turns < 0:
            raise UsageError(f"`turns` counts turns and cannot be negative, got {self.turns}.")

    @property
    def name(self) -> str:
        """`summary-and-recent`, how many turns, and the summariser."""
        return f"summary-and-recent({self.turns}, {self.summariser.name})"

    def apply(self, draft: Draft) -> Steps:
        """See the class."""
        earlier = _resumed(draft)
        allowance = _allowance(draft, self.tokens, 1.0)
        base = earlier.without_summary()
        turns = draft.task.conversation.turns
        old = turns[: max(0, len(turns) - self.turns)]
        leaving = [step for turn in old if (step := drop(base, turn, Reason.BEFORE_WINDOW))]
        cut = base.after(leaving)
        steps = [drop(cut, turn, Reason.BEFORE_WINDOW) for turn in turns[len(old) :]]
        cut = make_room(cut, steps, Reason.BEFORE_WINDOW, taken=allowance)
        if len(cut.kept) == len(base.kept) and earlier.fits:
            return earlier
        return (yield from _summarised(cut, base, earlier.state.summary, allowance, self.summariser, self.gate))


def _check_tokens(tokens: int) -> None:
    if tokens < 1:
        raise UsageError(f"`tokens` of a summary must be at least 1, got {tokens}.")


def _allowance(draft: Draft, tokens: int, target: float) -> int:
    """Tokens that are kept free for the summary, its heading and the answer to it."""
    return min(tokens, int(draft.task.budget * target) // 2)


def _resumed(draft: Draft) -> Draft:
    """The draft as the turn before left it: the same messages gone, the same summary in their place."""
    draft = resumed(draft, Reason.SUMMARISED)
    summary = draft.state.summary
    if summary is None:
        return draft
    return _with_summary(draft, summary)


def _summarised(
    cut: Draft, base: Draft, previous: Summary | None, allowance: int, summariser: Summariser, gate: Gate
) -> Steps:
    """The draft with a summary of `previous` and of what left from `base` to `cut`, where there is room for one."""
    task = cut.task
    messages = task.conversation.messages
    passages = [passage_of(index, messages[index]) for index in base.kept if index not in cut.kept]
    source = Source(
        tuple(passage for passage in passages if passage is not None), previous.text if previous is not None else ""
    )
    plain = task.size({"role": "user", "content": ""})
    overhead = sum(task.size(message) for message in _pair("", source.language))
    limit = min(allowance, task.budget - cut.total) - overhead

    def size(text: str) -> int:
        return task.size({"role": "user", "content": text}) - plain

    notes: tuple[Note, ...] = ()
    cut = moved(cut)
    while limit >= min(_SMALLEST, allowance):
        outcome = yield from write_summary(summariser, source, Room(limit, size), gate)
        notes += outcome.notes
        if outcome.text is None:
            break
        summary = Summary(1 if previous is None else previous.version + 1, outcome.text)
        done = _with_summary(cut, summary)
        if done.fits:
            return replace(done, state=replace(done.state, summary=summary)).noted(*notes)
        # Joined to the prompt it has more tokens than by itself.
        limit -= done.total - task.budget
        summariser = Extractive()
    if not notes:
        notes = (no_summary("the room is too small", "空间不足"),)
    return cut.noted(*notes)


def _pair(text: str, language: str) -> tuple[Message, Message]:
    return {"role": "user", "content": _HEADINGS[language] + text}, {"role": "assistant", "content": ACKNOWLEDGEMENT}


def _with_summary(draft: Draft, summary: Summary) -> Draft:
    return _attributed(draft, summary).with_front(_pair(summary.text, Source((), summary.text).language))


def _attributed(draft: Draft, summary: Summary) -> Draft:
    """The draft whose ledger says that the summary stands for what left before the window."""
    entries = {
        index: replace(entry, action=Action.REPLACED, reason=Reason.SUMMARISED, summary=summary.summary_id)
        if entry.reason in (Reason.BEFORE_WINDOW, Reason.SUMMARISED)
        else entry
        for index, entry in draft.entries.items()
    }
    return replace(draft, entries=entries)

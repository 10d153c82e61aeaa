"""What a strategy remembers from one turn of a conversation to the next: a value that the caller keeps and hands in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.canonical import sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message


@dataclass(frozen=True, slots=True)
class Summary:
    """What stands for the turns that left."""

    version: int
    """1 for the first summary of a conversation, one more each time it is written anew."""
    text: str

    @property
    def summary_id(self) -> str:
        """How ledgers refer to it."""
        return f"summary-{self.version}"


@dataclass(frozen=True, slots=True)
class State:
    """Where the window of a conversation begins, and the summary of what stands before it.

    The first turn starts from `State()`; each later one from what `Fitted.state` of the turn before holds. It counts
    places of the whole conversation, so hand in the whole conversation each time, not what was sent of it.
    """

    start: int = 0
    """Messages before this place have left; system and pinned ones stay all the same."""
    mark: str = ""
    """Hash of the message before `start`, by which another conversation is noticed."""
    summary: Summary | None = None

    def belongs_to(self, messages: Sequence[Message]) -> bool:
        """Whether this state was made from these messages, or from the beginning of them."""
        return self.start == 0 or (self.start <= len(messages) and self.mark == mark_of(messages, self.start))

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output and in the store."""
        summary: Json = None if self.summary is None else {"version": self.summary.version, "text": self.summary.text}
        return {"start": self.start, "mark": self.mark, "summary": summary}


def state_from_json(value: JsonObject) -> State:
    """A state as `State.to_json` wrote it.

    Raises:
        KeyError, TypeError: for anything else.
    """
    start, mark, summary = value["start"], value["mark"], value["summary"]
    if isinstance(start, bool) or not isinstance(start, int) or not isinstance(mark, str):
        raise TypeError("`start` must be a whole number and `mark` a text")
    if summary is None:
        return State(start, mark)
    if not isinstance(summary, dict) or not isinstance(summary["version"], int) or not isinstance(summary["text"], str):
        raise TypeError("`summary` must be an object with a whole number `version` and a text `text`")
    return State(start, mark, Summary(summary["version"], summary["text"]))


def mark_of(messages: Sequence[Message], start: int) -> str:
    """The hash of the message before a place; empty at the beginning."""
    return sha256_of(dict(messages[start - 1])) if start else ""

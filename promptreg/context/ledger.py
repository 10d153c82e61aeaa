"""What a strategy did to a conversation: every message that is gone, cut or replaced, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.canonical import Json, JsonObject


class Action(StrEnum):
    """What happened to a message."""

    DROPPED = "dropped"
    CUT = "cut"
    """Only a part of its text is left."""
    REPLACED = "replaced"
    """Something shorter stands for it: a placeholder, or a summary."""


class Reason(StrEnum):
    """Why something happened to a message."""

    OVER_BUDGET = "over_budget"
    """The oldest went first."""
    BEFORE_WINDOW = "before_window"
    """It stands before the window of newest turns."""
    MIDDLE = "middle"
    """It stood in the middle, between what was kept of the beginning and of the end."""
    NOT_RETRIEVED = "not_retrieved"
    """An old turn, and others were closer to the question."""
    MESSAGE_CAP = "message_cap"
    """Longer than one message may be."""
    OLD_RESULT = "old_result"
    """The result of a tool call that was answered long ago."""
    NEWEST_RESULT = "newest_result"
    """The newest tool result leaves no room even when all else is gone."""
    SUMMARISED = "summarised"
    """The summary stands for it."""
    ADAPTED = "adapted"
    """A library, or a function of the user's own, left it out or cut it; why, only that knows."""
    ORPHAN = "orphan"
    """A tool result without its call, in the conversation as it was given."""
    UNANSWERED = "unanswered"
    """A tool call without all its results, in the conversation as it was given."""


BROKEN: Final = frozenset({Reason.ORPHAN, Reason.UNANSWERED})
"""Reasons that stand in the conversation as it was given: no strategy dropped these, and no server takes them."""

_SENTENCES: Final[Mapping[Reason, Sentence]] = MappingProxyType(
    {
        Reason.OVER_BUDGET: Sentence("dropped as the oldest to make room", "预算不足，最早的消息先移除"),
        Reason.BEFORE_WINDOW: Sentence("older than the turns that the window keeps", "早于窗口保留的轮次"),
        Reason.MIDDLE: Sentence("between the kept beginning and the kept end", "位于保留的开头与结尾之间"),
        Reason.NOT_RETRIEVED: Sentence(
            "an old turn less similar to the question than the ones brought back",
            "旧轮次，与当前问题的相似度低于被找回的轮次",
        ),
        Reason.MESSAGE_CAP: Sentence("longer than one message may be", "超过单条消息的长度上限"),
        Reason.OLD_RESULT: Sentence("an old tool result, replaced by a placeholder", "旧的工具结果，以占位文字代替"),
        Reason.NEWEST_RESULT: Sentence(
            "the newest tool result is larger than the room that is left", "最新的工具结果超过剩余空间"
        ),
        Reason.SUMMARISED: Sentence("a summary stands for it", "由摘要代替"),
        Reason.ADAPTED: Sentence("left out or cut by the library or function", "由外部库或函数移除或截短"),
        Reason.ORPHAN: Sentence(
            "a tool result without its call, already so in the conversation", "工具结果没有对应的调用（原对话即如此）"
        ),
        Reason.UNANSWERED: Sentence(
            "a tool call without all its results, already so in the conversation",
            "工具调用缺少结果（原对话即如此）",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """What happened to one message."""

    index: int
    """Its place in the conversation as given, from 0."""
    message_id: str | None
    """Its own `id`, where it has one."""
    role: str
    action: Action
    reason: Reason
    tokens: int
    """Of the message as it was, by the counter of the ledger."""
    kept: int = 0
    """Tokens of what is left of it in its place."""
    summary: str | None = None
    """The id of the summary that stands for it."""

    @property
    def sentence(self) -> Sentence:
        """The reason in words."""
        return _SENTENCES[self.reason]

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output and in the store."""
        return {
            "index": self.index,
            "id": self.message_id,
            "role": self.role,
            "action": self.action.value,
            "reason": self.reason.value,
            "tokens": self.tokens,
            "kept": self.kept,
            "summary": self.summary,
        }


class NoteKind(StrEnum):
    """What a strategy has to tell beside the messages."""

    SUMMARY_REFUSED = "summary_refused"
    """A summary did not pass the gate; the extractive one stands in its place."""
    SUMMARISER_FAILED = "summariser_failed"
    """The summariser raised an error; the extractive summary stands in its place."""
    NO_SUMMARY = "no_summary"
    """There was nothing to summarise, or no summary shorter than what it stands for."""
    NO_GAIN = "no_gain"
    """A replacement would have been as long as the message, which stays."""
    RETRIEVAL_FAILED = "retrieval_failed"
    """The embedder raised an error; only the newest turns are kept."""
    STATE_IGNORED = "state_ignored"
    """The state that was handed in belongs to another conversation."""
    MENDED = "mended"
    """What a library or function returned broke a rule of `fit`, which put it right."""
    ADAPTED_FAILED = "adapted_failed"
    """A library or function raised an error; the oldest messages go instead."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that happened to no single message."""

    kind: NoteKind
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything that differs between a conversation and what is sent of it."""

    strategy: str
    counter: str
    before: int
    """Tokens of the conversation as given: of the prompt with every message that has a place in one, and of those that
    have none (`ORPHAN`, `UNANSWERED`), each by itself."""
    after: int
    """Tokens of the prompt that is sent."""
    entries: tuple[Entry, ...] = ()
    """By place in the conversation. A message without an entry is sent word for word."""
    notes: tuple[Note, ...] = ()

    @property
    def absent(self) -> frozenset[int]:
        """Places of the messages that are not in the prompt: dropped, or summarised with others."""
        return frozenset(
            entry.index for entry in self.entries if entry.action is Action.DROPPED or entry.summary is not None
        )

    @property
    def sendable(self) -> int:
        """Tokens of the prompt with every message that has a place in one: what would have been sent unshortened."""
        return self.before - sum(entry.tokens for entry in self.entries if entry.reason in BROKEN)

    @property
    def tokens_lost(self) -> int:
        """Tokens of messages and parts of messages that are not sent, summaries not set against them."""
        return sum(entry.tokens - entry.kept for entry in self.entries)

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output and in the store; `ledger_from_json` reads it."""
        return {
            "strategy": self.strategy,
            "counter": self.counter,
            "before": self.before,
            "after": self.after,
            "entries": [entry.to_json() for entry in self.entries],
            "notes": [{"kind": note.kind.value, "sentence": note.sentence.to_json()} for note in self.notes],
        }


def ledger_from_json(value: JsonObject) -> Ledger:
    """A ledger as `Ledger.to_json` wrote it.

    Raises:
        KeyError, ValueError, TypeError: for anything else.
    """
    entries = [
        Entry(
            _number(item["index"]),
            None if item["id"] is None else str(item["id"]),
            str(item["role"]),
            Action(str(item["action"])),
            Reason(str(item["reason"])),
            _number(item["tokens"]),
            _number(item["kept"]),
            None if item["summary"] is None else str(item["summary"]),
        )
        for item in _objects(value["entries"])
    ]
    notes: list[Note] = []
    for item in _objects(value["notes"]):
        (sentence,) = _objects([item["sentence"]])
        notes.append(Note(NoteKind(str(item["kind"])), Sentence(str(sentence["en"]), str(sentence["zh"]))))
    return Ledger(
        str(value["strategy"]),
        str(value["counter"]),
        _number(value["before"]),
        _number(value["after"]),
        tuple(entries),
        tuple(notes),
    )


def _number(value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"a whole number is expected, not {value!r}")
    return value


def _objects(value: Json) -> list[JsonObject]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(item, dict) for item in value):
        raise TypeError("a list of objects is expected")
    return list(value)

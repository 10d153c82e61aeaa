"""Facts that a conversation's file claims and the conversation does not say: recall against them means nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from promptreg.context.conversations import Recording
    from promptreg.context.trial.known import KnownFact
    from promptreg.context.trial.retention import FactReader

MOST_NAMED: Final = 5
"""Facts that are told one by one."""


def misplaced_facts(recordings: Iterable[Recording], reader: FactReader) -> tuple[Sentence, ...]:
    """A sentence for each fact that the message it names does not say, or no message of its conversation.

    Args:
        recordings: conversations with facts of their own.
        reader: looks for them.
    """
    found = [sentence for recording in recordings for sentence in _of_one(recording, reader)]
    more = len(found) - MOST_NAMED
    if more <= 0:
        return tuple(found)
    rest = Sentence(
        f"{counted(more, 'more fact')} {'is' if more == 1 else 'are'} not where the conversations claim.",
        f"另有 {more} 个事实不在对话所称之处。",
    )
    return (*found[:MOST_NAMED], rest)


def _of_one(recording: Recording, reader: FactReader) -> Iterator[Sentence]:
    for fact in recording.facts:
        if fact.index is not None and _says(recording, fact, fact.index, reader):
            continue
        if reader.fates([fact], recording.messages)[0].kept:
            if fact.index is not None:
                yield _elsewhere(recording, fact, fact.index, reader)
        else:
            yield _nowhere(recording, fact)


def _says(recording: Recording, fact: KnownFact, place: int, reader: FactReader) -> bool:
    return reader.fates([fact], [recording.messages[place]])[0].kept


def _elsewhere(recording: Recording, fact: KnownFact, named: int, reader: FactReader) -> Sentence:
    places = range(len(recording.messages))
    place = next((place for place in places if _says(recording, fact, place, reader)), None)
    en, zh = ("", "") if place is None else (f"; message {place} says it", f"，第 {place} 条才有")
    head = _head(recording, fact)
    return Sentence(
        f"{head.en} is not in message {named}, which it names{en}. It is looked for in all messages all the same.",
        f"{head.zh}不在所标的第 {named} 条消息中{zh}。检索时仍会查找所有消息。",
    )


def _nowhere(recording: Recording, fact: KnownFact) -> Sentence:
    head, named = _head(recording, fact), fact.index
    if named is None:
        where = Sentence("is in no message", "不在任何消息中")
    else:
        where = Sentence(
            f"is not in message {named}, which it names, nor in any other",
            f"不在所标的第 {named} 条消息中，也不在其他消息中",
        )
    return Sentence(
        f"{head.en} {where.en}: it counts as lost whatever a strategy does.",
        f"{head.zh}{where.zh}：无论何种策略都计为丢失。",
    )


def _head(recording: Recording, fact: KnownFact) -> Sentence:
    """Which fact it is, of which conversation, and where that was read."""
    name, fact_id, value = preview(recording.conversation_id, 40), preview(fact.fact_id, 40), preview(fact.value, 40)
    place = "" if recording.place is None else f" ({recording.place})"
    place_zh = "" if recording.place is None else f"（{recording.place}）"
    return Sentence(
        f"Conversation {name}{place}: the fact {fact_id}, “{value}”,", f"对话 {name}{place_zh}：事实 {fact_id}“{value}”"
    )

"""A summary that may stand: the summariser's own where it passes the gate, else the extractive one, else none."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.count.special import neutralised
from promptreg.context.failure import why_failed
from promptreg.context.ledger import Note, NoteKind
from promptreg.context.summarise.extractive import Extractive
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.context.strategies.base import Request
    from promptreg.context.summarise.gate import Gate, Refusal
    from promptreg.context.summarise.source import Room, Source, Summariser

_EXTRACTIVE: Final = Extractive()
"""Stands in for every other summariser."""

_TIMES: Final = 8
"""As long as the summary: the beginning of its source that is counted first."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    text: str | None
    """None: no summary, so the messages are dropped without one."""
    notes: tuple[Note, ...]


def write_summary(summariser: Summariser, source: Source, room: Room, gate: Gate) -> Generator[Request, Any, Outcome]:
    """Ask for a summary, judge it, and fall back. An error of the summariser never becomes part of the conversation."""
    if not source.text or room.limit < 1:
        return Outcome(None, (no_summary("nothing to summarise", "没有可概括的内容"),))
    notes: list[Note] = []
    extractive = summariser if isinstance(summariser, Extractive) else _EXTRACTIVE
    text = extract = extractive.summarise(source, room)
    if summariser != extractive:
        try:
            written = summariser.summarise(source, room)
            text = (yield from written) if isinstance(written, Generator) else written
            refusals = gate.refusals(text, source, room, extract)
        except Exception as error:  # noqa: BLE001 - a caller's own function: whatever it raises, the extract remains
            notes.append(_failed(summariser, error))
            text = extract
        else:
            notes += [_refused(summariser, refusal) for refusal in refusals]
            text = extract if refusals else text
    text = neutralised(text).strip()
    if not text or room.size(text) > room.limit or not _is_shorter(text, source, room):
        return Outcome(None, (*notes, no_summary("none is shorter than the messages", "没有比原消息更短的摘要")))
    return Outcome(text, tuple(notes))


def _is_shorter(text: str, source: Source, room: Room) -> bool:
    """Whether the summary has fewer tokens. The beginning of a long source shows it: counting all takes its time."""
    size, whole = room.size(text), source.text
    beginning = whole[: _TIMES * len(text)]
    return (beginning != whole and room.size(beginning) > 2 * size) or size < room.size(whole)


def _failed(summariser: Summariser, error: Exception) -> Note:
    why = why_failed(error)
    return Note(
        NoteKind.SUMMARISER_FAILED,
        Sentence(
            f"The summariser {summariser.name} failed ({why.en}); the extractive summary stands in its place.",
            f"摘要器 {summariser.name} 出错（{why.zh}），改用抽取式摘要。",
        ),
    )


def _refused(summariser: Summariser, refusal: Refusal) -> Note:
    return Note(
        NoteKind.SUMMARY_REFUSED,
        Sentence(
            f"The summary of {summariser.name} is refused: it {refusal.sentence.en}.",
            f"{summariser.name} 的摘要未通过：{refusal.sentence.zh}。",
        ),
    )


def no_summary(en: str, zh: str) -> Note:
    """The note that messages left without a summary, and why."""
    return Note(NoteKind.NO_SUMMARY, Sentence(f"No summary was put in: {en}.", f"未加入摘要：{zh}。"))

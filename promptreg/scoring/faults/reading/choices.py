"""Answers with several choices (`n` above 1): each is looked at, the first one as the call itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.answer.model import Answer
from promptreg.answer.reader import answer_from_message
from promptreg.deployment.assembly import Assembly
from promptreg.scoring.faults.reading.frames import Frames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.frames import Frame

OF_EACH_CHOICE: Final = frozenset(
    f"F{number:02}" for number in (*range(1, 8), 9, 11, *range(15, 18), 19, 23, 24, 28, 31, 33, 43, 51)
)
"""The rules, by the kind that they name, that look at one answer and at nothing else of a call."""

OF_WHOLE_STREAM: Final = frozenset({"F28"})
"""Those of them that look at every choice of a stream by themselves."""

_FIRST: Final = "choices[0]."


class OtherChoice(NamedTuple):
    """A choice that is not the first one, as a call of its own."""

    place: int
    """Of a body its place among the choices, of a stream its index; from 0."""
    call: Observation

    def found(self, finding: Finding) -> Finding:
        """A finding in it, with the choice before its place."""
        where = finding.where
        if where.startswith("frames["):
            return replace(finding, where=f"{where} of choices[{self.place}]")
        return replace(finding, where=f"choices[{self.place}].{where.removeprefix(_FIRST)}")


def uncounted(call: Observation) -> Observation:
    """The call without its counts of tokens, which are those of all its choices together."""
    return replace(call, usage=None, usage_json=None)


def other_choices(call: Observation) -> Iterator[OtherChoice]:
    """The choices of a call beside the one that is read; nearly always none.

    None of them has the counts of the call.
    """
    if not call.succeeded:
        return
    if call.streamed:
        yield from _streamed(call)
        return
    choices = call.document.get("choices") if isinstance(call.document, dict) else None
    if not isinstance(choices, list) or len(choices) < 2:
        return
    for place, choice in enumerate(choices):
        if choice is call.choice or not isinstance(choice, dict):
            continue
        message = choice.get("message", choice.get("delta"))
        read = message if isinstance(message, dict) else None
        other = _alone(call, choice, read, choice.get("finish_reason"))
        yield OtherChoice(place, replace(other, document={"choices": [choice]}))


def _streamed(call: Observation) -> Iterator[OtherChoice]:
    # A plain frame is one of the first choice.
    places = {_index(choice) for _, frame in call.notable_frames for choice in frame.choices}
    for place in sorted(places - {0}):
        frames = Frames(_frame_of(frame, place) for frame in call.frames)
        assembly = Assembly(set())
        for frame in frames:
            assembly.add_choices(list(frame.choices), 0.0)
        other = _alone(call, None, assembly.message(), assembly.finish_reason)
        yield OtherChoice(place, replace(other, frames=frames))


def _frame_of(frame: Frame, place: int) -> Frame:
    """The frame as it would be if the stream had only this choice."""
    value = frame.value
    if not isinstance(value, dict):
        return frame
    own = [{**choice, "index": 0} for choice in frame.choices if _index(choice) == place]
    delta = own[0].get("delta") if own else None
    return frame._replace(plain=False, read={**value, "choices": own}, delta=delta if isinstance(delta, dict) else {})


def _index(choice: JsonObject) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _alone(call: Observation, choice: JsonObject | None, message: JsonObject | None, finish: Json) -> Observation:
    answer = Answer() if message is None else answer_from_message(message, finish)
    return replace(uncounted(call), choice=choice, message=message, answer=answer)

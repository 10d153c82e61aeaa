"""What is read off answers besides distances: their language, whether they refuse, and which are the same text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from promptreg.scoring.channels.tool_calls import tool_calls_text
from promptreg.scoring.checks.language import language_of_answer
from promptreg.scoring.checks.reading.refusal_text import refuses
from promptreg.text.normalise import Normalisation, normalisations_between

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from promptreg.answer.model import Answer


@dataclass(frozen=True, slots=True)
class AnswerTraits:
    """One answer's traits. Answers that are the same after normalisation have equal traits."""

    text: str
    """Identity: normalised content and canonical tool calls. Reasoning is no part of it."""
    length: int
    """Code points of the normalised content."""
    finish_reason: str | None
    tool_calls: str
    """Canonical text of the tool calls, "" without any."""
    language: str | None
    """ISO 639-1 code, None where it cannot be told."""
    refusal: bool

    @property
    def content(self) -> str:
        """The normalised content without the tool calls."""
        return self.text.partition("\0")[0]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Which answers of a case are the same. Two samples are equal when their numbers are."""

    exact: tuple[int, ...]
    """One number a sample: equal where contents and tool calls are equal as received."""
    normalised: tuple[int, ...]
    """One number a sample: equal where they are equal after normalisation."""
    normalisations: tuple[Normalisation, ...]
    """What it takes to make target answers equal to source answers, where they are not equal as received."""


def traits_of(answers: Sequence[Answer]) -> tuple[AnswerTraits, ...]:
    """Traits of the answers of one case, contents normalised; each distinct content is looked at once."""
    known: dict[str, tuple[str | None, bool]] = {}
    traits = []
    for answer in answers:
        content = answer.content
        if content not in known:
            known[content] = (language_of_answer(answer), refuses(content))
        language, refusal = known[content]
        calls = tool_calls_text(answer)
        identity = f"{content}\0{calls}" if calls else content
        traits.append(AnswerTraits(identity, len(content), answer.finish_reason, calls, language, refusal))
    return tuple(traits)


def likeness_of(received: Sequence[Answer], normalised: Sequence[Answer], n: int) -> Likeness:
    """Compare the answers of one case with each other.

    Args:
        received: As received, source passes first.
        normalised: The same with normalised contents.
        n: Source passes.
    """
    calls = [tool_calls_text(answer) for answer in received]
    exact = _numbered([(answer.content, call) for answer, call in zip(received, calls, strict=True)])
    normal = _numbered([(answer.content, call) for answer, call in zip(normalised, calls, strict=True)])
    pairs = {
        (received[i].content, received[j].content)
        for i in range(n)
        for j in range(n, len(received))
        if normal[i] == normal[j] and exact[i] != exact[j]
    }
    found = {step for a, b in pairs for step in normalisations_between(a, b) or ()}
    return Likeness(exact, normal, tuple(step for step in Normalisation if step in found))


_Key = TypeVar("_Key", bound="Hashable")


def _numbered(keys: Sequence[_Key]) -> tuple[int, ...]:
    numbers: dict[_Key, int] = {}
    return tuple(numbers.setdefault(key, len(numbers)) for key in keys)

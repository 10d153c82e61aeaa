"""What the source recorded for a request: only as much of it as is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from promptreg.scoring.faults.reading.strict import read_strictly
from promptreg.scoring.faults.reading.views import text_view

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.scoring.faults.reading.views import Text


@dataclass(frozen=True)
class Golden:
    """The recorded calls of one request, summed up. A part that is None or empty is not known, and rules nothing."""

    contents: tuple[str, ...] = ()
    """The contents of the recorded answers."""
    reasonings: tuple[str, ...] | None = None
    answers: tuple[Answer, ...] = ()
    """Whole recorded answers, where they are known."""
    message_keys: frozenset[str] | None = None
    """Keys of the recorded messages, whatever their values."""
    reasoning_fields: frozenset[str] | None = None
    """Reasoning fields that held text in at least one answer."""
    reasoning_chars: tuple[int, int] | None = None
    """Least and greatest length of the reasoning, in characters."""
    finish_reasons: frozenset[str] | None = None
    statuses: frozenset[int] = frozenset()
    prompt_tokens: frozenset[int] = frozenset()
    own_name: bool | None = None
    """Whether every recorded answer named the very model that was asked for; None where names are not known."""
    error_bodies: tuple[str, ...] = ()
    """Bodies of recorded calls that were refused."""

    @cached_property
    def all_json(self) -> bool:
        """Whether there are contents, and each is one JSON object or list."""
        return bool(self.contents) and all(map(_is_json, self.contents))

    @cached_property
    def content_texts(self) -> tuple[Text, ...]:
        """The contents, with what is worked out of them kept."""
        return tuple(map(text_view, self.contents))

    @cached_property
    def reasoning_texts(self) -> tuple[Text, ...]:
        """The reasonings, with what is worked out of them kept."""
        return tuple(map(text_view, self.reasonings or ()))


def _is_json(content: str) -> bool:
    if content.lstrip()[:1] not in ("{", "["):
        return False
    try:
        read_strictly(content.strip())
    except ValueError:
        return False
    return True

"""What a project never keeps, from its configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.text.redaction import Redaction

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.config import Config


def redaction_of(config: Config) -> Redaction:
    """What `[redact]` takes out of everything that is kept."""
    return Redaction.of(config.redact.kinds, config.redact.patterns, config.file)


def answer_without_private(answer: Answer, redaction: Redaction) -> Answer:
    """An answer that was not obtained by a client, as a client would have kept it."""
    if not redaction.patterns:
        return answer
    calls = tuple(
        replace(call, name=redaction.text(call.name), arguments=redaction.text(call.arguments))
        for call in answer.tool_calls
    )
    return replace(
        answer,
        content=redaction.text(answer.content),
        reasoning=redaction.text(answer.reasoning),
        tool_calls=calls,
        sent=None if answer.sent is None else redaction.text(answer.sent),
    )

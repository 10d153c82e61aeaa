"""Recorded calls of one request summed up, for the rules that hold the target's calls against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.scoring.faults.reading.golden import Golden

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from promptreg.scoring.faults.model import Observation


def golden_of(observations: Iterable[Observation]) -> Golden:
    """The summary of recorded calls."""
    calls: Sequence[Observation] = tuple(observations)
    answered = [call for call in calls if call.succeeded and call.answered]
    lengths = [len(call.answer.reasoning) for call in answered]
    return Golden(
        contents=tuple(call.answer.content for call in answered),
        reasonings=tuple(call.answer.reasoning for call in answered) if answered else None,
        answers=tuple(call.answer for call in answered),
        message_keys=frozenset().union(*(call.message_keys for call in answered)) if answered else None,
        reasoning_fields=frozenset().union(*(call.reasoning_fields for call in answered)) if answered else None,
        reasoning_chars=(min(lengths), max(lengths)) if lengths else None,
        finish_reasons=frozenset(call.finish_reason for call in answered if call.finish_reason is not None)
        if answered
        else None,
        statuses=frozenset(call.status for call in calls if call.status is not None),
        prompt_tokens=frozenset(
            call.usage.prompt_tokens
            for call in answered
            if call.usage is not None and call.usage.prompt_tokens is not None
        ),
        own_name=_own_name(answered),
        error_bodies=tuple(call.body for call in calls if not call.succeeded and call.status is not None),
    )


def _own_name(calls: Sequence[Observation]) -> bool | None:
    """Whether all calls were answered under the name that they asked for."""
    names = [(call.request.get("model"), call.model_name) for call in calls]
    known = [(asked, told) for asked, told in names if isinstance(asked, str) and told is not None]
    return all(asked == told for asked, told in known) if known else None

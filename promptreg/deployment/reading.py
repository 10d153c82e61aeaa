"""What one attempt means: an answer, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from promptreg.answer.model import Answer, Usage


class ReadProblemKind(StrEnum):
    """Why an attempt holds no answer."""

    TRANSPORT = "transport"
    HTTP_STATUS = "http_status"
    NOT_JSON = "not_json"
    """A 2xx whose body is not JSON and not an event stream: an HTML page of a gateway, bare text, nothing."""
    NO_CHOICES = "no_choices"
    """JSON, but not a chat completion."""
    ERROR_IN_STREAM = "error_in_stream"
    """An error object or bare text inside a stream that began well."""
    STREAM_CUT = "stream_cut"
    """The stream ended with neither a finish reason nor [DONE]."""


@dataclass(frozen=True, slots=True)
class ReadProblem:
    """Kind and one sentence; `status` where there was one."""

    kind: ReadProblemKind
    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """An exchange, read. Exactly one of `answer` and `problem` is set."""

    answer: Answer | None
    problem: ReadProblem | None = None
    usage: Usage | None = None
    model: str | None = None
    """Model name as the server echoes it."""
    system_fingerprint: str | None = None
    first_token_s: float | None = None
    """Seconds from sending to the first chunk with content, reasoning or a tool call; None without a stream."""
    notes: tuple[str, ...] = ()
    """Sorted names of oddities that did not prevent reading, such as "done_missing" or "keep_alive"."""

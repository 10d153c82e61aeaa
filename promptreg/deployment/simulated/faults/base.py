"""What a plantable fault is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from promptreg.deployment.simulated.reply import Asked, Reply, Response

ChangeReply = Callable[[Reply, Asked], Reply]
"""Changes what is answered, before it takes the shape of a server kind."""

ChangeResponse = Callable[[Response, Asked], Response]
"""Changes how the response goes over the wire; its parts are one body, or one stream frame each."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to go wrong. Exactly the steps that are given are changed."""

    name: str
    about: str
    """One sentence: what the client sees."""
    kinds: tuple[str, ...] = ()
    """The F-kinds of the fault taxonomy that it shows."""
    reply: ChangeReply | None = None
    response: ChangeResponse | None = None
    only: Literal["", "bodies", "streams"] = ""
    """The form of response that it can be planted in, where it cannot be planted in both."""
    answers: bool = True
    """Whether the client gets an answer. Without one, the request's turn is not used up: a retry gets it."""

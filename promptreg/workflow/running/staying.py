"""Whether a call that got no answer can ever get one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.deployment.exchange import FailureKind
from promptreg.deployment.overflow import read_overflow
from promptreg.deployment.reading import ReadProblemKind

if TYPE_CHECKING:
    from promptreg.deployment.exchange import Exchange
    from promptreg.deployment.reading import ReadProblem

_ASKED_AGAIN: Final = frozenset({401, 403, 404, 408, 429})
"""Client errors that say something of a key, an address or a moment, and nothing of the request."""

MINDIE_ANY_FAULT: Final = 424
"""MindIE's status for a prompt that is too long, and for a fault of its engine as well."""


def stays(last: Exchange, problem: ReadProblem) -> bool:
    """Whether a call that failed so would fail again: its conversation does not fit, or the server refuses the request.

    Args:
        last: attempt of the call.
        problem: of this attempt.
    """
    if last.failure is not None:
        return last.failure.kind is FailureKind.NOT_FITTED
    status = problem.status if problem.kind is ReadProblemKind.HTTP_STATUS else None
    if status == MINDIE_ANY_FAULT:
        return read_overflow(status, last.body) is not None
    return status is not None and 400 <= status < 500 and status not in _ASKED_AGAIN

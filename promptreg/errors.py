"""Every error that a user can cause, and the exit code it ends with.

    PromptregError ............ shown as one clear message, never with a traceback
    ├── UsageError ........... 2  the command line asks for something impossible
    ├── ProjectError ......... 2  a file of the project is wrong; lists every problem of the file
    │   ├── ConfigError           promptreg.toml or [tool.promptreg]
    │   ├── SuiteError            a suite, or a case file it names
    │   ├── BaselineError         a baseline under baselines/, or the decisions beside it
    │   └── DecisionsError        a decisions file of a reviewer
    ├── ContextError ......... 2  a conversation cannot be shortened as asked
    │   ├── CannotFit             what must stay is larger than the budget
    │   └── OpenToolCallsError    it ends with tool calls whose results are not there yet
    ├── EncodingError ........ 2  a model's prompt format has no place for these messages
    ├── EndpointError ........ 4  a deployment cannot be used
    ├── ClusterError ......... 4  a cluster that was asked for cannot be used
    ├── StoreError ........... 4  .promptreg/store.db cannot be read or written
    └── OutputError .......... 4  a report or baseline cannot be written

Anything else that reaches the top is a bug of promptreg and exits with 4 as well. Ctrl-C exits with 130.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


class ExitCode(IntEnum):
    """Exit codes of every command (architecture: the same everywhere)."""

    EQUIVALENT = 0
    DRIFT = 1
    USAGE = 2
    INCONCLUSIVE = 3
    FAILURE = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the user's files something stands. `line` counts from 1; None when the whole file is meant."""

    path: str
    line: int | None = None

    def __str__(self) -> str:
        return self.path if self.line is None else f"{self.path}:{self.line}"


LONGEST_PROBLEM: Final = 4000
"""Characters of one problem. Names in it are the user's own, and one may be as long as a file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: a sentence that says what, what is allowed and what to do, and where."""

    message: str
    """Of a longer one than `LONGEST_PROBLEM` the middle is left out."""
    place: Place | None = None

    def __post_init__(self) -> None:
        more = len(self.message) - LONGEST_PROBLEM
        if more > 0:
            half = LONGEST_PROBLEM // 2
            cut = f"{self.message[:half]} […{more} characters…] {self.message[-half:]}"
            object.__setattr__(self, "message", cut)

    def __str__(self) -> str:
        return self.message if self.place is None else f"{self.place}: {self.message}"


class PromptregError(Exception):
    """An error that the user can act on: its text is the whole message."""

    exit_code: ExitCode = ExitCode.FAILURE


class UsageError(PromptregError):
    """The command line asks for something that cannot be done."""

    exit_code = ExitCode.USAGE


class ProjectError(PromptregError):
    """A file of the project is wrong. Carries every problem found, not just the first."""

    exit_code = ExitCode.USAGE

    def __init__(self, problems: Sequence[Problem] | Problem | str) -> None:
        if isinstance(problems, str):
            problems = Problem(problems)
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ConfigError(ProjectError):
    """The configuration file is wrong, or names something that does not exist."""


class SuiteError(ProjectError):
    """A suite or a case file is wrong."""


class BaselineError(ProjectError):
    """A baseline file is damaged or does not belong to the suite."""


class DecisionsError(ProjectError):
    """A decisions file is damaged, or is none."""


class EncodingError(PromptregError):
    """Messages that a model's prompt format has no place for: its server would refuse them, or render nonsense."""

    exit_code = ExitCode.USAGE


class ContextError(PromptregError):
    """A conversation cannot be shortened as asked. The conversation is as it was."""

    exit_code = ExitCode.USAGE


class CannotFit(ContextError):  # noqa: N818 - a result that callers expect and handle, named like the question
    """What must stay of a conversation is larger than the budget: nothing that is sent would be right.

    All sizes in tokens of the counter that `counter` names.
    """

    def __init__(
        self,
        *,
        fixed: int,
        newest: int,
        reserve: int,
        budget: int,
        counter: str,
        parts: Sequence[tuple[str, int]] = (),
    ) -> None:
        self.fixed = fixed
        """System messages, pinned messages, tools, and what the format puts before them."""
        self.newest = newest
        """The newest user message."""
        self.reserve = reserve
        """What the window keeps free for the answer, and as a safety margin."""
        self.budget = budget
        """What the prompt may have."""
        self.counter = counter
        self.parts: tuple[tuple[str, int], ...] = tuple(parts)
        """The parts of `fixed` with their sizes, largest first."""
        named = "".join(f"; {name}: {size}" for name, size in self.parts[:5])
        more = f"; and {len(self.parts) - 5} more" if len(self.parts) > 5 else ""
        super().__init__(
            f"The conversation cannot fit: system messages, pinned messages, tools and the preamble of the format take "
            f"{fixed} token{'' if fixed == 1 else 's'} and the newest user message {newest}, but the prompt may have "
            f"{budget} (the window less {reserve} for the answer and as a margin), counted by {counter}{named}{more}. "
            "Use a larger window or a smaller reserve, or shorten those parts."
        )


class OpenToolCallsError(ContextError):
    """The conversation ends while tool calls wait for their results, so no cut of it is valid."""


class EndpointError(PromptregError):
    """A deployment cannot be reached, or cannot be used."""


class RefusedError(EndpointError):
    """The deployment refuses every call with a status that no further call will change."""

    run_id: str | None = None
    """The run that holds the refused calls, where they were stored."""


class ClusterError(PromptregError):
    """A cluster that calls and scoring were to be spread over cannot be reached, or fails."""


class StoreError(PromptregError):
    """The store cannot be opened, read or written."""


class OutputError(PromptregError):
    """A file that promptreg was asked to write cannot be written."""

"""Suites and cases, as every later step sees them: templates rendered, defaults merged, every place known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from promptreg.canonical import Json, JsonObject, sha256_of

if TYPE_CHECKING:
    from promptreg.errors import Place


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check as the suite names it; scoring's registry turns it into a function."""

    name: str
    argument: Json
    place: Place

    @property
    def label(self) -> str:
        """How reports name it: the name, and the argument where it is a short plain value."""
        if self.argument is None or self.argument is True:
            return self.name
        if isinstance(self.argument, (str, int, float)) and len(str(self.argument)) <= 60:
            return f"{self.name}: {self.argument}"
        return self.name


@dataclass(frozen=True)
class Request:
    """What is asked of a deployment, apart from what the deployment itself adds (model name, its own defaults)."""

    messages: tuple[JsonObject, ...]
    params: JsonObject
    """Request parameters of the suite and the case (temperature, max_tokens, tools, …), case over suite."""

    @cached_property
    def sha256(self) -> str:
        """Identity of the request. A case whose hash moved since recording is new and is never compared."""
        return sha256_of({"messages": list(self.messages), "params": self.params})


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with its checks. `case_id` is unique within the suite and stable over time."""

    suite: str
    case_id: str
    request: Request
    place: Place
    checks: tuple[CheckSpec, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded suite: its name, the file it came from, its cases in file order."""

    name: str
    path: str
    cases: tuple[Case, ...]

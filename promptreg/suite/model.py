"""Suites and cases, as every later step sees them: templates rendered, defaults merged, every place known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.canonical import Json, JsonObject, canonical_json, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.errors import Place

NoiseSource: TypeAlias = Literal["none", "null-perturbation"]
"""Where a case's noise comes from, beside the deployment itself."""

NULL_PERTURBATION: Final = "null-perturbation"
"""Each pass sends the last user message with a change that means nothing, or with none; see `replay.perturb`."""

_LONGEST_LABEL: Final = 60


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """A check as the suite names it; scoring's registry turns it into a function."""

    name: str
    argument: Json
    place: Place

    @property
    def label(self) -> str:
        """How reports name it: the name with its argument; of a long one, its beginning."""
        if self.argument is None or self.argument is True:
            return self.name
        if isinstance(self.argument, (str, int, float)):
            return f"{self.name}: {self.argument}" if len(str(self.argument)) <= _LONGEST_LABEL else self.name
        if self.name.removeprefix("not_") == "json_schema":
            return self.name
        # Several checks of one name are told apart by their fields.
        written = canonical_json(self.argument)
        return f"{self.name}: {written if len(written) <= _LONGEST_LABEL else written[: _LONGEST_LABEL - 1] + '…'}"


@dataclass(frozen=True, slots=True)
class CaseContext:
    """How a case's conversation is shortened for the window of a deployment, as the suite says it."""

    strategy: str
    """As text, such as `prune-results:keep=1+sliding-window`; whether there is such a one is not known here."""
    place: Place
    """Where it is written: in the case, or under `defaults`."""
    window: int | None = None
    """Tokens, instead of the deployment's window; None for that."""
    reserve: int | None = None
    """Tokens kept free for the answer; None for what the request says, see `context_sides`."""
    pinned: tuple[int, ...] = ()
    """Places of messages that stay word for word, from 0; -1 is the last."""


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
    noise: NoiseSource = "none"
    """Not part of the request: its hash is that of the unchanged prompt."""
    infer: bool = True
    """Whether the target is held to what all recorded answers share."""
    context: CaseContext | None = None
    """Not part of the request, which is the whole conversation; None where that is sent as it is written."""

    @property
    def id(self) -> str:
        """`case_id`, under the name that it has in a suite."""
        return self.case_id


def last_user_text(messages: Sequence[JsonObject]) -> str | None:
    """The text that ends the last user message; None when there is no user message, or no text in it."""
    content = next((message.get("content") for message in reversed(messages) if message.get("role") == "user"), None)
    if isinstance(content, str):
        return content or None
    parts = content if isinstance(content, (list, tuple)) else ()
    texts = [text for part in parts if isinstance(part, dict) and isinstance(text := part.get("text"), str)]
    return (texts[-1] or None) if texts else None


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded suite: its name, the file it came from, its cases in file order."""

    name: str
    path: str
    cases: tuple[Case, ...]

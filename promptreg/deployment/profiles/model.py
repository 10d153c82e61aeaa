"""What a profile holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ErrorShape = Literal["nested", "flat", "texts"]
"""How a server writes errors: `{"error": {"message"}}`, `{"object": "error", "message"}`, `{"error", "error_type"}`."""

OverLength = Literal["refuse", "keep-head", "keep-tail"]
"""What a server does with a prompt that is too long: an error, or a silent cut that keeps its beginning or its end."""

MaxTokens = Literal["refuse", "clamp", "unknown"]
"""What a server does when prompt and `max_tokens` do not fit together: an error, or a shorter answer."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What a kind of server does at the end of its window. All numbers in tokens."""

    window: int | None = None
    """Its own default, where it has one."""
    longest_prompt: int | None = None
    """A limit of its own for prompts, beside the window."""
    unusable: int = 0
    """So many tokens of the window can never be the prompt's."""
    over_length: OverLength = "refuse"
    over_length_status: int = 400
    max_tokens: MaxTokens = "unknown"
    cache_unit: int | None = None
    """Prefixes are reused in multiples of so many tokens; None where it is not known."""
    tokenize: Literal["messages", "text"] | None = None
    """What its token endpoint takes; None where it has none."""
    tokenize_effort: bool = False
    """Whether that endpoint takes `reasoning_effort`."""


@dataclass(frozen=True, slots=True)
class RetryRule:
    """A status that is worth another try only when the body says the right thing."""

    status: int
    body_contains: tuple[str, ...]
    """At least one of these stands in the body, in any case of letters."""
    unless_contains: tuple[str, ...] = ()
    """None of these does."""

    def holds(self, status: int, body: str) -> bool:
        """Whether the rule says that another try may help; `body` in lower case."""
        return (
            status == self.status
            and any(words in body for words in self.body_contains)
            and not any(words in body for words in self.unless_contains)
        )


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of server. Paths are relative to the base URL, or to the server's root where they begin with a slash."""

    kind: str
    title: str
    """Its name for people."""
    models_path: str = "models"
    version_path: str | None = None
    version_key: str = "version"
    """Field of the version document that holds the version."""
    window_key: str | None = None
    """Field of the version document that holds the window in tokens, where the model list does not tell it."""
    tokenize_path: str | None = None
    error_shape: ErrorShape = "nested"
    overflow_statuses: tuple[int, ...] = (400,)
    overflow_contains: tuple[str, ...] = ()
    """Words of the message when a request is longer than the window, lower case; one of them is enough."""
    context: ContextRules = ContextRules()
    retry: tuple[RetryRule, ...] = ()
    keep_alive: bool = True
    """False for servers that announce keep-alive and close all the same, so that a reused connection fails."""

    def is_overflow(self, status: int, body: str) -> bool:
        """Whether an error says that the request does not fit into the window."""
        lowered = body.lower()
        return status in self.overflow_statuses and any(words in lowered for words in self.overflow_contains)

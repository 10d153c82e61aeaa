"""What a strategy that can be named is, and what it is given when it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promptreg.context.summarise.extractive import Extractive

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.context.retrieve import Embed
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.summarise.source import Summariser
    from promptreg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Given:
    """What strategies use that has no place in a text."""

    summariser: Summariser = Extractive()  # noqa: RUF009 - a frozen value
    embed: Embed | None = None
    function: Callable[[str], Callable[..., Any]] | None = None
    """Imports a function of the user's own, `module:callable`; raises `UsageError`."""
    own_only: bool = False
    """Whether strategies of other libraries and functions of the user's own are not taken."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One strategy that can be named."""

    options: Mapping[str, type]
    """Their names and types; each has a default."""
    build: Callable[[Given, Mapping[str, Any]], Strategy]
    sentence: Sentence
    """What it does, for help."""

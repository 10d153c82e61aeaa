"""What is known of a model by its name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.context.encoders.model import Effort
    from promptreg.context.lint import Format


@dataclass(frozen=True, slots=True)
class Model:
    """One model, or a family that shares a prompt format."""

    name: str
    """Its name for people."""
    words: tuple[str, ...]
    """All of them stand in the names that servers give the model, lower case."""
    format: Format
    window: int
    """Tokens that prompt and answer may have, of the model itself; servers are often started with less."""
    unless: tuple[str, ...] = ()
    """None of them does."""
    thinking: bool = False
    """Whether it thinks when a request does not say."""
    effort: Effort = "low"
    """How hard, when a request does not say."""
    cache_unit: Mapping[str, int] = field(default_factory=dict)
    """By kind of server, where it differs from the server's own; 0 for a unit that is not known."""

    def is_named(self, name: str) -> bool:
        """Whether a server's model name means this model."""
        plain = name.lower().replace("_", "-")
        return all(word in plain for word in self.words) and not any(word in plain for word in self.unless)


def model_named(name: str) -> Model | None:
    """The model that a name means, such as `deepseek-ai/DeepSeek-V3.2-Exp`; None for one that is not known."""
    return next((model for model in _models() if model.is_named(name)), None)


@cache
def _models() -> tuple[Model, ...]:
    text = resources.files(__package__ or "").joinpath("models.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["model"]
    return tuple(Model(**{**row, "words": tuple(row["words"]), "unless": tuple(row.get("unless", ()))}) for row in rows)

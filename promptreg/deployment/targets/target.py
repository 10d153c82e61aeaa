"""The end of a deployment's window: its server's kind, its model, and what the configuration overrides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.targets.models import Model, model_named

if TYPE_CHECKING:
    from promptreg.config import Deployment
    from promptreg.deployment.profiles.model import MaxTokens, OverLength


@dataclass(frozen=True, slots=True)
class Target:
    """The window of one deployment and the rules at its end.

    Where several sources tell a value, the first of these is believed:

    1. the configuration (`window`, and the table `context` of the deployment)
    2. the server, where it told its window (`Fingerprint.max_model_len`)
    3. the model on this kind of server (only the cache's unit)
    4. the kind of server
    5. the model
    """

    server: str
    model: Model | None
    window: int | None
    """Tokens for prompt and answer together; None when nobody tells it."""
    longest_prompt: int | None
    """Tokens of the longest prompt that is taken, from 0; None with `window`."""
    over_length: OverLength
    over_length_status: int
    max_tokens: MaxTokens
    cache_unit: int | None
    """Prefixes are reused in multiples of so many tokens; None when it is not known."""
    tokenize_path: str | None


def target_of(deployment: Deployment, *, told_window: int | None = None) -> Target:
    """What is known of a deployment's window.

    Args:
        deployment: from the configuration.
        told_window: what the server itself told (`Fingerprint.max_model_len`).
    """
    profile, model, own = load_profile(deployment.server), model_named(deployment.model), deployment.context
    rules = profile.context
    window = deployment.window or told_window or rules.window or (None if model is None else model.window)
    unusable = rules.unusable if own.unusable is None else own.unusable
    longest = None if window is None else max(0, window - unusable)
    limit = own.longest_prompt
    if limit is None and window is not None and window == rules.window:
        limit = rules.longest_prompt  # the server's own default goes with its own default window
    if longest is not None and limit is not None:
        longest = min(longest, limit)
    unit = own.cache_unit
    if unit is None and model is not None:
        unit = model.cache_unit.get(deployment.server)
    if unit is None:
        unit = rules.cache_unit
    return Target(
        server=deployment.server,
        model=model,
        window=window,
        longest_prompt=longest,
        over_length=own.over_length or rules.over_length,
        over_length_status=own.over_length_status or rules.over_length_status,
        max_tokens=own.max_tokens or rules.max_tokens,
        cache_unit=unit or None,
        tokenize_path=own.tokenize_path or profile.tokenize_path,
    )

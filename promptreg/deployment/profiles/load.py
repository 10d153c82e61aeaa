"""Loads profiles from the data files beside this module."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from promptreg.deployment.profiles.model import ContextRules, Profile, RetryRule


@cache
def load_profile(kind: str) -> Profile:
    """The profile of a server kind (`Deployment.server`).

    Raises:
        KeyError: for a kind without a profile; the configuration lets none through.
    """
    file = resources.files(__package__ or "").joinpath(f"{kind}.toml")
    if not file.is_file():
        raise KeyError(kind)
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    rules = tuple(
        RetryRule(
            status=rule["status"],
            body_contains=_lowered(rule["body_contains"]),
            unless_contains=_lowered(rule.get("unless_contains", [])),
        )
        for rule in data.pop("retry", [])
    )
    data["overflow_contains"] = _lowered(data.get("overflow_contains", []))
    data["overflow_statuses"] = tuple(data.get("overflow_statuses", [400]))
    context = ContextRules(**data.pop("context", {}))
    return Profile(kind=kind, retry=rules, context=context, **data)


def _lowered(words: list[str]) -> tuple[str, ...]:
    return tuple(word.lower() for word in words)

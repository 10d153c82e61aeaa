"""Token counts of a response, in the spellings that servers use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.answer.model import Usage

if TYPE_CHECKING:
    from promptreg.canonical import Json


def usage_from_json(usage: Json) -> Usage | None:
    """Reads a `usage` object. Counts that are missing or no whole numbers are None; no object gives None.

    Reasoning tokens stand in `completion_tokens_details` or, with SGLang, at the top; cached tokens in
    `prompt_tokens_details` or, with the DeepSeek API, as `prompt_cache_hit_tokens`.
    """
    if not isinstance(usage, dict):
        return None
    reasoning = _count(usage.get("completion_tokens_details"), "reasoning_tokens")
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    return Usage(
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        total_tokens=_count(usage, "total_tokens"),
        reasoning_tokens=_count(usage, "reasoning_tokens") if reasoning is None else reasoning,
        cached_tokens=_count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
    )


def _count(counts: Json, name: str) -> int | None:
    if not isinstance(counts, dict):
        return None
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None

"""Token counts in every server's spelling."""

from __future__ import annotations

from typing import Any

import pytest

from promptreg.answer.model import Usage
from promptreg.answer.usage import usage_from_json


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        (None, None),
        ("12", None),
        ({}, Usage()),
        (
            {"prompt_tokens": 12, "completion_tokens": 18, "total_tokens": 30, "prompt_tokens_details": None},
            Usage(12, 18, 30),
        ),
        ({"reasoning_tokens": 9}, Usage(reasoning_tokens=9)),
        (
            {"completion_tokens_details": {"reasoning_tokens": 9}, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(reasoning_tokens=9, cached_tokens=4),
        ),
        ({"prompt_cache_hit_tokens": 0}, Usage(cached_tokens=0)),
        ({"prompt_tokens": "12", "completion_tokens": True}, Usage()),
    ],
)
def test_counts_are_read(sent: Any, usage: Usage | None) -> None:
    assert usage_from_json(sent) == usage

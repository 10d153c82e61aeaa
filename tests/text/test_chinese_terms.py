"""The Chinese texts use one word for one thing: the words of the guide's glossary."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]

TEXTS: Final = (
    *sorted(path for suffix in ("py", "json", "toml", "js") for path in (ROOT / "promptreg").rglob(f"*.{suffix}")),
    ROOT / "README.zh-CN.md",
    ROOT / "docs" / "guide.zh-CN.md",
    ROOT / "docs" / "faults.md",
)
READ_BY_RULES: Final = (
    "text/facts/",
    "text/wishes.py",
    "scoring/faults/reading/asked.py",
    "scoring/faults/reading/markup.py",
)
"""Patterns that look for words of answers, whatever these call things."""
MODELS_WORDS: Final = (
    "scoring/checks/reading/refusal_text.py",
    "context/trial/corpus_texts.py",
    "deployment/simulated/",
    "demo/",
)
"""What a model, or one of its users, says."""


def _files_with(word: str) -> list[str]:
    names = {path.relative_to(ROOT).as_posix(): path for path in TEXTS}
    return [
        name
        for name, path in names.items()
        if not any(part in name for part in READ_BY_RULES + MODELS_WORDS) and word in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize(
    ("word", "instead"),
    [
        ("套件", "测试集"),
        ("答案", "回答"),
        ("词元", "token"),
        ("目标端", "目标部署"),
        ("源端", "源部署"),
        ("补采缺失的样本", "补采缺失的回答"),
        ("两侧", "两个部署"),
    ],
)
def test_a_thing_has_one_word(word: str, instead: str) -> None:
    assert _files_with(word) == [], instead


def test_the_ends_of_a_conversation_are_not_deployments() -> None:
    # middle-out keeps both ends of a conversation (两端); nothing else has ends.
    assert _files_with("两端") == ["promptreg/context/strategies/registry.py"]


def test_a_pass_is_never_called_as_a_turn_is() -> None:
    # 轮 is a turn of a conversation, so it has no place where no conversation is shortened.
    about_turns = ("context", "window", "recall", "docs/guide.zh-CN.md")
    assert [name for name in _files_with("轮") if not any(part in name for part in about_turns)] == []

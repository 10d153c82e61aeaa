"""Numbers of a case in words, for readers who do not think in p-values."""

from __future__ import annotations

import math
from typing import Final

from promptreg.text.sentence import Sentence

_ALWAYS: Final = 0.95


def p_value_in_words(p_value: float) -> Sentence | None:
    """What a p-value says, as a frequency among ten, a hundred, a thousand or ten thousand. None for no number."""
    if math.isnan(p_value):
        return None
    if p_value >= _ALWAYS:
        return Sentence(
            f"In what counts for this case, chance alone nearly always gives as much (p = {p_value:.2f}).",
            f"就这个用例所计的内容而言，仅凭偶然也几乎总会有这么大的差异（p = {p_value:.2f}）。",
        )
    of = next((base for base in (10, 100, 1000) if p_value * base >= 0.95), 10_000)
    times = max(1, round(p_value * of))
    shown = f"{p_value:.2g}" if p_value < 0.1 else f"{p_value:.2f}"
    return Sentence(
        f"If nothing had changed, chance alone would give a difference this large about {times} "
        f"{'time' if times == 1 else 'times'} in {of} (p = {shown}).",
        f"如果什么都没有变，仅凭偶然出现这么大差异的可能大约是 {of} 次中有 {times} 次（p = {shown}）。",
    )


def noise_multiple_in_words(multiple: float) -> Sentence | None:
    """How far the target's answers lie from the source's, measured by the source's own noise. None for no number."""
    if math.isnan(multiple) or multiple < 0:
        return None
    if math.isinf(multiple):
        return Sentence(
            "The source gave the same answer every time, so it has no noise of its own to compare with.",
            "源部署每次都给出相同的回答，没有自身的波动可供比较。",
        )
    if multiple < 1.15:
        return Sentence(
            "The target's answers lie no farther from the source's than those lie from each other.",
            "目标部署的回答与源部署回答的距离，不超过源部署回答彼此之间的距离。",
        )
    return Sentence(
        f"The target's answers lie {multiple:.1f} times as far from the source's as those lie from each other.",
        f"目标部署的回答与源部署回答的距离，是源部署回答彼此之间距离的 {multiple:.1f} 倍。",
    )

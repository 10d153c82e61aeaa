"""Sees when a server shortened a prompt without a word: it was billed for fewer tokens than were counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json

ESTIMATE_TOLERANCE = 0.25
"""Share by which an estimate may be above the server's count before that means anything."""
TEMPLATE_SLACK = 128
"""Tokens that a server's own switches may leave out of a template: V4's preamble for thinking has up to 92."""


@dataclass(frozen=True, slots=True)
class SilentCut:
    """A prompt of which the server saw only a part."""

    counted: int
    """Tokens of the prompt as it was sent."""
    served: int
    """`usage.prompt_tokens` of the answer."""
    sentence: Sentence

    @property
    def lost(self) -> int:
        """Tokens that the model did not see, at least about so many."""
        return self.counted - self.served

    def to_json(self) -> dict[str, Json]:
        """The form used in JSON output."""
        return {
            "counted": self.counted,
            "served": self.served,
            "lost": self.lost,
            "sentence": self.sentence.to_json(),
        }


def silent_cut(
    counted: int, served: int | None, *, counter: str, tolerance: float = 0.0, slack: int = 0
) -> SilentCut | None:
    """Whether a server saw less of a prompt than was sent; None when it saw all of it, or does not tell.

    Args:
        counted: tokens of the whole rendered prompt.
        served: `usage.prompt_tokens` of the answer; None when the server does not tell.
        counter: name of what counted.
        tolerance: share by which the count may be too high: 0 for an exact counter, `ESTIMATE_TOLERANCE` for a guess.
        slack: tokens by which it may be too high all the same, such as 1 for a BOS that one side does not count.
    """
    if served is None or served < 1 or served + slack >= counted * (1 - tolerance):
        return None
    sentence = Sentence(
        f"The prompt has {counted:,} tokens ({counter}), the server counted {served:,} (`usage.prompt_tokens`): it cut "
        f"about {counted - served:,} away and answered all the same. Look for automatic truncation on the server.",
        f"提示词有 {counted:,} 个 token（{counter}），服务端只计了 {served:,} 个（`usage.prompt_tokens`）：它截掉了约 "
        f"{counted - served:,} 个，却照常作答。请检查服务端是否开启了自动截断。",
    )
    return SilentCut(counted, served, sentence)

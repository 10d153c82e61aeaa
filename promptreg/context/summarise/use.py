"""What a deployment that writes summaries was asked, and what that took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from promptreg.text.counted import counted, grouped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json


@dataclass(frozen=True, slots=True)
class Use:
    """What a summariser was asked, and what that took."""

    deployment: str
    calls: int
    """Requests that were sent; equal ones are sent once."""
    prompt_tokens: int
    """As the server bills them, else as counted here."""
    answer_tokens: int
    failed: int
    """Summaries that could not be asked for, or got no answer."""
    problem: str
    """Why the last of them has none; empty where all have one."""

    @property
    def sentence(self) -> Sentence:
        """The same for a person."""
        en = (
            f"Summaries by {self.deployment}: {counted(self.calls, 'call')}, "
            f"{grouped(self.prompt_tokens, 'token')} read, {self.answer_tokens:,} written"
        )
        zh = (
            f"摘要由 {self.deployment} 撰写：{self.calls} 次调用，读入 {self.prompt_tokens:,} token，"
            f"写出 {self.answer_tokens:,} token"
        )
        if not self.failed:
            return Sentence(f"{en}.", f"{zh}。")
        reason = self.problem.rstrip(".。")
        place = "an extract stands in its place" if self.failed == 1 else "extracts stand in their place"
        return Sentence(
            f"{en}; {self.failed} failed, {place} ({reason}).",
            f"{zh}；{self.failed} 次失败，改用抽取式摘要（{reason}）。",
        )

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        return {
            "deployment": self.deployment,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "answer_tokens": self.answer_tokens,
            "failed": self.failed,
            "problem": self.problem or None,
        }

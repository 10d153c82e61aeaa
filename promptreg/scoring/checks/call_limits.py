"""Checks `latency` and `usage`: how long the call took, and how many tokens the server counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.base import Finding, Measured, Rules, Setting, found, must
from promptreg.scoring.checks.options import Band, band, fields, number

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_TIMES: Final = {"seconds": ("", ""), "first_token_seconds": (" to the first token", "首个 token ")}
_TOKENS: Final = {
    "prompt_tokens": ("prompt tokens", "提示 token"),
    "completion_tokens": ("completion tokens", "生成 token"),
    "total_tokens": ("tokens in total", "token（总计）"),
    "reasoning_tokens": ("reasoning tokens", "推理 token"),
    "cached_tokens": ("cached tokens", "缓存命中 token"),
}


@dataclass(frozen=True, slots=True)
class Latency:
    """Times of the attempt that gave the answer, with the calls in flight that there were: not of the model alone."""

    limits: tuple[tuple[str, float], ...]
    """Which time, and the most allowed, in seconds."""

    @property
    def rules(self) -> Rules:
        """The answer must come in time, or late."""
        en = " and ".join(f"{most:g} s{_TIMES[name][0]}" for name, most in self.limits)
        zh = "、".join(f"{_TIMES[name][1]}{most:g} 秒" for name, most in self.limits)
        return must(f"come within {en}", f"在{zh}内返回")

    def find(self, answer: Answer) -> Finding:  # noqa: ARG002 - the answer alone does not say how long it took
        """Unscored: nothing is known of the call."""
        return found(None, "has no recorded time", "没有耗时记录")

    def find_measured(self, answer: Answer, measured: Measured) -> Finding:  # noqa: ARG002 - it is about the call
        """How long it took."""
        taken = {"seconds": measured.seconds, "first_token_seconds": measured.first_token_seconds}
        said: list[tuple[str, float]] = []
        holds = True
        for name, most in self.limits:
            seconds = taken[name]
            if seconds is None:
                return found(None, f"has no recorded time{_TIMES[name][0]}", f"没有{_TIMES[name][1]}耗时记录")
            said.append((name, seconds))
            holds = holds and seconds <= most
        en = " and ".join(f"{seconds:.3g} s{_TIMES[name][0]}" for name, seconds in said)
        zh = "、".join(f"{_TIMES[name][1]}{seconds:.3g} 秒" for name, seconds in said)
        return found(holds, f"took {en}", f"耗时{zh}")


@dataclass(frozen=True, slots=True)
class UsageWithin:
    """Counts as the server reports them. A count that is not reported leaves the answer unscored."""

    bands: tuple[tuple[str, Band], ...]

    @property
    def rules(self) -> Rules:
        """The counts must be inside their bands, or must not."""
        en = " and ".join(f"{each.en} {_TOKENS[name][0]}" for name, each in self.bands)
        zh = "、".join(f"{each.zh} 个{_TOKENS[name][1]}" for name, each in self.bands)
        return must(f"use {en}", f"用{zh}")

    def find(self, answer: Answer) -> Finding:  # noqa: ARG002 - the answer alone does not say what it used
        """Unscored: nothing is known of the call."""
        return found(None, "has no recorded token counts", "没有 token 用量记录")

    def find_measured(self, answer: Answer, measured: Measured) -> Finding:
        """What was counted."""
        if measured.usage is None:
            return self.find(answer)
        said: list[tuple[str, int]] = []
        holds = True
        for name, wanted in self.bands:
            count: int | None = getattr(measured.usage, name)
            if count is None:
                return found(None, f"has no recorded number of {_TOKENS[name][0]}", f"没有{_TOKENS[name][1]}用量记录")
            said.append((name, count))
            holds = holds and wanted.holds(count)
        en = " and ".join(f"{count} {_TOKENS[name][0]}" for name, count in said)
        zh = "、".join(f"{count} 个{_TOKENS[name][1]}" for name, count in said)
        return found(holds, f"used {en}", f"用了 {zh}")


def build_latency(argument: Json, setting: Setting) -> Latency:
    """`latency: SECONDS`, or `latency: {seconds: 5, first_token_seconds: 1}`."""
    if isinstance(argument, (int, float, str)) and not isinstance(argument, bool):
        argument = {"seconds": argument}
    table = fields(argument, setting, tuple(_TIMES), "{seconds: 5, first_token_seconds: 1}")
    return Latency(tuple((name, number(table[name], setting, name, 0)) for name in _TIMES if name in table))


def build_usage(argument: Json, setting: Setting) -> UsageWithin:
    """`usage: {completion_tokens: 200, prompt_tokens: {max: 4000}}`; a bare number is the most allowed."""
    table = fields(argument, setting, tuple(_TOKENS), "{completion_tokens: {max: 200}}")
    return UsageWithin(tuple((name, band(table[name], setting, name, bare="max")) for name in _TOKENS if name in table))

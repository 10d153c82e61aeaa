"""promptreg's own strategies by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.fit import HYSTERESIS
from promptreg.context.strategies.offered import Given, Offered
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.context.strategies.base import Strategy


def _plain(make: Callable[..., Strategy], sentence: Sentence, **options: type) -> Offered:
    return Offered(MappingProxyType(options), lambda _, values: make(**values), sentence)


def _retrieve(given: Given, values: Mapping[str, Any]) -> Strategy:
    from promptreg.context.retrieve import Retrieve  # noqa: PLC0415 - numpy is slow to import, and rarely needed here

    if given.embed is None:
        raise UsageError("The strategy `retrieve` needs an embedder, and none is given.")
    return Retrieve(given.embed, **values)


STRATEGIES: Final[Mapping[str, Offered]] = MappingProxyType(
    {
        "oldest-first": _plain(OldestFirst, Sentence("drops the oldest messages", "从最早的消息开始移除")),
        "sliding-window": _plain(
            SlidingWindow, Sentence("keeps the newest whole turns", "保留最新的完整轮次"), target=float
        ),
        "hysteresis": _plain(
            lambda target=HYSTERESIS: SlidingWindow(target),
            Sentence(
                "as sliding-window, but makes room for several turns at once", "同 sliding-window，但一次腾出几轮的空间"
            ),
            target=float,
        ),
        "first-and-last": _plain(
            FirstAndLast,
            Sentence("keeps the first turns and the newest", "保留最初与最新的轮次"),
            first=int,
            target=float,
        ),
        "middle-out": _plain(MiddleOut, Sentence("drops turns from the middle outward", "从中间向两端移除轮次")),
        "message-cap": _plain(MessageCap, Sentence("cuts long messages", "截短过长的消息"), tokens=int, keep=str),
        "prune-results": _plain(
            PruneResults,
            Sentence("puts placeholders for old tool results", "用占位文字代替旧的工具结果"),
            keep=int,
            target=float,
        ),
        "summary-on-cut": Offered(
            MappingProxyType({"target": float, "tokens": int}),
            lambda given, values: SummaryOnCut(given.summariser, **values),
            Sentence(
                "keeps the newest turns and a summary that changes only on a cut", "保留最新轮次，摘要仅在截断时更新"
            ),
        ),
        "summary-and-recent": Offered(
            MappingProxyType({"turns": int, "tokens": int}),
            lambda given, values: SummaryAndRecent(summariser=given.summariser, **values),
            Sentence("keeps so many turns and a summary of all before", "保留若干轮次与此前全部内容的摘要"),
        ),
        "retrieve": Offered(
            MappingProxyType({"top": int, "share": float}),
            _retrieve,
            Sentence("brings back old turns that are like the question", "找回与当前问题相似的旧轮次"),
        ),
    }
)
"""Every strategy by its name."""

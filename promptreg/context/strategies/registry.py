"""Strategies by name, as the command line and configuration write them.

`sliding-window`, `hysteresis:target=0.5`, `prune-results:keep=1+sliding-window`: a name, options after a colon,
separated by commas, and + between strategies that follow each other. Names of what other libraries offer have a colon
of their own, `langchain:trim_messages`: see `promptreg.context.adapters.registry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.config.hints import did_you_mean, listing
from promptreg.context.fit import HYSTERESIS
from promptreg.context.strategies.base import Strategy, then
from promptreg.context.strategies.replace import MessageCap, PruneResults
from promptreg.context.strategies.summary import SummaryAndRecent, SummaryOnCut
from promptreg.context.strategies.window import FirstAndLast, MiddleOut, OldestFirst, SlidingWindow
from promptreg.context.summarise.extractive import Extractive
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.context.retrieve import Embed
    from promptreg.context.summarise.source import Summariser


@dataclass(frozen=True, slots=True)
class Given:
    """What strategies use that has no place in a text."""

    summariser: Summariser = Extractive()  # noqa: RUF009 - a frozen value
    embed: Embed | None = None
    function: Callable[[str], Callable[..., Any]] | None = None
    """Imports a function of the user's own, `module:callable`; raises `UsageError`."""
    own_only: bool = False
    """Whether strategies of other libraries and functions of the user's own are not taken."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One strategy that can be named."""

    options: Mapping[str, type]
    """Their names and types; each has a default."""
    build: Callable[[Given, Mapping[str, Any]], Strategy]
    sentence: Sentence
    """What it does, for help."""


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

_TRUTH: Final = MappingProxyType({"yes": True, "true": True, "no": False, "false": False})


def strategy_from(text: str, given: Given | None = None) -> Strategy:
    """The strategy that a text names.

    Raises:
        UsageError: an unknown name or option, one that is written twice, a value that is missing or none, or an
            embedder that is not there.
    """
    written = [part.strip() for part in text.split("+")]
    if not all(written):
        if not any(written):
            raise UsageError(f"The name of a strategy is missing. {_allowed('', STRATEGIES)}")
        raise UsageError(
            f"`{text.strip()}` lacks a strategy beside a `+`: write one on both sides, such as "
            "`prune-results+sliding-window`."
        )
    parts = [_one(part, given or Given()) for part in written]
    return parts[0] if len(parts) == 1 else then(*parts)


def _one(text: str, given: Given) -> Strategy:
    name, written = _split(text)
    offered = STRATEGIES.get(name)
    if offered is None and given.own_only:
        raise UsageError(f"There is no strategy `{name}`. {_allowed(name, STRATEGIES)}")
    if offered is None:
        from promptreg.context.adapters.registry import ADAPTERS, FUNCTION, function_strategy  # noqa: PLC0415 - these build on this module

        family, _, function = text.partition(":")
        if family.strip() == FUNCTION:
            return function_strategy(given, function.strip())
        names = {**STRATEGIES, **ADAPTERS}
        offered = ADAPTERS.get(name)
        if offered is None:
            raise UsageError(f"There is no strategy `{name}`. {_allowed(name, names)}")
    values: dict[str, Any] = {}
    for item in written.split(",") if written.strip() else ():
        option, _, value = (piece.strip() for piece in item.partition("="))
        if not option:
            raise UsageError(
                f"An option of the strategy `{name}` has no name: they are written `{name}:OPTION=VALUE`, with a comma "
                f"between two. {_allowed('', offered.options)}"
            )
        if option not in offered.options:
            raise UsageError(f"The strategy `{name}` has no option `{option}`. {_allowed(option, offered.options)}")
        if option in values:
            raise UsageError(f"The option `{option}` of the strategy `{name}` is written twice; write it once.")
        if not value:
            raise UsageError(
                f"The option `{option}` of the strategy `{name}` has no value: it is "
                f"{_expected(offered.options[option])}, written `{name}:{option}=VALUE`."
            )
        values[option] = _value(name, option, value, offered.options[option])
    return offered.build(given, values)


def _split(text: str) -> tuple[str, str]:
    """A name and its options. A second name after a colon belongs to the first: options have a `=`."""
    first, _, rest = text.partition(":")
    second, _, further = rest.partition(":")
    if first.strip() in STRATEGIES or not second.strip() or "=" in second:
        return first.strip(), rest
    return f"{first.strip()}:{second.strip()}", further


def _value(name: str, option: str, value: str, kind: type) -> Any:
    try:
        return _TRUTH[value.lower()] if kind is bool else kind(value)
    except (ValueError, KeyError):
        raise UsageError(f"`{option}` of the strategy `{name}` is {_expected(kind)}, got {value!r}.") from None


def _expected(kind: type) -> str:
    return {int: "a whole number", float: "a number", bool: "yes or no"}.get(kind, "a text")


def _allowed(written: str, names: Mapping[str, object]) -> str:
    return f"Allowed: {listing(names)}.{did_you_mean(written, names)}" if names else "It has none."

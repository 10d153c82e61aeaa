"""Strategies as the command line and configuration write them.

`sliding-window`, `hysteresis:target=0.5`, `prune-results:keep=1+sliding-window`: a name, options after a colon,
separated by commas, and + between strategies that follow each other. Names of what other libraries offer have a colon
of their own, `langchain:trim_messages`: see `promptreg.context.adapters.registry`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.config.hints import did_you_mean, listing
from promptreg.context.adapters.registry import ADAPTERS, FUNCTION, function_strategy
from promptreg.context.strategies.base import then
from promptreg.context.strategies.offered import Given
from promptreg.context.strategies.registry import STRATEGIES
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.context.strategies.base import Strategy

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

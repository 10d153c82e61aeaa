"""What a fact is: a piece of a text whose change changes what the text claims."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


class FactKind(StrEnum):
    """The kinds of facts."""

    NUMBER = "number"
    """A bare number, or one with a counting word: 3, three, 三个."""
    QUANTITY = "quantity"
    """A number with a unit: 5 kg, 三十天."""
    MONEY = "money"
    """A number with a currency."""
    SHARE = "share"
    """A percentage or a fraction."""
    ORDINAL = "ordinal"
    """A place in an order: the third, 第三."""
    RANGE = "range"
    """From one number to another: 3-5 days."""
    DATE = "date"
    """A day, month, year, weekday, or a day said relative to today."""
    TIME = "time"
    """A time of day."""
    NEGATION = "negation"
    """A word that denies."""
    NAME = "name"
    """A person, place, organisation or product."""
    TITLE = "title"
    """What stands in quotes or title marks."""
    URL = "url"
    EMAIL = "email"
    PATH = "path"
    IDENTIFIER = "identifier"
    """A number of an order, a version, an address of a machine: compared as written."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact as it was found."""

    kind: FactKind
    text: str
    """As written."""
    normal: str
    """As read. Two facts are the same when their normal forms are."""
    start: int
    """Position in the text, in code points from 0."""
    end: int


_BY_GROUP: Final = MappingProxyType(
    {
        "numbers": "number quantity money share ordinal range date time",
        "negation": "negation",
        "entities": "name title url email path identifier",
    }
)

GROUP_OF: Final[Mapping[FactKind, str]] = MappingProxyType(
    {FactKind(kind): group for group, kinds in _BY_GROUP.items() for kind in kinds.split()}
)
"""Which channel a kind belongs to: "numbers", "negation" or "entities"."""

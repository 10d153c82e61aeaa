"""The lists of a text: their items, in Markdown's ways and in Chinese ones, and the blocks that the items make.

Line by line, since Chinese text numbers items in ways that Markdown does not know (1、, （一）, ①, 第一，).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.reading.code_text import lines_outside_code

if TYPE_CHECKING:
    from collections.abc import Sequence

_INDENT: Final = r"(?P<indent>[ \t\u3000]{0,32})"
_BULLET: Final = re.compile(_INDENT + r"(?P<style>[-*+•·●▪◦○■□◆])[ \t\u3000]+\S")
_RULE: Final = re.compile(r"[ \t]{0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:\+[ \t]*){3,})$")
_HEADING: Final = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_CHINESE: Final = "[一二三四五六七八九十]{1,3}"
# What can only be the mark of an item, even alone.
_CLEAR: Final = re.compile(
    _INDENT + r"(?:(?P<digits>[0-9]{1,3})(?P<after>[.)](?=[ \t\u3000])|[、．](?![0-9]))"
    rf"|(?P<in_brackets>[（(](?:[0-9]{{1,3}}|{_CHINESE})[)）])"
    rf"|(?P<chinese>{_CHINESE})、"
    r"|(?P<circled>[①-⑳]))[ \t\u3000]*\S",
)
# What can be the first word of a sentence as well ("第一，" "A. Smith" "1.甲"): an item where another follows in order.
_ORDERED: Final = re.compile(
    _INDENT + rf"(?:第(?P<ordinal>{_CHINESE}|[0-9]{{1,3}})[点条步项个，,、：:.．][ \t\u3000]*+\S"
    r"|(?P<letter>[A-Za-z])[.)、．][ \t\u3000]*+\S"
    r"|[（(](?P<letter_in_brackets>[A-Za-z])[)）][ \t\u3000]*+\S"
    rf"|(?P<digits>[0-9]{{1,3}})(?P<after>[.)）：:])(?![0-9\s])\S"
    r"|\*\*(?P<bold>[0-9]{1,3})[.)、．）：:][ \t\u3000]*+\S"
    rf"|(?P<chinese>{_CHINESE})(?P<chinese_after>[.．)）])[ \t\u3000]*+\S)",
)
_CHINESE_DIGITS: Final = "一二三四五六七八九"


@dataclass(frozen=True, slots=True)
class Lists:
    """What lists a text has, outside code."""

    bullets: int = 0
    """Items with a bullet, nested ones too."""
    numbers: int = 0
    """Items with a number or a letter, nested ones too."""
    blocks: int = 0
    """Lists: items that belong together, with all that is nested in them, are one."""

    @property
    def items(self) -> int:
        """Items of all kinds."""
        return self.bullets + self.numbers


@dataclass(frozen=True, slots=True)
class _Item:
    indent: int
    style: str
    """How the item is marked, without its number: two items of one list are marked alike."""
    number: int | None
    """None of a bullet."""


@dataclass(slots=True)
class _Open:
    """A list that may go on."""

    first: _Item
    number: int | None
    counted: bool
    """Whether it was counted as a list of its own, not as nested in the one before."""
    inside: set[str] = field(default_factory=set)
    """How the items are marked that turned out to be nested in it without being indented."""


def lists_of(text: str) -> Lists:
    """The lists of a text. Linear in its length."""
    lines = list(lines_outside_code(text))
    items = _items(lines)
    found = [item for item in items if item is not None]
    numbers = sum(item.number is not None for item in found)
    return Lists(len(found) - numbers, numbers, _blocks(lines, items) if found else 0)


def _items(lines: Sequence[str]) -> list[_Item | None]:
    """For each line the item that it begins, or None."""
    clear = [_clear(line) for line in lines]
    unclear = [
        None if item is not None else _of_match(_ORDERED.match(line)) for line, item in zip(lines, clear, strict=True)
    ]
    followed = _in_order(clear, unclear)
    return [item or (unclear[index] if index in followed else None) for index, item in enumerate(clear)]


def _in_order(clear: Sequence[_Item | None], unclear: Sequence[_Item | None]) -> set[int]:
    """The lines whose mark is one of a row: from the first of a row on, each with the next number."""
    followed: set[int] = set()
    last: dict[tuple[int, str], tuple[int, int]] = {}
    for index, item in enumerate(unclear):
        known = clear[index] or item
        if known is None or known.number is None:
            continue
        key = known.indent, known.style
        before = last.get(key)
        if item is not None and before is not None and known.number == before[1] + 1:
            followed |= {before[0], index}
        last[key] = index, known.number
    return followed


def _clear(line: str) -> _Item | None:
    bullet = _BULLET.match(line)
    if bullet is not None:
        return None if _RULE.match(line) else _Item(_width(bullet["indent"]), bullet["style"], None)
    return _of_match(_CLEAR.match(line))


def _of_match(  # noqa: PLR0911 - one return per way to number reads as a table
    match: re.Match[str] | None,
) -> _Item | None:
    if match is None:
        return None
    parts = match.groupdict()
    indent = _width(match["indent"])
    if parts["digits"]:
        return _Item(indent, f"1{match['after']}", int(match["digits"]))
    if parts["chinese"]:
        return _Item(indent, f"一{parts.get('chinese_after') or '、'}", _chinese_number(match["chinese"]))
    if parts.get("in_brackets"):
        inside = match["in_brackets"][1:-1]
        return _Item(indent, "(1)" if inside.isascii() else "(一)", _number(inside))
    if parts.get("circled"):
        return _Item(indent, "①", ord(match["circled"]) - ord("①") + 1)
    if parts.get("bold"):
        return _Item(indent, "**", int(match["bold"]))
    if parts.get("ordinal"):
        return _Item(indent, "第", _number(match["ordinal"]))
    letter = parts["letter"] or parts["letter_in_brackets"]
    style = ("a" if letter.islower() else "A") + ("" if parts["letter"] else "()")
    return _Item(indent, style, ord(letter.lower()) - ord("a") + 1)


def _blocks(lines: Sequence[str], items: Sequence[_Item | None]) -> int:
    """How many lists the items make.

    A list goes on over blank lines, indented lines and lines that follow an item without a blank line. Other text ends
    a bulleted list; a numbered one goes on behind it where the next number follows. A heading ends all lists. What is
    indented deeper is nested, and what is marked otherwise right below a number.
    """
    count = 0
    open_lists: list[_Open] = []
    text_between = blank_before = False
    for line, item in zip(lines, items, strict=True):
        if not line.strip():
            blank_before = True
            continue
        if item is None:
            if _HEADING.match(line):
                open_lists.clear()
            elif blank_before and not line[0].isspace():
                text_between = True
            blank_before = False
            continue
        same = _continued(open_lists, item, text_between=text_between)
        if same is not None:
            # What was opened behind it was nested in it, as it shows now.
            count -= sum(each.counted for each in open_lists[same + 1 :])
            open_lists[same].inside.update(each.first.style for each in open_lists[same + 1 :])
            del open_lists[same + 1 :]
            open_lists[same].number = item.number
        else:
            nested = bool(open_lists) and _nested(open_lists[-1], item, apart=blank_before or text_between)
            open_lists.append(_Open(item, item.number, not nested))
            count += not nested
        text_between = blank_before = False
    return count


def _continued(open_lists: Sequence[_Open], item: _Item, *, text_between: bool) -> int | None:
    """Which of the open lists the item goes on with."""
    for index in range(len(open_lists) - 1, max(-1, len(open_lists) - 17), -1):
        each = open_lists[index]
        deeper = item.indent - each.first.indent
        if each.first.style != item.style or deeper > 1 or (deeper < -1 and index > 0):
            continue
        follows = each.number is not None and item.number == each.number + 1
        return index if follows or not text_between else None
    return None


def _nested(last: _Open, item: _Item, *, apart: bool) -> bool:
    """Whether an item that does not go on with a list begins one inside the last."""
    if item.indent > last.first.indent + 1 or item.style in last.inside:
        return True
    # "1. Size" and a "- big" below it, often not indented; numbers right below bullets are a list of their own.
    return not apart and last.number is not None and item.style != last.first.style


def _width(indent: str) -> int:
    return sum({"\t": 4, "\u3000": 2}.get(char, 1) for char in indent)


def _number(written: str) -> int:
    return int(written) if written.isascii() else _chinese_number(written)


def _chinese_number(written: str) -> int:
    """三, 十, 十二, 二十, 二十一; anything else that was matched is no number and follows none."""
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return _CHINESE_DIGITS.index(ones) + 1 if len(ones) == 1 else 0
    if len(tens) > 1 or len(ones) > 1 or "十" in tens:
        return 0
    return 10 * (_CHINESE_DIGITS.index(tens) + 1 if tens else 1) + (_CHINESE_DIGITS.index(ones) + 1 if ones else 0)

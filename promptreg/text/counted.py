"""Numbers with their nouns: what decides on the English verb, and what is no part in Chinese."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`, `3 passes`; `plural` where the noun takes anything but an s or es."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {plural or (noun + 'es' if noun.endswith('s') else noun + 's')}"


def grouped(number: int, noun: str, plural: str | None = None) -> str:
    """As `counted`, with a comma between thousands: `1 token`, `12,345 tokens`."""
    return counted(number, noun, plural).replace(str(number), f"{number:,}", 1)


def all_of(number: int, noun: str) -> str:
    """`The source answer`, `All 10 source answers`, to begin a sentence with."""
    return f"The {noun}" if number == 1 else f"All {counted(number, noun)}"


def part_of(part: int, total: int, noun: str, one: str, several: str) -> str:
    """`1 of 3 answers differs`, `2 of 3 answers differ`, `1 of 1 answer differs`: the part decides on the verb."""
    return f"{part} of {counted(total, noun)} {one if part == 1 else several}"


def part_in_chinese(part: int, total: int, noun: str = "条", unit: str = "条") -> str:
    """` 5 条回答中有 3 条`, ` 5 条回答全部`, `唯一的 1 条回答`: to stand behind a Chinese word.

    Args:
        part: how many of them, at least 1.
        total: how many there are.
        noun: measure word and noun of the whole.
        unit: the measure word alone.
    """
    if part != total:
        return f" {total} {noun}中有 {part} {unit}"
    return f"唯一的 1 {noun}" if total == 1 else f" {total} {noun}全部"

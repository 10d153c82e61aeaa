"""Numbers with their nouns in English sentences; Chinese needs none of it."""

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

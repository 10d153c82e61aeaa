"""The difference of two texts as operations to be shown, and what can be said when no difference is visible."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from promptreg.report.fact_changes import fact_changes, respelled
from promptreg.report.json_parts import json_pair
from promptreg.report.payload import ChangeView, OperationView, PartDiffView, PartName
from promptreg.text.diff import diff
from promptreg.text.segment import sentences
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_BLANK = re.compile("[\\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LINE_END = re.compile("\r\n?|\x85|\u2028|\u2029")

_UNIT = re.compile(" ?(?:[\u4e00-\u9fff%％°℃]|[A-Za-z]{1,12}\\b)")
_ENDS_SENTENCE = re.compile(r"[。！？；｡….!?][\"'”’」』）)】》〉\]}*_]*\s*\Z")
_ROW = 50
"""Characters of the longer column from which a row may end inside a paragraph: two lines or so."""
_UNEVEN = 16
"""Characters by which the columns must have moved apart: half a line."""

MOST_CHANGES = 8
"""More changes than this are not for a glance."""
MOST_FACTS = 12
"""Facts, and JSON values, that are listed; the others are counted."""
MOST_CHANGE_CHARACTERS = 40
"""A change longer than this is read in the text."""


def part_difference(part: PartName, golden: str, candidate: str) -> PartDiffView:
    """The difference of one part of two answers."""
    if golden == candidate:
        same = (OperationView("equal", golden),) if golden else ()
        return PartDiffView(part, same)
    difference = diff(golden, candidate)
    operations = tuple(OperationView(operation.kind.value, operation.text) for operation in difference.operations)
    note = invisible_difference(golden, candidate)
    if note is not None:
        return PartDiffView(part, operations, difference.complete, note=note)
    facts = fact_changes(golden, candidate, operations) if part == "content" else ()
    others = short_changes(operations) if difference.complete else ()
    changes = (*facts[:MOST_FACTS], *(respelled(each) for each in others if not _told(each, facts)))
    more, breaks = max(0, len(facts) - MOST_FACTS), row_breaks(operations) if difference.complete else ()
    return PartDiffView(part, operations, difference.complete, changes, more, breaks)


def json_differences(golden: str, candidate: str) -> tuple[PartDiffView, ...]:
    """The difference of two contents as JSON, and with sorted keys where that is another one; none for other texts."""
    pair = None if golden == candidate else json_pair(golden, candidate)
    if pair is None:
        return ()
    changes, more = pair.changes[:MOST_FACTS], max(0, len(pair.changes) - MOST_FACTS)
    parts = [_laid_out_difference("json", pair.golden, pair.candidate, changes, more, pair.note)]
    if pair.golden != pair.candidate and (pair.golden, pair.candidate) != (pair.golden_sorted, pair.candidate_sorted):
        parts.append(_laid_out_difference("json_sorted", pair.golden_sorted, pair.candidate_sorted, (), 0, pair.note))
    return tuple(parts)


def _laid_out_difference(
    part: PartName, golden: str, candidate: str, changes: tuple[ChangeView, ...], more: int, note: Sentence | None
) -> PartDiffView:
    difference = diff(golden, candidate)
    operations = tuple(OperationView(operation.kind.value, operation.text) for operation in difference.operations)
    return PartDiffView(part, operations, difference.complete, changes, more, note=note)


def row_breaks(operations: Sequence[OperationView]) -> tuple[int, ...]:
    """Where a paragraph that changed is cut for two columns, so that equal sentences stand side by side again.

    A cut lies behind a sentence that both texts end alike, and only where the columns before it have moved apart: a
    paragraph with small changes stays whole. Places in the first text, in characters.
    """
    if not _drifts_apart(operations):
        return ()
    breaks: list[int] = []
    at = 0
    row = _Row()
    for operation in operations:
        if operation.kind != "equal":
            row = row.grown(operation)
            at += len(operation.text) if operation.kind == "delete" else 0
            continue
        for sentence in sentences(operation.text):
            at += len(sentence)
            if sentence.endswith(("\n", "\r")):
                row = _Row()
                continue
            row = row.grown(OperationView("equal", sentence))
            if row.worth_a_cut and _ENDS_SENTENCE.search(sentence):
                breaks.append(at)
                row = _Row()
    return tuple(breaks)


def _drifts_apart(operations: Sequence[OperationView]) -> bool:
    """Whether the columns ever move apart by enough for a cut: most texts with small changes are done with here."""
    lead = least = most = 0
    for operation in operations:
        if operation.kind != "equal":
            lead += len(operation.text) if operation.kind == "insert" else -len(operation.text)
            least, most = min(least, lead), max(most, lead)
    return most - least >= _UNEVEN


class _Row(NamedTuple):
    """What a row holds so far, in characters of both columns, and whether there is a change in it."""

    golden: int = 0
    candidate: int = 0
    changed: bool = False

    def grown(self, operation: OperationView) -> _Row:
        length = len(operation.text)
        return _Row(
            self.golden + (length if operation.kind != "insert" else 0),
            self.candidate + (length if operation.kind != "delete" else 0),
            self.changed or operation.kind != "equal",
        )

    @property
    def worth_a_cut(self) -> bool:
        return (
            self.changed and abs(self.golden - self.candidate) >= _UNEVEN and max(self.golden, self.candidate) >= _ROW
        )


def _told(change: ChangeView, facts: Sequence[ChangeView]) -> bool:
    """Whether a change is one of the facts, written a little differently."""
    return any(_within(change.golden, fact.golden) and _within(change.candidate, fact.candidate) for fact in facts)


def _within(a: str, b: str) -> bool:
    a, b = "".join(a.split()), "".join(b.split())
    return a == b or bool(a and b and (a in b or b in a))


def short_changes(operations: Sequence[OperationView]) -> tuple[ChangeView, ...]:
    """The changes of a text for a glance: `7天` → `30天`. Nothing when there are many or one of them is long.

    A change is widened to the number or Latin word it is part of, and a number takes the unit that follows it.
    """
    changes: list[ChangeView] = []
    index = 0
    while index < len(operations):
        if operations[index].kind == "equal":
            index += 1
            continue
        before = operations[index - 1].text if index else ""
        golden = candidate = ""
        while index < len(operations) and operations[index].kind != "equal":
            operation = operations[index]
            golden += operation.text if operation.kind == "delete" else ""
            candidate += operation.text if operation.kind == "insert" else ""
            index += 1
        after = operations[index].text if index < len(operations) else ""
        changes.append(_widened(before, golden, candidate, after))
    changes = [change for change in dict.fromkeys(changes) if change.golden.strip() or change.candidate.strip()]
    short = all(max(len(change.golden), len(change.candidate)) <= MOST_CHANGE_CHARACTERS for change in changes)
    # Where most of the text is new, the text itself is the glance.
    equal = sum(len(operation.text) for operation in operations if operation.kind == "equal")
    mostly_equal = 2 * equal >= sum(len(operation.text) for operation in operations)
    return tuple(changes) if short and mostly_equal and len(changes) <= MOST_CHANGES else ()


def _widened(before: str, golden: str, candidate: str, after: str) -> ChangeView:
    if any(re.match(r"[A-Za-z0-9]", text) for text in (golden, candidate)):
        head = re.search(r"[A-Za-z0-9][A-Za-z0-9.,'_-]*$", before)
        prefix = head.group() if head else ""
    else:
        prefix = ""
    suffix = ""
    if any(re.search(r"[A-Za-z0-9]$", text) for text in (golden, candidate)):
        tail = re.match(r"[A-Za-z0-9]*(?:[.,][0-9]+)*", after)
        suffix = tail.group() if tail else ""
        if re.search(r"[0-9]$", golden + suffix) or re.search(r"[0-9]$", candidate + suffix):
            unit = _UNIT.match(after[len(suffix) :])
            suffix += unit.group() if unit else ""
    # An insertion or deletion inside a number shows the whole number on both sides, elsewhere one side stays empty.
    whole = bool(prefix or suffix.strip())
    return ChangeView(
        f"{prefix}{golden}{suffix}".strip() if golden or whole else "",
        f"{prefix}{candidate}{suffix}".strip() if candidate or whole else "",
    )


def invisible_difference(golden: str, candidate: str) -> Sentence | None:
    """What makes two different texts look the same, or None when their difference can be seen."""
    # Each step is tried alone first, so that the sentence names one cause where there is one; then all together.
    if golden == candidate:
        return None
    for step, sentence in _STEPS:
        if step(golden) == step(candidate):
            return sentence
    if _all_steps(golden) == _all_steps(candidate):
        return Sentence(
            "The two texts look the same: they differ only in characters that cannot be told apart by eye.",
            "两段文本看起来相同：只在肉眼无法分辨的字符上有差别。",
        )
    return None


def _without_outer_blanks(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


_STEPS: tuple[tuple[Callable[[str], str], Sentence], ...] = (
    (
        lambda text: _LINE_END.sub("\n", text),
        Sentence("The two texts differ only in their line ends.", "两段文本只有换行符不同。"),
    ),
    (
        _without_outer_blanks,
        Sentence(
            "The two texts differ only in blanks at line ends or around the text.",
            "两段文本只有行尾或首尾的空白不同。",
        ),
    ),
    (
        lambda text: unicodedata.normalize("NFC", text),
        Sentence(
            "The two texts differ only in how accented characters are composed (Unicode NFC makes them equal).",
            "两段文本只有字符的组合方式不同（Unicode NFC 规范化后相同）。",
        ),
    ),
    (
        lambda text: _INVISIBLE.sub("", text),
        Sentence("The two texts differ only in invisible characters.", "两段文本只有不可见字符不同。"),
    ),
    (
        lambda text: _BLANK.sub(" ", text),
        Sentence(
            "The two texts differ only in the kind of their blanks (such as no-break or ideographic spaces).",
            "两段文本只有空格的种类不同（例如不间断空格或全角空格）。",
        ),
    ),
    (
        lambda text: unicodedata.normalize("NFKC", text),
        Sentence(
            "The two texts differ only in character width or form (full-width against half-width).",
            "两段文本只有字符宽度或形式不同（全角与半角）。",
        ),
    ),
)


def _all_steps(text: str) -> str:
    for step, _ in _STEPS:
        text = step(text)
    return text.strip()

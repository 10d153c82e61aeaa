"""The difference of a case's answers as HTML without scripts, short enough that fifty of them stand on one page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.report.catalogue import filled
from promptreg.report.embed import escaped
from promptreg.report.output import change_in_words
from promptreg.report.payload import OperationView
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.report.payload import AnswerGroup, CaseView, ChangeView, PartDiffView

LONGEST: Final = 1_200
"""Characters of a case's texts that are shown."""

_EQUAL: Final = 160
_ENDS: Final = 60
# These would turn the text that follows them around; without scripts nothing can mark them where they stand.
_DIRECTION: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS: Final = {"delete": "del", "insert": "ins"}


@dataclass(frozen=True, slots=True)
class ShownTexts:
    """What of a case is shown: a difference, and who gave the two answers."""

    operations: tuple[OperationView, ...]
    cut: bool
    changes: tuple[ChangeView, ...] = ()
    golden: tuple[int, int] | None = None
    """Passes that gave the golden answer, of how many."""
    candidate: tuple[int, int] | None = None
    asked: str = ""
    """The start of the question; empty where the request is not known."""


def shown_texts(case: CaseView) -> ShownTexts | None:
    """The target's most frequent answer that differs, against its nearest golden; what there is where a side is empty.

    Answers that show what the case fails by go before the others.

    Returns:
        None when there is no answer.
    """
    differing = [
        (place in case.telling, len(group.passes), group)
        for place, group in enumerate(case.candidate)
        if _part_that_differs(group) is not None
    ]
    most = max(differing, key=lambda item: item[:2], default=None)
    candidate = next(iter(case.candidate), None) if most is None else most[2]
    part = None if candidate is None else _part_that_differs(candidate)
    golden = case.golden[0] if case.golden else None
    if candidate is not None and part is not None and (index := candidate.diffs[0].golden) < len(case.golden):
        golden = case.golden[index]
        operations, changes = part.operations, _changes(candidate)
    elif candidate is not None and golden is not None:
        operations, changes = (OperationView("equal", candidate.content),), ()
    elif golden is not None:
        operations, changes = (OperationView("delete", golden.content),), ()
    elif candidate is not None:
        operations, changes = (OperationView("insert", candidate.content),), ()
    else:
        return None
    kept, cut = _shortened(operations)
    return ShownTexts(kept, cut, changes, _count(golden, case.golden), _count(candidate, case.candidate))


def label(text: str) -> str:
    """An id, a name or a sentence as HTML: as on the page, without terminal escapes and marks of direction."""
    return escaped(safe_for_terminal(text))


def texts_html(texts: ShownTexts, words: Mapping[str, str]) -> Iterator[str]:
    """Paragraphs: who answered what, the short changes, the text with what was deleted and inserted."""
    who = [
        filled(words[f"static.{side}"], part=count[0], total=count[1])
        for side, count in (("golden", texts.golden), ("candidate", texts.candidate))
        if count is not None
    ]
    told = map(change_in_words, texts.changes)
    if texts.asked:
        yield f'<p class="who">{label(words["request.asked"])} {label(texts.asked)}</p>\n'
    yield f'<p class="who">{label(" · ".join((*who, *told)))}</p>\n<p class="text" dir="auto">'
    for operation in texts.operations:
        tag = _TAGS.get(operation.kind)
        text = escaped(_DIRECTION.sub("\ufffd", operation.text))
        yield f"<{tag}>{text}</{tag}>" if tag else text
    yield "…</p>\n" if texts.cut else "</p>\n"


def _part_that_differs(group: AnswerGroup) -> PartDiffView | None:
    """The content where it differs, else the first other part that does."""
    parts = group.diffs[0].parts if group.diffs else ()
    return next((part for part in parts if any(each.kind != "equal" for each in part.operations)), None)


def _changes(group: AnswerGroup) -> tuple[ChangeView, ...]:
    return tuple(change for part in group.diffs[0].parts for change in part.changes)


def _count(group: AnswerGroup | None, groups: Sequence[AnswerGroup]) -> tuple[int, int] | None:
    return None if group is None else (len(group.passes), sum(len(each.passes) for each in groups))


def _shortened(operations: Sequence[OperationView]) -> tuple[tuple[OperationView, ...], bool]:
    """The beginning of the operations, long equal stretches without their middle."""
    kept: list[OperationView] = []
    room = LONGEST
    for operation in operations:
        text = operation.text
        if operation.kind == "equal" and len(text) > _EQUAL:
            text = f"{text[:_ENDS]} ⋯ {text[-_ENDS:]}"
        if len(text) > room:
            return (*kept, OperationView(operation.kind, text[:room])), True
        kept.append(OperationView(operation.kind, text))
        room -= len(text)
    return tuple(kept), False

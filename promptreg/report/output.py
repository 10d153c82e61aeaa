"""What the writers of reports share, beside the page's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.report.catalogue import catalogues, filled
from promptreg.report.embed import whole
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from promptreg.report.payload import AnswerGroup, ApprovalView, CaseView, ChangeView, DecisionView
    from promptreg.text.sentence import Language, Sentence


NOTHING: Final = "∅"
"""What stands where one side of a change has nothing."""


class Written(NamedTuple):
    """What was written."""

    path: Path
    size_bytes: int
    cases: int
    left_out: int
    """Cases whose details are not in the file."""


def plain(text: str) -> str:
    """Text for a file that people read: no terminal escapes, no control characters, nothing that UTF-8 refuses."""
    return whole(safe_for_terminal(text))


def changes_of(case: CaseView) -> tuple[ChangeView, ...]:
    """The short changes of the most frequent of those candidates that differ: `3天` became `30天`.

    Candidates that show what the case fails by go before the others.
    """
    found = [
        (
            (place in case.telling, len(group.passes)),
            tuple(dict.fromkeys(each for diff in group.diffs[:1] for part in diff.parts for each in part.changes)),
        )
        for place, group in enumerate(case.candidate)
    ]
    return max(found, key=lambda item: (bool(item[1]), item[0]), default=((False, 0), ()))[1]


def change_in_words(change: ChangeView) -> str:
    """`7天 → 30天`; of a JSON value with its path before it."""
    where = f"{change.where}: " if change.where else ""
    return f"{where}{change.golden or NOTHING} {sign_of(change)} {change.candidate or NOTHING}"


def sign_of(change: ChangeView) -> str:
    """What stands between the two sides of a change: `=` where they say the same in other words."""
    return "=" if change.kind == "spelling" else "→"


def check_in_words(label: str, language: Language) -> str:
    """A check's name. Freedom from a fault is a check of promptreg's own, and has a name in the reader's language."""
    from promptreg.verdict.evidence import FREE_OF  # noqa: PLC0415 - loads numpy, of which pytest needs nothing

    if not label.startswith(FREE_OF):
        return label
    return filled(catalogues()[language]["checks.free_of"], kind=label.removeprefix(FREE_OF))


def decision_in_words(decision: DecisionView, language: Language) -> str:
    """What stands on a case, who decided it, why and until when."""
    words = catalogues()[language]
    until = filled(words["decide.until"], day=decision.expires_on) if decision.expires_on else None
    done = words[f"done.{decision.decision}"]
    return " · ".join(filter(None, (done, decision.reviewer, decision.reason, until)))


def approval_in_words(approval: ApprovalView, language: Language) -> str:
    """Who approved a golden, when and why, and what was wrong with it; as on the page."""
    words = catalogues()[language]
    said = filled(words["approved.by"], name=approval.reviewer, day=approval.day, deployment=approval.deployment)
    despite = lacks_in_words(approval.despite, language)
    although = filled(words["approved.although"], list=despite) if despite else ""
    return " · ".join(filter(None, (said, approval.reason, although)))


def lacks_in_words(lacks: Iterable[Sentence], language: Language) -> str:
    """Sentences as one line, divided as the language divides them."""
    between = filled(catalogues()[language]["series"], before="", next="")
    return between.join(lack.text(language) for lack in lacks)


def without_answers(case: CaseView) -> CaseView:
    """The case without its request and its answers, so that many of them can be kept; the short changes stay."""
    return replace(
        case,
        golden=(),
        candidate=tuple(map(_without_texts, case.candidate)),
        source_samples=(),
        messages=(),
        context=None,
        source_params={},
        target_params={},
    )


def _without_texts(group: AnswerGroup) -> AnswerGroup:
    diffs = tuple(
        replace(diff, parts=tuple(replace(part, operations=()) for part in diff.parts)) for diff in group.diffs
    )
    return replace(group, content="", tool_calls=(), reasonings=(), diffs=diffs)

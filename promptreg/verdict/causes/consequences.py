"""Which causes explain which others, so that one root fault is one cause and not seven.

An answer that is a run of one symbol is no JSON, is too long, ends at the cap and calls no tool: that is one cause with
its consequences. A cause explains another one in a case where it is the kind of cause that leads to it, and where it
is seen in at least as many answers of the target.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.answer.model import THINK_TAG
from promptreg.answer.reader import CONTENT_PART

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.verdict.causes.cluster import Cause

FAULT, MOVED, CHECK, CHANNEL, ERROR, FACTS = "fault", "moved", "check", "channel", "error", "facts"
BEGINS: Final = "begins"
"""Target answers of several cases begin with one and the same text, with which no source answer begins."""
CONTEXT: Final = "context"
"""The target was sent a shortened conversation, and the source was not sent the same."""

_LAYOUT: Final = frozenset({"fence", "no_fence", "table", "no_table", "list", "no_list", "single_line"})
_CLAIMS: Final = frozenset({"fact", "negation", "added", "left_out", "cut_off", "order", "word"})
"""What one text says otherwise than the other; see `claims`."""
_SAID: Final = _CLAIMS | {CHANNEL, CHECK, "language"}
"""What the text says, and whether it passes."""
_TEXT: Final = _LAYOUT | _SAID | {"json", "json_shape", "length", BEGINS, "F24", "F25"}
"""What one reads off the text of an answer."""
_OTHER_CALLS: Final = frozenset({"tool_arguments", "tool_values", "tool_count"})
_CALLS: Final = frozenset({"tool_call", "no_tool_call", "text"}) | _OTHER_CALLS
_THOUGHT: Final = frozenset({"reasoning", MOVED, "F10", "F13"})
_ALL: Final = _TEXT | _CALLS | _THOUGHT | {"finish_reason", "empty", "refusal", "F05", "F29", "F30"}
"""What an answer is that has become something else altogether."""

_LEADS_TO: Final[Mapping[str, frozenset[str]]] = {
    # What came instead of an answer is told by the error, which says what to do.
    ERROR: frozenset({*(f"F{number}" for number in range(41, 52)), "F11", "F12", "F27", "F53"}),
    "F01": _ALL | {"F02", "F03", "F04", "F07", "F26"},
    "F02": _ALL | {"F26"},
    "F03": _ALL | {"F26"},
    "F04": _TEXT | {"text", "F05"},
    # A sentence in another language is no JSON either.
    "F05": _SAID | {"length", "text", "json", "json_shape", "single_line", "F24", "F25"},
    "F06": _CLAIMS | {"tool_values", CHANNEL, CHECK, "json", "json_shape", "F24", "F25"},
    "F07": _CLAIMS | {CHANNEL, CHECK, "json", "text", "F24", "F25"},
    "F09": _TEXT | _THOUGHT | {"text", "F14", "F31"},
    "F10": frozenset({"reasoning"}),
    "F11": _ALL | {"F51"},
    "F12": _ALL | {"F51"},
    "F13": frozenset({"reasoning", "F10"}),
    "F15": _TEXT | _CALLS | {"finish_reason", "F53"},
    "F16": _OTHER_CALLS | {CHANNEL, CHECK},
    "F17": frozenset({"tool_call", "finish_reason", "empty", CHECK}),
    "F18": frozenset({"finish_reason", CHECK}),
    "F19": _OTHER_CALLS | {CHANNEL, CHECK},
    "F20": _OTHER_CALLS | {CHANNEL, CHECK},
    "F21": _OTHER_CALLS | {CHANNEL, CHECK},
    "F22": _OTHER_CALLS | {"tool_call", "F19"},
    "F23": _CALLS | {"finish_reason", CHECK},
    "F24": _LAYOUT | _CLAIMS | {"F25", "length", CHECK},
    "F25": frozenset({"json", "json_shape", CHECK}),
    "F26": _TEXT | {"finish_reason", "empty", "F29"},
    "F28": frozenset({"finish_reason", CHECK, "cut_off", "left_out"}),
    "F29": _TEXT | _OTHER_CALLS | {"finish_reason", "tool_call", "F19"},
    "F31": _TEXT | {"finish_reason", "empty"},
    "F33": _TEXT | {"text"},
    "F36": _ALL | {"F01", "F02", "F03", "F04", "F06", "F07"},
    "F37": _TEXT,
    "F41": frozenset({"finish_reason", "F28", "F30", "cut_off", "left_out"}),
    "F42": _TEXT | {"finish_reason", "F28", "F30", "F41"},
    "F43": _TEXT | _OTHER_CALLS | {"F02", "F03", "F19", "F29", "F30"},
    "F51": _ALL,
    MOVED: frozenset({"reasoning", "F10"}),
    # What was not sent is a reason for what is not answered; for the form of an answer it is none.
    CONTEXT: _CLAIMS | {CHANNEL, CHECK, "length"},
    # Of signs only what they lead to in the same answers: `signs_of` reads the others off other answers.
    BEGINS: (_TEXT - {BEGINS}) | {"text"},
    "json": frozenset({"F24", "F25"}),
    "json_shape": frozenset({"F25"}),
    "refusal": frozenset({"finish_reason", "F05", "F24", "F25", "F53", CHECK}),
    "empty": frozenset({"finish_reason", "reasoning", "F25", CHECK}),
    "tool_call": frozenset({"text", "finish_reason", "no_tool_call"}),
    "no_tool_call": frozenset({"finish_reason", "empty"}),
    **dict.fromkeys(("fact", "negation", "order", "word", "tool_values", "tool_count"), frozenset({CHECK})),
    **dict.fromkeys(("added", "left_out", "cut_off"), frozenset({CHECK, "length", "finish_reason", *_LAYOUT})),
}
"""By kind of fault, or by the first word of another cause: the kinds and first words that follow from it."""


def head_of(cause: Cause) -> str:
    """The kind of a fault; of any other cause its first word."""
    return cause[1] if cause[0] == FAULT else cause[0]


def of_looks(cause: Cause) -> bool:
    """Whether a cause tells how answers look and not what they say, or that they say less."""
    return cause[0] in {*_LAYOUT, BEGINS, "finish_reason"} or cause[:2] == ("length", "longer")


def leads_to(root: Cause, cause: Cause) -> bool:
    """Whether a cause of the one kind explains one of the other."""
    return head_of(cause) in _LEADS_TO.get(head_of(root), frozenset())


def explained_by(cause: Cause, answers: Mapping[Cause, int]) -> tuple[Cause, ...]:
    """The causes of a case from which one of them follows, directly or not, and that follow from nothing themselves.

    Args:
        cause: of the case.
        answers: by cause of the case, how many answers of the target show it. Of what was read off no answers (0), any
            number is enough.
    """
    roots: list[Cause] = []
    waiting, seen = [cause], {cause}
    while waiting:
        here = waiting.pop()
        above = _leading_to(here, answers)
        if not above and here != cause:
            roots.append(here)
        waiting += [one for one in above if one not in seen]
        seen.update(above)
    return tuple(by_likelihood(roots))


def _leading_to(cause: Cause, answers: Mapping[Cause, int]) -> tuple[Cause, ...]:
    head = head_of(cause)
    return tuple(
        root
        for root in answers
        if root != cause
        and head in _LEADS_TO.get(head_of(root), frozenset())
        and answers[root] >= answers[cause]
        and not _leads_back(cause, root, answers)
    )


def _leads_back(cause: Cause, root: Cause, answers: Mapping[Cause, int]) -> bool:
    """Whether two causes explain each other: then the one that is seen more often, or comes first, is the root."""
    if head_of(root) not in _LEADS_TO.get(head_of(cause), frozenset()):
        return False
    return (answers[root], _rank(cause), cause) < (answers[cause], _rank(root), root)


def by_likelihood(causes: Iterable[Cause]) -> list[Cause]:
    """The causes, the ones that explain most first."""
    return sorted(causes, key=lambda cause: (_rank(cause), cause))


_LIKELIEST: Final = (
    *(ERROR, MOVED, BEGINS, "json", FAULT, CONTEXT, "empty", "refusal", "language", "tool_call", "no_tool_call"),
    *(
        "tool_arguments",
        "tool_count",
        "tool_values",
        "json_shape",
        "cut",
        "cut_off",
        "negation",
        "fact",
        "fence",
        "no_fence",
        "table",
        "no_table",
    ),
    *("list", "no_list", "single_line", "added", "left_out", "length", "order", "finish_reason", "reasoning", "text"),
    *("word", CHECK, CHANNEL),
)
"""First words of causes, the ones that explain most first; what is cut by its budget lost its layout by that."""

_RANK: Final = {head: rank for rank, head in enumerate(_LIKELIEST)}


def _rank(cause: Cause) -> int:
    head = cause[0]
    # Reasoning in the content is a broken server first; in another field it has merely moved.
    if head == MOVED and cause[1] in (THINK_TAG, CONTENT_PART):
        head = FAULT
    elif head == "length" and cause[2:] == ("length",):
        head = "cut"
    elif cause[:2] == (CHANNEL, "numbers"):
        head = "fact"  # however little can be said of them, other numbers are facts
    return _RANK.get(head, len(_RANK))

"""What is otherwise on the target, read off one case's answers in a form by which cases can be grouped.

A sign is a cause and the number of target answers that show it:

("empty",)                       no text
("text",)                        a text where there was none
("refusal", "now" or "gone")     refuses, or no longer does
("json", "fenced" or "none")     no longer JSON, with JSON in a code block or without
("json_shape",)                  JSON with other keys or types
("tool_call", name)              the tool is not called any more
("tool_arguments", name)         its arguments have other keys or types
("tool_values", name) ("tool_count", "fewer" or "more")    other calls of the same tools, see `calls`
("no_tool_call",)                a tool is called where none was
("language", "en")               in another language than all source answers
("length", "shorter" or "longer", reason)    beyond ±40 % of all source answers; the reason is the finish reason of
                                 most of them where no source answer ended so, else ""
("finish_reason", "length")      ends as no source answer ended
("no_fence", "whole")            the whole answer stands in a code block
("fence",) ("no_fence",) ("table",) ("no_table",) ("list",) ("no_list",) ("single_line",)    another layout
("reasoning", "present" or "absent")         as all source answers had it, and these do not
("begins", text)                 before all of them stands one text that no source answer has there, at most 80
                                 characters; told only where several cases show it (see `beginnings`)
("begins", text, "whole")        the same where it is all that was answered
("fact", …) ("negation", …) ("added", …) ("left_out", …) ("cut_off",) ("order",) ("word",)    see `claims`
("facts",)                       lacks a number or name that all source answers state, and none of these claims

An answer that is shorter because it is empty or a refusal is only the latter: lengths, languages, claims and facts are
read off the answers that nothing graver explains, those of JSON off that which has its keys. A sign counts when chance
gives it to so many target answers in at most `MOST_CHANCE` of all labellings; of ten source answers and five target
answers at least two have to show it.
"""

from __future__ import annotations

from collections import Counter
from os.path import commonprefix
from typing import TYPE_CHECKING, Final

from promptreg.scoring.contract.features import Feature
from promptreg.scoring.contract.implied import place_of
from promptreg.verdict.causes.calls import other_calls, other_calls_on_the_source
from promptreg.verdict.causes.claims import MOST_TEXTS, also_on_the_source, claims_of, put_before
from promptreg.verdict.causes.consequences import BEGINS
from promptreg.verdict.model import Sign
from promptreg.verdict.statistics.contract import LENGTH_SLACK
from promptreg.verdict.statistics.regression import fisher_p

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from promptreg.scoring.contract.shared import Breach
    from promptreg.scoring.traits import AnswerTraits
    from promptreg.verdict.causes.cluster import Cause
    from promptreg.verdict.evidence import CaseEvidence

MOST_CHANCE: Final = 0.1
"""Largest p of a sign. It chooses what is told; whether the case moved at all is the verdict's to judge."""

_READ_OTHERWISE: Final = frozenset({"no_refusal", "language", "finish_reason", "fact"})
"""Kinds of features that are read off the traits here, so that cases without a contract have them too, or last."""

SHORTEST_BEGINNING: Final = 8
LONGEST_BEGINNING: Final = 80
"""Characters of a text with which answers of several cases begin."""
WHOLE: Final = "whole"
"""Third word of such a cause where the text is all that was answered."""

_LAYOUT: Final = frozenset({"fence", "no_fence", "table", "no_table", "list", "no_list"})
"""First words of causes that explain which words came or went."""
_SAID: Final = frozenset({"fact", "negation"})
"""First words of claims that no layout explains."""

_GRAVE: Final = frozenset({"empty", "text", "refusal", "json", "tool_call", "no_tool_call"})
"""First words of causes that explain another length, language or fact."""


def signs_of(case: CaseEvidence, breaches: Iterable[Breach], *, closely: bool = True) -> tuple[Sign, ...]:
    """The signs of one case that was compared, the ones that most answers show first.

    Args:
        case: with every sample.
        breaches: of its contract; none where it infers no contract.
        closely: whether the texts are held against each other, which takes milliseconds, for their claims.
    """
    breaches = tuple(breaches)
    n, m = case.source_passes, case.target_passes
    signs = _of_breaches(case, breaches)
    refusals = _refusals(case.traits, n)
    # Refusing answers lack whatever the others have; they are told once.
    refusing = {index for index in range(n, n + m) if case.traits[index].refusal}
    if refusing:
        signs = {cause: answers - refusing for cause, answers in signs.items()}
    signs.update(refusals)
    grave = set().union(*(answers for cause, answers in signs.items() if cause[0] in _GRAVE))
    rest = [index for index in range(n, n + m) if index not in grave and case.traits[index].text]
    signs.update(_languages(case.traits, n, rest))
    # JSON without a key is shorter for want of it.
    reshaped = signs.get(("json_shape",), set())
    lengths = _lengths(case.traits, n, [index for index in rest if index not in reshaped])
    signs.update(lengths)
    told = {cause[2]: answers for cause, answers in lengths.items()}
    for reason, answers in _finish_reasons(case.traits, n).items():
        signs["finish_reason", reason] = answers - told.get(reason, set())
    foreign = set().union(*(answers for cause, answers in signs.items() if cause[0] == "language"))
    claims = claims_of(case, [index for index in rest if index not in reshaped | foreign]) if closely else {}
    laid_out = set().union(*(answers for cause, answers in signs.items() if cause[0] in _LAYOUT))
    claims = {cause: answers if cause[0] in _SAID else answers - laid_out for cause, answers in claims.items()}
    signs.update(claims)
    lacking = {index for breach in breaches if breach.shared.feature.kind == "fact" for index in breach.answers}
    shorter = set().union(*(answers for cause, answers in lengths.items() if cause[1] == "shorter"))
    signs["facts",] = lacking - grave - reshaped - shorter.union(*claims.values())
    signs.update(_beginning(case, refusing))
    usual = also_on_the_source(case, claims) if claims else Counter()
    malformed = set().union(*(answers for cause, answers in signs.items() if cause[0] == "tool_arguments"))
    calls = other_calls(case.traits, n, [index for index in rest if index not in malformed])
    if calls:
        signs.update(calls)
        usual += other_calls_on_the_source(case.traits, n)
    found = [
        Sign(cause, len(answers))
        for cause, answers in signs.items()
        if answers and _chance(cause, case.traits, n, len(answers), usual[cause]) <= MOST_CHANCE
    ]
    return tuple(sorted(found, key=lambda sign: (-sign.samples, sign.cause)))


def _chance(cause: Cause, traits: Sequence[AnswerTraits], n: int, samples: int, source: int) -> float:
    """One-sided p of so many target answers showing the sign. Only refusals, claims and calls are on the source too."""
    if cause[0] == "refusal":
        source = sum(trait.refusal == (cause[1] == "now") for trait in traits[:n])
    return fisher_p(source, n, samples, len(traits) - n)


def _of_breaches(case: CaseEvidence, breaches: Sequence[Breach]) -> dict[Cause, set[int]]:
    signs: dict[Cause, set[int]] = {}
    for breach in breaches:
        feature = breach.shared.feature
        if feature.kind in _READ_OTHERWISE:
            continue
        fenced = _holding_json(case, breach.answers) if feature.kind == "json" else frozenset()
        whole = _all_fenced(case, breach.answers) if feature.kind == "no_fence" else frozenset()
        for index in breach.answers:
            cause = ("json", "fenced") if index in fenced else _cause(feature)
            cause = ("no_fence", "whole") if index in whole else cause
            signs.setdefault(cause, set()).add(index)
    return signs


_OTHER_NAMES: Final[Mapping[tuple[str, str] | str, Cause]] = {
    ("content", "present"): ("empty",),
    ("content", "absent"): ("text",),
    ("list", "none"): ("no_list",),
    "json": ("json", "none"),
    "json_path": ("json_shape",),
    "json_type": ("json_shape",),
    "json_keys": ("json_shape",),
    "whole_fence": ("fence",),
}
"""Causes that are called otherwise than the kind of feature, or the feature, that is lacking."""


def _cause(feature: Feature) -> Cause:
    kind, value = feature.kind, feature.value
    if kind in ("tool_path", "tool_type", "tool_keys"):
        return ("tool_arguments", place_of(feature).tool)
    if kind in ("tool_call", "reasoning"):
        return (kind, value)
    return _OTHER_NAMES.get((kind, value)) or _OTHER_NAMES.get(kind) or (kind,)


def _holding_json(case: CaseEvidence, answers: Iterable[int]) -> frozenset[int]:
    """Those of the answers that hold JSON although they are none: in a code block."""
    top = Feature("json_path", "$")
    if case.contract is None or top not in case.contract.features:
        return frozenset()
    column = case.contract.features.index(top)
    return frozenset(index for index in answers if case.contract.present[index, column])


def _all_fenced(case: CaseEvidence, answers: Iterable[int]) -> frozenset[int]:
    """Those of the answers that stand in one code block with nothing around it."""
    if case.contract is None:
        return frozenset()
    columns = [index for index, feature in enumerate(case.contract.features) if feature.kind == "whole_fence"]
    return frozenset(index for index in answers if case.contract.present[index, columns].any())


def _refusals(traits: Sequence[AnswerTraits], n: int) -> dict[Cause, set[int]]:
    source = sum(trait.refusal for trait in traits[:n])
    target = {index for index in range(n, len(traits)) if traits[index].refusal}
    m = len(traits) - n
    if len(target) * n > source * m:
        return {("refusal", "now"): target}
    if len(target) * n < source * m:
        return {("refusal", "gone"): set(range(n, len(traits))) - target}
    return {}


def _languages(traits: Sequence[AnswerTraits], n: int, answers: Iterable[int]) -> dict[Cause, set[int]]:
    source = {trait.language for trait in traits[:n]}
    if len(source) > 1 or None in source:
        return {}
    signs: dict[Cause, set[int]] = {}
    for index in answers:
        language = traits[index].language
        if language is not None and language not in source:
            signs.setdefault(("language", language), set()).add(index)
    return signs


def _beginning(case: CaseEvidence, refusing: Collection[int]) -> dict[Cause, set[int]]:
    """The text that stands before all target answers and before no source answer. Of fences the layout tells."""
    traits, n = case.traits, case.source_passes
    contents = [trait.content for trait in traits[n:]]
    common = commonprefix(contents)  # noqa: RUF071 - of texts, not of paths
    shared = common[:LONGEST_BEGINNING]
    start = shared[:SHORTEST_BEGINNING]
    if refusing or len(start.strip()) < SHORTEST_BEGINNING or start.startswith(("```", "~~~")):
        return {}
    if any(trait.text.startswith(start) for trait in traits[:n]):
        return {}
    first = {text: place for place, text in reversed(list(enumerate(contents, n)))}
    before = min(put_before(case, place) for place in list(first.values())[:MOST_TEXTS])
    if before < SHORTEST_BEGINNING:
        return {}
    # An answer that only calls a tool has no text that something could stand before.
    whole = len(common) == max(map(len, contents)) <= before and any(trait.length for trait in traits[:n])
    cause = (BEGINS, shared[:before], WHOLE) if whole else (BEGINS, shared[:before])
    return {cause: set(range(n, len(traits)))}


def _lengths(traits: Sequence[AnswerTraits], n: int, answers: Iterable[int]) -> dict[Cause, set[int]]:
    lengths = [trait.length for trait in traits[:n]]
    low, high = min(lengths) * (1 - LENGTH_SLACK), max(lengths) * (1 + LENGTH_SLACK)
    if not high:
        return {}
    answers = tuple(answers)
    ways = {
        "shorter": {index for index in answers if traits[index].length < low},
        "longer": {index for index in answers if traits[index].length > high},
    }
    return {("length", way, _common_end(traits, n, found)): found for way, found in ways.items() if found}


def _common_end(traits: Sequence[AnswerTraits], n: int, answers: Iterable[int]) -> str:
    """The finish reason of most of the answers, where no source answer has it; else ""."""
    ((reason, _),) = Counter(traits[index].finish_reason for index in sorted(answers)).most_common(1)
    return reason if reason and all(trait.finish_reason != reason for trait in traits[:n]) else ""


def _finish_reasons(traits: Sequence[AnswerTraits], n: int) -> Mapping[str, set[int]]:
    source = {trait.finish_reason for trait in traits[:n]}
    found: dict[str, set[int]] = {}
    for index in range(n, len(traits)):
        reason = traits[index].finish_reason
        if reason not in source:
            found.setdefault(reason or "missing", set()).add(index)
    return found

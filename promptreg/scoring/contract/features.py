"""What an answer has, as features that it either has or lacks: the words in which a contract is written.

kind            value
content         "present" or "absent": whether there is any text
single_line     ""
json            "": the whole content is one JSON value
json_path       "$.items[].price": the path is there, in every element (see `json_shape`); of fenced JSON too
json_type       "$.items[].price: number"
json_keys       "$.items[]: name, price": these keys and no others
whole_fence     "json": the whole content is one code fence, of this language
fence           "json": there is a code fence of this language
no_fence        ""
table           "name | price": there is a table with these columns
no_table        ""
list            "bulleted", "numbered" (two items at least), or "none"
language        "zh"; of JSON that of the sentences and foreign words among its texts, if there are any
finish_reason   "stop", or "missing"
no_refusal      ""
reasoning       "present" or "absent"
no_tool_call    ""
tool_call       "get_weather": the tool is called
tool_path       "get_weather $.city": every call of the tool has the argument
tool_type       "get_weather $.city: string"
tool_keys       "get_weather $: city, unit": these arguments and no others
fact            "30 day": a number or an entity that is stated, in its normal form; in JSON by its texts and numbers

Where the reasoning stood is no feature: a server that uses another field has not answered otherwise.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from promptreg.scoring.checks.language import language_of_answer
from promptreg.scoring.checks.reading.refusal_text import refuses
from promptreg.scoring.contract.json_shape import shapes_of, texts_of
from promptreg.scoring.contract.markup import Markup, read_markup
from promptreg.text.facts.model import GROUP_OF
from promptreg.text.facts.read import read_facts
from promptreg.text.script import language_of, writes_beyond_latin
from promptreg.text.segment import grapheme_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from promptreg.answer.model import Answer
    from promptreg.scoring.contract.json_shape import Shape

FACT_KIND: Final = "fact"
"""Kind of the features that are stated facts; all others are the form that an answer has."""

MOST_FACTS: Final = 500
"""Different facts of one answer that are kept, in the order of the text."""
MOST_CALLS: Final = 64
"""Tool calls of one answer that are looked at."""
LONGEST_JSON: Final = 2_000_000
"""Characters up to which a text is tried as JSON; a longer one counts as no JSON."""
_LONGEST_VALUE: Final = 200

_FACT_GROUPS: Final = frozenset({"numbers", "entities"})
_NOTHING: Final = object()


@dataclass(frozen=True, slots=True, order=True)
class Feature:
    """One thing that an answer has."""

    kind: str
    value: str


def answer_features(answer: Answer, facts: Callable[[str], Iterable[str]] | None = None) -> frozenset[Feature]:
    """Everything that one answer has.

    Bounded for runaway answers, always by leaving out what comes last: the module constants here, in `json_shape` and
    in `markup` say how much is read, `text.facts.read.LONGEST` how much of a text is searched for facts. Values longer
    than 200 characters end in a hash.

    Args:
        answer: As received or with normalised content.
        facts: Gives the normal forms of the numbers and entities of a text, when they were read already.
    """
    return content_features(answer, facts) | frozenset(_bounded(*pair) for pair in _of_parts(answer))


def content_features(answer: Answer, facts: Callable[[str], Iterable[str]] | None = None) -> frozenset[Feature]:
    """The features that depend on the content alone: those that cost time."""
    return frozenset(_bounded(*pair) for pair in _of_content(answer, facts or stated_facts))


def part_features(answer: Answer) -> frozenset[Feature]:
    """The features of everything but the content."""
    return frozenset(_bounded(*pair) for pair in _of_parts(answer))


def stated_facts(text: str) -> Iterator[str]:
    """Normal forms of the numbers and entities of a text, in its order."""
    return (fact.normal for fact in read_facts(text) if GROUP_OF[fact.kind] in _FACT_GROUPS)


def fact_text(content: str) -> str:
    """The text that the facts of an answer are read off: of JSON, in a code block or not, its texts and numbers."""
    stripped = content.strip()
    value = _parsed(stripped)
    if value is _NOTHING and (whole := read_markup(stripped).whole) is not None:
        value = _parsed(whole)
    return content if value is _NOTHING else _told(texts_of(value))


def fact_feature(normal: str) -> Feature:
    """The feature of stating a fact with this normal form."""
    return _bounded(FACT_KIND, normal)


def answer_length(answer: Answer) -> int:
    """Characters of the content as a reader counts them, like the check `max_chars`. An ordered value, no feature."""
    return grapheme_count(answer.content.strip())


def _of_content(answer: Answer, facts: Callable[[str], Iterable[str]]) -> Iterator[tuple[str, str]]:
    content = answer.content.strip()
    yield "content", "present" if content else "absent"
    if not content:
        return
    if not any(end in content for end in "\n\r\u2028\u2029"):
        yield "single_line", ""
    markup = read_markup(content)
    value = _parsed(content)
    if value is not _NOTHING:
        yield "json", ""
    elif markup.whole is not None:
        value = _parsed(markup.whole)
    if value is not _NOTHING:
        for shape in shapes_of(value):
            yield from _of_shape("json", "", shape)
    yield from _of_markup(markup)
    texts = None if value is _NOTHING else texts_of(value)
    language = language_of_answer(answer) if texts is None else _language_within(texts)
    if language is not None:
        yield "language", language
    if not refuses(content):
        yield "no_refusal", ""
    # Keys state nothing, and a fence around JSON takes no fact away.
    kept = dict.fromkeys(facts(answer.content if texts is None else _told(texts)))
    for normal in list(kept)[:MOST_FACTS]:
        yield FACT_KIND, normal


def _told(texts: Iterable[str]) -> str:
    return "\n".join(texts)


def _language_within(texts: Iterable[str]) -> str | None:
    """The language of the texts of a JSON value: labels, codes and names in Latin letters are in none."""
    sentences = [text for text in texts if len(text.split(maxsplit=2)) > 2 or writes_beyond_latin(text)]
    return language_of("\n".join(sentences)) if sentences else None


def _of_shape(kind: str, before: str, shape: Shape) -> Iterator[tuple[str, str]]:
    yield f"{kind}_path", f"{before}{shape.path}"
    for name in shape.types:
        yield f"{kind}_type", f"{before}{shape.path}: {name}"
    if shape.keys is not None:
        yield f"{kind}_keys", f"{before}{shape.path}: {', '.join(shape.keys)}"


def _of_markup(markup: Markup) -> Iterator[tuple[str, str]]:
    if markup.whole is not None:
        yield "whole_fence", markup.fences[0]
    for language in markup.fences:
        yield "fence", language
    if not markup.fences:
        yield "no_fence", ""
    for columns in markup.tables:
        yield "table", " | ".join(columns)
    if not markup.tables:
        yield "no_table", ""
    if markup.bullets > 1:
        yield "list", "bulleted"
    if markup.numbers > 1:
        yield "list", "numbered"
    if max(markup.bullets, markup.numbers) < 2:
        yield "list", "none"


def _of_parts(answer: Answer) -> Iterator[tuple[str, str]]:
    yield "finish_reason", answer.finish_reason or "missing"
    yield "reasoning", "present" if answer.reasoning.strip() else "absent"
    if not answer.tool_calls:
        yield "no_tool_call", ""
        return
    arguments: dict[str, list[Any]] = {}
    for call in answer.tool_calls[:MOST_CALLS]:
        arguments.setdefault(call.name, []).append(_parsed(call.arguments))
    for name, values in arguments.items():
        yield "tool_call", name
        if _NOTHING in values:
            continue
        # The calls of one tool are looked at together, like the elements of a list.
        for shape in shapes_of(values):
            if shape.path != "$":
                yield from _of_shape("tool", f"{name} ", shape._replace(path=shape.path.replace("$[]", "$", 1)))


def _parsed(text: str) -> Any:
    if len(text) > LONGEST_JSON:
        return _NOTHING
    try:
        return orjson.loads(text.strip())
    except ValueError:
        return _NOTHING


def _bounded(kind: str, value: str) -> Feature:
    if len(value) > _LONGEST_VALUE:
        digest = hashlib.sha256(value.encode("utf-8", "backslashreplace")).hexdigest()[:12]
        value = f"{value[: _LONGEST_VALUE - 13]}…{digest}"
    return Feature(kind, value)

"""`--select`: which cases of the loaded suites are meant.

expression = term (("and" | "or") term)*        `and` binds tighter than `or`
term       = "not" term | "(" expression ")" | word
word       = tag:GLOB | id:GLOB | suite:GLOB | part of an id; in quotes where it has spaces or parentheses
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeAlias

from promptreg.config.hints import did_you_mean, listing
from promptreg.errors import UsageError
from promptreg.suite.model import Case, Suite

Predicate: TypeAlias = Callable[[Case], bool]

_TOKEN = re.compile(
    r"""\s*(?:(?P<paren>[()])|(?P<word>(?:[A-Za-z]+:)?(?:"(?:[^"\\]|\\.)*"|'[^']*')|[^\s()"']+)|(?P<bad>\S))"""
)
_FIELDS = ("tag", "id", "suite")
_OPERATORS = ("and", "or", "not")
_MAX_LENGTH = 10_000
_MAX_DEPTH = 50


class _Token(NamedTuple):
    text: str
    at: int
    """Position in the expression, from 1."""


def select_cases(suites: Sequence[Suite], expression: str | None) -> tuple[Suite, ...]:
    """The suites with the cases that `expression` matches; suites left without any are left out.

    None or a blank expression selects everything.

    Raises:
        UsageError: when the expression cannot be read, or matches no case.
    """
    if expression is None or not expression.strip():
        return tuple(suites)
    matches = selection(expression)
    kept = ((suite, tuple(case for case in suite.cases if matches(case))) for suite in suites)
    selected = tuple(replace(suite, cases=cases) for suite, cases in kept if cases)
    if not selected:
        raise UsageError(_nothing_matches(suites, expression))
    return selected


def selection(expression: str) -> Predicate:
    """Which cases an expression means.

    Raises:
        UsageError: when it cannot be read.
    """
    return _Parser(expression).parse()


def _nothing_matches(suites: Sequence[Suite], expression: str) -> str:
    cases = [case for suite in suites for case in suite.cases]
    known = {
        "tag": {tag for case in cases for tag in case.tags},
        "id": {case.case_id for case in cases},
        "suite": {suite.name for suite in suites},
    }
    sentence = f"--select `{expression}` matches none of {len(cases)} cases."
    for token in _tokens(expression):
        field, colon, pattern = token.text.partition(":")
        if not colon:
            sentence += _meant(_unquoted(token.text), known)
        if field in known and not any(fnmatchcase(name, _unquoted(pattern)) for name in known[field]):
            have = listing(known[field]) or "none"
            sentence += f" No case has the {field} `{_unquoted(pattern)}`."
            sentence += f"{did_you_mean(pattern, known[field])} There are: {have}."
    return sentence


def _meant(word: str, known: Mapping[str, Collection[str]]) -> str:
    """Of a word that is looked for in ids: what may have been meant, with a space before it; or nothing."""
    field, equals, name = word.partition("=")
    if equals and field in known:
        return f" Write `{field}:{name}` for `{word}`."
    found = [field for field in ("tag", "suite") if word in known[field]]
    return f" `{word}` is a {found[0]}: write `{found[0]}:{word}`." if found else ""


def _tokens(expression: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(expression.rstrip()):
        found = _TOKEN.match(expression, position)
        if found is None or found["bad"] is not None:
            at = (found.start("bad") if found else position) + 1
            raise UsageError(f"--select: the quote at position {at} of `{expression}` is not closed.")
        group = "paren" if found["paren"] else "word"
        tokens.append(_Token(found[group], found.start(group) + 1))
        position = found.end()
    return tokens


def _unquoted(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] == '"':
        return re.sub(r"\\(.)", r"\1", word[1:-1], flags=re.DOTALL)
    if len(word) > 1 and word[0] == word[-1] == "'":
        return word[1:-1]
    return word


class _Parser:
    def __init__(self, expression: str) -> None:
        if len(expression) > _MAX_LENGTH:
            raise UsageError(f"--select: the expression is longer than {_MAX_LENGTH} characters.")
        self._expression = expression
        self._tokens = _tokens(expression)
        self._next = 0
        self._depth = 0

    def parse(self) -> Predicate:
        predicate = self._or()
        if self._next < len(self._tokens):
            token = self._tokens[self._next]
            if token.text == ")":
                raise self._error("there is no `(` for the `)`", token)
            raise self._error(f"`and` or `or` is missing before `{token.text}`", token)
        return predicate

    def _error(self, what: str, token: _Token | None) -> UsageError:
        where = f" at position {token.at}" if token else " at its end"
        return UsageError(
            f"--select: {what}{where} of `{self._expression}`. "
            "Write for example `tag:policy and not id:refund*`, with `suite:NAME`, parts of ids, `or` and `( )`."
        )

    def _peek(self) -> str | None:
        return self._tokens[self._next].text if self._next < len(self._tokens) else None

    def _or(self) -> Predicate:
        terms = [self._and()]
        while self._peek() == "or":
            self._next += 1
            terms.append(self._and())
        return terms[0] if len(terms) == 1 else lambda case: any(term(case) for term in terms)

    def _and(self) -> Predicate:
        terms = [self._term()]
        while self._peek() == "and":
            self._next += 1
            terms.append(self._term())
        return terms[0] if len(terms) == 1 else lambda case: all(term(case) for term in terms)

    def _term(self) -> Predicate:
        if self._next >= len(self._tokens):
            raise self._error("a word is missing", None)
        token = self._tokens[self._next]
        self._next += 1
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error("parentheses and `not` are nested too deeply", token)
        try:
            if token.text == "not":
                inner = self._term()
                return lambda case: not inner(case)
            if token.text == "(":
                inner = self._or()
                if self._peek() != ")":
                    raise self._error("the `(` is not closed", token)
                self._next += 1
                return inner
            if token.text == ")" or token.text in _OPERATORS:
                raise self._error(f"a word is missing before `{token.text}`", token)
            return self._word(token)
        finally:
            self._depth -= 1

    def _word(self, token: _Token) -> Predicate:
        field, colon, pattern = token.text.partition(":")
        if not colon or token.text[0] in "\"'":
            part = _unquoted(token.text)
            return lambda case: part in case.case_id
        if field not in _FIELDS:
            hint = did_you_mean(f"{field}:", [f"{known}:" for known in _FIELDS])
            raise self._error(
                f"`{field}:` is not known.{hint} Known are `tag:`, `id:`, `suite:`; put an id with a colon in quotes",
                token,
            )
        glob = _unquoted(pattern)
        if not glob:
            raise self._error(f"a word is missing after `{field}:`", token)
        if field == "tag":
            return lambda case: any(fnmatchcase(tag, glob) for tag in case.tags)
        if field == "id":
            return lambda case: fnmatchcase(case.case_id, glob)
        return lambda case: fnmatchcase(case.suite, glob)

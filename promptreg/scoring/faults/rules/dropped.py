"""F06: characters that are missing from what the prompt gave."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Probe, Rule, Severity
from promptreg.scoring.faults.reading.asked import text_to_echo
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from promptreg.scoring.faults.model import Finding, Observation

_LONGEST: Final = 20_000
"""Characters of prompt and answer that are compared."""

_MOST_TOKENS: Final = 400
_PAGE: Final = re.compile(r"https?://[^\s<>\"'，。）)]{4,300}")
_ADDRESS: Final = re.compile(_PAGE.pattern + r"|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}")
_TOKEN: Final = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ0-9](?:[A-Za-zÀ-ÖØ-öø-ÿ0-9]|[-_.:/,](?=[A-Za-z0-9])){2,60}")
_SHORT_NUMBER: Final = re.compile(r"(?<![\d.,])([1-9]\d{2,5})(?![\d.,]\d|\d)")
_MOST_TAKEN: Final = 4_000
_HAN_TRIPLE: Final = re.compile(r"(?=([一-鿿]{3}))")
_AROUND: Final = 3
"""Characters on a side that must be the recorded ones for a text to stand in the place of another."""

_OFTEN_LEFT_OUT: Final = frozenset(
    "的了是在有和与及也都就会要可以把被请您你我他她它们个这那一不所很再又还并或而之其为将已经能够应该需须得着过地于从向对给让使到去来上下里中内外"
    "市省县区镇村州国山路街站号楼层店院校馆部社司家人者员学大小老新第总两几每各种次位名件条份张本台间座只点时分日月年天周元块"
)
"""Characters that a sentence does without, and those of forms that come shorter: 北京市, 新品, 两个."""

_BLANKS: Final = re.compile(r"\s+")
_QUOTES: Final = "\"'“”‘’「」『』`*. 。!！\n"


def _dropped(call: Observation) -> Iterator[Finding]:
    """Numbers, names and addresses of the prompt that come back shorter; an echo that lost characters."""
    if call.content.blank or not call.request:
        return
    answer = call.content.raw[:_LONGEST]
    echo = text_to_echo(call.last_question[:_LONGEST])
    if echo is not None:
        pair = _shorter_echo(echo, answer, cut=call.finish_reason != "stop")
        if pair is not None and not _recorded(call, pair[1]) and not _cut_within(call, *pair):
            yield found("F06", "content", _came_back(*pair))
        return
    prompt = call.prompt.raw
    if len(prompt) > _LONGEST:
        prompt = prompt[: _LONGEST // 2] + "\n" + prompt[-_LONGEST // 2 :]
    recorded = call.golden.contents if call.golden else ()
    missing = _missing(prompt, answer)
    if recorded:
        missing = [given for given in missing if any(given in content for content in recorded)]
    else:
        missing = [given for given in missing if _is_identifier(given)]
    for given, got in _shorter_tokens(missing, prompt, answer):
        if (recorded and _recorded(call, got)) or _cut_within(call, given, got):
            continue
        yield found("F06", f"content[{answer.index(got)}]", _came_back(given, got))
        return


def _came_back(given: str, got: str) -> Sentence:
    return Sentence(f"“{given}” came back as “{got}”", f"“{given}”在回答中成了“{got}”")


def _in_place(call: Observation) -> Iterator[Finding]:
    """What all recorded answers took from the prompt, and what stands in its place with a character less."""
    if call.golden is None or call.content.blank or not call.golden.contents or not call.request:
        return
    answer = call.content.raw[:_LONGEST]
    goldens = tuple([golden[:_LONGEST] for golden in call.golden.contents])
    if answer in goldens:
        return
    for severity, pairs in ((None, _shorter_numbers), (Severity.WARNING, _shorter_names)):
        for given, got, offset, sure in pairs(call.prompt.raw[-_LONGEST:], answer, goldens):
            if not _cut_within(call, given, got):
                what = _came_back(given, got)
                yield found("F06", f"content[{offset}]", what, severity if sure else Severity.WARNING)
                return


@lru_cache(maxsize=32)
def _taken(pattern: re.Pattern[str], prompt: str, goldens: tuple[str, ...]) -> tuple[re.Match[str], ...]:
    """What a recorded answer has of a pattern that the prompt and all others have: the same for all calls of a case."""
    matches = islice(pattern.finditer(goldens[0]), _MOST_TAKEN)
    return tuple(
        [match for match in matches if match[1] in prompt and all(match[1] in golden for golden in goldens[1:])]
    )


def _shorter_numbers(prompt: str, answer: str, goldens: tuple[str, ...]) -> Iterator[tuple[str, str, int, bool]]:
    """Numbers that lost a digit: as given, as they came back, where, and whether both sides are the recorded ones."""
    for match in _taken(_SHORT_NUMBER, prompt, goldens):
        if match[1] in answer:
            continue
        for got in dict.fromkeys(match[1][:at] + match[1][at + 1 :] for at in range(len(match[1]))):
            if any(_has_number(got, text) for text in (prompt, *goldens)) or not _has_number(got, answer):
                continue
            for sides in (2, 1):
                offset = _placed(got, answer, goldens[0], match, sides=sides)
                if offset is not None:
                    yield match[1], got, offset, sides == 2


def _shorter_names(prompt: str, answer: str, goldens: tuple[str, ...]) -> Iterator[tuple[str, str, int, bool]]:
    """Chinese words that lost their first or second character; without its last one a name is often a short form."""
    for match in _taken(_HAN_TRIPLE, prompt, goldens):
        given = match[1]
        if given in answer:
            continue
        for got, lost in ((given[1:], given[0]), (given[0] + given[2], given[1])):
            if lost not in _OFTEN_LEFT_OUT and lost not in got:
                offset = _placed(got, answer, goldens[0], match, sides=2)
                if offset is not None:
                    yield given, got, offset, True


def _has_number(number: str, text: str) -> bool:
    return re.search(rf"(?<!\d){number}(?!\d)", text) is not None


def _placed(got: str, answer: str, golden: str, match: re.Match[str], *, sides: int) -> int | None:
    """Where a text stands in an answer between what stands around a match in the recorded one; None where it does not.

    Args:
        got: the text.
        answer: the answer.
        golden: the recorded answer.
        match: what stands in the recorded answer instead.
        sides: how many of the two sides must be equal.
    """
    begin, end = match.span(1)
    before, after = golden[max(0, begin - _AROUND) : begin], golden[end : end + _AROUND]
    pieces = [before + got + after] if sides == 2 else [before + got, got + after]
    for piece in pieces:
        around = piece.replace(got, "", 1)
        at = answer.find(piece) if sum(map(str.isalpha, around)) >= sides and piece not in golden else -1
        if at >= 0:
            return at + (len(before) if piece.startswith(before + got) else 0)
    return None


def _shorter_echo(echo: str, answer: str, *, cut: bool) -> tuple[str, str] | None:
    """The first token that lost characters in an echo, or the whole of an echo in unspaced script that did.

    An answer that was cut may end in the midst of a word.
    """
    if echo.strip(_QUOTES) in answer:
        return None
    for pair in _shorter_tokens(_missing(echo, answer), echo if cut else frozenset(_tokens(echo)), answer):
        return pair
    wanted, got = (_BLANKS.sub("", text.strip(_QUOTES)) for text in (echo, answer))
    if wanted == got or got in wanted or not 2 * len(got) >= len(wanted) or not _is_subsequence(got, wanted):
        return None
    return echo[:50], answer[:50]


def _missing(given: str, answer: str) -> list[str]:
    """The tokens of the one text that matter and that are missing from the other."""
    return [token for token in _tokens_that_matter(given) if token not in answer]


@lru_cache(maxsize=32)
def _tokens_that_matter(given: str) -> tuple[str, ...]:
    """Of a prompt, which is the same for all calls of a case."""
    return tuple([token for token in _tokens(given)[:_MOST_TOKENS] if _worth(token)])


def _tokens(text: str) -> list[str]:
    """Addresses first, then words and numbers; each once."""
    pattern = _ADDRESS if "@" in text else _PAGE if "://" in text else None
    return list(dict.fromkeys((*(pattern.findall(text) if pattern else ()), *_TOKEN.findall(text))))


def _shorter_tokens(missing: Sequence[str], given: Container[str], answer: str) -> Iterator[tuple[str, str]]:
    """Pairs of a token that is missing from the answer, and what is left of it there.

    What was given may be a text, so that an answer may hold parts of its words, or the words that have to come whole.
    """
    if not missing:
        return
    present = [token for token in _tokens(answer) if token not in given]
    if not present:
        return
    by_first: dict[tuple[str, int], list[str]] = {}
    for token in present[: 4 * _MOST_TOKENS]:
        by_first.setdefault((token[:1], len(token)), []).append(token)
    for token in missing:
        for lost in (1, 2) if len(token) > 5 else (1,):
            for other in by_first.get((token[:1], len(token) - lost), ()):
                if _is_subsequence(other, token) and not _is_inflection(other, token):
                    yield token, other
                    break


def _worth(token: str) -> bool:
    """Numbers of four digits and more, identifiers, addresses and names; ordinary words come back changed."""
    return len(token) >= 4 and (any(map(str.isdigit, token)) or token[:1].isupper() or "/" in token or "@" in token)


def _is_identifier(token: str) -> bool:
    """Whether a token mixes letters and digits, or is an address: no arithmetic turns it into another one."""
    if "://" in token or "@" in token:
        return True
    digits = sum(map(str.isdigit, token))
    letters = sum(map(str.isalpha, token))
    return len(token) >= 6 and digits >= 3 and letters >= 1 and token.upper() == token


def _is_inflection(shorter: str, longer: str) -> bool:
    """Whether a word lost nothing but an ending or a mark: “Orders”, “Order”; “14,”; “2026-05”, “2026-5”."""
    if longer.startswith(shorter):
        return not any(map(str.isdigit, longer)) or not longer[len(shorter) :].isalnum()
    plain = [re.sub(r"[-_.:/,]", "", token) for token in (shorter, longer)]
    if plain[0] == plain[1]:
        return True
    return re.sub(r"(?<!\d)0+(?=\d)", "", shorter) == re.sub(r"(?<!\d)0+(?=\d)", "", longer)


def _is_subsequence(shorter: str, longer: str) -> bool:
    characters = iter(longer)
    return all(character in characters for character in shorter)


def _cut_within(call: Observation, given: str, got: str) -> bool:
    """Whether a stream ended in the midst of the text that came back shorter."""
    return call.broken_off and given.startswith(got) and call.content.raw.endswith(got)


def _recorded(call: Observation, got: str) -> bool:
    return call.golden is not None and any(got in content for content in call.golden.contents)


def _all(call: Observation) -> Iterator[Finding]:
    """What is gone from a token that can be told by itself, else what is gone from its place."""
    any_found = False
    for finding in _dropped(call):
        any_found = True
        yield finding
    if not any_found:
        yield from _in_place(call)


rules: Final[tuple[Rule, ...]] = (Rule("F06", Probe.SPECIAL, _all),)
"""F06."""

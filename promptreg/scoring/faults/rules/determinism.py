"""Family F: what only several calls of one request can show."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Observation, Probe, Rule, Severity
from promptreg.scoring.faults.reading.axes import Axis, Split, split
from promptreg.scoring.faults.reading.decisions import decides_otherwise, decisions_of
from promptreg.scoring.faults.reading.requests import is_chat, number
from promptreg.scoring.faults.recorded import golden_of
from promptreg.scoring.faults.rules import endings, structured, text, tool_calls
from promptreg.scoring.faults.rules.protocol import prompt_difference
from promptreg.text.counted import counted, part_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.scoring.faults.model import Finding

_LEAST_SAMPLES: Final = 3
"""Answers at a high temperature that must all be the same before sampling is doubted, on an open prompt."""

_MANY_SAMPLES: Final = 5
_LEAST_OPEN_CHARACTERS: Final = 20
_OPEN: Final = re.compile(
    r"\b(?:write|compose|invent|imagine|make up|create|story|poem|haiku|joke|surreal|slogan|lyrics|brainstorm|essay"
    r"|tell me (?:a|an|about))\b|写一|编一|创作|故事|诗|笑话|想象|标语|歌词|作文|随笔",
    re.IGNORECASE,
)
_FIXED: Final = re.compile(r"\bexactly\b|\brepeat\b|verbatim|word for word|原样|照抄|重复|一字不差", re.IGNORECASE)
_DOUBLED: Final = re.compile(r"(?<!\w)([^\W_]{1,24})(?: \1(?!\w))+|([㐀-鿿]{2,6})\2|([㐀-鿿])(?:[ ]\3)+")
_LATIN_WORD: Final = re.compile(r"[A-Za-z]{3,24}")
_HAN: Final = re.compile(r"[㐀-鿿]+")
_HAN_TWICE: Final = re.compile(r"([㐀-鿿])\1")
_LEAST_DROPPED: Final = 2
"""Words with missing letters that make an answer a damaged one."""

_OFTEN_TWICE: Final = "again blah bye ha had haha la long many more much na no now oh ok please really so that very yes"
_REPEATABLE: Final = frozenset(_OFTEN_TWICE.split())
_LEAST_DOUBLED: Final = 3
"""Doubled words beyond those of the good answer that make an answer a damaged one."""

_CANARY_LABEL: Final = re.compile(r"(?:canary|金丝雀)[ ]?[=:：][ ]?[\"']?([\w-]{3,64})", re.IGNORECASE)
_DAMAGE_KINDS: Final = frozenset({*(f"F{number:02}" for number in range(1, 13)), "F51"})


def _answered(calls: Sequence[Observation]) -> list[Observation]:
    return [call for call in calls if call.succeeded and call.answered and is_chat(call.label)]


def _shown(call: Observation) -> str:
    """What the user of an answer gets: its content and its calls."""
    return "\n".join((call.answer.content, *(f"{one.name}({one.arguments})" for one in call.tool_calls)))


def _repeats(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F34: the same request at temperature 0, one call after the other, gets different answers."""
    answered = _answered(calls)
    if len(answered) < 2 or split(calls).axis is not Axis.NOTHING:
        return
    if any(number(call.request, "temperature") != 0 for call in answered) or _groups(answered):
        return
    if any(call.request != answered[0].request for call in answered):
        return
    texts = Counter(map(_shown, answered))
    if len(texts) < 2:
        return
    first, second = list(texts)[:2]
    place = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), None)
    place = min(len(first), len(second)) if place is None else place
    decided = _deciding(answered)
    en, zh = (
        ("1 decision", "结论相同") if decided == 1 else (f"{decided} different decisions", f"{decided} 种不同的结论")
    )
    one, other = first[place : place + 30], second[place : place + 30]
    told = Sentence(
        f"{len(texts)} different texts in {counted(len(answered), 'call')}, {en}: “{one}” or “{other}”",
        f"{len(answered)} 次调用有 {len(texts)} 种文本，{zh}：“{one}”与“{other}”",
    )
    yield found("F34", f"content[{place}]", told, Severity.ERROR if decided > 1 else Severity.WARNING)


def _deciding(calls: Sequence[Observation]) -> int:
    """How many different decisions there are."""
    kept: list[frozenset[tuple[str, str]]] = []
    for call in calls:
        decided = decisions_of(call)
        if not any(not decides_otherwise(decided, one) for one in kept):
            kept.append(decided)
    return len(kept)


def _under_load(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F35: alone the answer is one, among other calls it is another."""
    parts = split(calls)
    if parts.axis is not Axis.LOAD or any(number(call.request, "temperature") not in (0, None) for call in calls):
        return
    alone, loaded = _answered(parts.base), _answered(parts.others)
    if not alone or not loaded or len({_shown(call) for call in alone}) > 1 + len(alone) // 2:
        return
    usual = {_shown(call) for call in alone}
    decided = [decisions_of(call) for call in alone]
    flipped = [call for call in loaded if all(decides_otherwise(decisions_of(call), one) for one in decided)]
    damaged = flipped or [call for call in loaded if _doubled(call) >= max(map(_doubled, alone)) + _LEAST_DOUBLED]
    other = damaged or [call for call in loaded if _shown(call) not in usual]
    if other:
        how_many = part_of(len(other), len(loaded), "answer", "differs", "differ")
        difference = _first_difference(_shown(alone[0]), _shown(other[0]))
        only = "唯一的一条回答不同" if len(loaded) == 1 else f"{len(loaded)} 条回答中有 {len(other)} 条不同"
        told = Sentence(f"{how_many}: {difference.en}", f"{only}：{difference.zh}")
        severity = Severity.ERROR if damaged else Severity.WARNING
        yield found("F35", f"{other[0].label}: content", told, severity)


def _warm_cache(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F36: an answer from a warm cache is broken or decides otherwise, a cold one is not."""
    parts = split(calls)
    if parts.axis is Axis.NOTHING:
        parts = _by_cached_tokens(calls)
    if parts.axis is not Axis.CACHE:
        return
    cold, warm = _answered(parts.base), _answered(parts.others)
    if not cold or not warm:
        return
    for call in warm:
        what = _damage(call, cold)
        if what is not None:
            whole = _shown(cold[0])[:50]
            told = Sentence(f"{what.en}; cold: {whole}", f"{what.zh}；未命中缓存时：{whole}")
            yield found("F36", f"{call.label}: content", told)
            return
    decided = [decisions_of(call) for call in cold]
    flipped = [call for call in warm if all(decides_otherwise(decisions_of(call), one) for one in decided)]
    greedy = all(number(call.request, "temperature") in (0, None) for call in calls)
    if flipped and greedy and _deciding(cold) == 1:
        difference = _first_difference(_shown(cold[0]), _shown(flipped[0]))
        told = Sentence(
            f"{len(flipped)} of {len(warm)} {'decides' if len(flipped) == 1 else 'decide'} otherwise: {difference.en}",
            f"{len(warm)} 条中有 {len(flipped)} 条结论不同：{difference.zh}",
        )
        severity = Severity.ERROR if len(flipped) > 1 else Severity.WARNING
        yield found("F36", f"{flipped[0].label}: content", told, severity)


def _by_cached_tokens(calls: Sequence[Observation]) -> Split:
    """Cold and warm calls told apart by the counts of the server, where it gives them."""
    counts = [call.usage.cached_tokens if call.usage is not None else None for call in calls]
    cold = tuple(call for call, count in zip(calls, counts, strict=True) if count == 0)
    warm = tuple(call for call, count in zip(calls, counts, strict=True) if count)
    same = all(call.request == calls[0].request for call in calls)
    return Split(Axis.CACHE, cold, warm) if cold and warm and same else Split(Axis.NOTHING, tuple(calls), ())


def _damage(call: Observation, good: Sequence[Observation]) -> Sentence | None:
    """How an answer is broken where others of the same request are whole; None when it is not."""
    known = {finding.kind for one in good for finding in _single_findings(one)}
    held = call.told(golden=golden_of(good))
    for finding in _single_findings(held):
        if finding.kind not in known and finding.severity is not Severity.INFO:
            return _within(finding)
    doubled = _doubled(call)
    if doubled >= max(map(_doubled, good)) + _LEAST_DOUBLED:
        begin = call.answer.content[:60]
        return Sentence(f"{counted(doubled, 'doubled word')}: {begin}", f"{doubled} 个词重复：{begin}")
    lost = _dropped(call, good[0])
    if lost is not None:
        begin = call.answer.content[:60]
        return Sentence(
            f"characters are missing or doubled: {lost.en}: {begin}", f"有字符缺失或重复：{lost.zh}：{begin}"
        )
    if call.answer.content.strip() == "" != good[0].answer.content.strip() and not call.tool_calls:
        return Sentence("no content", "没有正文")
    return None


def _within(finding: Finding) -> Sentence:
    """A fault inside another one: that warm answers show F24, say."""
    return Sentence(f"{finding.kind} {finding.evidence.en}", f"{finding.kind} {finding.evidence.zh}")


def _single_findings(call: Observation) -> list[Finding]:
    return [
        finding
        for rule in text.rules
        if rule.find is not None
        for finding in rule.find(call)
        if finding.kind in _DAMAGE_KINDS
    ]


def _doubled(call: Observation) -> int:
    """How often a word of the prose comes twice in a row where no writer would repeat it."""
    return sum(
        match.group().count(" ") or 1
        for match in _DOUBLED.finditer(call.content.prose[:20_000])
        if (match.group(1) or "").lower() not in _REPEATABLE
    )


def _dropped(call: Observation, good: Observation) -> Sentence | None:
    """Words that are words of the good answer with one or two characters less; Han characters doubled throughout."""
    text, whole = call.content.prose[:5000], good.content.prose[:5000]
    han, pairs = sum(map(len, _HAN.findall(text))), len(_HAN_TWICE.findall(text))
    if pairs >= _LEAST_DOUBLED and pairs * 6 > han and pairs >= 2 * len(_HAN_TWICE.findall(whole)) + _LEAST_DOUBLED:
        return Sentence(f"{counted(pairs, 'character')} twice", f"{pairs} 个字重复")
    words = set(_LATIN_WORD.findall(whole))
    strange = [word for word in dict.fromkeys(_LATIN_WORD.findall(text)) if word not in words][:40]
    lost = [word for word in strange if any(_lacks_little(word, one) for one in words)]
    if len(lost) < _LEAST_DROPPED or len(lost) * 2 < len(strange):
        return None
    return Sentence(", ".join(lost[:4]), "、".join(lost[:4]))


def _lacks_little(word: str, whole: str) -> bool:
    """Whether a word is another one without one or two of its inner letters."""
    if not 1 <= len(whole) - len(word) <= 2 or word[0] != whole[0] or word[-1] != whole[-1]:
        return False
    rest = iter(whole)
    return all(letter in rest for letter in word)


def _leak(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F37: an answer holds the canary of another request, or one that no request had."""
    own = {index: canary for index, call in enumerate(calls) if (canary := _canary(call))}
    if len(own) < 1:
        return
    for index, call in enumerate(calls):
        content = f"{call.answer.content}\n{call.answer.reasoning}"
        mine = own.get(index, "")
        for other, canary in own.items():
            if other != index and canary != mine and canary not in call.prompt.raw and _holds(content, canary):
                told = Sentence(
                    f"{canary} belongs to {calls[other].label}; own: {mine or 'none'}",
                    f"{canary} 属于 {calls[other].label}；自己的标记：{mine or '无'}",
                )
                yield found("F37", f"{call.label}: content", told)
                break
        else:
            if mine and not _holds(content, mine):
                strange = _shape_of(mine).search(content)
                if strange is not None and strange.group() not in call.prompt.raw:
                    told = Sentence(
                        f"{strange.group()} is no canary of this run; own: {mine}",
                        f"{strange.group()} 不是本次运行的标记；自己的标记：{mine}",
                    )
                    yield found("F37", f"{call.label}: content", told)


def _canary(call: Observation) -> str:
    value = call.expected.get("canary")
    if isinstance(value, str):
        return value
    match = _CANARY_LABEL.search(call.label)
    return match.group(1) if match is not None else ""


def _holds(content: str, canary: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_-]){re.escape(canary)}(?![A-Za-z0-9_-])", content) is not None


def _shape_of(canary: str) -> re.Pattern[str]:
    """Texts that are built like a canary: letters, digits and marks in the same order and number of digits."""
    if not re.search(r"\d", canary):
        return re.compile(r"(?!)")  # a plain word has no shape of its own
    pieces = re.findall(r"\d+|[A-Za-z]+|.", canary)
    shape = "".join(
        rf"\d{{{len(piece)}}}" if piece.isdigit() else "[A-Za-z]{2,20}" if piece.isalpha() else re.escape(piece)
        for piece in pieces
    )
    return re.compile(rf"(?<![A-Za-z0-9_-]){shape}(?![A-Za-z0-9_-])")


def _sampling(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F38: a high temperature and several seeds, and yet one text."""
    answered = _answered(calls)
    axis = split(calls).axis
    if axis not in (Axis.SEED, Axis.NOTHING) or len(answered) < _LEAST_SAMPLES:
        return
    if any((number(call.request, "temperature") or 0) < 1 for call in answered):
        return
    if any(number(call.request, "top_k") == 1 or (number(call.request, "top_p") or 1) <= 0.1 for call in answered):
        return
    seeds = [call.request.get("seed") for call in answered]
    if axis is Axis.NOTHING and seeds[0] is not None and len(set(map(str, seeds))) == 1:
        return  # one seed: the same text is what was asked for
    texts = {_shown(call) for call in answered}
    prompt = answered[0].prompt.raw
    free = _OPEN.search(prompt) is not None
    if len(texts) > 1 or _length(next(iter(texts)), free=free) < _LEAST_OPEN_CHARACTERS or _FIXED.search(prompt):
        return
    if free or len(answered) >= _MANY_SAMPLES:
        severity = Severity.ERROR if free else Severity.WARNING
        temperature, alike = number(answered[0].request, "temperature"), next(iter(texts))
        told = Sentence(
            f"{len(answered)} answers at temperature {temperature}, all alike: {alike}",
            f"temperature 为 {temperature} 时的 {len(answered)} 条回答完全相同：{alike}",
        )
        yield found("F38", "content", told, severity)


def _length(text: str, *, free: bool) -> int:
    """Characters of a text. Of one that was made up freely, a Chinese character says as much as three letters."""
    return len(text) + (2 * sum(map(len, _HAN.findall(text))) if free else 0)


def _speculation(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F39: whole without speculative decoding, damaged with it."""
    parts = split(calls)
    if parts.axis is not Axis.SPECULATION:
        return
    off, on = _answered(parts.base), _answered(parts.others)
    if not off or not on:
        return
    known = {finding.kind for one in off for finding in _answer_findings(one)}
    for call in on:
        broken = next((one for one in _answer_findings(call) if one.kind not in known), None)
        what = _within(broken) if broken is not None else _damage(call, off)
        if what is None and all(decides_otherwise(decisions_of(call), decisions_of(one)) for one in off):
            difference = _first_difference(_shown(off[0]), _shown(call))
            what = Sentence(f"it decides otherwise: {difference.en}", f"结论不同：{difference.zh}")
        if what is not None:
            yield found("F39", f"{call.label}: content", what)
            return


def _answer_findings(call: Observation) -> list[Finding]:
    families = (text.rules, tool_calls.rules, structured.rules, endings.rules)
    return [
        finding
        for rules in families
        for rule in rules
        if rule.find is not None
        for finding in rule.find(call)
        if finding.severity is Severity.ERROR
    ]


def _sides(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F52 in several calls: source and target count the same messages otherwise."""
    parts = split(calls)
    if parts.axis is not Axis.SIDE:
        return
    before = {call.usage.prompt_tokens for call in parts.base if call.usage is not None} - {None}
    for call in parts.others:
        tokens = call.usage.prompt_tokens if call.usage is not None else None
        if tokens is not None and before and tokens not in before:
            told = prompt_difference(min(one for one in before if one), tokens, tools=bool(call.request.get("tools")))
            yield found("F52", f"{call.label}: usage.prompt_tokens", told)
            return


def _replicas(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F54: the calls of one request fall into groups that no single deployment would make."""
    answered = _answered(calls)
    if split(calls).axis not in (Axis.NOTHING, Axis.REPLICA, Axis.SEED):
        return
    groups = _groups(answered)
    if groups:
        place, counted = groups
        told = ", ".join(f"{value} ×{count}" for value, count in counted.most_common(4))
        name = place.rpartition(".")[2]
        yield found("F54", place, Sentence(f"{name} for the same request: {told}", f"同一请求的 {name}：{told}"))


def _another_model(call: Observation) -> Iterator[Finding]:
    """F54: the answer names another model than was asked for, and the source named the one that was.

    Many gateways never echo the name that they were given, so without the source nothing is said.
    """
    asked, told = call.request.get("model"), call.model_name
    if call.golden is None or not call.golden.own_name or not isinstance(asked, str) or told is None:
        return
    if call.succeeded and call.answered and _bare(told) != _bare(asked):
        yield found(
            "F54", "model", Sentence(f"{told} answers, {asked} was asked for", f"请求的是 {asked}，回答的是 {told}")
        )


def _bare(model: str) -> str:
    """A model's name without the place that it is kept in."""
    return model.rstrip("/").rpartition("/")[2].casefold()


def _groups(answered: Sequence[Observation]) -> tuple[str, Counter[str]] | None:
    """The first sign by which calls of the same request fall into several groups."""
    if len(answered) < 2 or any(call.request != answered[0].request for call in answered) or not answered[0].request:
        return None
    for place, values in (
        ("system_fingerprint", [call.system_fingerprint for call in answered]),
        ("usage.prompt_tokens", [call.usage.prompt_tokens if call.usage is not None else None for call in answered]),
        ("model", [call.model_name for call in answered]),
    ):
        counted = Counter(str(value) for value in values if value is not None)
        if len(counted) > 1:
            return place, counted
    return None


def _first_difference(first: str, second: str) -> Sentence:
    place = next((at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, place - 10)
    one, other = first[start : start + 36], second[start : start + 36]
    return Sentence(f"“{one}” or “{other}”", f"“{one}”与“{other}”")


rules: Final = (
    Rule("F34", Probe.REPEATS, find_in_run=_repeats),
    Rule("F35", Probe.CONCURRENCY, find_in_run=_under_load),
    Rule("F36", Probe.REPEATS, find_in_run=_warm_cache),
    Rule("F37", Probe.CONCURRENCY, find_in_run=_leak),
    Rule("F38", Probe.REPEATS, find_in_run=_sampling),
    Rule("F39", Probe.PAIR, find_in_run=_speculation),
    Rule("F52", Probe.PAIR, find_in_run=_sides),
    Rule("F54", Probe.REPEATS, _another_model, _replicas),
)

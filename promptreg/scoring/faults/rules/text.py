"""Family A: text that is degenerate or damaged.

F01 to F03 are in `repeats`, F04 and F05 in `languages`, F06 in `dropped`; F07, F08 and F55 are here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.answer.unicode import LONE_SURROGATE
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Probe, Rule, Severity
from promptreg.scoring.faults.reading.evidence import around
from promptreg.scoring.faults.rules import dropped, languages, repeats
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.scoring.faults.model import Finding, Observation

_REPLACEMENT: Final = "\ufffd"
_ABOUT_REPLACEMENT: Final = re.compile(
    r"U\+FFFD|replacement character|替换字符|替代字符|mojibake|乱码|\\ufffd", re.IGNORECASE
)
_DAMAGE_SEEN: Final = re.compile(r"(?P<before>[^\ufffd]?)(?P<run>\ufffd+)(?P<after>[^\ufffd]?)", re.DOTALL)
_LONGEST_QUOTING: Final = 100_000
_LENGTH_LABEL: Final = re.compile(r"(?<![0-9A-Za-z.])([0-9]{1,9})\s?([kKmM]?)(?![0-9A-Za-z])")
_SHORTEST_PROMPT: Final = 256
"""Tokens of the shortest prompt that a bare number in a label stands for: “call 2” is the second call."""
_SAYS_LENGTH: Final = re.compile(r"ctx|len|tok|context|长", re.IGNORECASE)
_IDENTIFIER: Final = re.compile(r"(?<![\w-])(?=[\w-]{0,30}[0-9])[A-Z][\w-]{3,30}(?![\w-])")
_LONGER: Final = 2.0
"""How many times as long a prompt must be to count as long beside a short one."""

_POLITE: Final = re.compile(
    r"\b(?:hi|hello|hey|welcome|help|assist|you|your|questions?|mean|clarify|context|details?|sorry|please|let|great|glad|sure|thanks?)\b|[?？]"
    r"|你|您|帮|问|请|什么|抱歉|意思|好的|谢谢|欢迎|收到|继续",
    re.IGNORECASE,
)
_CONTENT_WORD: Final = re.compile(r"[A-Za-z]{3,}|[㐀-䶿一-鿿]{2}")


def _damaged(call: Observation) -> Iterator[Finding]:
    """Replacement characters and halves of characters, in the parts of the answer; else in single frames."""
    lone = LONE_SURROGATE in call.answer.flags
    parts = [("content", call.answer.content), ("reasoning", call.answer.reasoning)]
    parts += [(f"tool_calls[{number}].arguments", one.arguments) for number, one in enumerate(call.tool_calls)]
    any_damage = False
    for where, text in parts:
        at = text.find(_REPLACEMENT)
        if at < 0:
            continue
        any_damage = True
        if (_REPLACEMENT in call.prompt.raw and _quotes_damage(call.prompt.raw, text)) or _expected_damage(call, text):
            continue
        count, seen = text.count(_REPLACEMENT), around(text, at)
        half, of_half = ("half a character, ", "半个字符，") if lone else ("", "")
        what = Sentence(f"{half}{count} × U+FFFD: {seen}", f"{of_half}U+FFFD ×{count}：{seen}")
        yield found("F07", f"{where}[{at}]", what)
    if not any_damage and call.streamed and not call.content.raw.isascii():
        yield from _damaged_frames(call)


def _quotes_damage(prompt: str, text: str) -> bool:
    """Whether all damage in an answer is that of the prompt: the same with its neighbours, or named by itself."""
    if len(text) > _LONGEST_QUOTING:
        return True
    for match in _DAMAGE_SEEN.finditer(text):
        pieces = [
            piece for piece in (match["before"] + match["run"], match["run"] + match["after"]) if _has_word(piece)
        ]
        if pieces and not any(piece in prompt for piece in pieces):
            return False
    return True


def _has_word(piece: str) -> bool:
    return any(map(str.isalnum, piece))


def _expected_damage(call: Observation, text: str) -> bool:
    if call.golden and any(_REPLACEMENT in content for content in call.golden.contents):
        return True
    return bool(_ABOUT_REPLACEMENT.search(text) or _ABOUT_REPLACEMENT.search(call.prompt.raw[-4000:]))


def _damaged_frames(call: Observation) -> Iterator[Finding]:
    """Halves of characters that only add up once the frames are joined: a client that shows each frame shows damage."""
    if _writable(call.sent_content):
        return  # no frame has a half
    for number, frame in enumerate(call.frames):
        piece = frame.delta.get("content")
        if isinstance(piece, str) and any("\ud800" <= character <= "\udfff" for character in piece):
            yield found(
                "F07",
                f"frames[{number}].delta.content",
                Sentence("half a character in one frame", "一个数据帧中只有半个字符"),
                Severity.WARNING,
            )
            return


def _writable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _ruined_by_length(calls: Sequence[Observation]) -> Iterator[Finding]:
    """The same task answered with a short prompt and not with a long one."""
    measured = [(length, call) for call in calls if (length := _prompt_length(call)) and call.answered]
    measured.sort(key=lambda pair: pair[0])
    if len(measured) < 2 or measured[-1][0] < _LONGER * measured[0][0]:
        return
    wanted = calls[0].expected.get("needle")
    needle = wanted if isinstance(wanted, str) else _needle_of(measured[0][1])
    states = [(length, call, _is_ruined(call, needle)) for length, call in measured]
    first_bad = next((index for index, state in enumerate(states) if state[2]), None)
    if first_bad is None or first_bad == 0 or states[first_bad][0] <= states[first_bad - 1][0]:
        return
    good = states[first_bad - 1][0]
    length, call, reason = states[first_bad]
    if reason is not None:
        begin = call.content.raw[:60]
        what = Sentence(
            f"fine at {good}, not at {length}: {reason.en}: {begin}",
            f"{good} 个 token 时正常，{length} 个 token 时不正常：{reason.zh}：{begin}",
        )
        yield found("F08", call.label or "content", what)


def _prompt_length(call: Observation) -> int | None:
    """Tokens of the prompt: as counted by the server, else as the label says (“ctx_8k”)."""
    if call.usage is not None and call.usage.prompt_tokens:
        return call.usage.prompt_tokens
    return _labelled_length(call.label)


def _labelled_length(label: str) -> int | None:
    match = _LENGTH_LABEL.search(label.replace("_", " "))
    if match is None:
        return None
    length = int(match[1]) * {"": 1, "k": 1000, "m": 1_000_000}[match[2].lower()]
    return length if match[2] or length >= _SHORTEST_PROMPT or _SAYS_LENGTH.search(label) else None


def _needle_of(shortest: Observation) -> str | None:
    """What a series of prompts that are labelled by their lengths asks for: the code in the first answer."""
    if _labelled_length(shortest.label) is None:
        return None
    match = _IDENTIFIER.search(shortest.answer.content)
    return match.group() if match else None


def _is_ruined(call: Observation, needle: str | None) -> Sentence | None:
    """Why an answer of a length series is a failure; None when it is none."""
    if needle is not None and needle not in call.answer.content:
        return Sentence(f"{needle} not found", f"找不到 {needle}")
    damage = {finding.kind for rule in _DAMAGE if rule.find for finding in rule.find(call) if finding.severity == "E"}
    return Sentence(", ".join(sorted(damage)), "、".join(sorted(damage))) if damage else None


def _unrelated(call: Observation) -> Iterator[Finding]:
    """A greeting, or less, answered by a long text about something else."""
    messages = call.prompt.messages
    asked = [text for role, text in messages if role == "user"]
    content = call.answer.content
    if len(asked) != 1 or any(role in ("assistant", "tool") for role, _ in messages) or len(content) <= 80:
        return
    question = asked[0].strip()
    if not 0 < len("".join(question.split())) <= 2:
        return
    goldens = call.golden.contents if call.golden else ()
    words = _content_words(content)
    if goldens:
        related = any(words & _content_words(golden) for golden in goldens)
    else:
        told = " ".join(text for role, text in messages if role != "user")
        related = (
            not set(re.findall(r"\w+", question.lower())).isdisjoint(re.findall(r"\w+", content.lower()))
            or (not question.isascii() and question in content)
            or bool(words & _content_words(told))
            or _POLITE.search(content) is not None
        )
    if not related:
        yield found(
            "F55",
            "content",
            Sentence(f"“{question}” answered by: {content[:90]}", f"对“{question}”的回答是：{content[:90]}"),
        )


def _content_words(text: str) -> set[str]:
    return {word.lower() for word in _CONTENT_WORD.findall(text) if len(word) > 3 or not word.isascii()}


_DAMAGE: Final = (*repeats.rules, *languages.rules, *dropped.rules, Rule("F07", Probe.ONE, _damaged))

rules: Final[tuple[Rule, ...]] = (
    *_DAMAGE,
    Rule("F08", Probe.LENGTHS, find_in_run=_ruined_by_length),
    Rule("F55", Probe.SPECIAL, _unrelated),
)
"""F01 to F08 and F55."""

"""F01, F02, F03: a symbol, a word or a passage again and again."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import LOOP_STOPPED
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.evidence import shown
from promptreg.scoring.faults.model import Probe, Rule
from promptreg.text.repetition import longest_run, periodic_tail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.views import Text
    from promptreg.text.repetition import Loop, Run

_LONGEST_WORD: Final = 12
"""Characters of a passage up to which its repetition is a loop of a word."""

_LEAST_TOKENS: Final = 16
_SAME_TOKEN: Final = re.compile(
    r"(?P<token><[|｜‖][^<>|｜‖\n]{1,40}[|｜‖]>|</?s>|<(?:pad|unk|eos|bos|mask)>|\[(?:PAD|UNK|CLS|SEP|MASK)\])"
    r"(?:[ \t\n]{0,4}(?P=token)){3,}+",
)
_DRAWN: Final = frozenset("-=_*#~+|.·…─━═│┃║▁█▓▒░•0123456789/\\<>^:'\"`,")
"""Characters that rules, tables of contents, drawings and long numbers are made of."""

_LONGEST_LINE: Final = 256
"""No line or leader is drawn this long."""

_LEAST_UNLIKE: Final = 64
"""The same where the source is known, which has no such run at all."""

_SHOUTED: Final = frozenset("哈呵嘿嘻啊呀呜哇嗷喵汪咚哔aeghmoruwzAEGHMORUWZWｗ")
"""Letters that laughing, shouting and sleeping are written with."""

_ASCII_PUNCTUATION: Final = "!?,;:\"'()[]{}@$%&^"
_PUNCTUATION: Final = re.compile(f"[{re.escape(_ASCII_PUNCTUATION)}，。；：！？、“”（）]")
_LEAST_MARKS: Final = 16
"""Two fifths of 40 visible characters."""

_LETTER: Final = re.compile(r"[^\W\d_]")


def _repetition(call: Observation) -> Iterator[Finding]:
    """The strongest sign in each part of the answer."""
    if LOOP_STOPPED in call.answer.flags:
        yield _stopped(call)
        return
    for where, text, goldens in _parts(call):
        finding = (
            _same_token(call, where, text, goldens)
            or _run(call, where, text, goldens)
            or _loop(call, where, text, goldens)
            or _punctuation(call, where, text, goldens)
        )
        if finding is not None:
            yield finding


def _stopped(call: Observation) -> Finding:
    """A loop that promptreg ended: nobody knows how much longer it would have become, so no wish excuses it."""
    parts = {"content": call.content.raw, "reasoning": call.reasoning.raw}
    loops = [(loop, where) for where, text in parts.items() if (loop := periodic_tail(text)) is not None]
    if not loops:
        where, text = max(parts.items(), key=lambda part: len(part[1]) - len(part[1].rstrip()))
        visible = len(text.rstrip())
        return found("F02", f"{where}[{visible}]", f"aborted by promptreg after {len(text) - visible} blank characters")
    loop, where = max(loops, key=lambda one: one[0].length)
    kind = "F02" if loop.period <= _LONGEST_WORD else "F03"
    what = f"aborted by promptreg after {loop.repeats} repeats of “{shown(loop.unit.strip(), 60)}”"
    return found(kind, f"{where}[{loop.offset}]", what)


def _parts(call: Observation) -> Iterator[tuple[str, Text, tuple[Text, ...]]]:
    golden = call.golden
    if not call.content.blank:
        yield "content", call.content, golden.content_texts if golden else ()
    if not call.reasoning.blank:
        yield "reasoning", call.reasoning, golden.reasoning_texts if golden else ()


def _same_token(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    if "<" not in text.raw and "[" not in text.raw:
        return None
    match = _SAME_TOKEN.search(text.raw)
    if match is None or any(_SAME_TOKEN.search(golden.raw) for golden in goldens):
        return None
    token = match["token"]
    if match.group() in call.prompt.raw or (not _SAME_TOKEN.search(text.prose) and not _cut(call)):
        return None
    return found("F01", f"{where}[{match.start()}]", f"{token} ×{match.group().count(token)}")


def _run(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    run = longest_run(text.raw)
    if run is None or run.length * 2 < len("".join(text.raw.split())):
        return None
    if any((known := longest_run(golden.raw)) and known.character == run.character for golden in goldens):
        return None
    if not _cut(call) and _drawn(run, known=bool(goldens)):
        return None
    if not _cut(call) and not goldens and _wanted(call, run.character):
        return None
    if _cut(call) and not goldens and call.prompt.wants_repetition:
        return None
    return found("F01", f"{where}[{run.offset}]", f"{run.character} ×{run.length}")


def _drawn(run: Run, *, known: bool) -> bool:
    """Whether a run that the model ended by itself may be a line, a leader, a number or a shout."""
    if run.character in _SHOUTED:
        return run.length < 200
    if run.character not in _DRAWN:
        return False
    if known:
        return run.length < _LEAST_UNLIKE
    return run.character.isdigit() or run.length < _LONGEST_LINE


def _loop(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    loop = periodic_tail(text.raw)
    if loop is None or not loop.unit.strip():
        return None  # blanks at the end are another kind
    if any(_known_loop(loop, periodic_tail(golden.raw)) for golden in goldens):
        return None
    if not (_is_cut_loop(call, loop) if _cut(call) else _is_whole_loop(call, text, loop, goldens)):
        return None
    kind = "F02" if loop.period <= _LONGEST_WORD else "F03"
    return found(kind, f"{where}[{loop.offset}]", f"“{shown(loop.unit.strip(), 80)}” ×{loop.repeats}")


def _known_loop(loop: Loop, known: Loop | None) -> bool:
    """Whether the source went round as well, and about as often."""
    return known is not None and known.repeats * 3 >= loop.repeats


def _is_cut_loop(call: Observation, loop: Loop) -> bool:
    """A loop that only the budget, or the end of the connection, ended: a fault unless it was wished for."""
    prompt = call.prompt
    if prompt.wants_repetition:
        words = _LETTER.search(loop.unit)
        return words is not None and loop.unit.strip().lower() not in prompt.raw.lower() and not prompt.wants_shape
    return loop.repeats >= 8 if prompt.wants_shape else True


def _is_whole_loop(call: Observation, text: Text, loop: Loop, goldens: tuple[Text, ...]) -> bool:
    """A loop that the model ended by itself: much more often a wish, so more of it is needed."""
    if not _LETTER.search(loop.unit) or loop.length * 2 < len(text.raw.rstrip()):
        return False
    if loop.unit.count("|") > 1 or loop.unit.strip() in text.code:
        return False
    if goldens:
        return True
    prompt = call.prompt
    return loop.repeats >= 6 and not prompt.wants_repetition and not prompt.wants_shape


def _punctuation(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    count, mark = _commonest_mark(text.prose)
    if count < _LEAST_MARKS:
        return None
    visible = text.visible
    if (
        visible < 40
        or count * 5 < visible * 2
        or any(golden.raw.count(mark) * 5 >= len(golden.raw) for golden in goldens)
    ):
        return None
    if call.prompt.wants_repetition or (call.prompt.wants_shape and not _cut(call)):
        return None
    return found("F02", f"{where}[{text.raw.index(mark)}]", f"“{mark}” is {count} of {visible} visible characters")


def _commonest_mark(prose: str) -> tuple[int, str]:
    """The punctuation mark that stands in a text most often, after how often it does."""
    if prose.isascii():
        return max([(prose.count(mark), mark) for mark in _ASCII_PUNCTUATION])
    # Counting a wide character is slow in the C library: one pass over all marks is faster.
    marks = Counter(_PUNCTUATION.findall(prose))
    return max([(count, mark) for mark, count in marks.items()], default=(0, ""))


def _wanted(call: Observation, character: str) -> bool:
    prompt = call.prompt
    if character in _DRAWN:  # such marks stand in most prompts
        return prompt.wants_repetition or prompt.wants_shape
    return prompt.wants_repetition or character in prompt.raw


def _cut(call: Observation) -> bool:
    """Whether something else than the model ended the answer."""
    return call.finish_reason == "length" or call.finish_reason is None


def _billed_for_nothing(call: Observation) -> Iterator[Finding]:
    """Tokens were billed, and no field holds a character: special tokens that are not shown."""
    usage = call.usage
    if not call.answered or usage is None or call.tool_calls or call.answer.content or call.answer.reasoning:
        return
    tokens = usage.completion_tokens or 0
    hidden = usage.reasoning_tokens or 0
    if tokens - hidden >= _LEAST_TOKENS:
        yield found("F01", "content", f"no text, completion_tokens {tokens}")


rules: Final[tuple[Rule, ...]] = (
    Rule("F01", Probe.ONE, _repetition),
    Rule("F01", Probe.ONE, _billed_for_nothing),
)
"""F01 and, from the same look, F02 and F03."""

"""F01, F02, F03: a symbol, a word or a passage again and again."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import LOOP_STOPPED
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Probe, Rule
from promptreg.scoring.faults.reading.evidence import shown
from promptreg.text import wishes
from promptreg.text.counted import counted
from promptreg.text.repetition import counted_tail, is_listed, is_sentence, longest_run, numbered_tail, periodic_tail
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.views import Text
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
_ASCII_MARKS: Final = tuple(mark.encode() for mark in _ASCII_PUNCTUATION)
_WIDE_PUNCTUATION: Final = re.compile("[，。；：！？、“”（）]")
_LEAST_MARKS: Final = 16
"""Two fifths of 40 visible characters."""

_LONGEST_REMARK: Final = 60
"""Characters of a line that may be said of each of many things."""

_LONGEST_PROMPT: Final = 20_000
_NUMBER: Final = re.compile(r"(?<![\d.])\d{1,4}(?![\d.])|(?<!\d)\d{1,4}(?=\.(?!\d))")
_TOKEN_PART: Final = re.compile(r"[A-Za-z0-9+/=_.-]{1,800}")
_LEAST_CODE: Final = 12
"""Other characters of a code that a run may be a part of."""

_OPENS: Final = "\"'“‘「『《`（("
_CLOSES: Final = "\"'”’」』》`）)"
_LEAST_SAID_AROUND: Final = 4
"""Letters outside a quotation that make it one: something is said of it."""

_LEAST_STUTTER: Final = 12
"""How often the last word of a sentence comes again before nobody can have meant it."""

_LEAST_WORDS_BEFORE: Final = 2
_LEAST_SENTENCES: Final = 5
_WORD: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u0400-\u04ff]{2,}|[\u4e00-\u9fff]{2}")
_SOUNDS: Final = re.compile(
    r"\b(?:na|la|ha|he|ho|hi|haha\w{0,4}|woof|meow|moo|tweet|chirp|beep|boop|ding|dong|tick|tock|knock|bang|boom|drip|quack"
    r"|buzz|ring|clap|honk|ribbit|oink|baa|neigh|hoot|very|so|really|no|yes|please|go|on|and|more|never|row|blah|yeah|hey)\b"
    r"|[哈呵嘿嘻啊呀呜哇嗷喵汪咚哔滴答嘀嗒叮当啦呼噜嘟咕咯轰隆嗡吱叽喳哗非常很真的太不]{2}",
    re.IGNORECASE,
)
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
    if call.tool_calls:
        parts["tool_calls"] = "".join(f"{one.name}{one.arguments}" for one in call.tool_calls)
    loops = [
        (loop, where)
        for where, text in parts.items()
        if (loop := periodic_tail(text) or counted_tail(text)) is not None
    ]
    if not loops:
        where, text = max(parts.items(), key=lambda part: len(part[1]) - len(part[1].rstrip()))
        visible = len(text.rstrip())
        blanks = len(text) - visible
        what = Sentence(
            f"aborted by promptreg after {counted(blanks, 'blank character')}",
            f"{blanks} 个空白字符之后被 promptreg 中止",
        )
        return found("F02", f"{where}[{visible}]", what)
    loop, where = max(loops, key=lambda one: one[0].length)
    kind = "F02" if loop.period <= _LONGEST_WORD else "F03"
    unit = shown(loop.unit.strip(), 60)
    what = Sentence(
        f"aborted by promptreg after {loop.repeats} repeats of “{unit}”",
        f"“{unit}”重复 {loop.repeats} 次之后被 promptreg 中止",
    )
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
    if not _cut(call) and _is_quoted(text.raw, match.start(), match.end()):
        return None
    if match.group() in call.prompt.raw or (not _SAME_TOKEN.search(text.prose) and not _cut(call)):
        return None
    return found("F01", f"{where}[{match.start()}]", f"{token} ×{match.group().count(token)}")


def _run(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    run = longest_run(text.raw)
    if run is None or run.length * 2 < len("".join(text.raw.split())):
        return None
    if any((known := longest_run(golden.raw)) and known.character == run.character for golden in goldens):
        return None
    quoted = _is_quoted(text.raw, run.offset, run.offset + run.length)
    if not _cut(call) and (quoted or _drawn(run, known=bool(goldens)) or _pads(run, text.raw)):
        return None
    if not _cut(call) and not goldens and _wanted(call, run.character):
        return None
    if _cut(call) and not goldens and call.prompt.wants_repetition and not _is_asked_about(call, run.character):
        return None
    return found("F01", f"{where}[{run.offset}]", f"{run.character} ×{run.length}")


def _is_quoted(raw: str, begin: int, end: int) -> bool:
    """Whether a repetition stands between quotation marks in a text that says something of it."""
    before = raw[:begin].rstrip()[-1:]
    after = raw[end:].lstrip(" ,.，。…")[:1]
    if not before or before not in _OPENS or not after or after not in _CLOSES:
        return False
    said = raw[max(0, begin - 400) : begin] + raw[end : end + 400]
    return sum(map(str.isalpha, said)) >= _LEAST_SAID_AROUND


def _is_asked_about(call: Observation, character: str) -> bool:
    """Whether a prompt asks why there are such marks, rather than for a row of them."""
    if character in _DRAWN or character in _SHOUTED or character in call.prompt.raw:
        return False
    return wishes.is_question_about_marks(call.prompt.raw)


def _drawn(run: Run, *, known: bool) -> bool:
    """Whether a run that the model ended by itself may be a line, a leader, a number or a shout."""
    if run.character in _SHOUTED:
        return run.length < 200
    if run.character not in _DRAWN:
        return False
    if known:
        return run.length < _LEAST_UNLIKE
    return run.character.isdigit() or run.length < _LONGEST_LINE


def _pads(run: Run, raw: str) -> bool:
    """Whether a run is a part of one long code of letters and digits, as in a key, a token or encoded bytes."""
    if not (run.character.isascii() and run.character.isalnum()):
        return False
    before = raw[max(0, run.offset - 400) : run.offset].split()
    after = raw[run.offset + run.length :][:400].split()
    begins = before[-1] if before and not raw[run.offset - 1].isspace() else ""
    ends = after[0] if after and not raw[run.offset + run.length].isspace() else ""
    code = begins + ends
    return len(code) >= _LEAST_CODE and _TOKEN_PART.fullmatch(code) is not None and any(map(str.isdigit, code))


def _loop(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    loop = periodic_tail(text.raw) or (numbered_tail(text.raw) if _cut(call) else None)
    if loop is None or not loop.unit.strip():
        return None  # blanks at the end are another kind
    if any(_known_loop(loop, golden) for golden in goldens):
        return None
    if not (_is_cut_loop(call, loop) if _cut(call) else _is_whole_loop(call, text, loop, goldens)):
        return None
    kind = "F02" if loop.period <= _LONGEST_WORD else "F03"
    return found(kind, f"{where}[{loop.offset}]", f"“{shown(loop.unit.strip(), 80)}” ×{loop.repeats}")


def _known_loop(loop: Loop, golden: Text) -> bool:
    """Whether the source went round as well, or said the same passage about as often, in whatever order."""
    known = periodic_tail(golden.raw) or numbered_tail(golden.raw)
    if known is not None and known.repeats * 3 >= loop.repeats:
        return True
    said = golden.raw.count(loop.unit.strip())
    return said > 1 and said * 2 >= loop.repeats


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
    unit = loop.unit.strip()
    quoted = _is_quoted(text.raw, loop.offset, loop.offset + loop.length)
    if quoted or loop.unit.count("|") > 1 or unit in text.code:
        return False
    if is_listed(loop.unit) and not _is_far_beyond(loop, goldens):
        return False
    # A run of one character has its own rule.
    if len(unit) == 1 or loop.repeats < _least_repeats(text.raw, loop, known=bool(goldens)):
        return False
    if goldens:
        return True
    prompt = call.prompt
    return not prompt.wants_repetition and not prompt.wants_shape and not _is_counted(prompt.raw, loop.repeats)


def _is_far_beyond(loop: Loop, goldens: tuple[Text, ...]) -> bool:
    """Whether a list of equal items is far longer than all that the source said, which did not repeat them."""
    return bool(goldens) and loop.repeats >= 24 and all(len(golden.raw) * 4 < loop.length for golden in goldens)


def _least_repeats(raw: str, loop: Loop, *, known: bool) -> int:
    """How often a passage has to stand there, where the model ended by itself, before no one can have meant it."""
    if loop.period <= _LONGEST_WORD:
        if known:
            return 12
        return _LEAST_STUTTER if _is_stutter(raw, loop) else 32  # a chant, a sound, a label
    if known:
        return 1
    if "\n" in loop.unit:
        return 20 if loop.period <= _LONGEST_REMARK else 6  # the same remark on each of many things
    whole = is_sentence(loop.unit) and (loop.length + 1) // loop.period >= _LEAST_SENTENCES
    return loop.repeats if whole and _words_of(loop.unit) >= _LEAST_SENTENCES else 6


def _words_of(text: str) -> int:
    return len(_WORD.findall(text))


def _is_stutter(raw: str, loop: Loop) -> bool:
    """Whether a sentence runs into a word again and again and never ends: words before it, no mark after it.

    What people write so on purpose, a sound or an emphasis, has its own words and ends in a mark.
    """
    unit = loop.unit.strip()
    if (
        not _WORD.search(unit)
        or not unit.replace(" ", "").isalpha()
        or "\n" in loop.unit
        or _SOUNDS.search(loop.unit * 2)
    ):
        return False
    before = raw[: loop.offset].rpartition("\n")[2].rstrip()
    if not before or not (before[-1].isalpha() or before[-1] in ",，、") or not raw.rstrip()[-1].isalpha():
        return False
    return _words_of(before) >= _LEAST_WORDS_BEFORE


def _is_counted(prompt: str, repeats: int) -> bool:
    """Whether a prompt names about as many things as there are repetitions: a label for each of 24 reviews."""
    numbers = (int(number) for number in _NUMBER.findall(prompt[:_LONGEST_PROMPT]))
    return any(abs(number - repeats) <= max(1, repeats // 10) for number in numbers)


def _punctuation(call: Observation, where: str, text: Text, goldens: tuple[Text, ...]) -> Finding | None:
    count, mark = _commonest_mark(text.prose)
    if count < _LEAST_MARKS:
        return None
    visible = text.visible
    if visible < 40 or count * 5 < visible * 2 or any(_is_as_marked(golden, mark, count) for golden in goldens):
        return None
    if call.prompt.wants_repetition or (call.prompt.wants_shape and not _cut(call)):
        return None
    if _divides(text.prose, mark) or (not _cut(call) and _quotes_run(text.raw, mark, count)):
        return None
    return found(
        "F02",
        f"{where}[{text.raw.index(mark)}]",
        Sentence(
            f"“{mark}” is {count} of {visible} visible characters", f"{visible} 个可见字符中有 {count} 个是“{mark}”"
        ),
    )


def _quotes_run(raw: str, mark: str, count: int) -> bool:
    """Whether most marks of a kind stand in one run between quotation marks."""
    run = longest_run(raw)
    if run is None or run.character != mark or run.length * 2 < count:
        return False
    return _is_quoted(raw, run.offset, run.offset + run.length)


def _is_as_marked(golden: Text, mark: str, count: int) -> bool:
    """Whether the source wrote as much of a mark, or about as many of another one."""
    return golden.raw.count(mark) * 5 >= len(golden.raw) or _commonest_mark(golden.prose)[0] * 3 >= count * 2


def _divides(prose: str, mark: str) -> bool:
    """Whether a mark stands between things that differ: a list of letters, digits or short names."""
    items = [item for part in prose.split(mark) if (item := part.strip())]
    return len(items) >= prose.count(mark) and len(set(items)) * 2 >= len(items)


def _commonest_mark(prose: str) -> tuple[int, str]:
    """The punctuation mark that stands in a text most often, after how often it does."""
    narrow = prose.encode("ascii", "ignore")
    counts = [(narrow.count(mark), mark.decode()) for mark in _ASCII_MARKS]
    if len(narrow) < len(prose):
        # Counting a wide character is slow in the C library: one pass over all marks is faster.
        counts += [(count, mark) for mark, count in Counter(_WIDE_PUNCTUATION.findall(prose)).items()]
    return max(counts)


def _wanted(call: Observation, character: str) -> bool:
    prompt = call.prompt
    if character in _DRAWN:  # such marks stand in most prompts
        return prompt.wants_repetition or prompt.wants_shape
    return prompt.wants_repetition or character in prompt.raw


def _cut(call: Observation) -> bool:
    """Whether something else than the model ended the answer."""
    return call.finish_reason == "length" or call.finish_reason is None


def _billed_for_nothing(call: Observation) -> Iterator[Finding]:
    """Tokens were billed, and no field shows anything: special tokens that are hidden, or blanks up to the cap."""
    usage = call.usage
    if not call.answered or usage is None or call.tool_calls or not call.content.blank or not call.reasoning.blank:
        return
    if (call.content or call.reasoning) and not _cut(call):
        return  # an answer of blanks that ended by itself is an empty answer: F51
    tokens = usage.completion_tokens or 0
    hidden = usage.reasoning_tokens or 0
    if tokens - hidden >= _LEAST_TOKENS:
        yield found(
            "F01",
            "content",
            Sentence(f"no text, completion_tokens {tokens}", f"没有文本，completion_tokens 为 {tokens}"),
        )


rules: Final[tuple[Rule, ...]] = (
    Rule("F01", Probe.ONE, _repetition),
    Rule("F01", Probe.ONE, _billed_for_nothing),
)
"""F01 and, from the same look, F02 and F03."""

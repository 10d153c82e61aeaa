"""Notices a streamed answer that only repeats itself, so that the call can be ended before its budget is spent.

An answer counts as endless when its end has repeated one passage at least 6 times over many characters, and goes on
doing nothing else. How many characters depends on what the passage is: words are seldom repeated on purpose, rows of a
table, lines of code, items of JSON and ruled lines often are, and more so where the prompt asks for such a thing.

An item number that counts on from one repetition to the next makes no other passage of it. Reasoning and the arguments
of tool calls are watched as well as the text.

Short answers cost nothing: the stream is looked at whenever another 16 KiB of it have come, each byte once, and only
the last 8 192 characters of its text are kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.exchange import Chunk, Failure, FailureKind
from promptreg.text.repetition import Loop, counted_tail, is_listed, periodic_tail
from promptreg.text.wishes import asks_for_repetition, asks_for_shape

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

LEAST_REPEATS: Final = 6
"""How often the passage stands there at least."""

_BLOCK: Final = 16 * 1024
_TAIL: Final = 8_192
_SHORT: Final = 12
"""Characters of a passage that may be a word, a sound or an emoji."""

_SENTENCES: Final = 1_000
"""Characters of repetition of a longer passage of words, which nobody writes on purpose."""

_WORDS: Final = 2_000
"""The same of a word or a sound."""

_SHAPES: Final = 4_000
"""The same of anything without letters, or with the marks of data and code."""

_ASKED: Final = 16_000
"""The same of anything, where the prompt asks for what may repeat, and of items of lists and lines of data."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_MARKS_OF_DATA: Final = re.compile(r"[|{}\[\]<>()=;:\"`#*_/\\]")
_NUMBER: Final = re.compile(r"(?<![0-9])[0-9]{1,4}(?![0-9])")
_MOST_NAMED: Final = 5_000
_CALLS: Final = ("tool_calls", "function_call")
_FIELDS: Final = frozenset({"content", *REASONING_FIELDS, *_CALLS})


class _Seen(NamedTuple):
    """A repetition that was going on when the stream was looked at last."""

    field: str
    period: int
    length: int
    """Characters of repetition so far."""
    counted: bool = False
    """Whether a number counts on in it."""


class LoopWatch:
    """Watches one stream. `feed` takes its bytes as they come."""

    def __init__(self, request: JsonObject) -> None:
        self._request = request
        self._block: list[bytes] = []
        self._size = 0
        self._rest = b""
        self._tails: dict[str, str] = {}
        self._seen: _Seen | None = None
        self._on = True

    def drop_begun_line(self, chunks: list[Chunk]) -> None:
        """Takes the line that had only begun off the end of what was received: it was cut by nobody but us."""
        left = len(self._rest)
        while left > 0 and chunks:
            at_s, data = chunks[-1].at_s, chunks.pop().data
            if left < len(data):
                chunks.append(Chunk(at_s, data[:-left]))
            left -= len(data)

    def feed(self, data: bytes) -> Failure | None:
        """Takes the next bytes; says why the call is to be ended, once that is certain."""
        if not self._on:
            return None
        self._block.append(data)
        self._size += len(data)
        return self._look() if self._size >= _BLOCK else None

    def _look(self) -> Failure | None:
        block = self._rest + b"".join(self._block)
        self._block, self._size = [], 0
        end = block.rfind(b"\n")
        self._rest = block[end + 1 :]
        new = _texts(block[: end + 1])
        if not new and (end < 0 or b"data:" not in block):
            self._on = False  # no stream of events, or one that this is not made for
            self._rest = b""
        seen, self._seen = self._seen, None
        if len(new) > 1 and len(set(new.values())) == 1:
            new = {min(new): new[min(new)]}  # a server that sends the reasoning under two names
        if len(new) != 1:
            return None  # nothing, or the reasoning just ended: whatever was seen does not go on
        ((field, text),) = new.items()
        tail = self._tails[field] = (self._tails.get(field, "") + text)[-_TAIL:]
        if field in _CALLS:  # a text inside JSON, which may end within an escape
            tail = tail.removesuffix("\\").replace("\\n", "\n").replace('\\"', '"')
        loop, counted = _loop_of(tail), False
        if loop is None:
            loop, counted = counted_tail(tail), True
        if loop is None or loop.repeats < LEAST_REPEATS:
            return None
        goes_on = seen is not None and (seen.field, seen.period, seen.counted) == (field, loop.period, counted)
        if seen is None or not goes_on or loop.length < min(len(text), _TAIL // 2):
            self._seen = _Seen(field, loop.period, loop.length, counted)
            return None
        self._seen = _Seen(field, loop.period, seen.length + len(text), counted)
        repeats = self._seen.length // loop.period
        if self._seen.length < self._needed(loop.unit, counted=counted) or (counted and repeats <= self._named()):
            return None
        # The passage itself is not told here: it may hold a secret.
        what = "character" if loop.period == 1 else f"{loop.period} characters"
        but = ", but for a number that counts on" if counted else ""
        said = f"The answer repeated the same {what} {repeats} times{but}, so promptreg ended the call."
        return Failure(FailureKind.LOOP, said)

    def _prompt(self) -> str:
        return "\n".join(_prompt_texts(self._request.get("messages")))

    def _named(self) -> int:
        """How many things the prompt may ask about: its lines, or the greatest number in it that is no order number."""
        prompt = self._prompt()
        return max(prompt.count("\n") + 1, *(one for one in map(int, _NUMBER.findall(prompt)) if one <= _MOST_NAMED), 0)

    def _needed(self, unit: str, *, counted: bool) -> int:
        """Characters of repetition that no answer has on purpose."""
        prompt = self._prompt()
        if asks_for_repetition(prompt) or asks_for_shape(prompt) or is_listed(unit):
            return _ASKED
        if counted or _LETTER.search(unit) is None or _MARKS_OF_DATA.search(unit) is not None:
            return _SHAPES
        return _SENTENCES if len(unit) > _SHORT else _WORDS


def _loop_of(text: str) -> Loop | None:
    """The repetition that a text ends in, of blanks as well."""
    blanks = len(text) - len(text.rstrip())
    if blanks >= _SHAPES:
        return Loop(1, len(text) - blanks, blanks, " ")
    return periodic_tail(text)


def _texts(lines: bytes) -> dict[str, str]:
    """The new text of each field of the answer in whole lines of a stream; nothing where anything else is in them."""
    pieces: dict[str, list[str]] = {}
    for line in lines.split(b"\n"):
        if not line.startswith(b"data:"):
            continue
        try:
            (choice,) = orjson.loads(line[5:])["choices"]
            delta = choice["delta"].items()
            if choice.get("finish_reason") is not None:
                return {}
        except (ValueError, KeyError, TypeError, AttributeError):
            return {}
        for field, piece in delta:
            if not piece or field == "role":
                continue
            said = piece if isinstance(piece, str) else _said(piece)
            if field not in _FIELDS or said is None:
                return {}
            pieces.setdefault(field, []).append(said)
    return {field: "".join(texts) for field, texts in pieces.items()}


def _said(pieces: Json) -> str | None:
    """The text in pieces of tool calls, or in parts of the reasoning; None where they are of another kind."""
    texts: list[str] = []
    for piece in [pieces] if isinstance(pieces, dict) else pieces if isinstance(pieces, list) else [None]:
        if not isinstance(piece, dict):
            return None
        function = piece.get("function", piece)
        found = [function.get(name) for name in ("name", "arguments", "text")] if isinstance(function, dict) else [0]
        if not all(one is None or isinstance(one, str) for one in found):
            return None
        texts += [one for one in found if isinstance(one, str)]
    return "".join(texts)


def _prompt_texts(messages: Json) -> list[str]:
    found: list[str] = []
    for message in messages if isinstance(messages, (list, tuple)) else ():
        content = message.get("content") if isinstance(message, dict) else None
        parts = content if isinstance(content, (list, tuple)) else [content]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        found += [text for text in texts if isinstance(text, str)]
    return found

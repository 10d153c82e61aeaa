"""Summaries written by a model, whose own window may be smaller than what it has to read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias

from promptreg.context.count.special import neutralised
from promptreg.context.failure import BrokenPromiseError
from promptreg.context.strategies.base import Request
from promptreg.text.segment import graphemes, sentences, tokens

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from promptreg.context.budget import Budget
    from promptreg.context.count.counting import Counter, Message
    from promptreg.context.summarise.source import Room, Source, Written

Ask: TypeAlias = "Callable[[Sequence[Message], int], str | Awaitable[str]]"
"""A model: the messages of a request and the most tokens of its answer in, the answer's content out."""

_DEEPEST: Final = 6
"""Rounds of summaries of summaries before it is given up."""

_ORDER: Final = {
    "en": (
        "You summarise a conversation so that it can go on from your summary. Keep every number, date, name, "
        "identifier, decision, refusal and open question word for word. Where a value was corrected, give only the new "
        "one. Write what was said, never an instruction of your own, and nothing else. Use at most {limit} tokens."
    ),
    "zh": (
        "请概括一段对话，使对话可以从概括继续。数字、日期、名称、编号、决定、拒绝和未决问题逐字保留；被更正的值只写新值。"
        "只写说过的内容，不写自己的指令，也不写其他文字。最多 {limit} 个 token。"
    ),
}
_TRANSCRIPT: Final = {"en": "The conversation:\n\n", "zh": "对话：\n\n"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Asks a model. A history that is larger than the model's window is summarised in parts, then the parts.

    Every message is read: one that is too large by itself is read in pieces. What is sent is counted as it is sent, and
    marks of chat templates in it are made harmless, so that the model reads a transcript and does not continue it.
    """

    ask: Ask
    counter: Counter
    """Of the model that is asked."""
    budget: Budget
    """Its window; the reserve is not needed, a summary's own limit is kept free."""
    name: str = "model"

    def summarise(self, source: Source, room: Room) -> Written:
        """See the class.

        Raises:
            BrokenPromiseError: the window is too small for any part, or parts do not become shorter.
            TypeError: the model's answer is no text.
        """
        texts = [
            *([source.previous] if source.previous else []),
            *(f"{item.role}: {item.text}" for item in source.passages),
        ]
        language = source.language
        for _ in range(_DEEPEST):
            parts = self._parts([neutralised(text) for text in texts], room, language)
            answers: list[str] = []
            for part in parts:
                messages = self._request(part, room, language)
                answer = yield Request(partial(self.ask, messages, room.limit))
                if not isinstance(answer, str):
                    kind = type(answer).__name__
                    raise BrokenPromiseError(f"it returned {kind}, not a text", f"它返回的是 {kind}，而不是文本")
                answers.append(answer.strip())
            if len(answers) == 1:
                return answers[0]
            if sum(map(len, answers)) >= sum(map(len, texts)):
                break
            texts = answers
        raise BrokenPromiseError(
            "the summaries of the parts do not become shorter, so they cannot become one summary",
            "各部分的摘要没有变短，无法合成一份摘要",
        )

    def _request(self, transcript: str, room: Room, language: str) -> list[Message]:
        return [
            {"role": "system", "content": _ORDER[language].format(limit=room.limit)},
            {"role": "user", "content": _TRANSCRIPT[language] + transcript},
        ]

    def _parts(self, texts: Sequence[str], room: Room, language: str) -> list[str]:
        """The texts joined to as few transcripts as the window allows."""
        window = self.budget.window - self.budget.margin - room.limit

        def fits(transcript: str) -> bool:
            return self.counter.prompt(self._request(transcript, room, language)) <= window

        parts: list[str] = []
        for text in texts:
            for piece in _pieces(text, fits):
                joined = f"{parts[-1]}\n\n{piece}" if parts else piece
                if parts and fits(joined):
                    parts[-1] = joined
                else:
                    parts.append(piece)
        return parts


def _pieces(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """The text in pieces that fit, halved between sentences where possible, else between words, else characters.

    Raises:
        BrokenPromiseError: not even one character fits.
    """
    if fits(text):
        yield text
        return
    units = next((units for cut in (sentences, tokens, graphemes) if len(units := cut(text)) > 1), [])
    if not units:
        raise BrokenPromiseError(
            "its window is too small for its instructions and any text", "它的窗口太小，容不下指令和任何文本"
        )
    middle = len(units) // 2
    yield from _pieces("".join(units[:middle]), fits)
    yield from _pieces("".join(units[middle:]), fits)

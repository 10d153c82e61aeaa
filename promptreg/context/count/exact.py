"""Counts of the whole rendered prompt: an encoder and a tokenizer."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Final

from promptreg.context.count.counting import MessageMemory
from promptreg.context.encoders import marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Message
    from promptreg.context.count.tokens import Tokenizer
    from promptreg.context.encoders.model import Encoder

_MOST_PARTS: Final = 100_000
"""Remembered counts; beyond that all are forgotten."""

# Text on one side of a special token is split without a look at the other side, so the parts can be counted apart.
# `<｜/table>｜` is the one special token that ends as another begins.
_MARK: Final = re.compile(f"({'|'.join(map(re.escape, ('<｜/table>｜', *marks.ALL)))})")


class RenderedCounter:
    """Renders as the server does and counts the tokens: exact where both the format and the vocabulary are the model's.

    The text between two marks is counted once and remembered, so counting a conversation again after a cut costs little
    more than rendering it.

    Args:
        encoder: the prompt format.
        tokenizer: the vocabulary.
        isolated: whether DeepSeek's marks are special tokens of the vocabulary; else prompts are counted in one piece.
    """

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer, *, isolated: bool = True) -> None:
        self.name = f"{tokenizer.name} + {encoder.name}"
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._isolated = isolated
        self._memory = MessageMemory(lambda message: self._count(encoder.alone(message)))
        self._parts: dict[str, int] = {}
        self._ids: dict[str, array[int]] = {}

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:
        """Tokens of the rendered prompt, cue included.

        Raises:
            EncodingError: the format has no place for these messages.
        """
        return self._count(self._encoder.render(messages, tools=tools))

    def message(self, message: Message) -> int:
        """Tokens of the message in the middle of a conversation; the parts of one of several results may be shared."""
        return self._memory(message)

    def pieces(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> list[array[int]]:
        """Token ids of the rendered prompt, in pieces; a piece that was seen before is the same object.

        Raises:
            EncodingError: the format has no place for these messages.
        """
        text = self._encoder.render(messages, tools=tools)
        return [self._piece(part) for part in (_MARK.split(text) if self._isolated else [text]) if part]

    def _piece(self, text: str) -> array[int]:
        known = self._ids.get(text)
        if known is None:
            if len(self._ids) >= _MOST_PARTS:
                self._ids.clear()
            known = self._ids[text] = array("l", self._tokenizer.ids(text))
        return known

    def _count(self, text: str) -> int:
        if not self._isolated:
            return self._tokenizer.count(text)
        parts = _MARK.split(text)
        return sum(map(self._part, parts[::2])) + len(parts) // 2

    def _part(self, text: str) -> int:
        if not text:
            return 0
        known = self._parts.get(text)
        if known is None:
            if len(self._parts) >= _MOST_PARTS:
                self._parts.clear()
            known = self._parts[text] = self._tokenizer.count(text)
        return known

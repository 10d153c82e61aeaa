"""Token ids of texts, exactly as DeepSeek's own tokenizer gives them, and without a limit on what a text may hold."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

import regex

from promptreg.context.count.vocabulary import NAME, PATTERN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import tiktoken


_SIGNS: Final = ("<｜", "｜DSML｜", "think>", "dsml:", "<|")
"""Each special token of the vocabulary holds one of these."""


class Tokenizer(Protocol):
    """Text to token ids; the names of special tokens in a text are the special tokens."""

    @property
    def name(self) -> str:
        """Its name in every output."""
        ...

    def ids(self, text: str) -> Sequence[int]:
        """Token ids of a text."""
        ...

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        ...


class DeepseekTokenizer:
    """DeepSeek's vocabulary in tiktoken: equal to `tokenizers` on the same file, several times as fast.

    Built when it is first used, which takes about half a second.
    """

    name: Final = NAME

    def ids(self, text: str) -> Sequence[int]:
        """Token ids of a text. Lone surrogates count as U+FFFD."""
        encoding = _encoding()
        try:
            if not any(sign in text for sign in _SIGNS):  # handing 1 283 names over costs more than a short text
                return encoding.encode_ordinary(text)
            return encoding.encode(text, allowed_special="all")
        except ValueError:  # tiktoken's expression gives up on a run of some 100 000 spaces or controls
            return list(_ids_by_piece(encoding, text))

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self.ids(text))


def special_tokens() -> frozenset[str]:
    """The names of all special tokens of the vocabulary, placeholders included.

    Raises:
        UsageError: the package with the vocabulary is missing.
    """
    return frozenset(_encoding().special_tokens_set)


@cache
def _encoding() -> tiktoken.Encoding:
    import tiktoken  # noqa: PLC0415 - only for those who count: it takes a moment

    return tiktoken.get_encoding(NAME)


def _ids_by_piece(encoding: tiktoken.Encoding, text: str) -> Iterator[int]:
    """The same ids, with the text split by an engine that has no limit. Ten times slower."""
    special, piece = _splitters()
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    end = 0
    for found in chain(special.finditer(text), (None,)):
        for match in piece.finditer(text, end, found.start() if found else len(text)):
            yield from encoding._encode_single_piece(match.group())  # noqa: SLF001 - there is no public way past the split
        if found:
            yield encoding.encode_single_token(found.group())
            end = found.end()


@cache
def _splitters() -> tuple[re.Pattern[str], regex.Pattern[str]]:
    special = "|".join(map(re.escape, sorted(special_tokens())))
    return re.compile(special), regex.compile(PATTERN, regex.VERSION1)

"""The prompt of a request as the rules see it: what it asks for is worked out once for all calls of a case."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from promptreg.scoring.faults.reading import asked
from promptreg.scoring.faults.reading.estimate import least_tokens
from promptreg.scoring.faults.reading.views import Text, texts_of_messages
from promptreg.text import wishes

if TYPE_CHECKING:
    from promptreg.canonical import Json
    from promptreg.scoring.faults.reading.asked import Wish


class Prompt(Text):
    """The text of all messages, joined by line feeds, and what it wishes."""

    def __init__(self, messages: tuple[tuple[str, str], ...]) -> None:
        super().__init__("\n".join(text for _, text in messages))
        self.messages = messages

    @cached_property
    def last_question(self) -> str:
        """The text of the last message of the user."""
        questions = [text for role, text in self.messages if role == "user"]
        return questions[-1] if questions else ""

    @cached_property
    def least_tokens(self) -> int:
        """A lower bound for its tokens, whatever the tokenizer."""
        return least_tokens(text for _, text in self.messages)

    @cached_property
    def wants_repetition(self) -> bool:
        """Whether it asks for something that repeats: a row of stars, a word ten times, a long number."""
        return wishes.asks_for_repetition(self.raw)

    @cached_property
    def wants_shape(self) -> bool:
        """Whether it asks for something that may repeat by nature: a table, code, a song."""
        return wishes.asks_for_shape(self.raw)

    @cached_property
    def is_about_think_tags(self) -> bool:
        """Whether it is about the tags around reasoning."""
        return asked.speaks_of_think_tags(self.raw)

    @cached_property
    def is_about_markup(self) -> bool:
        """Whether it is about markup or special tokens."""
        return asked.speaks_of_markup(self.raw)

    @cached_property
    def is_about_languages(self) -> bool:
        """Whether it is about languages or writing."""
        return asked.speaks_of_languages(self.raw)

    @cached_property
    def is_about_east_asia(self) -> bool:
        """Whether it is about a culture whose words are written in Han characters."""
        return asked.speaks_of_east_asia(self.raw)

    @cached_property
    def languages_named(self) -> frozenset[str]:
        """Codes of the languages that it names."""
        return asked.languages_mentioned(self.raw)

    @cached_property
    def instructions(self) -> str:
        """The parts in which wishes stand: its beginning and its end."""
        return self.raw if len(self.raw) <= 12_000 else f"{self.raw[:6000]}\n{self.raw[-6000:]}"

    @cached_property
    def wish(self) -> Wish | None:
        """The language that the answer is wanted in."""
        return asked.language_asked_for(self.instructions)


def prompt_of(messages: Json) -> Prompt:
    """The prompt of a request's `messages`; the same object for equal messages, as far as they were seen lately."""
    return _prompt(tuple(texts_of_messages(messages)))


@lru_cache(maxsize=32)
def _prompt(messages: tuple[tuple[str, str], ...]) -> Prompt:
    return Prompt(messages)

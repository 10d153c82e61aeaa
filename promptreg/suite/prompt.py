"""A list of messages whose texts are templates: compiled once, filled for every case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from promptreg.errors import Place, Problem, SuiteError
from promptreg.suite.scalars import Block
from promptreg.suite.templates import PromptTemplate
from promptreg.suite.work import PromptTemplateError

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject


class PromptError(SuiteError):
    """A prompt cannot be compiled or filled."""


class Prompt:
    """Messages with templates in them."""

    def __init__(self, messages: Sequence[JsonObject], label: str, places: Sequence[Place]) -> None:
        """Compile every text.

        Args:
            messages: Whole messages, as read.
            label: How messages to the user name this prompt.
            places: Where the text of each message is written.

        Raises:
            PromptError: with every template that is wrong.
        """
        self.label = label
        self._places = places
        self._blocks = [isinstance(message.get("content"), Block) for message in messages]
        self._messages: list[Any] = []
        problems: list[Problem] = []
        for number, message in enumerate(messages):
            try:
                self._messages.append(_compiled(message))
            except PromptTemplateError as error:
                problems.append(Problem(f"{self._named(number)}: {error}", self._place(number, error.line)))
        if problems:
            raise PromptError(problems)

    @classmethod
    def verbatim(cls, messages: Sequence[JsonObject], label: str) -> Prompt:
        """Messages that are sent as they are, braces and all."""
        prompt = cls((), label, ())
        prompt._messages = list(messages)
        prompt._blocks = [False] * len(messages)
        return prompt

    @property
    def names(self) -> frozenset[str]:
        """Every variable that a message mentions."""
        return frozenset().union(*map(_names, self._messages))

    def render(self, values: Mapping[str, Any]) -> tuple[JsonObject, ...]:
        """The messages with `values` filled in.

        Raises:
            PromptError: with every message that cannot be filled, and where its text is written.
        """
        messages: list[JsonObject] = []
        problems: list[Problem] = []
        for number, message in enumerate(self._messages):
            try:
                messages.append(_rendered(message, values))
            except PromptTemplateError as error:
                problems.append(Problem(str(error), self._place(number, error.line)))
        if problems:
            raise PromptError(problems)
        return tuple(messages)

    def _named(self, number: int) -> str:
        label = self.label[0].upper() + self.label[1:]
        return f"{label}, message {number + 1}" if len(self._places) > 1 else label

    def _place(self, number: int, line: int) -> Place | None:
        """Inside a literal block the line is exact; in other texts it is where the text begins."""
        place = self._places[number] if number < len(self._places) else None
        if place is None or place.line is None or not self._blocks[number]:
            return place
        return Place(place.path, place.line + line)


def _compiled(value: Any) -> Any:
    if isinstance(value, str):
        template = PromptTemplate(value)
        return template if template.constant is None else template.constant
    if isinstance(value, Mapping):
        return {key: item if key in {"role", "type"} else _compiled(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_compiled(item) for item in value]
    return value


def _names(value: Any) -> frozenset[str]:
    if isinstance(value, PromptTemplate):
        return value.names
    if isinstance(value, Mapping):
        value = list(value.values())
    return frozenset().union(*map(_names, value)) if isinstance(value, list) else frozenset()


def _rendered(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, PromptTemplate):
        return value.render(values)
    if isinstance(value, Mapping):
        return {key: _rendered(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_rendered(item, values) for item in value]
    return value

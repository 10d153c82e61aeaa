"""What filling one template costs, and how much it may cost: steps, what is made, processor time.

No single operation can take long or make much, because no value is larger than `MAX_TEXT` allows; and all of them
together are counted. So no template, whatever it does, holds up who reads a suite or fills the memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from time import thread_time
from typing import Any, Final

from jinja2.utils import Namespace

MAX_MADE: Final = 1_000_000
"""Characters, entries or digits that one operator, filter or method may make of small ones."""

MAX_TEXT: Final = 64 * 1024 * 1024
"""Characters of one value, and of a filled template, as of a file that is read. An entry counts as `_ENTRY`."""

MAX_MADE_IN_ALL: Final = 4 * MAX_TEXT
"""Characters of all values that filling one template makes, those included that are not kept."""

MAX_STEPS: Final = 1_000_000
"""Turns of loops, and calls, of one template for one case."""

MAX_SECONDS: Final = 5.0
"""Of processor time, for one template and one case."""

_CALL_STEPS: Final = 5
"""A call takes about as long as so many turns."""
_ENTRY: Final = 16
_LOOK_EVERY: Final = 16
"""Steps between two looks at the clock."""
_LARGE: Final = 10_000


class PromptTemplateError(ValueError):
    """A template is wrong or cannot be filled. The message is a sentence; `line` counts from 1 inside the template."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def too_large(what: str) -> PromptTemplateError:
    """The error for a value that would be too large."""
    return PromptTemplateError(f"The template cannot be filled: {what} would make too large a value.")


def weight(value: Any, what: str) -> int:
    """How large a value is, what is in it included: characters, and `_ENTRY` for each entry.

    Args:
        value: any value of a template; one that is in it twice counts twice, as when it is written out.
        what: the operator, filter or method, for the error.

    Raises:
        PromptTemplateError: it is larger than `MAX_TEXT`, or holds a namespace, which has no end where it is written.
    """
    total = 0
    rest = [value]
    while rest:
        item = rest.pop()
        total += _ENTRY
        if isinstance(item, (str, bytes)):
            total += len(item)
        elif isinstance(item, int):
            total += item.bit_length() // 3
        elif isinstance(item, (list, tuple, set, frozenset, Mapping)):
            total += len(item) * _ENTRY
            if total > MAX_TEXT:
                break
            rest.extend(item)
            if isinstance(item, Mapping):
                rest.extend(item.values())
        elif isinstance(item, Namespace):
            raise PromptTemplateError(f"{what} cannot take a namespace; name one of its values.")
        if total > MAX_TEXT:
            break
    if total > MAX_TEXT:
        raise too_large(what)
    return total


class Work:
    """What filling one template for one case has done."""

    def __init__(self) -> None:
        """Nothing so far; the clock begins at the first look."""
        self._steps = 0
        self._made = 0
        self._until: float | None = None

    def step(self, steps: int = 1) -> None:
        """Count some turns of a loop.

        Raises:
            PromptTemplateError: they were too many, or took too long.
        """
        before = self._steps
        self._steps += steps
        if self._steps > MAX_STEPS:
            raise PromptTemplateError(f"The template cannot be filled: it takes more than {MAX_STEPS} steps.")
        if before // _LOOK_EVERY != self._steps // _LOOK_EVERY:
            self._look()

    def call(self) -> None:
        """Count a call of a function, filter or method."""
        self.step(_CALL_STEPS)

    def made(self, value: Any, what: str) -> Any:
        """Count a new value; the value itself, or what gives its entries one by one.

        Raises:
            PromptTemplateError: it is too large, or all together are.
        """
        if isinstance(value, Namespace):
            return value
        if isinstance(value, Iterator):
            return self._one_by_one(value, what)
        size = weight(value, what)
        self._made += size
        if self._made > MAX_MADE_IN_ALL:
            raise PromptTemplateError(
                f"The template cannot be filled: it makes more than {MAX_MADE_IN_ALL} characters in all."
            )
        if size > _LARGE:
            self._look()
        return value

    def _one_by_one(self, values: Iterator[Any], what: str) -> Iterator[Any]:
        for value in values:
            self.step()
            yield self.made(value, what)

    def _look(self) -> None:
        now = thread_time()
        if self._until is None:
            self._until = now + MAX_SECONDS
        elif now > self._until:
            raise PromptTemplateError(f"The template cannot be filled: it takes more than {MAX_SECONDS:g} seconds.")

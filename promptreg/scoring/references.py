"""References of JSON Schemas, followed so many times for one value and no more.

Two references in each of thirty definitions are a billion steps, in a schema of a few lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

    Follow = Callable[[Validator, str, Any, Any], Iterable[ValidationError] | None]

MOST_REFERENCES: Final = 100_000
"""Followed for one value."""
_KEYWORDS: Final = ("$ref", "$dynamicRef", "$recursiveRef")


class TooManyReferencesError(Exception):
    """Holding a value against a schema would not come to an end."""


class References:
    """Counts the references that the validators with its keywords follow."""

    def __init__(self, known: type[Validator]) -> None:
        """Of a draft of JSON Schema, as jsonschema knows it."""
        self._left = MOST_REFERENCES
        self.keywords: Mapping[str, Follow] = {
            name: self._counted(known.VALIDATORS[name]) for name in _KEYWORDS if name in known.VALIDATORS
        }
        """What `jsonschema.validators.extend` takes."""

    def begin(self) -> None:
        """The next value."""
        self._left = MOST_REFERENCES

    def _counted(self, follow: Follow) -> Follow:
        def counted(validator: Validator, reference: str, value: Any, schema: Any) -> Iterator[ValidationError]:
            self._left -= 1
            if self._left < 0:
                raise TooManyReferencesError(f"more than {MOST_REFERENCES} references would have to be followed")
            yield from follow(validator, reference, value, schema) or ()

        return counted

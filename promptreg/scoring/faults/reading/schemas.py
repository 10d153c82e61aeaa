"""Values against the JSON Schemas of a request: bounded, without the network, made once for each schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from promptreg.canonical import canonical_json
from promptreg.scoring.problems import misfit
from promptreg.scoring.references import References, TooManyReferencesError
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

    from promptreg.canonical import Json, JsonObject
    from promptreg.text.sentence import Sentence

MOST: Final = 5
"""Violations of one value that are looked for."""

_PATTERN_SECONDS: Final = 0.2


class Violation(NamedTuple):
    """One place at which a value breaks its schema."""

    path: str
    """`$.city`."""
    rule: str
    """Keyword of the schema that is broken: `required`, `type`, `enum`."""
    message: Sentence


def violations(schema: JsonObject, value: Json) -> tuple[Violation, ...]:
    """Where a value breaks a schema, at most `MOST` places.

    A schema that is no valid JSON Schema, or refers to something that is not in it, rules nothing.
    """
    try:
        made = _validator(canonical_json(schema))
    except (ValueError, RecursionError):
        return ()
    if made is None:
        return ()
    validator, references = made
    references.begin()
    from jsonschema import SchemaError  # noqa: PLC0415 - jsonschema takes a tenth of a second to load
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as above

    found: list[Violation] = []
    try:
        for error in validator.iter_errors(value):
            if _null_allowed(error):
                continue
            found.append(Violation(error.json_path, str(error.validator), misfit(error, 100)))
            if len(found) == MOST:
                break
    except (TimeoutError, RecursionError, TooManyReferencesError, Unresolvable, SchemaError, TypeError, ValueError):
        return tuple(found)
    return tuple(found)


@lru_cache(maxsize=256)
def _validator(schema_text: str) -> tuple[Validator, References] | None:
    from jsonschema import SchemaError  # noqa: PLC0415 - jsonschema takes a tenth of a second to load
    from jsonschema.validators import Draft202012Validator, extend  # noqa: PLC0415 - as above
    from referencing import Registry  # noqa: PLC0415 - as above

    schema = json.loads(schema_text)
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return None
    registry: Registry[Any] = Registry()
    references = References(Draft202012Validator)
    made = extend(Draft202012Validator, {"pattern": _pattern, **references.keywords})  # type: ignore[no-untyped-call]  # the stubs leave it out
    validator: Validator = made(schema, registry=registry)
    return validator, references


def _null_allowed(error: ValidationError) -> bool:
    """Whether a null stands where OpenAPI's `nullable` allows it, which JSON Schema does not know."""
    return error.instance is None and isinstance(error.schema, Mapping) and error.schema.get("nullable") is True


def _pattern(_validator: Validator, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    """Expressions of users run with a time limit."""
    import regex  # noqa: PLC0415 - loaded only where a schema has an expression
    from jsonschema import ValidationError  # noqa: PLC0415 - as above

    if not isinstance(instance, str):
        return
    try:
        matched = regex.search(pattern, instance, timeout=_PATTERN_SECONDS) is not None
    except regex.error:
        return
    if not matched:
        yield ValidationError(f"{preview(instance, 60)!r} does not match {pattern!r}")

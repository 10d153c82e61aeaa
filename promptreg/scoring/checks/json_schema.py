"""Check `json_schema`: the content is JSON that fits a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson
import regex
from jsonschema import SchemaError, ValidationError
from jsonschema.validators import extend, validator_for
from rapidfuzz import fuzz
from referencing import Registry
from referencing.exceptions import Unresolvable

from promptreg.config.encoding import UnreadableTextError, read_limited
from promptreg.config.hints import closest
from promptreg.deployment.json_text import is_deep
from promptreg.errors import SuiteError
from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.reading.json_text import parse_answer
from promptreg.scoring.checks.regex import SECONDS
from promptreg.scoring.problems import misfit
from promptreg.scoring.references import References, TooManyReferencesError
from promptreg.suite.files import resolve_project_file
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_LARGEST_SCHEMA: Final = 1024 * 1024
_A_SLIP: Final = 80.0
"""Likeness in percent from which an unknown keyword is a known one misspelt: `propertys`, `require`, `minlength`."""
_BY_NAME: Final = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)
"""Keywords whose value has schemas by names of its own."""
_INNER: Final = frozenset(
    {
        "items",
        "prefixItems",
        "additionalItems",
        "contains",
        "additionalProperties",
        "propertyNames",
        "if",
        "then",
        "else",
    }
    | {"not", "allOf", "anyOf", "oneOf", "unevaluatedItems", "unevaluatedProperties", "contentSchema", "extends"}
)
"""Keywords whose value is a schema, or a list of schemas."""
_KEYWORDS: Final = (
    _BY_NAME
    | _INNER
    | frozenset({"type", "enum", "const", "required", "dependentRequired", "minContains", "maxContains", "uniqueItems"})
    | frozenset(
        {"minItems", "maxItems", "minLength", "maxLength", "pattern", "format", "minProperties", "maxProperties"}
    )
    | frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "divisibleBy", "disallow"})
    | frozenset({"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "id"})
    | frozenset({"contentEncoding", "contentMediaType", "format"})
    # Of OpenAPI and of what makes schemas: known, and close to others.
    | frozenset({"example", "nullable", "discriminator", "xml", "externalDocs"})
    | frozenset({"propertyOrder", "propertyOrdering", "errorMessage", "enumNames", "markdownDescription"})
)
_NO_REMOTE: Final[Registry[Any]] = Registry()


_DEEPEST_SCHEMA: Final = 200


@dataclass(frozen=True, slots=True)
class FitsSchema:
    """Draft 2020-12 unless `$schema` names another; `format` is an annotation; nothing is fetched for a `$ref`."""

    source: Sentence
    """How sentences name the schema: by its file, or as the one in the suite."""
    validator: Validator
    references: References

    @property
    def rules(self) -> Rules:
        """The content must be JSON that fits, or something else."""
        return must(f"be JSON that fits {self.source.en}", f"是符合{self.source.zh}的 JSON")

    def find(self, answer: Answer) -> Finding:
        """Whether it fits; if not, the first place where it does not."""
        parsed = parse_answer(answer)
        if parsed.problem is not None:
            return Finding(holds=False, sentence=parsed.problem)
        misfit = first_misfit(self, parsed.value)
        if misfit is not None:
            return misfit
        return found(True, f"is JSON that fits {self.source.en}", f"是符合{self.source.zh}的 JSON")


def first_misfit(schema: FitsSchema, value: Any) -> Finding | None:
    """The first place where a value does not fit, or why that cannot be found out; None when it fits."""
    schema.references.begin()
    try:
        error = next(iter(schema.validator.iter_errors(value)), None)
    except (TimeoutError, RecursionError, Unresolvable, TooManyReferencesError) as failure:
        reason = preview(str(failure) or type(failure).__name__, 80)
        sentence = Sentence(
            f"The answer could not be held against {schema.source.en}: {reason}.",
            f"无法用{schema.source.zh}检验回答：{reason}。",
        )
        return Finding(holds=None, sentence=sentence)
    if error is None:
        return None
    where, what = preview(error.json_path, 60), misfit(error, 120)
    return found(
        False,
        f"does not fit {schema.source.en}: at {where}, {what.en}",
        f"不符合{schema.source.zh}：{where} 处{what.zh}",
    )


def build(argument: Json, setting: Setting) -> FitsSchema:
    """`json_schema: FILE`, relative to the suite, or the schema itself as a mapping."""
    return read_schema(argument, setting)


def read_schema(argument: Json, setting: Setting) -> FitsSchema:
    """The schema that an argument names or is.

    Raises:
        BadArgument: when there is none, or none that can be used.
    """
    if isinstance(argument, Mapping):
        return FitsSchema(
            Sentence("the schema in the suite", "测试集中的模式"), *_validator(dict(argument), "The schema", setting)
        )
    if not isinstance(argument, str) or not argument:
        raise BadArgument(
            f"`{setting.name}` needs the path of a schema file, relative to the suite, such as "
            f"`{setting.name}: schemas/answer.json`, or the schema itself.",
        )
    try:
        file = resolve_project_file(setting.root, setting.place.path, argument, setting.place)
        text = read_limited(file, _LARGEST_SCHEMA)
    except SuiteError as error:
        raise BadArgument(" ".join(problem.message for problem in error.problems)) from None
    except UnreadableTextError as error:
        raise BadArgument(f"The schema file `{argument}`: {error}") from None
    try:
        schema = orjson.loads(text.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise BadArgument(
            f"The schema file `{argument}` is not JSON in UTF-8 (line {error.lineno}, column {error.colno}).",
        ) from None
    source = Sentence(f"the schema {quoted(argument)}", f"模式{quoted(argument)}")
    return FitsSchema(source, *_validator(schema, f"The schema file `{argument}`", setting))


def _validator(schema: Any, what: str, setting: Setting) -> tuple[Validator, References]:
    if not isinstance(schema, (dict, bool)):
        raise BadArgument(f"{what} of `{setting.name}` must be a JSON object, not {type(schema).__name__}.")
    known = validator_for(schema)
    if is_deep(schema, _DEEPEST_SCHEMA):
        raise BadArgument(f"{what} is nested more than {_DEEPEST_SCHEMA} levels deep.")
    try:
        known.check_schema(schema)  # type: ignore[arg-type]  # `true` and `false` are schemas too
    except SchemaError as error:
        raise BadArgument(
            f"{what} is not a valid JSON Schema: at {preview(error.json_path, 60)}, {preview(error.message, 120)}.",
        ) from None
    _refuse_misspelt_keywords(schema, set(known.META_SCHEMA.get("properties", {})), what)
    # check_schema reads expressions with `re`; they are run with `regex`, which can be stopped.
    references = References(known)
    made = extend(known, {"pattern": _pattern, **references.keywords})  # type: ignore[no-untyped-call]  # the stubs leave it out
    validator: Validator = made(schema, registry=_NO_REMOTE)
    _require_local_references(schema, validator, what)
    return validator, references


def _refuse_misspelt_keywords(schema: Any, of_draft: set[str], what: str) -> None:
    """Refuse keywords that JSON Schema would ignore in silence although a slip of the pen is all that is unknown."""
    keywords = _KEYWORDS | of_draft
    for path, part in _subschemas(schema):
        for key in part:
            if key in keywords or key.startswith(("x-", "$")):
                continue
            meant = closest(key, keywords)
            if meant is not None and fuzz.ratio(key.casefold(), meant.casefold()) >= _A_SLIP:
                raise BadArgument(
                    f"{what} has a keyword at {preview(path, 60)} that JSON Schema does not know: "
                    f"{quoted(key)}. Did you mean `{meant}`? A keyword of your own begins with `x-`.",
                )


def _subschemas(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schemas in a schema with their paths: no property names, no values such as those of `const`."""
    rest: list[tuple[str, Any]] = [("$", schema)]
    while rest:
        path, part = rest.pop()
        if not isinstance(part, dict):
            continue
        yield path, part
        for key, value in part.items():
            here = f"{path}.{key}"
            if key in _BY_NAME and isinstance(value, dict):
                rest += [(f"{here}.{name}", inner) for name, inner in value.items()]
            elif key in _INNER and isinstance(value, list):
                rest += [(f"{here}[{index}]", inner) for index, inner in enumerate(value)]
            elif key in _INNER:
                rest.append((here, value))


def _require_local_references(schema: Any, validator: Validator, what: str) -> None:
    """Refuse references that only the network could resolve, or nothing at all, before any answer is judged."""
    if isinstance(schema, dict) and any("$id" in part for part in _objects(schema) if part is not schema):
        # Inner identifiers change what references are relative to; those are resolved when they are used.
        return
    for part in _objects(schema):
        reference = part.get("$ref")
        if not isinstance(reference, str):
            continue
        try:
            validator._resolver.lookup(reference)  # type: ignore[attr-defined]  # noqa: SLF001 - there is no public way to ask
        except Unresolvable:
            raise BadArgument(
                f"{what} has a `$ref` that is not in the schema itself: {preview(reference, 80)}. Nothing is fetched; "
                "put the definition under `$defs`.",
            ) from None


def _objects(schema: Any) -> Iterator[dict[str, Any]]:
    rest = [schema]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            yield part
            rest += part.values()
        elif isinstance(part, list):
            rest += part


def _pattern(_validator: Validator, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    if not isinstance(instance, str):
        return
    if regex.search(pattern, instance, timeout=SECONDS) is None:
        yield ValidationError(f"{preview(instance, 60)!r} does not match {pattern!r}")

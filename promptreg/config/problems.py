"""What pydantic found, as sentences: what is wrong, what is allowed, what was probably meant."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError

from promptreg.config.hints import did_you_mean, listing

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

KeyPath = tuple[str | int, ...]

_EXPECTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "dict_type": "a table of keys and values",
    "model_type": "a table of keys and values",
    "model_attributes_type": "a table of keys and values",
    "list_type": "a list",
    "string_too_short": "a text that is not empty",
    "too_short": "at least one entry",
}
_TIMEOUTS = "a number of seconds, or a table of them"
_BOUNDS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_SHOWN = 40


def sentences(
    error: ValidationError, model: type[BaseModel], advice: Mapping[str, str] | None = None
) -> list[tuple[KeyPath, str]]:
    """Every problem with the path of keys it stands at. `advice` maps an unknown key to what to do about it."""
    return [_sentence(detail, model, advice or {}) for detail in error.errors(include_url=False)]


def _sentence(  # noqa: PLR0911 - one return per kind of error reads as a table
    detail: ErrorDetails, model: type[BaseModel], advice: Mapping[str, str]
) -> tuple[KeyPath, str]:
    path = detail["loc"]
    kind = detail["type"]
    context = detail.get("ctx", {})
    key = str(path[-1]) if path else ""
    if kind == "promptreg":
        return path, str(context["sentence"])
    if kind == "extra_forbidden":
        allowed = [name for name in allowed_keys(model, path[:-1]) if name not in advice]
        hint = advice.get(key) or did_you_mean(key, allowed).strip()
        return path, f"Unknown key `{key}`. {hint + ' ' if hint else ''}Allowed are {listing(allowed)}."
    if kind == "missing":
        return path[:-1], f"The key `{key}` is missing."
    # An entry of a list is called so, also where pydantic adds the label of a union's branch to its path.
    entry = isinstance(path[-1] if path else None, int) or (
        kind.startswith("model_") and isinstance((path[-2:] or ("",))[0], int)
    )
    name = "This entry" if entry else f"`{key}`" if path else "The file"
    if kind == "literal_error":
        words = _words(model, path)
        got = detail["input"]
        hint = did_you_mean(got, words) if isinstance(got, str) else ""
        shown = f", not `{got}`" if isinstance(got, str) and len(got) <= _SHOWN else ""
        return path, f"{name} must be one of {listing(words)}{shown}.{hint}"
    if kind in _BOUNDS:
        bound, words_of_bound = _BOUNDS[kind]
        return path, f"{name} must be {words_of_bound} {context[bound]}, not {detail['input']}."
    if kind == "too_long":
        return path, f"{name} must have at most {context['max_length']} entries."
    if kind in _EXPECTED:
        expected = _TIMEOUTS if key == "timeout_s" else _EXPECTED[kind]
        return path, f"{name} must be {expected}, not {named_kind(detail['input'])}."
    return path, f"{name}: {detail['msg']}."


def named_kind(value: object) -> str:  # noqa: PLR0911 - one return per kind of value reads as a table
    """What a value is, for people; never its text, which may be a secret."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return "a text" if value else "an empty text"
    if isinstance(value, Mapping):
        return "a table of keys and values" if value else "an empty table"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    return "a date or time; put it in quotes"


def allowed_keys(model: type[BaseModel], path: KeyPath) -> Collection[str]:
    """The keys that the table at `path` may have."""
    inner = _annotation(model, path)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return [name for name, field in inner.model_fields.items() if not field.exclude and field.repr]
    return []


def _words(model: type[BaseModel], path: KeyPath) -> Collection[str]:
    return [str(word) for word in get_args(_annotation(model, path))]


def _annotation(model: type[BaseModel], path: KeyPath) -> Any:
    """The type that is declared for `path`; labels of union branches in the path choose the branch."""
    inner: Any = model
    for key, after in zip(path, (*path[1:], None), strict=False):
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            field = inner.model_fields.get(str(key))
            inner = _bare(field.annotation, after) if field is not None else inner
        elif get_origin(inner) is dict:
            inner = _bare(get_args(inner)[1], after)
        elif get_origin(inner) in {list, tuple} and isinstance(key, int):
            inner = _bare(get_args(inner)[0], after)
    return inner


def _bare(annotation: Any, label: str | int | None) -> Any:
    """A type without Annotated and without `| None`; of a union, the branch that `label` names, else its first."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in {Union, UnionType}:
            parts = [part for part in get_args(annotation) if part is not type(None)]
            annotation = next((part for part in parts if label is not None and _tagged(part, label)), parts[0])
        else:
            return annotation


def _tagged(annotation: Any, label: str | int) -> bool:
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return any(isinstance(mark, Tag) and mark.tag == label for mark in marks)

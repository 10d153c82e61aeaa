"""One JSON object per case: everything that the report knows, for programs. Its schema is made from the views."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin, get_type_hints

from promptreg import canonical
from promptreg.answer.model import Usage
from promptreg.report import context_views, earlier, verdict_names
from promptreg.report import payload as views
from promptreg.report.embed import whole
from promptreg.report.new_file import new_file
from promptreg.report.output import Written
from promptreg.report.payload import CaseView, to_json
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.report.payload import Payload

CASE_SCHEMA: Final = "promptreg.case/1"
"""Name and version of a line's form. It grows by new keys only."""

# Of the run, beside the fields of the case.
_RUN_KEYS: Final = ("run_id", "source", "target")

# What ends a line for some readers, and what a terminal obeys: as escapes, which JSON reads as the same characters.
_ESCAPED: Final = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}

_NAMES: Final = {
    **vars(canonical),
    **vars(verdict_names),
    **vars(earlier),
    **vars(context_views),
    **vars(views),
    "Sentence": Sentence,
    "Usage": Usage,
    "Mapping": Mapping,
}
_PLAIN: Final[Mapping[object, Json]] = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: ["number", "null"],
    Mapping: "object",
    type(None): "null",
}


def write_jsonl(payload: Payload, path: Path) -> Written:
    """Writes one object per case to `path`, all or nothing, in the order of the payload. Read once, one at a time.

    Args:
        payload: what to write.
        path: the file to write; its folder is made when it is missing.

    Raises:
        OutputError: the file cannot be written.
    """
    head: dict[str, Json] = {
        "schema": CASE_SCHEMA,
        "run_id": payload.run_id,
        "source": payload.source.name,
        "target": payload.target.name,
    }
    number = 0
    with new_file(path) as out:
        for case in payload.cases:
            out.write(_line({**head, **_fields(case)}))
            number += 1
    return Written(path, path.stat().st_size, number, 0)


def case_schema() -> JsonObject:
    """The JSON Schema of a line (promptreg.case/1), from the fields of the views: a new field is in it by itself.

    Fields at their default are left out of a line. A number that JSON does not have is null: an infinite
    `noise_multiple` or `ratio` says that the source has no noise of its own.
    """
    known: dict[str, Json] = {}
    case = _object(CaseView, known)
    properties, required = case["properties"], case["required"]
    assert isinstance(properties, dict)  # noqa: S101 - made so just below
    assert isinstance(required, list)  # noqa: S101 - see above
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": CASE_SCHEMA,
        "title": "A line of what promptreg report RUN -o FILE.jsonl writes",
        "type": "object",
        "required": ["schema", *_RUN_KEYS, *required],
        "properties": {
            "schema": {"const": CASE_SCHEMA},
            **{name: {"type": "string"} for name in _RUN_KEYS},
            **properties,
        },
        "$defs": known,
    }


def _line(value: Json) -> str:
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return whole(written).translate(_ESCAPED) + "\n"


def _fields(case: CaseView) -> dict[str, Json]:
    found = to_json(case)
    assert isinstance(found, dict)  # noqa: S101 - a dataclass becomes a dict
    return found


def _object(view: Any, known: dict[str, Json]) -> dict[str, Json]:
    hints = get_type_hints(view, globalns=_NAMES)
    required: list[Json] = [
        each.name for each in fields(view) if each.default is MISSING and each.default_factory is MISSING
    ]
    return {
        "type": "object",
        "required": required,
        "properties": {each.name: _schema_of(hints[each.name], known) for each in fields(view)},
    }


def _schema_of(kind: Any, known: dict[str, Json]) -> Json:
    """The schema of a value of a view's field; those of views go to `known`."""
    if is_dataclass(kind):
        name: str = getattr(kind, "__name__", "")
        if name not in known:
            known[name] = {}  # a view that holds itself is described once
            known[name] = _object(kind, known)
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return {"type": "array", "items": _schema_of(arguments[0], known)}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema_of(each, known) for each in arguments]}
    return {"enum": list(arguments)} if origin is typing.Literal else {"type": _PLAIN[origin or kind]}

"""What a request asks for, in the spellings that servers know."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

_OTHER_REQUEST: Final = re.compile(r"\s*(?:GET|HEAD|OPTIONS)\s+/", re.IGNORECASE)


def is_chat(label: str) -> bool:
    """Whether a call with this label is a chat call, not one of a health or version page."""
    return _OTHER_REQUEST.match(label) is None


def json_asked(request: JsonObject) -> bool:
    """Whether the request asks the server, not only the model, for JSON."""
    if json_schema(request) is not None:
        return True
    asked = request.get("response_format")
    return isinstance(asked, dict) and asked.get("type") in ("json_object", "json_schema", "json")


def json_schema(request: JsonObject) -> JsonObject | None:
    """The JSON Schema that the answer must fit; None where the request names none."""
    asked = request.get("response_format")
    if isinstance(asked, dict):
        wrapped = asked.get("json_schema")
        for holder in (wrapped, asked):
            schema = holder.get("schema") if isinstance(holder, dict) else None
            if isinstance(schema, dict):
                return schema
    structured = request.get("structured_outputs")
    for schema in (request.get("guided_json"), structured.get("json") if isinstance(structured, dict) else None):
        if isinstance(schema, dict):
            return schema
    return None


def guided(request: JsonObject) -> bool:
    """Whether a grammar forbids some tokens, so that their log-probabilities are at the floor."""
    names = ("structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "regex", "ebnf")
    if json_asked(request) or any(request.get(name) for name in names):
        return True
    return request.get("tool_choice") not in (None, "auto", "none") or bool(request.get("logit_bias"))


def tools_known(request: JsonObject) -> bool:
    """Whether the request is known well enough to say which tools it offers."""
    return "messages" in request or "tools" in request or "functions" in request


def offered_names(request: JsonObject) -> frozenset[str]:
    """Every name under which a tool can be called: functions, custom tools, tools of the server, old `functions`."""
    names = set()
    for tool in _objects(request.get("tools")):
        for holder in (tool.get("function"), tool.get("custom"), tool):
            name = holder.get("name") if isinstance(holder, dict) else None
            if isinstance(name, str):
                names.add(name)
        kind = tool.get("type")
        if isinstance(kind, str) and kind not in ("function", "custom"):
            names.add(kind)
    for function in _objects(request.get("functions")):
        name = function.get("name")
        if isinstance(name, str):
            names.add(name)
    return frozenset(names)


def forced_tool(request: JsonObject) -> str | None:
    """The tool that the request says must be called; None where it leaves the choice."""
    for holder in (request.get("tool_choice"), request.get("function_call")):
        if not isinstance(holder, dict):
            continue
        function = holder.get("function", holder.get("custom", holder))
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str):
            return name
    return None


def stop_texts(request: JsonObject) -> tuple[str, ...]:
    """The stop texts of the request that are not empty."""
    stop = request.get("stop")
    if isinstance(stop, str):
        return (stop,) if stop else ()
    return tuple(one for one in stop if isinstance(one, str) and one) if isinstance(stop, list) else ()


def number(request: JsonObject, name: str) -> float | None:
    """A parameter that is a number; None for anything else."""
    value = request.get(name)
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _objects(values: Json) -> list[JsonObject]:
    return [one for one in values if isinstance(one, dict)] if isinstance(values, list) else []

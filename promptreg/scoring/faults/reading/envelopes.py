"""JSON under HTTP 200 that is no completion: wrapped by a gateway, of another interface, or without any answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.deployment.json_text import parse_json
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Observation

_DEEPEST: Final = 3
"""Levels below the top at which a completion or an answer is looked for."""

_MOST_VALUES: Final = 200
"""Values that are looked at: a body that holds more is no envelope."""

_ANSWERS: Final = ("text", "generated_text", "output_text", "completion", "content", "answer", "response", "output")
"""Keys under which other interfaces have the answer's text: completions, TGI and MindIE `generate`, DashScope,
Anthropic, Gemini, Ollama."""

_HOLDERS: Final = (
    *("output", "outputs", "choices", "message", "messages", "content", "parts", "candidates", "generations"),
    *("data", "result", "results", "response", "body", "delta", "completion"),
)
"""Keys inside which the answer may stand."""


class Nothing(NamedTuple):
    """What stands where an answer should."""

    where: str
    what: Sentence
    """In a few words."""


def wrapped(document: Json) -> str | None:
    """The path of an object with `choices` below the top of a document, also of one written as JSON text."""
    if not isinstance(document, dict) or isinstance(document.get("choices"), list):
        return None
    level: list[tuple[str, Json]] = [("", document)]
    looked_at = 0
    for _ in range(_DEEPEST):
        below: list[tuple[str, Json]] = []
        for path, holder in level:
            for name, value in _items(holder):
                looked_at += 1
                if looked_at > _MOST_VALUES:
                    return None
                inner = _read(value)
                if isinstance(inner, dict) and isinstance(inner.get("choices"), list):
                    return f"{path}{name}"
                if isinstance(inner, (dict, list)):
                    below.append((f"{path}{name}.", inner))
        level = below
    return None


def answer_elsewhere(document: Json) -> str | None:
    """The path at which another interface has its answer in a body without a message of an assistant."""
    return _answer(document, "", _DEEPEST + 1)


def no_answer(call: Observation) -> Nothing | None:
    """What came instead of the message of an assistant; None where none was to be expected.

    Requests of other kinds than chat (embeddings, lists of models, plain completions) are answered otherwise.
    """
    document = call.document
    if not _is_chat_request(call.request):
        return None
    if call.streamed:
        nothing = Sentence("a stream without any choice", "整个流中没有 choices")
        return Nothing("choices", nothing) if call.done and call.frames else None
    if document is None or (not call.request and _is_of_another_kind(document)):
        return None
    return _without_message(document, call.body[:80])


def _without_message(document: Json, begin: str) -> Nothing:
    """What a body is in which no choice has a message."""
    if not isinstance(document, dict):
        return Nothing("body", Sentence(f"JSON that is no object: {begin}", f"是 JSON，但不是对象：{begin}"))
    choices = document.get("choices")
    if "choices" not in document:
        return Nothing("choices", Sentence(f"no choices: {begin}", f"没有 choices：{begin}"))
    if not isinstance(choices, list) or not choices:
        return Nothing("choices", _no_choices(choices))
    return Nothing("choices[0].message", Sentence("a choice without a message", "choice 中没有 message"))


def _no_choices(choices: Json) -> Sentence:
    if choices is None:
        return Sentence("choices is null", "choices 为 null")
    if not choices:
        return Sentence("choices is empty", "choices 是空列表")
    return Sentence("choices is no list", "choices 不是列表")


def _is_chat_request(request: JsonObject) -> bool:
    return not request or "messages" in request


def _is_of_another_kind(document: Json) -> bool:
    kind = document.get("object") if isinstance(document, dict) else None
    return isinstance(kind, str) and not kind.startswith("chat.completion")


def _items(holder: Json) -> list[tuple[str, Json]]:
    if isinstance(holder, dict):
        return [(str(name), value) for name, value in holder.items()]
    return [(str(number), value) for number, value in enumerate(holder)] if isinstance(holder, list) else []


def _read(value: Json) -> Json:
    """A value, or what it says where it is JSON text of an object."""
    if not isinstance(value, str) or '"choices"' not in value or not value.lstrip().startswith("{"):
        return value
    try:
        return parse_json(value.encode("utf-8", "surrogatepass"))
    except ValueError:
        return value


def _answer(value: Json, path: str, depth: int) -> str | None:
    if isinstance(value, list):
        return _answer(value[0], f"{path}[0]", depth) if value else None
    if not isinstance(value, dict) or not depth:
        return None
    dot = f"{path}." if path else ""
    for name in _ANSWERS:
        text = value.get(name)
        if isinstance(text, str) and text.strip():
            return f"{dot}{name}"
    message = value.get("message")
    if path.startswith("choices") and isinstance(message, str) and message.strip():
        return f"{dot}message"
    for name in _HOLDERS:
        found = _answer(value.get(name), f"{dot}{name}", depth - 1)
        if found is not None:
            return found
    return None

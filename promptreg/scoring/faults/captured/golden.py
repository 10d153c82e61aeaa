"""What the source answered, as a line of captured responses says it. Keys that nobody reads are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from promptreg.answer.reader import answer_from_message
from promptreg.scoring.faults.captured.schema import GOLDEN_KEYS, MESSAGE_KEYS, RESPONSE_KEYS, WHOLE_KEYS
from promptreg.scoring.faults.reading.golden import Golden
from promptreg.scoring.faults.recorded import golden_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Observation

_TYPES: Final = {"string": str, "array": list, "object": dict, "integer": int, "null": type(None)}


class UnreadablePayload(ValueError):  # noqa: N818 - a sentence for the user of `diagnose`, who gets it with its line
    """A line is no captured response."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.reason = Sentence(en, zh)
        """Why, as a part of a sentence."""


def golden_from_json(value: Json, calls_of: Callable[[JsonObject], Iterable[Observation]]) -> Golden | None:
    """What the source answered; None where nothing was recorded.

    Args:
        value: the `golden` of a call: parts of an answer, a whole response, or a list of whole responses.
        calls_of: reads the calls of a whole response.

    Raises:
        UnreadablePayload: for keys that a golden does not have, and values of the wrong type.
    """
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(part, dict) and is_whole(part) for part in value):
        for part in value:
            _refuse_unknown(part, WHOLE_KEYS)
        return golden_of([call for part in value for call in calls_of(part)]) if value else None
    if not isinstance(value, dict):
        raise UnreadablePayload(
            f"`golden` must be an object with what the source answered, or a list of whole responses, "
            f"not {json.dumps(value, ensure_ascii=False)[:40]}",
            f"`golden` 应为记录源部署回答的对象，或完整响应的列表，而不是 {json.dumps(value, ensure_ascii=False)[:40]}",
        )
    if is_whole(value):
        _refuse_unknown(value, WHOLE_KEYS)
        return golden_of(calls_of(value))
    return _parts(value)


def is_whole(value: Mapping[str, Json]) -> bool:
    """Whether a golden is a whole response or several, rather than parts of one."""
    return "runs" in value or any(name in value for name in RESPONSE_KEYS)


def _parts(value: JsonObject) -> Golden:
    _refuse_unknown(value, GOLDEN_KEYS)
    for name, item in value.items():
        _refuse_type(name, item)
    message = value.get("message")
    said: JsonObject = {**message, **value} if isinstance(message, dict) else value
    answer = _answer(said)
    keys, finish, status = value.get("message_keys"), value.get("finish_reason"), value.get("status")
    if keys is None and isinstance(message, dict):
        keys = list(message)
    usage, tokens = value.get("usage"), value.get("prompt_tokens")
    if tokens is None and isinstance(usage, dict):
        tokens = usage.get("prompt_tokens")
    content = said.get("content")
    reasoning = answer.reasoning if answer else ""
    return Golden(
        contents=(content,) if isinstance(content, str) else (answer.content,) if answer and content else (),
        reasonings=(reasoning,) if reasoning else None,
        answers=(answer,) if answer else (),
        message_keys=frozenset(key for key in keys if isinstance(key, str)) if isinstance(keys, list) else None,
        reasoning_chars=_range(value.get("reasoning_chars")),
        finish_reasons=frozenset({finish}) if isinstance(finish, str) else None,
        statuses=frozenset({status}) if isinstance(status, int) else frozenset(),
        prompt_tokens=frozenset({tokens}) if isinstance(tokens, int) else frozenset(),
    )


def _answer(said: JsonObject) -> Answer | None:
    if not any(name in said for name in MESSAGE_KEYS if name != "role"):
        return None
    return answer_from_message(said, said.get("finish_reason"))


def _refuse_unknown(value: JsonObject, known: Collection[str]) -> None:
    for name in value:
        if name not in known:
            from promptreg.config.hints import did_you_mean, listing  # noqa: PLC0415 - only a misspelt key pays for it

            shown, names = json.dumps(name, ensure_ascii=False)[:40], listing(known)
            raise UnreadablePayload(
                f"`golden` has no key {shown}.{did_you_mean(name, known)} Its keys are {names}",
                f"`golden` 没有键 {shown}；可用的键：{names.replace(', ', '、')}",
            )


def _refuse_type(name: str, item: Json) -> None:
    schema = GOLDEN_KEYS[name]
    wanted = schema.get("type") if isinstance(schema, dict) else None
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    if not any(isinstance(item, _TYPES[str(one)]) and not isinstance(item, bool) for one in names):
        shown = json.dumps(item, ensure_ascii=False)[:40]
        raise UnreadablePayload(
            f"`golden.{name}` must be of type {' or '.join(map(str, names))}, not {shown}",
            f"`golden.{name}` 的类型应为 {' 或 '.join(map(str, names))}，而不是 {shown}",
        )


def _range(value: Json) -> tuple[int, int] | None:
    numbers = [number for number in value if isinstance(number, int)] if isinstance(value, list) else []
    return (min(numbers), max(numbers)) if numbers else None

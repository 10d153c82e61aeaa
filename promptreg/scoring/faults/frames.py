"""The frames of a stream, as the rules see them.

Nearly every frame is plain: a piece of text and nothing else. The rules about frames look at the others alone.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.sse import DONE, plain_payloads, read_events
from promptreg.scoring.faults.model import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.exchange import Chunk, Exchange

_NOTHING: Final[JsonObject] = MappingProxyType({})
_TEXTS: Final = frozenset({"role", "content", *REASONING_FIELDS})
"""Fields of a plain delta."""


def read_frames(exchange: Exchange) -> tuple[tuple[Frame, ...], bool]:
    """The frames of a stream, and whether it said [DONE]."""
    payloads = plain_payloads(exchange.body)
    events: Iterable[tuple[float, bytes, str, bool]]
    if payloads is None:
        events = [(event.at_s, event.data, event.name, event.bare) for event in read_events(exchange.chunks)[0]]
    else:
        arrivals = _arrivals(payloads, exchange.chunks)
        events = ((at_s, data, "", False) for at_s, data in zip(arrivals, payloads, strict=True))
    frames: list[Frame] = []
    done = finished = False
    for at_s, data, name, bare in events:
        stripped = data.strip()
        if stripped == DONE:
            done = True
            continue
        value = _json(stripped) if stripped[:1] == b"{" else None
        choices, delta, plain = _read(value)
        finished = finished or (not plain and any(choice.get("finish_reason") is not None for choice in choices))
        plain = plain and not (finished or bare or name)
        frames.append(Frame(data, value, choices, delta, plain, bare, name, at_s))
    return tuple(frames), done


def _read(value: Json) -> tuple[tuple[JsonObject, ...], JsonObject, bool]:
    """Choices and delta of a frame, and whether it is plain as far as it shows itself."""
    choices = value.get("choices") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(choices, list):
        return (), _NOTHING, False
    if len(choices) == 1:
        choice = choices[0]
        if isinstance(choice, dict) and not choice.get("index"):
            delta = choice.get("delta")
            if not isinstance(delta, dict):
                return (choice,), _NOTHING, False
            plain = (
                choice.get("finish_reason") is None
                and not choice.get("logprobs")
                and not value.get("usage")
                and not value.get("error")
                and delta.keys() <= _TEXTS
            )
            return (choice,), delta, plain
    found = tuple([one for one in choices if isinstance(one, dict)])
    first = next((one.get("delta") for one in found if not one.get("index")), None)
    return found, first if isinstance(first, dict) else _NOTHING, False


def _arrivals(payloads: Sequence[bytes], chunks: Sequence[Chunk]) -> Iterator[float]:
    """When the line of each payload of a plain stream was complete, in seconds after the request was sent."""
    ends = iter(chunks)
    at_s, received = 0.0, 0
    line_end = -2
    for payload in payloads:
        line_end += len(payload) + 8
        while received <= line_end:
            chunk = next(ends)
            at_s, received = chunk.at_s, received + len(chunk.data)
        yield at_s


def _json(data: bytes) -> Json:
    try:
        return parse_json(data)
    except ValueError:
        return None

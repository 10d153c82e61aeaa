"""Family G, the stream itself: cut (F41), with lines that are no events (F42), cumulative (F43)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import LOOP_STOPPED
from promptreg.deployment.envelope import error_message, looks_like_html
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.reading.observe import timed_out
from promptreg.scoring.faults.reading.requests import is_chat
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.frames import Frame

_LEAST_EXTENSIONS: Final = 3
"""Deltas in a row that each begin with the whole one before."""

_TEXT_FIELDS: Final = ("content", "reasoning_content", "reasoning")


def cut(call: Observation) -> Iterator[Finding]:
    """F41: the stream ended before it said that it had."""
    if not call.streamed or not call.succeeded or call.done or LOOP_STOPPED in call.answer.flags:
        return
    how = Sentence("the connection was closed", "连接被关闭")
    if timed_out(call.failure):
        how = Sentence("the client waited too long", "客户端等待超时")
    end = f"frames[{len(call.frames)}]"
    if not any(frame.value is not None for frame in call.frames):
        yield found("F41", end, Sentence(f"no event at all: {how.en}", f"没有任何事件：{how.zh}"))
    elif call.finish_reason is not None:
        yield found(
            "F41",
            end,
            Sentence(f"a finish reason, but no [DONE]: {how.en}", f"有 finish_reason，但没有 [DONE]：{how.zh}"),
        )
    elif call.answered and (call.answer.content or call.answer.reasoning or call.answer.tool_calls):
        last = f"…{call.answer.content[-60:]}"
        what = Sentence(
            f"text, but neither a finish reason nor [DONE]: {how.en}: {last}",
            f"有文本，但没有 finish_reason，也没有 [DONE]：{how.zh}：{last}",
        )
        yield found("F41", end, what)
    else:
        what = Sentence(
            f"no text, no finish reason, no [DONE]: {how.en}", f"没有文本，没有 finish_reason，也没有 [DONE]：{how.zh}"
        )
        yield found("F41", end, what)


def foreign_lines(call: Observation) -> Iterator[Finding]:
    """F42: text that is no event, or an error, in a response that said 200."""
    if not call.succeeded:
        return
    if not call.streamed:
        yield from _foreign_body(call)
        return
    for number, frame in call.notable_frames:
        where = f"frames[{number}]"
        if frame.bare and not _is_cut_off(call, number, frame):
            yield found(
                "F42", where, Sentence(f"a line that is no event: {frame.text}", f"有一行不是事件：{frame.text}")
            )
            return
        said = _said(frame)
        if said is not None:
            yield found("F42", where, Sentence(f"an error inside the stream: {said}", f"流中夹带错误：{said}"))
            return
        if frame.value is None and frame.text.strip() and not frame.bare and not _is_cut_off(call, number, frame):
            yield found(
                "F42",
                where,
                Sentence(f"a frame that is not JSON: {frame.text}", f"有一个数据帧不是 JSON：{frame.text}"),
            )
            return


def _foreign_body(call: Observation) -> Iterator[Finding]:
    """A body without stream that is an error, a page or plain text although the status is 200."""
    if not is_chat(call.label) or call.answered or not call.body.strip():
        return
    said = error_message(call.document) if isinstance(call.document, dict) and _has_error(call.document) else None
    if said is not None:
        yield found(
            "F42",
            "body",
            Sentence(f"an error under HTTP {call.status}: {said}", f"HTTP {call.status} 之下是一个错误：{said}"),
        )
    elif call.document is None:
        page = looks_like_html(call.body[:4096].encode("utf-8", "replace"))
        en, zh = ("a page", "网页") if page else ("text that is not JSON", "不是 JSON 的文本")
        begin = call.body[:200]
        what = Sentence(f"{en} under HTTP {call.status}: {begin}", f"HTTP {call.status} 之下是{zh}：{begin}")
        yield found("F42", "body", what)


def _has_error(document: object) -> bool:
    return isinstance(document, dict) and (bool(document.get("error")) or document.get("object") == "error")


def _said(frame: Frame) -> str | None:
    """The error in a frame, in the server's words."""
    value = frame.value
    if not isinstance(value, dict):
        return frame.text if frame.name == "error" else None
    if value.get("error") or frame.name == "error" or (value.get("object") == "error" and not frame.choices):
        return error_message(value) or frame.text
    return None


def _is_cut_off(call: Observation, number: int, frame: Frame) -> bool:
    """Whether a frame is the last one and only its beginning arrived: that is a cut, not a foreign line."""
    if number != len(call.frames) - 1 or call.done or not call.body.endswith(frame.text[-40:]):
        return False
    text = frame.text.lstrip()
    return text.startswith("{") or "data:".startswith(text[:5])


def cumulative(call: Observation) -> Iterator[Finding]:
    """F43: each delta repeats all text so far."""
    if not call.streamed:
        return
    recorded = call.golden.contents if call.golden is not None else ()
    for name in _TEXT_FIELDS:
        if name not in call.message_keys or not _begins_to_extend(_pieces(call, name)):
            continue
        pieces = list(_pieces(call, name))
        if _extends(pieces) and "".join(pieces) not in recorded:
            yield found("F43", f"delta.{name}", " | ".join(piece[:24] for piece in pieces[:4]))
            return
    yield from _cumulative_arguments(call)


def _pieces(call: Observation, name: str) -> Iterator[str]:
    """The pieces of text in one field of the deltas."""
    return call.frames.texts(name)


def _begins_to_extend(pieces: Iterator[str]) -> bool:
    """Whether the second piece begins with the first one: of an ordinary stream no more than these is looked at."""
    first, second = next(pieces, None), next(pieces, None)
    return first is not None and second is not None and second.startswith(first)


def _extends(pieces: list[str]) -> bool:
    """Whether every piece begins with the one before, and enough of them go beyond it.

    A true stream of one repeated character could look so by chance for a few pieces, never for more than that with
    several different characters in them.
    """
    grown = 0
    for before, after in pairwise(pieces):
        if not after.startswith(before):
            return False
        grown += len(after) > len(before)
    return grown >= _LEAST_EXTENSIONS - 1 and len(pieces) >= _LEAST_EXTENSIONS and len(set(pieces[-1])) > 2


def _cumulative_arguments(call: Observation) -> Iterator[Finding]:
    by_index: dict[int, list[str]] = {}
    for _, frame in call.notable_frames:
        deltas = frame.delta.get("tool_calls")
        for delta in deltas if isinstance(deltas, list) else ():
            function = delta.get("function") if isinstance(delta, dict) else None
            piece = function.get("arguments") if isinstance(function, dict) else None
            index = delta.get("index") if isinstance(delta, dict) else None
            if isinstance(piece, str) and piece and isinstance(index, int):
                by_index.setdefault(index, []).append(piece)
    for index, pieces in by_index.items():
        if _extends(pieces):
            shown = " | ".join(piece[:24] for piece in pieces[:4])
            yield found("F43", f"delta.tool_calls[{index}].arguments", shown)
            return

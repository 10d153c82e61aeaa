"""Family E, how an answer ends: finish reason, token cap, stop texts, special tokens. Counts are in `counts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Observation, Probe, Rule, Severity
from promptreg.scoring.faults.reading.evidence import around
from promptreg.scoring.faults.reading.markup import (
    is_about_markup,
    known,
    quoted,
    special_marks,
    spoken_of,
    talked_about,
)
from promptreg.scoring.faults.reading.requests import number, stop_texts
from promptreg.scoring.faults.rules import counts
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.canonical import Json
    from promptreg.scoring.faults.model import Finding
    from promptreg.scoring.faults.reading.markup import Mark

_CAP_SLACK: Final = 2
"""Tokens by which servers differ in counting the last token of an answer."""

_MINDIE_CAP: Final = 512
"""MindIE's default for `maxIterTimes`, which ends answers that asked for more or for nothing."""

_SENTENCE_ENDS: Final = tuple(".!?。！？…\"'”’）)]}》」`*~:：;；")


def _finish_missing(call: Observation) -> Iterator[Finding]:
    """F28: a complete response without any finish reason."""
    if call.streamed and call.succeeded and call.done and not call.frames:
        yield found("F28", "frames[0]", Sentence("[DONE] came, and nothing before it", "只收到 [DONE]，之前什么也没有"))
    if not call.succeeded or not call.answered or call.problem is not None:
        return
    if call.streamed:
        if not call.done:
            return  # cut, which has its own rule
        open_choices = _unfinished(call)
        if open_choices:
            one, of_one = (
                ("", "")
                if open_choices == [0]
                else (f" for choice {open_choices[0]}", f"第 {open_choices[0]} 个 choice ")
            )
            what = Sentence(f"[DONE] came, but no finish reason{one}", f"收到 [DONE]，但{of_one}没有 finish_reason")
            yield found("F28", f"frames[{max(0, len(call.frames) - 1)}]", what)
    elif not call.finish_reason:
        yield found(
            "F28", "choices[0].finish_reason", Sentence("the body has no finish reason", "响应体中没有 finish_reason")
        )


def _unfinished(call: Observation) -> list[int]:
    # A plain frame is one of choice 0 and does not finish it.
    seen: dict[int, bool] = {0: False} if len(call.notable_frames) < len(call.frames) else {}
    for _, frame in call.notable_frames:
        for choice in frame.choices:
            index = choice.get("index")
            place = index if isinstance(index, int) else 0
            seen[place] = seen.get(place, False) or bool(choice.get("finish_reason"))
    return [place for place, finished in sorted(seen.items()) if not finished]


def _cap(call: Observation) -> Iterator[Finding]:
    """F29: an answer ended by another limit than the one that was asked for, or by none."""
    tokens = call.usage.completion_tokens if call.usage is not None else None
    if tokens is None or not call.succeeded or not call.answered:
        return
    cap = call.token_cap
    choices = max(1, int(number(call.request, "n") or 1))
    if cap is None:
        recorded = call.golden.finish_reasons if call.golden is not None else None
        if call.finish_reason != "length" or not call.request or (recorded and "length" in recorded):
            return
        if recorded:
            what = Sentence(
                f"cut at {tokens} tokens although no cap was asked for; the source ended by itself",
                f"在 {tokens} 个 token 处被截断，而请求没有设上限；源部署是自行结束的",
            )
            yield found("F29", "usage.completion_tokens", what)
        elif tokens == _MINDIE_CAP:
            what = Sentence(
                f"cut at {tokens} tokens, MindIE's default, although no cap was asked for",
                f"在 {tokens} 个 token（MindIE 的默认上限）处被截断，而请求没有设上限",
            )
            yield found("F29", "usage.completion_tokens", what, Severity.WARNING)
    elif call.finish_reason == "length" and 0 < tokens < cap - _CAP_SLACK and choices == 1:
        total = call.usage.total_tokens if call.usage is not None else None
        yield found(
            "F29",
            "usage.completion_tokens",
            Sentence(
                f"cut at {tokens} tokens of {cap} asked for (in all {total})",
                f"请求的上限是 {cap} 个 token，在 {tokens} 个处就被截断（合计 {total} 个）",
            ),
        )
    elif tokens > (cap + _CAP_SLACK) * choices and "max_tokens" in call.request:
        yield found(
            "F29",
            "usage.completion_tokens",
            Sentence(f"{tokens} tokens for a cap of {cap}", f"上限 {cap} 个 token，实际用了 {tokens} 个"),
        )


def _stop(call: Observation) -> Iterator[Finding]:
    """F31: a stop text that was kept or passed over, or that fired inside the reasoning."""
    texts = stop_texts(call.request)
    if not texts or not call.answered or not call.succeeded:
        return
    if call.request.get("include_stop_str_in_output") or call.request.get("no_stop_trim"):
        return
    content = call.content.raw
    begin = len(content) - len(content.lstrip())
    recorded = call.golden.contents if call.golden is not None else ()
    for stop in texts:
        place = content.find(stop, begin)
        if place >= 0 and not any(stop in one for one in recorded):
            seen = around(content, place, len(stop))
            if content[place + len(stop) :].strip():
                what = Sentence(f"the answer goes on after the stop text: {seen}", f"停止文本之后回答仍在继续：{seen}")
            else:
                what = Sentence(f"the stop text stands at the end: {seen}", f"停止文本留在了结尾：{seen}")
            yield found("F31", f"content[{place}]", what)
            return
    yield from _stopped_thinking(call, texts)


def _stopped_thinking(call: Observation, texts: tuple[str, ...]) -> Iterator[Finding]:
    content, reasoning = call.content.raw.strip(), call.reasoning.raw
    if content.startswith(("/think>", "think>", "</think")) and len(content) <= 40:
        yield found(
            "F31",
            "content[0]",
            Sentence(f"the stop text cut inside a think tag: {content}", f"停止文本在思考标签内部截断：{content}"),
        )
        return
    if content or not reasoning or call.tool_calls or call.finish_reason != "stop":
        return
    matched = _matched_stop(call)
    recorded = call.golden.reasonings or () if call.golden is not None else ()
    what: Sentence | None = None
    end = f"…{reasoning[-60:]}"
    if isinstance(matched, str) and matched in texts:
        what = Sentence(
            f"the stop text {matched!r} fired inside the reasoning: {end}",
            f"停止文本 {matched!r} 在推理过程中触发：{end}",
        )
    elif any(reasoning.rstrip().endswith(stop.rstrip()) for stop in texts if stop.strip()):
        what = Sentence(
            f"the reasoning ends in the stop text, there is no answer: {end}",
            f"推理过程以停止文本结尾，没有回答：{end}",
        )
    elif any(one.startswith(reasoning + stop) for one in recorded for stop in texts):
        what = Sentence(
            f"the reasoning ends where the stop text came on the source: {end}",
            f"推理过程在源部署出现停止文本的地方结束：{end}",
        )
    elif not reasoning.rstrip().endswith(_SENTENCE_ENDS):
        what = Sentence(
            f"the reasoning breaks off and there is no answer; a stop text may have fired: {end}",
            f"推理过程中断，没有回答；可能触发了停止文本：{end}",
        )
    if what is not None:
        yield found("F31", f"reasoning[{len(reasoning)}]", what)


def _matched_stop(call: Observation) -> Json:
    for holder in (call.choice or {}, *(choice for frame in call.frames[-3:] for choice in frame.choices)):
        for name in ("stop_reason", "matched_stop"):
            if holder.get(name) is not None:
                return holder[name]
    return None


def _special_tokens(call: Observation) -> Iterator[Finding]:
    """F33: tokens that only the model should see."""
    recorded = call.golden.content_texts + call.golden.reasoning_texts if call.golden is not None else ()
    talked = talked_about(call)
    for name, text in (("content", call.content), ("reasoning", call.reasoning)):
        marks = [mark for mark in special_marks(text.prose) if not known(mark, call, recorded)]
        if talked:  # an answer about tokens names them; one that ends in one, or repeats it, leaks
            marks = [mark for mark in marks if _ends_answer(mark, len(marks), text.prose.rstrip())]
        marks = [mark for mark in marks if not quoted(mark, text.prose)]
        if marks and is_about_markup(call.prompt.raw, text.prose):
            marks = [mark for mark in marks if not spoken_of(mark, text.prose)]
        if marks:
            first = marks[0]
            offset = max(0, text.raw.find(first.text))
            seen = around(text.raw, offset, len(first.text))
            times, count = (f" ({len(marks)} times)", f"（{len(marks)} 次）") if len(marks) > 1 else ("", "")
            what = Sentence(f"{first.text}{times}: {seen}", f"{first.text}{count}：{seen}")
            yield found("F33", f"{name}[{offset}]", what)
            return


def _ends_answer(mark: Mark, count: int, text: str) -> bool:
    """Whether a mark ends an answer about tokens by itself: twice in a row, or alone and glued to the last sentence."""
    glued = count == 1 and text[: mark.offset].endswith((".", "!", "?", "。", "！", "？"))
    return text.endswith(mark.text * 2) or (glued and mark.offset + len(mark.text) == len(text))


rules: Final = (
    Rule("F28", Probe.ONE, _finish_missing),
    Rule("F29", Probe.ONE, _cap),
    Rule("F30", Probe.ONE, counts.usage),
    Rule("F31", Probe.SPECIAL, _stop),
    Rule("F32", Probe.ONE, counts.log_probabilities),
    Rule("F33", Probe.ONE, _special_tokens),
)

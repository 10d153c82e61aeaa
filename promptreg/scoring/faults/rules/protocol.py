"""Family G: what the HTTP interface does. Answers here; streams in `streams`, refused calls in `refusals`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Observation, Probe, Rule
from promptreg.scoring.faults.reading.envelopes import answer_elsewhere, no_answer, wrapped
from promptreg.scoring.faults.reading.requests import forced_tool, is_chat, number
from promptreg.scoring.faults.rules import refusals, streams
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import Json
    from promptreg.scoring.faults.model import Finding
    from promptreg.scoring.faults.reading.golden import Golden

_WORTH_ESTIMATING: Final = 200
"""Tokens of a prompt below which a low count is no sign of a cut."""

_CAP_SLACK: Final = 2
_LENGTH_LABEL: Final = re.compile(r"(?<![A-Za-z0-9])(\d{1,4})k(?![A-Za-z0-9])", re.IGNORECASE)
_WISHED_EMPTY: Final = re.compile(
    r"\b(?:reply|respond|answer|return|output|say|write|print)\b[^.\n]{0,30}\b(?:nothing|empty|blank)\b"
    r"|(?:返回|输出|回复|回答)[^。\n]{0,12}(?:空|什么都不)|不要(?:回复|回答|输出)|什么(?:都|也)不",
    re.IGNORECASE,
)
_STOPPED: Final = ("stop", "eos", "eos_token", "end_turn", "stop_sequence")


def _wrapped(call: Observation) -> Iterator[Finding]:
    """F50: the completion stands deeper than at the top, or the answer where another interface has it."""
    if not is_chat(call.label) or not call.succeeded:
        return
    for document in _documents(call):
        name = wrapped(document)
        if name is not None and isinstance(document, dict):
            top = list(map(str, document))
            said = Sentence(
                f"choices stand inside {name}; at the top: {', '.join(top)}",
                f"choices 位于 {name} 之内；顶层为：{'、'.join(top)}",
            )
            yield found("F50", name, said)
            return
    if call.answered or no_answer(call) is None or _is_error(call):
        return
    for document in _documents(call):
        name = answer_elsewhere(document)
        if name is not None:
            begin = call.body[:80]
            said = Sentence(
                f"the answer stands in {name}, as another interface has it: {begin}",
                f"回答位于 {name}，这是另一种接口的格式：{begin}",
            )
            yield found("F50", name, said, suspects=("other_api", "gateway"))
            return


def _documents(call: Observation) -> tuple[Json, ...]:
    # A plain frame has its choices at the top.
    return (call.document, *(frame.value for number, frame in call.notable_frames[:3] if number < 3))


def _empty(call: Observation) -> Iterator[Finding]:
    """F51: nothing in any part, and the server says that it is done."""
    if not call.succeeded or not is_chat(call.label):
        return
    if not call.streamed and not call.body.strip() and call.failure is None and call.request:
        yield found(
            "F51", "body", Sentence(f"HTTP {call.status} with an empty body", f"HTTP {call.status}，响应体为空")
        )
        return
    billed = _billed(call.usage.completion_tokens if call.usage is not None else None)
    if not call.answered:
        nothing = no_answer(call)
        if nothing is not None and not _is_error(call) and next(_wrapped(call), None) is None:
            what = Sentence(f"{nothing.what.en}{billed.en}", f"{nothing.what.zh}{billed.zh}")
            yield found("F51", nothing.where, what)
        return
    if call.finish_reason not in _STOPPED or _anything(call) or _wished_empty(call):
        return
    blanks = len(call.answer.content)
    en, zh = "no text", "没有文本"
    if blanks:
        en, zh = counted(blanks, "blank or invisible character"), f"{blanks} 个空白或不可见字符"
    reason = call.finish_reason
    what = Sentence(f"{en}, finish_reason {reason}{billed.en}", f"{zh}，finish_reason 为 {reason}{billed.zh}")
    yield found("F51", "content", what)


def _billed(tokens: int | None) -> Sentence:
    """What was billed, to follow another sentence; nothing where that is not known."""
    if tokens is None:
        return Sentence("", "")
    verb = "is" if tokens == 1 else "are"
    return Sentence(f"; {counted(tokens, 'token')} {verb} billed", f"；计费 {tokens} 个 token")


def _is_error(call: Observation) -> bool:
    """Whether the response says that it is an error, which is F42."""
    return next(streams.foreign_lines(call), None) is not None


def _anything(call: Observation) -> bool:
    """Whether any part of the answer holds something."""
    answer = call.answer
    if not call.content.blank or not call.reasoning.blank or answer.tool_calls or "other_parts" in answer.flags:
        return True
    return isinstance((call.message or {}).get("audio"), dict)


def _wished_empty(call: Observation) -> bool:
    """Whether an empty answer is right: the source gave one, or the question asks for one."""
    if call.golden is not None and _gave_nothing(call.golden):
        return True
    return not call.answer.content and _WISHED_EMPTY.search(call.last_question) is not None


def _gave_nothing(golden: Golden) -> bool:
    """Whether a recorded answer was empty. One that called a tool instead of writing was none."""
    if golden.answers:
        texts = zip(golden.answers, golden.content_texts, strict=False)
        return any(text.blank and not answer.tool_calls for answer, text in texts)
    calls = golden.finish_reasons is not None and golden.finish_reasons <= {"tool_calls", "function_call"}
    return not (calls and golden.finish_reasons) and any(text.blank for text in golden.content_texts)


def _silent_cut(call: Observation) -> Iterator[Finding]:
    """F47, silent: the server counted far fewer tokens than the prompt has."""
    tokens = call.usage.prompt_tokens if call.usage is not None else None
    if not call.succeeded or tokens is None or tokens <= 0:
        return
    known = number(call.expected, "client_token_estimate")
    least = known / 2 if known is not None else call.prompt.least_tokens / 2
    if tokens >= least or least < _WORTH_ESTIMATING / 2:
        return
    needle = call.expected.get("needle")
    lost = isinstance(needle, str) and needle not in call.answer.content
    more, also = (f"; {needle} is not in the answer", f"；回答中没有 {needle}") if lost else ("", "")
    what = Sentence(
        f"{tokens} prompt tokens of about {least * 2:.0f}: the prompt was cut{more}",
        f"提示词约 {least * 2:.0f} 个 token，只计 {tokens} 个：提示词被截断{also}",
    )
    yield found("F47", "usage.prompt_tokens", what)


def _pinned(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F47, silent: prompts of very different lengths are counted alike."""
    seen: dict[int, tuple[str, float]] = {}
    for call in calls:
        tokens = call.usage.prompt_tokens if call.usage is not None else None
        length = number(call.expected, "client_token_estimate") or _labelled_length(call.label)
        length = length or float(call.prompt.least_tokens)
        if not tokens or not call.succeeded or length < _WORTH_ESTIMATING:
            continue
        label, before = seen.setdefault(tokens, (call.label, length))
        if max(before, length) > 1.5 * min(before, length):
            what = Sentence(
                f"{tokens} prompt tokens for about {before:.0f} ({label}) and for about {length:.0f}",
                f"约 {before:.0f} 个（{label}）和约 {length:.0f} 个 token 的提示词都计为 {tokens} 个",
            )
            yield found("F47", f"{call.label}: usage.prompt_tokens", what)
            return


def _labelled_length(label: str) -> float:
    """The length that a label names ("ctx_8k"), in tokens; 0 where it names none."""
    match = _LENGTH_LABEL.search(label)
    return 1000.0 * int(match.group(1)) if match is not None else 0.0


def _prompt_count(call: Observation) -> Iterator[Finding]:
    """F52: the same messages are counted otherwise than on the source."""
    tokens = call.usage.prompt_tokens if call.usage is not None else None
    recorded = (
        frozenset(one for one in call.golden.prompt_tokens if one > 0) if call.golden is not None else frozenset()
    )
    if not tokens or tokens < 0 or not recorded or tokens in recorded or not call.succeeded:
        return  # a count of 0 is none, which is F30
    before = min(recorded, key=lambda one: (abs(one - tokens), one))
    yield found("F52", "usage.prompt_tokens", prompt_difference(before, tokens, tools=bool(call.request.get("tools"))))


def prompt_difference(before: int, after: int, *, tools: bool) -> Sentence:
    """What a difference of prompt counts usually means."""
    step = after - before
    en, zh = "", ""
    if step == 1:
        en, zh = ": a start token more", "：可能多了一个起始 token"
    elif step == -1:
        en, zh = ": a start token less", "：可能少了一个起始 token"
    elif tools:
        en, zh = ": perhaps the tool block", "：可能来自工具定义部分"
    return Sentence(
        f"{after} prompt tokens, {before} on the source ({step:+d}){en}",
        f"提示词计 {after} 个 token，源部署为 {before} 个（{step:+d}）{zh}",
    )


def _ignored(call: Observation) -> Iterator[Finding]:
    """F53: a parameter without its effect."""
    if not call.succeeded or not call.answered or not is_chat(call.label):
        return
    request, usage = call.request, call.usage
    tokens = usage.completion_tokens if usage is not None else None
    cap = request.get("max_completion_tokens")
    copies = number(request, "n") or 1
    if isinstance(cap, int) and tokens is not None and tokens > (cap + _CAP_SLACK) * copies:
        yield found(
            "F53",
            "request.max_completion_tokens",
            Sentence(
                f"{tokens} tokens for a cap of {cap}: not obeyed", f"上限 {cap} 个 token，实际 {tokens} 个：没有遵守"
            ),
        )
    if copies > 1 and not call.made and not call.broken_off and (sent := _choices(call)) < copies:
        yield found(
            "F53", "request.n", Sentence(f"n is {copies:.0f}, {sent} came", f"n 为 {copies:.0f}，实际返回 {sent} 个")
        )
    if request.get("stream") is True and not call.streamed:
        yield found(
            "F53", "request.stream", Sentence("a stream was asked for, one body came", "要求流式输出，却一次性返回")
        )
    elif request.get("stream") is False and call.streamed:
        yield found(
            "F53", "request.stream", Sentence("one body was asked for, a stream came", "要求一次性返回，却是流式输出")
        )
    if request.get("parallel_tool_calls") is False and len(call.tool_calls) > 1:
        count = len(call.tool_calls)
        what = Sentence(f"{count} calls at once, which was switched off", f"同时有 {count} 个调用，而并行调用已关闭")
        yield found("F53", "request.parallel_tool_calls", what)
    yield from _ignored_tool_choice(call)
    if request.get("logprobs") is True and not call.made and call.answer.content and not _any_logprobs(call):
        yield found(
            "F53",
            "request.logprobs",
            Sentence("log-probabilities were asked for, none came", "要求返回对数概率，却没有"),
        )


def _ignored_tool_choice(call: Observation) -> Iterator[Finding]:
    named = forced_tool(call.request)
    must = call.request.get("tool_choice") == "required"
    if call.finish_reason == "length" or call.broken_off or not (named or must):
        return
    if not call.tool_calls:
        what = Sentence("a call of a tool was required, none came", "要求调用工具，却没有调用")
        if named:
            what = Sentence(f"a call of {named} was required, none came", f"要求调用 {named}，却没有调用")
        yield found("F53", "request.tool_choice", what)
    elif named and all(one.name != named for one in call.tool_calls):
        other = call.tool_calls[0].name
        what = Sentence(f"{named} was required, {other} is called", f"要求调用 {named}，却调用了 {other}")
        yield found("F53", "request.tool_choice", what)


def _choices(call: Observation) -> int:
    if call.streamed:
        return len({str(choice.get("index")) for frame in call.frames for choice in frame.choices})
    choices = call.document.get("choices") if isinstance(call.document, dict) else None
    return len(choices) if isinstance(choices, list) else 0


def _any_logprobs(call: Observation) -> bool:
    if call.streamed:
        return any(choice.get("logprobs") for frame in call.frames for choice in frame.choices)
    return call.choice is not None and bool(call.choice.get("logprobs"))


rules: Final = (
    Rule("F41", Probe.ONE, streams.cut),
    Rule("F42", Probe.ONE, streams.foreign_lines),
    Rule("F43", Probe.ONE, streams.cumulative),
    Rule("F44", Probe.GOLDEN, refusals.status, refusals.shapes_in_run),
    Rule("F45", Probe.GOLDEN, refusals.body_shape),
    Rule("F45", Probe.ONE, refusals.server_shape),
    Rule("F46", Probe.SPECIAL, refusals.model_name, refusals.model_listed),
    Rule("F47", Probe.LENGTHS, refusals.overflow),
    Rule("F47", Probe.LENGTHS, _silent_cut, _pinned),
    Rule("F48", Probe.ONE, refusals.hanging, refusals.lying_health),
    Rule("F49", Probe.ONE, refusals.server_error, refusals.engine_dead),
    Rule("F50", Probe.ONE, _wrapped),
    Rule("F51", Probe.ONE, _empty),
    Rule("F52", Probe.GOLDEN, _prompt_count),
    Rule("F53", Probe.SPECIAL, refusals.parameter_refused),
    Rule("F53", Probe.SPECIAL, _ignored),
)

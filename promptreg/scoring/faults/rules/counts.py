"""Family E, numbers: token counts that do not add up (F30), log-probabilities that mean nothing (F32)."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.reading.requests import guided, number
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Finding, Observation

_FILLER: Final = -1000.0
"""Log-probabilities at or below this are filler: vLLM's floor is −9999."""

_MOST_POSITIONS: Final = 5000
_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_HAN: Final = re.compile(r"[㐀-鿿]+")
_LEAST_ESTIMATED: Final = 60
"""Characters of an answer below which the count of its tokens is held against nothing but its bytes in UTF-8, of which
each takes a token at most; 32 more are left for special tokens, and 48 for the marks around each tool call."""


def usage(call: Observation) -> Iterator[Finding]:
    """F30: counts that are absent, do not add up, or do not fit the text."""
    if not call.succeeded or not call.answered or call.problem is not None or call.made:
        return
    if call.usage_json is None:
        if not call.streamed:
            yield found("F30", "usage", Sentence("the body has no usage", "响应体中没有 usage"))
        elif _asked_in_stream(call) and call.done:
            yield found(
                "F30",
                "usage",
                Sentence(
                    "asked for with stream_options.include_usage, never sent",
                    "已用 stream_options.include_usage 要求，但始终没有发送",
                ),
            )
        return
    yield from _sums(call)
    yield from _against_text(call)
    if call.streamed and not _continuous(call):
        for index, frame in call.notable_frames:
            counts = frame.value.get("usage") if isinstance(frame.value, dict) else None
            if counts and frame.choices:
                place = f"frames[{index}].usage"
                what = Sentence(
                    "the counts ride on a frame with choices, not on one of their own",
                    "计数与 choices 在同一个数据帧里，没有单独成帧",
                )
                yield found("F30", place, what, Severity.INFO)
                return


def _sums(call: Observation) -> Iterator[Finding]:
    counts = call.usage
    if counts is None:
        return
    prompt, completion, total = counts.prompt_tokens, counts.completion_tokens, counts.total_tokens
    if prompt is None or completion is None:
        missing = "prompt_tokens" if prompt is None else "completion_tokens"
        yield found(
            "F30", f"usage.{missing}", Sentence(f"{missing} is missing or no whole number", f"{missing} 缺失或不是整数")
        )
        return
    if total is not None and total != prompt + completion:
        yield found(
            "F30",
            "usage.total_tokens",
            Sentence(
                f"total {total}, but {prompt} + {completion} = {prompt + completion}",
                f"总数为 {total}，而 {prompt} + {completion} = {prompt + completion}",
            ),
        )
    shown = call.answer.content or call.answer.reasoning or call.tool_calls
    if completion <= 0 and shown:
        yield found(
            "F30",
            "usage.completion_tokens",
            Sentence(
                f"completion_tokens is {completion} although there is text",
                f"有文本，completion_tokens 却为 {completion}",
            ),
        )
    elif prompt <= 0 and call.prompt:
        yield found(
            "F30",
            "usage.prompt_tokens",
            Sentence(f"prompt_tokens is {prompt} although there is a prompt", f"有提示词，prompt_tokens 却为 {prompt}"),
        )
    if counts.reasoning_tokens == 0 and call.reasoning and not call.reasoning.blank:
        yield found(
            "F30",
            "usage.completion_tokens_details.reasoning_tokens",
            Sentence("0 although there is reasoning", "有推理过程，计数却为 0"),
        )
    elif counts.reasoning_tokens is not None and counts.reasoning_tokens > completion > 0:
        what = Sentence(
            f"{counts.reasoning_tokens} reasoning tokens of {completion} in all",
            f"推理 token 有 {counts.reasoning_tokens} 个，总共才 {completion} 个",
        )
        yield found("F30", "usage.completion_tokens_details.reasoning_tokens", what)


def _against_text(call: Observation) -> Iterator[Finding]:
    """A count that no tokenizer can give for this text.

    A Latin word takes at least one token, prose at most 0.4 for each letter, anything else in ASCII 0.75; a Han
    character takes between 0.4 and 1.6, an emoji up to three. The bounds leave 30 % on top.
    """
    counts = call.usage
    if counts is None or not counts.completion_tokens or number(call.request, "n") not in (None, 1.0):
        return
    texts = (call.sent_content, call.answer.reasoning, *(f"{one.name}{one.arguments}" for one in call.tool_calls))
    text = "".join(dict.fromkeys(texts))
    hidden = counts.reasoning_tokens or 0 if not call.reasoning else 0
    tokens = counts.completion_tokens - hidden
    if len(text) < _LEAST_ESTIMATED:
        bound = len(text.encode("utf-8", "replace")) + 32 + 48 * len(call.tool_calls)
        if tokens > bound and call.finish_reason != "length":
            yield found(
                "F30",
                "usage.completion_tokens",
                Sentence(f"{tokens} tokens for {len(text)} characters", f"{len(text)} 个字符计为 {tokens} 个 token"),
            )
        return
    beyond_ascii = 0 if text.isascii() else (len(text.encode("utf-8", "replace")) - len(text)) / 2
    ascii_characters = len(text) - beyond_ascii
    if 0.16 * ascii_characters + 0.35 * beyond_ascii <= tokens <= 0.42 * ascii_characters + beyond_ascii:
        return  # plausible for any prose of this length, as nearly all are: no need to look into it
    runs = _WORD.findall(text)
    words, letters, han = len(runs), sum(map(len, runs)), sum(map(len, _HAN.findall(text)))
    others = 3 * max(0.0, beyond_ascii - han)
    least = 0.7 * (words + 0.4 * han)
    most = 1.3 * (0.75 * ascii_characters + 1.6 * han + others) + 32
    if text.count(" ") * 8 > ascii_characters and letters * 5 > ascii_characters * 3:  # words, no JSON, table, base64
        most = min(most, 1.3 * (0.4 * ascii_characters + 1.2 * han + others) + 32)
    if tokens < least - 4 or tokens > most:
        what = Sentence(
            f"{tokens} tokens for a text of {words} words and {han} Han characters",
            f"{words} 个单词、{han} 个汉字的文本计为 {tokens} 个 token",
        )
        yield found("F30", "usage.completion_tokens", what)


def _asked_in_stream(call: Observation) -> bool:
    options = call.request.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _continuous(call: Observation) -> bool:
    options = call.request.get("stream_options")
    return isinstance(options, dict) and bool(options.get("continuous_usage_stats"))


def log_probabilities(call: Observation) -> Iterator[Finding]:
    """F32: infinities, filler values, or a chosen token that is less likely than another at temperature 0."""
    if not call.succeeded:
        if call.status is not None and call.status >= 500 and "json compliant" in call.body[:20_000].lower():
            yield found(
                "F32",
                "status",
                Sentence(
                    "the server failed to write a log-probability: not JSON compliant",
                    "服务端写不出对数概率：不符合 JSON",
                ),
            )
        return
    positions = _positions(call)
    if not positions:
        return
    greedy = number(call.request, "temperature") == 0
    fillers = alternatives = 0
    for place, position in enumerate(positions):
        where = f"logprobs.content[{place}]"
        chosen = position.get("logprob")
        if not _finite(chosen):
            yield found(
                "F32",
                f"{where}.logprob",
                Sentence(f"the log-probability of the chosen token is {chosen}", f"所选 token 的对数概率为 {chosen}"),
            )
            return
        tops = [one for one in _list(position.get("top_logprobs")) if isinstance(one, dict)]
        values = [one.get("logprob") for one in tops]
        if any(not _finite(value) for value in values):
            yield found(
                "F32",
                f"{where}.top_logprobs",
                Sentence("NaN or an infinity among the alternatives", "备选项中有 NaN 或无穷大"),
            )
            return
        others = [one.get("logprob") for one in tops if one.get("token") != position.get("token")]
        alternatives += len(others)
        fillers += sum(1 for value in others if _value(value) <= _FILLER)
        problem = _impossible(position, tops, greedy=greedy)
        if problem is not None:
            yield found("F32", where, problem)
            return
    if alternatives and 2 * fillers >= alternatives and not guided(call.request):
        yield found(
            "F32",
            "logprobs.content",
            Sentence(
                f"{fillers} of {alternatives} alternatives are filler values",
                f"{alternatives} 个备选项中有 {fillers} 个是填充值",
            ),
        )


def _impossible(position: JsonObject, tops: Sequence[JsonObject], *, greedy: bool) -> Sentence | None:
    chosen = _value(position.get("logprob"))
    if chosen > 0.001:
        return Sentence(f"a log-probability above 0: {chosen}", f"对数概率大于 0：{chosen}")
    if not tops:
        return None
    distinct = {(str(one.get("token")), str(one.get("bytes"))): _value(one.get("logprob")) for one in tops}
    total = sum(math.exp(min(value, 50.0)) for value in distinct.values())
    if total > 1.02:
        return Sentence(
            f"the probabilities of the alternatives add up to {total:.2f}", f"备选项的概率之和为 {total:.2f}"
        )
    best = max(distinct.values())
    if greedy and best > chosen + 0.01:
        return Sentence(
            f"the chosen token has {chosen:.2f}, another one {best:.2f}, at temperature 0",
            f"temperature 为 0，所选 token 为 {chosen:.2f}，另有一个为 {best:.2f}",
        )
    return None


def _positions(call: Observation) -> list[JsonObject]:
    if call.streamed:
        choices = [choice for _, frame in call.notable_frames for choice in frame.choices if not choice.get("index")]
    else:
        choices = [call.choice] if call.choice is not None else []
    found_positions: list[JsonObject] = []
    for choice in choices:
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict):
            found_positions += [one for one in _list(logprobs.get("content")) if isinstance(one, dict)]
            found_positions += [{"logprob": value} for value in _list(logprobs.get("token_logprobs"))]
        if len(found_positions) >= _MOST_POSITIONS:
            break
    return found_positions[:_MOST_POSITIONS]


def _list(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list) else []


def _finite(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _value(value: Json) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0

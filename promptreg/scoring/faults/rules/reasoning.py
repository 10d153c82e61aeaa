"""Family B: the reasoning stands in the wrong place, is missing, or is all there is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.answer.model import THINK_TAG
from promptreg.answer.reader import REASONING_FIELDS
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Probe, Rule, Severity
from promptreg.scoring.faults.reading.asked import asked_for_elements
from promptreg.scoring.faults.reading.evidence import around
from promptreg.scoring.faults.reading.markup import Mark, is_about_markup, spoken_of
from promptreg.scoring.faults.reading.views import Text
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import Json
    from promptreg.scoring.faults.model import Finding, Observation
    from promptreg.scoring.faults.reading.golden import Golden

# Tag names are those of one token: `<Think>` is a component of somebody's page, and so is a tag with attributes.
_TAG: Final = re.compile(r"<(?P<closes>/?)think(?:ing)?>|◁(?P<closes_kimi>/?)think▷|<\|(?:begin|end)_of_thought\|>")
_ELEMENT: Final = re.compile(r"<think(?:ing)?\s[^<>\n]{1,200}>")
_MENTION_BEFORE: Final = re.compile(r"[\"'“‘「《`(（\\]\s?$|\b(?:and|or|the|a|an|between|with|tags?)\s$|[和与或、]\s?$")
_MENTION_AFTER: Final = re.compile(
    r"[\"'”’」》`)）]|\s?(?:tags?|tokens?|blocks?|markers?|sections?|and|or|is|are|to)\b"
    r"|[ \t]?(?:标签|标记|和|与|或|、|之间|是(?![的，,。])|块)"
    r"|(?:…|\.\.\.)\s?</",
    re.IGNORECASE,
)
_ELEMENT_FIRST: Final = re.compile(r"\s*<(?!/?think(?:ing)?>)[A-Za-z?!]", re.IGNORECASE)
_SENTENCE_END: Final = ".!?。！？…」』”\"')）】]}`|~"


def _think_tags(call: Observation) -> Iterator[Finding]:
    """Tags around reasoning in the content as sent."""
    sent = call.sent_content
    if "<" not in sent and "◁" not in sent:
        return
    if _recorded_tags(call):
        return
    prose = Text(sent).prose
    tags = list(_TAG.finditer(prose))
    if not tags or (tags[0]["closes"] and _ELEMENT.search(prose, 0, tags[0].start())):
        return  # what is closed was opened as an element with attributes
    real = [tag for tag in tags if not _is_mention(prose, tag)]
    if real and real[0].start() > 0:
        if asked_for_elements(call.prompt.raw) and _ELEMENT_FIRST.match(prose):
            return  # an XML document of which the tag is one element
        if is_about_markup(call.prompt.raw, prose):
            real = [tag for tag in real if not spoken_of(Mark(tag.group(), tag.start()), prose)]
    if call.prompt.is_about_think_tags:
        real = [tag for tag in real if _ends_reasoning(prose, tag)]
    if not real:
        return
    first = real[0].group()
    at = sent.find(first)
    yield found("F09", f"content[{at}]", _which_tags(tags, around(sent, at, len(first))))


def _which_tags(tags: Sequence[re.Match[str]], seen: str) -> Sentence:
    closing = [_closes(tag) for tag in tags]
    if all(closing):
        return Sentence(f"closing tag only: {seen}", f"只有结束标签：{seen}")
    if any(closing):
        return Sentence(f"both tags: {seen}", f"开始、结束标签都有：{seen}")
    return Sentence(f"opening tag only: {seen}", f"只有开始标签：{seen}")


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["closes"] or tag["closes_kimi"]) or tag.group().startswith("<|end")


def _recorded_tags(call: Observation) -> bool:
    golden = call.golden
    return golden is not None and (
        any(answer.reasoning_field == THINK_TAG for answer in golden.answers)
        or any(_TAG.search(content) for content in golden.contents)
    )


def _is_mention(prose: str, tag: re.Match[str]) -> bool:
    """Whether a tag is spoken of, not used."""
    before, after = prose[max(0, tag.start() - 12) : tag.start()], prose[tag.end() : tag.end() + 16]
    if not before.strip() and not _closes(tag) and not after.lstrip(" ").startswith(("tag", "和", "与", "标", "and")):
        return False  # the content begins with it
    return bool(_MENTION_BEFORE.search(before) or _MENTION_AFTER.match(after))


def _ends_reasoning(prose: str, tag: re.Match[str]) -> bool:
    """Whether a closing tag stands at the end of a line, with text before and an answer after it."""
    rest = prose[tag.end() : tag.end() + 4]
    return _closes(tag) and (not rest or rest.lstrip(" \t").startswith("\n")) and tag.start() > 0


def _other_fields(call: Observation) -> Iterator[Finding]:
    """Reasoning in another field than the source used, or in no field any more.

    Reasoning where the source had none is no matter of fields: see `_switch_ignored`.
    """
    before = _recorded_fields(call.golden)
    if not before or not call.answered:
        return
    now = call.reasoning_fields
    shown = ", ".join(sorted(before))
    if now:
        if _fields_known(call.golden) and (not before & _FIELDS <= now or not before & _FIELDS):
            yield found("F10", "message", f"{shown} → {', '.join(sorted(now))}")
    elif _may_lack_reasoning(call):
        return
    elif call.reasoning.blank and not before & call.message_keys:
        yield found(
            "F10", "message", Sentence(f"{shown} is gone, there is no reasoning", f"{shown} 消失了，没有推理过程")
        )


_FIELDS: Final = frozenset(REASONING_FIELDS)


def _recorded_fields(golden: Golden | None) -> frozenset[str]:
    """Where the source had its reasoning, as far as that is known: fields of the message, think tags, parts."""
    if golden is None:
        return frozenset()
    if golden.reasoning_fields:
        return golden.reasoning_fields
    if golden.reasoning_fields is None and golden.message_keys is not None:
        return frozenset(key for key in golden.message_keys if key.startswith("reasoning"))
    return frozenset(answer.reasoning_field for answer in golden.answers if answer.reasoning_field)


def _fields_known(golden: Golden | None) -> bool:
    """Whether the source's own fields are known: an answer written down by hand names them as its writer liked."""
    return golden is not None and (golden.reasoning_fields is not None or golden.message_keys is not None)


def _may_lack_reasoning(call: Observation) -> bool:
    """Whether an answer without reasoning says nothing about the field: it was not due, or another fault took it."""
    asked = thinking_asked_for(call.request)
    if (asked is not None and not asked[1]) or _recorded_thinking(call) is False or _thinks_at_times(call.golden):
        return True
    # Only of an answer that the model ended itself: a loop up to the cap has another cause.
    return bool(call.answer.tool_calls) or call.finish_reason == "length" or call.content.blank or call.broken_off


def _no_content(call: Observation) -> Iterator[Finding]:
    """Reasoning and nothing else: the budget ended, the model ended too early, or the answer went astray."""
    answer = call.answer
    if not call.content.blank or call.reasoning.blank or answer.tool_calls or answer.finish_reason == "tool_calls":
        return
    if call.broken_off:
        return
    if _recorded_without_content(call):
        return
    opened = "<think" in call.sent_content
    if answer.reasoning_field == THINK_TAG and not opened:
        return  # a closing tag alone, after all there is: the text before it was shown, as F09 says
    reasoning = answer.reasoning.rstrip()
    end = f"…{reasoning[-60:]}"
    if answer.finish_reason == "length":
        yield found(
            "F11",
            "content",
            Sentence(f"the budget ended within the reasoning: {end}", f"token 额度在推理过程中用完：{end}"),
            Severity.WARNING,
        )
    elif reasoning[-1] in _SENTENCE_END or not _early(call) or (opened and "</think" in call.sent_content):
        reason = answer.finish_reason
        what = Sentence(
            f"empty, finish_reason {reason}, reasoning ends: {end}",
            f"正文为空，finish_reason 为 {reason}，推理过程结尾：{end}",
        )
        yield found("F11", "content", what)
    else:
        tokens = call.usage.completion_tokens if call.usage is not None else None
        yield found("F12", f"reasoning[{len(reasoning)}]", _so_far(tokens, call.token_cap, end))


def _so_far(tokens: int | None, cap: int | None, end: str) -> Sentence | str:
    """How much of the budget was used, where that is known, before the end of a text."""
    if tokens is None:
        return end
    if not cap:
        return Sentence(f"{counted(tokens, 'token')}: {end}", f"{tokens} 个 token：{end}")
    return Sentence(f"{counted(tokens, 'token')} of {cap}: {end}", f"{cap} 个 token 的上限中用了 {tokens} 个：{end}")


def _recorded_without_content(call: Observation) -> bool:
    golden = call.golden
    return golden is not None and any(
        not answer.content.strip() and answer.reasoning and not answer.tool_calls for answer in golden.answers
    )


def _early(call: Observation) -> bool:
    """Whether less than half of the budget was used, as far as that is known."""
    tokens = call.usage.completion_tokens if call.usage is not None else None
    return tokens is None or call.token_cap is None or 2 * tokens < call.token_cap


def thinking_asked_for(request: Json) -> tuple[str, bool] | None:
    """Which key of a request switches thinking on or off, and to what; None where none does."""
    if not isinstance(request, dict):
        return None
    kwargs, extra = request.get("chat_template_kwargs"), request.get("extra_body")
    for path, place in (("chat_template_kwargs.", kwargs), ("", request)):
        for key in ("thinking", "enable_thinking"):
            value = place.get(key) if isinstance(place, dict) else None
            if isinstance(value, bool):
                return path + key, value
    thinking = request.get("thinking")
    kind = thinking.get("type") if isinstance(thinking, dict) else None
    if kind in ("enabled", "disabled"):
        return "thinking.type", kind == "enabled"
    if request.get("reasoning_effort") == "none":
        return "reasoning_effort", False
    return thinking_asked_for(extra) if isinstance(extra, dict) else None


def _switch_ignored(call: Observation) -> Iterator[Finding]:
    """Thinking is missing although it was asked for, or there although it was switched off."""
    if not call.answered or (call.content.blank and not call.answer.tool_calls and call.reasoning.blank):
        return
    if call.broken_off:
        return
    asked = thinking_asked_for(call.request)
    thought = not call.reasoning.blank
    recorded = _recorded_thinking(call)
    if asked is None:
        if recorded is True and not thought and not _may_lack_reasoning(call):
            yield found(
                "F13",
                "reasoning",
                Sentence("the source thinks first, here is no reasoning", "源部署先思考，这里没有推理过程"),
                Severity.WARNING,
            )
        elif recorded is False and thought and _beside_an_answer(call):
            begin = call.answer.reasoning[:60]
            told = Sentence(
                f"the source does not think first, here is reasoning: {begin}",
                f"源部署不先思考，这里有推理过程：{begin}",
            )
            yield found("F13", "reasoning", told, Severity.WARNING)
        return
    key, wanted = asked
    if thought == wanted or recorded is thought:
        return
    if wanted:
        grave = None if not call.answer.tool_calls else Severity.WARNING  # a tool may be called without a thought
        yield found(
            "F13", "reasoning", Sentence(f"{key} is on, no reasoning came", f"{key} 已打开，却没有推理过程"), grave
        )
    else:
        begin = call.answer.reasoning[:60]
        what = Sentence(f"{key} is off, reasoning came: {begin}", f"{key} 已关闭，却有推理过程：{begin}")
        yield found("F13", "reasoning", what)


def _beside_an_answer(call: Observation) -> bool:
    """Whether reasoning stands where it belongs: beside an answer (else F11 or F12), in no think tags (F09)."""
    whole = bool(call.answer.tool_calls) or not call.content.blank
    return whole and call.answer.reasoning_field != THINK_TAG and not _TAG.search(call.sent_content)


def _recorded_thinking(call: Observation) -> bool | None:
    """Whether the source thought on every recorded call; None when it is not known or it did so on some calls."""
    golden = call.golden
    if golden is None:
        return None
    if golden.reasoning_chars is not None:
        least, most = golden.reasoning_chars
        return True if least > 0 else False if most == 0 else None
    if golden.reasonings:
        thought = [bool(reasoning.strip()) for reasoning in golden.reasonings]
        return thought[0] if len(set(thought)) == 1 else None
    if golden.message_keys is not None and not any(key in _FIELDS for key in golden.message_keys):
        return None if any(_TAG.search(content) for content in golden.contents) else False
    return None


def _thinks_at_times(golden: Golden | None) -> bool:
    """Whether the source is known to have thought on some recorded calls and not on others."""
    if golden is None or not golden.reasonings:
        return golden is not None and golden.reasoning_chars is not None and golden.reasoning_chars[0] == 0
    return len({bool(reasoning.strip()) for reasoning in golden.reasonings}) > 1


def _switch_unsteady(calls: Sequence[Observation]) -> Iterator[Finding]:
    """Reasoning on some calls of a request and not on others."""
    answered = [call for call in calls if call.answered and not call.content.blank]
    if len(answered) < 2 or any(call.request != answered[0].request for call in answered):
        return
    with_reasoning = [call for call in answered if not call.reasoning.blank]
    if not with_reasoning or len(with_reasoning) == len(answered):
        return
    if thinking_asked_for(answered[0].request) is None:
        return  # a model may choose by itself when to think
    without = next(call for call in answered if call.reasoning.blank)
    yield found(
        "F13",
        f"{without.label}: reasoning" if without.label else "reasoning",
        Sentence(
            f"reasoning on {len(with_reasoning)} of {len(answered)} calls of one request",
            f"同一请求的 {len(answered)} 次调用中只有 {len(with_reasoning)} 次有推理过程",
        ),
    )


def _tokens_not_counted(call: Observation) -> Iterator[Finding]:
    """The server counts reasoning tokens and says that there were none."""
    if call.usage is None or call.usage.reasoning_tokens != 0 or call.reasoning.blank:
        return
    if call.answer.reasoning_field == THINK_TAG:
        return  # the server does not know that it is reasoning
    length = len(call.answer.reasoning)
    yield found(
        "F14",
        "usage.completion_tokens_details.reasoning_tokens",
        Sentence(f"0, {counted(length, 'character')} of reasoning", f"计数为 0，而推理过程有 {length} 个字符"),
    )


rules: Final[tuple[Rule, ...]] = (
    Rule("F09", Probe.ONE, _think_tags),
    Rule("F10", Probe.GOLDEN, _other_fields),
    Rule("F11", Probe.ONE, _no_content),
    Rule("F13", Probe.REPEATS, _switch_ignored, _switch_unsteady),
    Rule("F14", Probe.ONE, _tokens_not_counted),
)
"""F09 to F14; F12 comes from the same look as F11."""

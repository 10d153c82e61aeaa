"""Looks over messages for what a prompt format renders in another way than its writer expects."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.context.count.counting import content_text
from promptreg.context.count.special import special_in
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from promptreg.canonical import Json
    from promptreg.context.count.counting import Message

Format: TypeAlias = Literal["v3", "v3.1", "v3.2", "v4"]
"""A prompt format of DeepSeek; V3's is R1's too."""

Rule: TypeAlias = Literal[
    "late-system", "neighbours", "leading-assistant", "special-token", "orphan-result", "missing-result"
]


_Table: TypeAlias = "Mapping[str, Sentence]"
"""What each format does, by the format's name."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One message that will not be read as it was meant."""

    rule: Rule
    place: int
    """Index of the message."""
    sentence: Sentence

    def to_json(self) -> dict[str, Json]:
        """The form used in JSON output."""
        return {"rule": self.rule, "message": self.place, "sentence": self.sentence.to_json()}


_HOISTED: Final = Sentence(
    "it is moved to the front, so the whole prompt behind it changes", "会被移到最前面，其后的整个提示词都会变"
)
_RAW: Final = Sentence("it is inserted as raw text without a role mark", "会作为裸文本插入，没有角色标记")
_EMPTY_ANSWER: Final = Sentence(
    "between them stands an empty answer without an end mark", "两条之间会出现一个没有结束标记的空回答"
)
_RENDERED: Final = Sentence(
    "it is rendered all the same, as a result that nobody asked for", "仍会照样渲染，成为一个没有人请求过的结果"
)
_OTHERWISE: Final = Sentence("formats differ in what they make of it", "不同格式的处理方式不同")
_UNANSWERED: Final = Sentence("the model sees a call that was never answered", "模型会看到一个从未得到结果的调用")

_LATE: Final[_Table] = MappingProxyType({"v3": _HOISTED, "v3.1": _HOISTED, "v3.2": _RAW, "v4": _RAW})
_ORPHANS: Final[_Table] = MappingProxyType(
    {
        "v3": _RENDERED,
        "v3.1": _RENDERED,
        "v3.2": Sentence("the server refuses the request", "服务端会拒绝该请求"),
        "v4": Sentence("it silently becomes a text of the user", "会悄悄变成用户的文本"),
    }
)
_MISSING: Final[_Table] = MappingProxyType(
    {
        "v3.2": Sentence(
            "the block of results stays open and the cue for the answer is missing",
            "结果块不会闭合，也没有作答的提示标记",
        )
    }
)
_JOINED: Final = Sentence("they are joined by an empty line", "会以空行连接")
_GLUED: Final = Sentence("they are glued together with nothing between them", "会直接粘连在一起，中间什么也没有")
_UNMARKED: Final = Sentence("the second one has no mark of its own in front", "第二条前面没有自己的标记")
_NEIGHBOURS: Final[Mapping[str, _Table]] = MappingProxyType(
    {
        "system": MappingProxyType({"v3": _JOINED, "v3.1": _JOINED, "v3.2": _GLUED, "v4": _GLUED}),
        "user": MappingProxyType(
            {
                "v3": _EMPTY_ANSWER,
                "v3.1": Sentence("they are two turns without an answer between", "会成为两个用户轮次，中间没有回答"),
                "v3.2": _EMPTY_ANSWER,
                "v4": Sentence("they become one turn, joined by an empty line", "会以空行连接，合并为一个轮次"),
            }
        ),
        "assistant": MappingProxyType(dict.fromkeys(("v3", "v3.1", "v3.2", "v4"), _UNMARKED)),
    }
)
ROLE_NAMES: Final = MappingProxyType({"user": "用户", "system": "系统", "assistant": "助手", "tool": "工具"})
"""What roles are called in Chinese."""


def lint(messages: Sequence[Message], form: Format | None = None) -> tuple[Finding, ...]:
    """Everything in a conversation that a DeepSeek format renders unlike what it seems to say, in order.

    Args:
        messages: the conversation; it may be of any shape.
        form: the target's format where it is known; then each finding tells what that format does.
    """
    key = form or ""
    found = [
        *_system_and_neighbours(messages, key),
        *_special_tokens(messages),
        *_tools(messages, key),
    ]
    return tuple(sorted(found, key=lambda finding: finding.place))


def _system_and_neighbours(messages: Sequence[Message], form: str) -> Iterator[Finding]:
    roles = ["system" if role == "developer" else role for role in (str(message.get("role")) for message in messages)]
    first = next((place for place, role in enumerate(roles) if role != "system"), len(roles))
    if first < len(roles) and roles[first] == "assistant":
        yield Finding(
            "leading-assistant",
            first,
            Sentence(
                f"Message {first} is an answer before any question: it stands behind the system text without a mark.",
                f"第 {first} 条消息是回答，但前面没有任何提问：它会紧跟在系统文本之后，没有标记。",
            ),
        )
    for place, role in enumerate(roles):
        if role == "system" and place > first:
            does = _LATE.get(form, _OTHERWISE)
            yield Finding(
                "late-system",
                place,
                Sentence(
                    f"Message {place} is a system message behind the beginning: {does.en}.",
                    f"第 {place} 条消息是位于开头之后的系统消息：{does.zh}。",
                ),
            )
        elif place and role == roles[place - 1] and role in _NEIGHBOURS:
            yield Finding("neighbours", place, _neighbours(place, role, form))


def _neighbours(place: int, role: str, form: str) -> Sentence:
    does = _NEIGHBOURS[role].get(form, _OTHERWISE)
    return Sentence(
        f"Messages {place - 1} and {place} both have the role {role}: {does.en}.",
        f"第 {place - 1} 条与第 {place} 条消息的角色都是{ROLE_NAMES[role]}（{role}）：{does.zh}。",
    )


def _special_tokens(messages: Sequence[Message]) -> Iterator[Finding]:
    for place, message in enumerate(messages):
        if message.get("role") == "assistant":
            continue  # reasoning that was left in an answer has its own marks, and templates look for them
        names = special_in(content_text(message.get("content")))
        if names:
            shown = ", ".join(f"`{name}`" for name in names[:3]) + (" …" if len(names) > 3 else "")
            yield Finding(
                "special-token",
                place,
                Sentence(
                    f"Message {place} has the name of a special token in its text: {shown}. Tokenizers read it as "
                    "the mark itself.",
                    f"第 {place} 条消息的文本中含有特殊标记的名字：{shown}。分词器会把它当作标记本身。",
                ),
            )


def _tools(messages: Sequence[Message], form: str) -> Iterator[Finding]:
    """Results and calls have to stand together: all results of an answer right behind it."""
    caller = 0
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        if message.get("role") == "tool":
            name = message.get("tool_call_id")
            if name in open_calls:
                open_calls.remove(str(name))
                continue
            does = _ORPHANS.get(form, _OTHERWISE)
            yield Finding(
                "orphan-result",
                place,
                Sentence(
                    f"Message {place} is a tool's result without its call right before it: {does.en}.",
                    f"第 {place} 条消息是工具结果，但紧邻的前面没有对应的调用：{does.zh}。",
                ),
            )
            continue
        yield from _missing(caller, open_calls, form)
        caller, open_calls = place, _call_ids(message)
    yield from _missing(caller, open_calls, form)


def _missing(caller: int, open_calls: Sequence[str], form: str) -> Iterator[Finding]:
    if not open_calls:
        return
    does = _MISSING.get(form, _UNANSWERED)
    yield Finding(
        "missing-result",
        caller,
        Sentence(
            f"Message {caller} calls tools, and {counted(len(open_calls), 'result')} "
            f"{'does' if len(open_calls) == 1 else 'do'} not follow it: {does.en}.",
            f"第 {caller} 条消息调用了工具，但有 {len(open_calls)} 个结果没有跟上：{does.zh}。",
        ),
    )


def _call_ids(message: Message) -> list[str]:
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, (list, tuple)):
        return []
    return [str(call.get("id", "")) for call in calls if isinstance(call, dict)]

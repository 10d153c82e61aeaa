"""Features in words: what recorded answers had, and what it means that others here do not."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.checks.language import language_name
from promptreg.scoring.contract.implied import place_of
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.scoring.contract.features import Feature


class Words(NamedTuple):
    """Both halves of a sentence about a feature, in both languages. `{all}` is 都, or nothing after a single answer."""

    had: str
    """After "All 10 recorded answers"."""
    here: str
    """After "3 of 5 here"."""
    one_here: str
    """After "1 of 5 here"."""
    zh_had: str
    """After 录制的 10 条回答."""
    zh_here: str
    """After 这里 5 条中有 3 条."""


_TYPES: Final = MappingProxyType(
    {
        "null": Sentence("null", "null"),
        "boolean": Sentence("true or false", "布尔值"),
        "string": Sentence("a string", "字符串"),
        "number": Sentence("a number", "数字"),
        "integer": Sentence("a whole number", "整数"),
        "array": Sentence("a list", "数组"),
        "object": Sentence("an object", "对象"),
    },
)


def words_of(feature: Feature) -> Words:
    """The words for a feature."""
    return _WORDS[feature.kind](feature)


def _was(en: str, zh: str) -> Words:
    return Words(f"were {en}", "are not", "is not", f"{{all}}是{zh}", "不是")


def _had(en: str, zh: str) -> Words:
    return Words(f"had {en}", "do not", "does not", f"{{all}}有{zh}", "没有")


def _had_no(en: str, zh: str) -> Words:
    return Words(f"had no {en}", "have one", "has one", f"{{all}}没有{zh}", "有")


def _content(feature: Feature) -> Words:
    if feature.value == "present":
        return Words("had a text", "are empty", "is empty", "{all}有文字", "是空的")
    return Words("had no text", "have one", "has one", "{all}没有文字", "有")


def _fence(feature: Feature) -> Words:
    name = f" ({_shown(feature.value)})" if feature.value else ""
    if feature.kind == "whole_fence":
        return _was(f"one code block{name}", f"一个代码块{name}")
    return _had(f"a code block{name}", f"代码块{name}")


def _list(feature: Feature) -> Words:
    if feature.value == "none":
        return _had_no("list", "列表")
    zh = "项目符号列表" if feature.value == "bulleted" else "编号列表"
    return _had(f"a {feature.value} list", zh)


def _language(feature: Feature) -> Words:
    name = language_name(feature.value)
    return Words(f"were in {name.en}", "are not", "is not", f"{{all}}使用{name.zh}", "不是")


def _finish_reason(feature: Feature) -> Words:
    if feature.value == "missing":
        return _had_no("finish reason", "结束原因（finish_reason）")
    name = _quoted(feature.value)
    return Words(
        f"ended with the finish reason {name}",
        "do not",
        "does not",
        f"的结束原因（finish_reason）{{all}}是{name}",
        "不是",
    )


def _reasoning(feature: Feature) -> Words:
    if feature.value == "present":
        return Words("had reasoning", "have none", "has none", "{all}有推理内容", "没有")
    return Words("had no reasoning", "have some", "has some", "{all}没有推理内容", "有")


def _inside(feature: Feature) -> Words:
    place = place_of(feature)
    path = _shown(place.path)
    tool = _quoted(place.tool)
    en, zh = (" in the JSON", " JSON ")
    if feature.kind.startswith("tool"):
        en, zh = f" in the arguments of {tool}", f"{tool}的参数"
    if feature.kind.endswith("_type"):
        kind = _TYPES.get(place.rest, Sentence(place.rest, place.rest))
        return Words(
            f"had {kind.en} at {path}{en}", "do not", "does not", f"的{zh}中，{path} {{all}}是{kind.zh}", "不是"
        )
    if feature.kind.endswith("_keys"):
        keys = _shown(place.rest) or "–"
        return Words(
            f"had the keys {keys} and no others at {path}{en}",
            "do not",
            "does not",
            f"的{zh}中，{path} {{all}}只有键 {keys}",
            "不是",
        )
    return Words(f"had {path}{en}", "do not", "does not", f"的{zh}中{{all}}有 {path}", "没有")


def _tool_call(feature: Feature) -> Words:
    name = _quoted(feature.value)
    return Words(f"called the tool {name}", "do not", "does not", f"{{all}}调用了工具{name}", "没有调用")


def _json_path(feature: Feature) -> Words:
    if feature.value == "$":
        return Words("held JSON", "do not", "does not", "{all}含有 JSON", "没有")
    return _inside(feature)


def _tool_path(feature: Feature) -> Words:
    if place_of(feature).path == "$":
        name = _quoted(place_of(feature).tool)
        return Words(
            f"called {name} with arguments in JSON", "do not", "does not", f"调用{name}的参数{{all}}是 JSON", "不是"
        )
    return _inside(feature)


def _fact(feature: Feature) -> Words:
    name = _quoted(feature.value)
    return Words(f"stated {name}", "do not", "does not", f"{{all}}提到{name}", "没有提到")


_WORDS: Final[Mapping[str, Callable[[Feature], Words]]] = MappingProxyType(
    {
        "content": _content,
        "json": lambda _: _was("JSON", " JSON"),
        "json_path": _json_path,
        "json_type": _inside,
        "json_keys": _inside,
        "whole_fence": _fence,
        "fence": _fence,
        "no_fence": lambda _: _had_no("code block", "代码块"),
        "table": lambda it: _had(f"a table with the columns {_shown(it.value)}", f"列为 {_shown(it.value)} 的表格"),
        "no_table": lambda _: _had_no("table", "表格"),
        "list": _list,
        "single_line": lambda _: Words("had a single line", "have more", "has more", "{all}只有一行", "不止一行"),
        "language": _language,
        "no_refusal": lambda _: Words("gave no refusal", "refuse", "refuses", "{all}没有拒绝", "拒绝了"),
        "finish_reason": _finish_reason,
        "reasoning": _reasoning,
        "no_tool_call": lambda _: Words("called no tool", "call one", "calls one", "{all}没有调用工具", "调用了"),
        "tool_call": _tool_call,
        "tool_path": _tool_path,
        "tool_type": _inside,
        "tool_keys": _inside,
        "fact": _fact,
    },
)

KINDS: Final[tuple[str, ...]] = (
    *("content", "no_refusal", "json", "tool_call", "no_tool_call", "whole_fence", "json_path", "tool_path"),
    *("json_type", "tool_type", "json_keys", "tool_keys", "fence", "no_fence", "table", "no_table", "language"),
    *("finish_reason", "reasoning", "list", "single_line", "fact"),
)
"""Every kind of feature, the ones whose loss costs most first."""


def _shown(text: str) -> str:
    return preview(text, 80)


def _quoted(text: str) -> str:
    return f"“{_shown(text)}”"

"""What is wrong with a JSON text, and with a value under its schema, in both languages: libraries say it in English."""

from __future__ import annotations

import json
import re
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from jsonschema import ValidationError

_OF_READERS: Final = MappingProxyType(
    {
        # Of json.
        "Expecting value": "此处应有一个值",
        "Expecting ',' delimiter": "此处应有逗号",
        "Expecting ':' delimiter": "此处应有冒号",
        "Expecting property name enclosed in double quotes": "此处应有双引号括起的属性名",
        "Illegal trailing comma before end of object": "对象末尾多了逗号",
        "Illegal trailing comma before end of array": "列表末尾多了逗号",
        "Extra data": "JSON 之后还有内容",
        "Unterminated string starting at": "字符串没有结束",
        "Invalid control character at": "字符串中有未转义的控制字符",
        "Invalid \\escape": "无效的转义",
        "Invalid \\uXXXX escape": "无效的 \\uXXXX 转义",
        # Of orjson.
        "unexpected character, expected a JSON value": "此处应有一个值",
        "unexpected character, expected ':' after key": "属性名之后应有冒号",
        "unexpected character, expected a string key": "此处应有双引号括起的属性名",
        "unexpected character, expected ',' or ']'": "此处应有逗号或 ]",
        "unexpected character, expected ',' or '}'": "此处应有逗号或 }",
        "unexpected end of data": "内容不完整",
        "unexpected content after document": "JSON 之后还有内容",
        "unexpected control character in string": "字符串中有未转义的控制字符",
        "invalid escaped sequence in string": "无效的转义",
        "trailing comma is not allowed": "末尾多了逗号",
        "number with leading zero is not allowed": "数字不能以 0 开头",
        "depth limit exceeded": "嵌套过深",
        # Of ours.
        "JSON nested too deeply": "JSON 嵌套过深",
        "NaN is no JSON number": "NaN 不是 JSON 数字",
        "Infinity is no JSON number": "Infinity 不是 JSON 数字",
        "-Infinity is no JSON number": "-Infinity 不是 JSON 数字",
    }
)
_UNEXPECTED: Final = re.compile(r"\((.+) (?:was|were) unexpected\)$", re.DOTALL)

# By keyword of JSON Schema: what a value that breaks it is. {value} is the value, {wanted} what the schema asks for.
_OF_SCHEMAS: Final = MappingProxyType(
    {
        "type": "{value} 的类型不是 {wanted}",
        "enum": "{value} 不在允许的取值 {wanted} 之中",
        "const": "应为 {wanted}",
        "pattern": "{value} 不符合模式 {wanted}",
        "minLength": "{value} 过短",
        "minItems": "{value} 过短",
        "maxLength": "{value} 过长",
        "maxItems": "{value} 过长",
        "minimum": "{value} 小于最小值 {wanted}",
        "maximum": "{value} 大于最大值 {wanted}",
        "exclusiveMinimum": "{value} 应大于 {wanted}",
        "exclusiveMaximum": "{value} 应小于 {wanted}",
    }
)


def reader_problem(error: ValueError) -> Sentence:
    """Why a text is no JSON, in a few words, without the place; what no table knows stays as it is in both languages.

    Args:
        error: of json, of orjson, or of a reader of ours.
    """
    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    said = said.partition(": line")[0]
    return Sentence(said, _OF_READERS.get(said, said))


def reader_problem_with_place(error: ValueError) -> Sentence:
    """As `reader_problem`, with line and column where the error has them."""
    said = reader_problem(error)
    if not isinstance(error, json.JSONDecodeError):
        return said
    return Sentence(
        f"{said.en}: line {error.lineno} column {error.colno}", f"{said.zh}，第 {error.lineno} 行第 {error.colno} 列"
    )


def misfit(error: ValidationError, width: int) -> Sentence:
    """How a value breaks a schema, in a few words.

    Args:
        error: of jsonschema.
        width: columns at most.
    """
    en = preview(error.message, width)
    zh = _misfit_in_chinese(error)
    return Sentence(en, en if zh is None else preview(zh, width))


def _misfit_in_chinese(error: ValidationError) -> str | None:
    """None where only the library's own words say it."""
    rule = str(error.validator)
    if rule == "required":
        return f"缺少必填属性 {error.message.removesuffix(' is a required property')}"
    if rule == "additionalProperties" and (names := _UNEXPECTED.search(error.message)) is not None:
        return f"不允许有额外属性（多出 {names[1]}）"
    said = _OF_SCHEMAS.get(rule)
    value, wanted = preview(repr(error.instance), 60), preview(repr(error.validator_value), 60)
    return None if said is None else said.format(value=value, wanted=wanted)

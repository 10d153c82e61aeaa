"""What libraries say of broken JSON, and of a value under its schema, has Chinese words: theirs are held here."""

from __future__ import annotations

import json
import re

import orjson
import pytest
from jsonschema.validators import Draft202012Validator

from promptreg.scoring.faults.reading.strict import read_strictly
from promptreg.scoring.problems import misfit, reader_problem, reader_problem_with_place
from promptreg.text.sentence import Sentence

HAN = re.compile("[㐀-鿿]")

BROKEN = [
    "Sure", '{"a":}', '{"a":1', '{"a" 1}', "{a:1}", '{"a":1,}', "[1,]", "[1 2]", '{"a":1} x', '"abc', '"\x01"', '"\\q"',
    '"\\u12"', "01", "nul", "[", "{'a':1}", '"a\nb"', '{"a":1]',
]  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("read", [json.loads, orjson.loads, read_strictly])
def test_what_readers_say_is_known(text, read):
    with pytest.raises(ValueError, match=r".") as caught:
        read(text)
    assert HAN.search(reader_problem(caught.value).zh), caught.value


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "[" * 200_000])
def test_what_only_our_reader_refuses_is_known(text):
    with pytest.raises(ValueError, match=r".") as caught:
        read_strictly(text)
    assert HAN.search(reader_problem(caught.value).zh)


def test_the_place_is_told_where_it_is_known():
    with pytest.raises(ValueError, match="Expecting value") as caught:
        json.loads('{\n "a":}')
    expected = Sentence("Expecting value: line 2 column 6", "此处应有一个值，第 2 行第 6 列")
    assert reader_problem_with_place(caught.value) == expected
    assert reader_problem_with_place(ValueError("something new")) == Sentence("something new", "something new")


@pytest.mark.parametrize(
    ("schema", "value", "zh"),
    [
        ({"type": "string"}, 7, "7 的类型不是 'string'"),
        ({"type": ["string", "null"]}, 7, "7 的类型不是 ['string', 'null']"),
        ({"enum": ["是", "否"]}, "也许", "'也许' 不在允许的取值 ['是', '否'] 之中"),
        ({"const": 1}, 2, "应为 1"),
        ({"required": ["天数"]}, {}, "缺少必填属性 '天数'"),
        ({"additionalProperties": False}, {"a": 1, "b": 2}, "不允许有额外属性（多出 'a', 'b'）"),
        ({"additionalProperties": {"type": "string"}}, {"a": 1}, "1 的类型不是 'string'"),
        ({"pattern": "^a"}, "b{0}", "'b{0}' 不符合模式 '^a'"),
        ({"minLength": 1}, "", "'' 过短"),
        ({"maxItems": 1}, [1, 2], "[1, 2] 过长"),
        ({"minimum": 3}, 2, "2 小于最小值 3"),
        ({"exclusiveMaximum": 3}, 3, "3 应小于 3"),
    ],
)
def test_how_a_value_breaks_its_schema(schema, value, zh):
    error = next(iter(Draft202012Validator(schema).iter_errors(value)))
    assert misfit(error, 100) == Sentence(error.message, zh)


def test_what_has_no_chinese_words_keeps_the_library_s_own():
    error = next(iter(Draft202012Validator({"multipleOf": 2}).iter_errors(3)))
    assert misfit(error, 100) == Sentence("3 is not a multiple of 2", "3 is not a multiple of 2")


def test_a_long_value_is_cut_in_both_languages():
    error = next(iter(Draft202012Validator({"type": "string"}).iter_errors(list(range(1000)))))
    said = misfit(error, 80)
    assert len(said.en) <= 80
    assert said.zh.endswith("的类型不是 'string'")

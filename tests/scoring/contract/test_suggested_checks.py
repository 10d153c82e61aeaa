from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from promptreg.answer.model import Answer, ToolCall
from promptreg.scoring.checks.registry import build_checks
from promptreg.scoring.contract.suggest import suggested_checks
from promptreg.scoring.contract.yaml_text import checks_yaml, scalar


def suggested(tmp_path, *contents):
    return {each.name: each.argument for each in suggested_checks([Answer(content) for content in contents], tmp_path)}


def test_json_answers_get_a_schema_of_what_they_share(tmp_path):
    found = suggested(
        tmp_path,
        '{"order": 20481, "items": [{"名称": "书", "n": 1}], "note": null}',
        '{"order": 20481, "items": [{"名称": "笔", "n": 1.5}, {"名称": "纸", "n": 2}]}',
    )
    assert found["json_schema"] == {
        "type": "object",
        "required": ["items", "order"],
        "properties": {
            "items": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["n", "名称"],
                    "properties": {"n": {"type": "number"}, "名称": {"type": "string"}},
                },
            },
            "order": {"type": "integer"},
        },
    }
    assert found["language"] == "zh"
    assert "not_refusal" in found


def test_facts_in_whatever_spelling(tmp_path):
    found = suggested(tmp_path, "退款需三十天，联系《客服手册》。", "见《客服手册》：30 天内退款。")
    assert found["facts"] == ["三十天", "《客服手册》"]
    assert "facts" not in suggested(tmp_path, "Take 5 kg.", "Take 15 kg.")


def test_the_length_limits_leave_room(tmp_path):
    assert suggested(tmp_path, "a" * 100, "b" * 201)["length"] == {"characters": {"min": 66, "max": 310}}
    assert suggested(tmp_path, "好")["length"] == {"characters": {"min": 1, "max": 2}}
    assert "length" not in suggested(tmp_path, "", "text")


@pytest.mark.parametrize(
    ("content", "name", "argument"),
    [
        ("| 名称 | price |\n|---|---|\n| 书 | 3 |", "table", ["名称", "price"]),
        ("- a\n- b", "list", {"items": {"min": 2}, "ordered": False}),
        ("1. a\n2. b", "list", {"items": {"min": 2}, "ordered": True}),
        ("```json\n{}\n```", "code_fence", {"language": "json", "only": True}),
        ("So:\n```\nls\n```", "code_fence", None),
        ("7", "json", None),
    ],
)
def test_shapes(tmp_path, content, name, argument):
    found = suggested(tmp_path, content)
    assert name in found
    assert found[name] == argument


def test_calls_and_the_end_of_an_answer(tmp_path):
    call = ToolCall("get_weather", '{"city": "北京", "days": 2}')
    answers = [Answer(tool_calls=(call,), finish_reason="tool_calls")] * 2
    found = {each.name: each.argument for each in suggested_checks(answers, tmp_path)}
    assert found["finish_reason"] == "tool_calls"
    assert found["tool_call"] == {
        "name": "get_weather",
        "arguments": {
            "type": "object",
            "required": ["city", "days"],
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        },
    }


@pytest.mark.parametrize("contents", [(), ("", ""), ("抱歉，我无法提供这些信息。",)])
def test_nothing_is_suggested_that_does_not_hold(tmp_path, contents):
    assert "not_refusal" not in suggested(tmp_path, *contents) or not any(contents)
    assert "json_schema" not in suggested(tmp_path, *contents)


CONTENT = st.sampled_from(
    [
        *('{"a": 1}', '{"a": "x", "b": []}', "```json\n{}\n```", "[1, 2]", "7", "退款需三十天。", "30 days, 30天"),
        *("见 https://a.b/c?d=(e)*", "《a*b》\n2024-05-03 $5.00", "No. 007", "“no”"),
    ],
)


@settings(max_examples=60, deadline=None)
@given(contents=st.lists(CONTENT | st.text(max_size=40), min_size=1, max_size=4))
def test_every_suggestion_is_valid_yaml_and_holds_on_every_answer(tmp_path_factory, contents):
    folder = tmp_path_factory.getbasetemp()
    answers = [Answer(content) for content in contents]
    suggestions = suggested_checks(answers, folder)
    for check in build_checks([each.spec for each in suggestions], folder):
        assert all(check(answer).passed for answer in answers)
    for language in ("en", "zh"):
        listed = YAML(typ="safe").load("\n".join(["checks:", *checks_yaml(suggestions, 2, language)]))["checks"] or []
        expected = [each.name if each.argument is None else {each.name: each.argument} for each in suggestions]
        assert json.loads(json.dumps(listed)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(
            "no",
            "007",
            "1e3",
            "2024-05-03",
            "a: b",
            "# x",
            "",
            "é\x85\u2028\ufeff\x00",
            "好",
            '"\\',
            "👍",
            "\U000e0001",
        ),
        *("- a", "null", "\U000e0001"),
    ],
)
def test_any_text_is_the_same_text_in_yaml(text):
    line = scalar(text)
    assert line.isprintable()
    assert YAML(typ="safe").load(f"a: {line}") == {"a": text}

from __future__ import annotations

import pytest

DOCUMENT = """# 概述

您好。

## 步骤

1. 打开
2. 关闭
   - 再打开

| 名称 | 价格 |
| --- | ---: |
| 甲 | 1 |
| 乙 | 2 |

> 引用

```json
{"a": 1}
```

## 结论
完。
"""


@pytest.mark.parametrize(
    ("name", "argument", "content", "passed"),
    [
        ("markdown", None, DOCUMENT, True),
        ("markdown", None, "没有结构的一句话。", False),
        ("markdown", None, "", False),
        ("markdown", ["heading", "list", "table", "code", "quote"], DOCUMENT, True),
        ("markdown", "table", "# a", False),
        ("markdown", {"heading": 3, "list": 1}, DOCUMENT, True),
        ("markdown", {"heading": 2}, DOCUMENT, False),
        ("markdown", {"headings": ["标题"], "list": 1}, "# 标题\n\n- 一\n- 二", True),
        ("markdown", {"list": 2}, "# 标题\n\n- 一\n- 二", False),
        ("markdown", {"list": 2}, "- 一\n- 二\n\n其次：\n\n- 三", True),
        ("markdown", {"headings": ["概述", "结论"]}, DOCUMENT, True),
        ("markdown", {"headings": ["结论", "概述"]}, DOCUMENT, False),
        ("markdown", {"headings": ["附录"]}, DOCUMENT, False),
        ("markdown", {"headings": ["概述"]}, "```\n# 概述\n```", False),
        ("markdown", {"headings": ["Summary"]}, "**x**\r\n\r\n## **SUMMARY**\r\n", True),
        ("markdown", None, "x" * 100_001, None),
        ("table", None, DOCUMENT, True),
        ("table", None, "a | b", False),
        ("table", ["名称", "价格"], DOCUMENT, True),
        ("table", ["价格", "名称"], DOCUMENT, False),
        ("table", {"columns": ["名称", "价格"], "rows": 2}, DOCUMENT, True),
        ("table", {"rows": {"min": 3}}, DOCUMENT, False),
        ("table", None, "```\n| a |\n| - |\n```", False),
        ("code_fence", None, DOCUMENT, True),
        ("code_fence", None, "`inline`", False),
        ("code_fence", "json", DOCUMENT, True),
        ("code_fence", "python", DOCUMENT, False),
        ("code_fence", "JSON", "```json\r\n{}\r\n```", True),
        ("code_fence", "python", "```py\nx = 1\n```", True),
        ("code_fence", "py", "```Python3\nx = 1\n```", True),
        ("code_fence", "js", "```javascript\nx\n```", True),
        ("code_fence", "typescript", "```ts\nx\n```", True),
        ("code_fence", "bash", "```sh\nls\n```", True),
        ("code_fence", "shell", "```bash\nls\n```", True),
        ("code_fence", "yaml", "```yml\na: 1\n```", True),
        ("code_fence", "c++", "```cpp\nx\n```", True),
        ("code_fence", "c", "```cpp\nx\n```", False),
        ("code_fence", "java", "```javascript\nx\n```", False),
        ("code_fence", "python", "```python:main.py\nx\n```", True),
        ("code_fence", "bash", "1. 运行\n\n    ```bash\n    ls\n    ```", True),
        ("code_fence", {"only": True}, "```json\n{}\n```\n", True),
        ("code_fence", {"only": True}, DOCUMENT, False),
        ("code_fence", {"language": "json", "only": True}, "```json\n{}\n```\n好的", False),
        ("code_fence", None, "```json\n{}", False),
        ("code_fence", None, "~~~~\n```\n~~~~", True),
        ("list", None, "- a\n- b", True),
        ("list", None, "一、退货\n二、换货", True),
        ("list", None, "（1）退货\n（2）换货", True),
        ("list", None, "没有", False),
        ("list", 2, "第一，甲。\n第二，乙。", True),
        ("list", 2, "a) x\nb) y", True),
        ("list", 2, "1.甲\n2.乙", True),
        ("list", 3, "- a\n  - b\n- c", True),
        ("list", 2, "* 甲\n* 乙", True),
        ("list", {"items": {"min": 2, "max": 3}}, "1. a\n2. b\n3. c\n4. d", False),
        ("list", {"ordered": True}, "- a", False),
        ("list", {"items": 2, "ordered": False}, "- a\n- b\n1. c", True),
        ("list", None, "```\n- a\n```", False),
    ],
)
def test_structure(judge, name, argument, content, passed):
    assert judge(name, argument, content).passed is passed


def test_findings_say_what_there_is(judge):
    assert judge("markdown", {"heading": {"min": 1}}, "x").sentence.en == ("The answer has 0 headings, not at least 1.")
    assert judge("markdown", {"headings": ["结论", "概述"]}, DOCUMENT).sentence.zh == "回答的标题“概述”顺序不符。"
    assert judge("table", ["a"], DOCUMENT).sentence.zh == "回答的表格列为“名称”和“价格”，共 2 行。"
    assert judge("list", 3, "1. a").sentence.en == "The answer has 1 list item."
    assert judge("code_fence", "sql", DOCUMENT).sentence.en == (
        "The answer has code fences marked “json”, none marked sql."
    )


def test_rules_name_the_counts(build):
    assert build("list", {"items": {"min": 2}, "ordered": True}).rule.en == (
        "The answer must have a list of at least 2 numbered items."
    )
    assert build("not_table", {"columns": ["a", "b"], "rows": {"max": 5}}).rule.zh == (
        "回答不得有表格，列为“a”和“b”，行数为至多 5。"
    )
    assert build("markdown", ["table"]).rule.en == "The answer must have at least 1 table."


@pytest.mark.parametrize(
    "content", ["[a]: b\n" * 14_000, "> " * 50_000, "- " * 50_000, "`" * 99_000, "|" * 99_000, "[" * 99_000]
)
def test_hostile_markdown_is_read(judge, content):
    assert judge("markdown", ["heading"], content).passed is False


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("markdown", ["headline"], "has no field `headline`. Did you mean `heading`?"),
        ("markdown", {"heading": -1}, "needs a whole number from 0"),
        ("markdown", {"heading": {"least": 1}}, "has the fields `min` and `max`"),
        ("table", {"column": ["a"]}, "Did you mean `columns`? Fields are `columns`, `rows`."),
        ("table", {"rows": {"min": 3, "max": 2}}, "no answer could pass"),
        ("code_fence", {"lang": "json"}, "Did you mean `language`?"),
        ("list", {"items": {"max": 3}}, "write `not_list`"),
        ("list", {"ordered": 1}, "must be `true` or `false`"),
        ("list", "three", "needs a whole number"),
    ],
)
def test_wrong_arguments_of_structure_checks(refused, name, argument, message):
    assert message in refused(name, argument)

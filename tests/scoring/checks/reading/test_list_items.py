from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.scoring.checks.reading.list_items import Lists, lists_of


@pytest.mark.parametrize(
    ("text", "bullets", "numbers"),
    [
        ("第一，甲。\n第二，乙。", 0, 2),
        ("第一步：打开\n\n第二步：关闭", 0, 2),
        ("a) x\nb) y", 0, 2),
        ("A. 甲\nB. 乙\nC. 丙", 0, 3),
        ("(a) x\n(b) y", 0, 2),
        ("1.甲\n2.乙", 0, 2),
        ("1)甲\n2)乙", 0, 2),
        ("一、退货\n二、换货", 0, 2),
        ("（一）退货\n（二）换货", 0, 2),
        ("（1）退货\n（2）换货", 0, 2),
        ("十、甲\n十一、乙", 0, 2),
        ("**1. 甲**\n说明\n**2. 乙**", 0, 2),
        ("① 甲\r\n② 乙", 0, 2),
        ("- 甲\n• 乙\n· 丙", 3, 0),
        ("1. 甲\n   - 乙", 1, 1),
        ("", 0, 0),
        ("第一次来。\n第二次又来。", 0, 0),
        ("第一，我们看天气。\n然后出门。", 0, 0),
        ("A. Smith wrote it.\nB came later.", 0, 0),
        ("3.5 million\n4.5 million", 0, 0),
        ("10:30 出发\n11:30 到达", 0, 0),
        ("---\n- - -\n***", 0, 0),
        ("```\n- a\n1. b\n```", 0, 0),
        ("1. 运行\n    ```bash\n    - x\n    ```\n2. 完成", 0, 2),
    ],
)
def test_items_are_counted(text, bullets, numbers):
    lists = lists_of(text)

    assert (lists.bullets, lists.numbers) == (bullets, numbers)


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("- a\n- b", 1),
        ("- a\n\n- b\n\n- c", 1),
        ("- a\n  more\n\n  a paragraph of it\n- b", 1),
        ("- a\nlazy line\n- b", 1),
        ("1. a\n   - b\n   - c\n2. d", 1),
        ("1. a\n- b\n- c\n2. d\n- e", 1),
        ("1. a\n\n- p\n\n2. b\n\n- q", 1),
        ("一、x\n（1）a\n（2）b\n二、y\n（1）c", 1),
        ("1. a\n```\ncode\n```\n2. b", 1),
        ("1. 甲\n\n说明文字。\n\n2. 乙\n\n说明文字。\n\n3. 丙", 1),
        ("1. a\n1. b\n1. c", 1),
        ("- a\n- b\n\n其次：\n\n- c", 2),
        ("1、a\n2、b\n\n另外：\n\n1、c\n2、d", 2),
        ("## 水果\n1. 苹果\n2. 梨\n## 蔬菜\n1. 白菜", 2),
        ("- a\n- b\n1. c\n2. d", 2),
        ("没有列表。", 0),
    ],
)
def test_items_that_belong_together_are_one_list(text, blocks):
    assert lists_of(text).blocks == blocks


@given(st.text(alphabet="-*1234一二第ab.)）（、， \t\n#`x", max_size=80))
@settings(max_examples=200)
def test_there_are_no_more_lists_than_items(text):
    lists = lists_of(text)

    assert (0 < lists.blocks <= lists.items) or lists == Lists()


@pytest.mark.parametrize(
    "text",
    [
        "- a\n" * 25_000,
        "1.x\n" * 25_000,
        "a) b\n" * 20_000,
        " " * 100_000,
        "（" * 100_000,
        "1" * 100_000,
        "- " * 50_000,
        "".join(f"{' ' * (number % 30)}- a\n" for number in range(6_000)),
    ],
)
def test_time_grows_no_faster_than_the_text(text):
    short, long = seconds(text[: len(text) // 8]), seconds(text)
    # Eight times as long; 8 is linear and 64 quadratic. The constant covers a busy machine.
    assert long < 24 * short + 0.2


def seconds(text):
    took = []
    for _ in range(2):
        start = time.process_time()
        lists_of(text)
        took.append(time.process_time() - start)
    return min(took)

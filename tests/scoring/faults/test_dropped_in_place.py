"""F06: digits and characters of names that are gone from the place where the recorded answer has them."""

from __future__ import annotations

from time import process_time

import pytest


def found(answered, prompt, golden, content):
    request = {"messages": [{"role": "user", "content": prompt}]}
    return answered(content, request=request, golden={"content": golden}).get("F06")


@pytest.mark.parametrize(
    ("prompt", "golden", "content", "severity"),
    [
        ("How much on route 518?", "On route 518 you may take two bags.", "On route 51 you may take two bags.", "E"),
        ("How much on route 518?", "On route 518 you may take two bags.", "You may take two bags on route 58.", "W"),
        ("518 路可以带多少行李？", "518 路可以带两个箱子。", "58 路可以带两个箱子。", "E"),
        ("2041 次列车几点开？", "2041 次列车九点开。", "241 次列车九点开。", "E"),
        ("去普陀山的渡轮几点开？", "去普陀山的渡轮九点开。", "去陀山的渡轮九点开。", "W"),
        ("去普陀山的渡轮几点开？", "去普陀山的渡轮九点开。", "去普山的渡轮九点开。", "W"),
        ("张晓梅住在哪里？", "据登记，张晓梅住在杭州。", "据登记，张梅住在杭州。", "W"),
    ],
)
def test_what_is_gone_from_its_place_is_found(answered, prompt, golden, content, severity):
    assert found(answered, prompt, golden, content) == severity


@pytest.mark.parametrize(
    ("prompt", "golden", "content"),
    [
        ("How much on route 518?", "On route 518 you may take two bags.", "You may take two bags."),
        ("Half of 518, and 51 more?", "From 518 it is 259, and 51 more.", "From 51 it is 259, half of it."),
        ("Is 518 more than 500?", "Yes, 518 is more than 500.", "Yes, it is 18 more."),
        ("518 路可以带多少行李？", "518 路可以带两个箱子。", "可以带 18 公斤。"),
        ("去普陀山的渡轮几点开？", "去普陀山的渡轮九点开。", "渡轮九点开。"),
        ("去普陀山的渡轮几点开？", "去普陀山的渡轮九点开。", "去普陀的渡轮九点开。"),
        ("我的手机坏了怎么办？", "我的手机坏了可以修。", "我手机坏了可以修。"),
        ("北京市的人口是多少？", "北京市的人口是两千万。", "北京的人口是两千万。"),
        ("可以带两个箱子吗？", "您可以带两个箱子上车。", "您可带两箱子上车。"),
        ("去普陀山的渡轮几点开？", "去普陀山的渡轮九点开。", "去普陀山的渡轮九点开。"),
        ("去普陀山的渡轮几点开？", "", "去陀山的渡轮九点开。"),
    ],
)
def test_what_is_said_otherwise_is_silent(answered, prompt, golden, content):
    assert found(answered, prompt, golden, content) is None


def test_huge_texts_are_compared_in_time(answered):
    golden = "".join(f"{number}路去普陀山{chr(0x4E00 + number)}，" for number in range(100, 4_000))
    begin = process_time()
    found(answered, golden, golden, golden.replace("普", "") * 2)
    assert process_time() - begin < 5

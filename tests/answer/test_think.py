"""Inline reasoning: where it begins and ends, and what is none."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.answer.think import split_think


@pytest.mark.parametrize(
    ("content", "reasoning", "answer"),
    [
        ("<think>17*3</think>\n\n51", "17*3", "51"),
        ("\n <think>\n先算\n</think>\n七天", "先算", "七天"),
        ("<think></think>答", "", "答"),
        ("<think>no end", "no end", ""),
        ("<think>", "", ""),
        ("thinking without an opening\n</think>\n\nanswer", "thinking without an opening", "answer"),
        ("</think>answer", "", "answer"),
        ("<think>a</think>b</think>c", "a", "b</think>c"),
        ("<think>the tag `</think>` ends it</think>done", "the tag `</think>` ends it", "done"),
        ("<think>```\n</think>\n```\nok</think>done", "```\n</think>\n```\nok", "done"),
        ("<think>an open ```fence</think>done", "an open ```fence", "done"),
        (
            "Why does “</think>” show?\nNo parser.\n</think>\nBecause.",
            "Why does “</think>” show?\nNo parser.",
            "Because.",
        ),
        ("</think>是的", "", "是的"),
        ("<think>\n```\nnever closed\n</think>\ndone", "```\nnever closed", "done"),
    ],
)
def test_reasoning_is_split_off(content: str, reasoning: str, answer: str) -> None:
    split = split_think(content)

    assert split.found
    assert (split.reasoning, split.content) == (reasoning, answer)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "plain",
        "  leading blanks stay\n",
        "Models write `</think>` at the end.",
        "Use ``a `</think>` b`` in code.",
        "```xml\n<think>x</think>\n```",
        "~~~\n</think>\n~~~\nrest",
        "```\n</think> in a fence that is never closed",
        "“</think>”是思考结束的标记。",
        "服务端把 </think> 标签留在了正文里。",
        'The "</think>" ends it.',
        "The </think> tag ends it.",
        "“</think>”" * 40,
        "First the answer, then <think>late</think>.",
    ],
)
def test_what_is_no_inline_reasoning_stays_as_it_is(content: str) -> None:
    assert split_think(content) == ("", content, False)


PIECES = st.sampled_from(["<think>", "</think>", "`", "```", "\n", "~~~", "a", "你", " "])


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_letter_is_lost_and_the_rest_has_its_order(content: str) -> None:
    split = split_think(content)

    letters = [letter for letter in content if letter in "a你"]
    assert [letter for letter in split.reasoning + split.content if letter in "a你"] == letters
    assert split.found or split.content == content


@pytest.mark.parametrize("unit", ["`", "`a", "```\n", "~~~\n", "</think", "<think>", "` `\n", "\n\n`a", "“</think>”"])
def test_long_hostile_texts_take_linear_time(unit: str) -> None:
    text = "x" + unit * (200_000 // len(unit)) + "</think>"
    started = time.process_time()

    split_think(text)

    assert time.process_time() - started < 3

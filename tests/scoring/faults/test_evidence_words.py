"""What was seen of a fault is said in both languages, whatever rule says it; quotes of an answer stay as they are."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

from promptreg.scoring.faults import rules
from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.reading.scripts import CHINESE_NAMES, letters_in_words
from promptreg.scoring.faults.registry import find_faults
from promptreg.text import script
from promptreg.text.preview import column_width
from promptreg.text.sentence import Sentence

RULES = Path(rules.__file__).parent
MODULES = [*sorted(RULES.glob("*.py")), RULES.parent / "reading/envelopes.py"]
LINES = (Path(__file__).parents[2] / "data/serving_faults.jsonl").read_text("utf-8").splitlines()
HAN = re.compile("[㐀-鿿]")
ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,}")


EVERY = [one for line in LINES for one in find_faults(observations_from_json(json.loads(line)))]


@pytest.mark.parametrize(
    ("kind", "en", "zh"),
    [
        (
            "F17",
            "finish_reason is tool_calls, but there is no tool call",
            "finish_reason 为 tool_calls，却没有工具调用",
        ),
        ("F24", "in a code fence: ", "放在代码块里："),
        ("F51", "no text, finish_reason stop; 1 token is billed", "没有文本，finish_reason 为 stop；计费 1 个 token"),
    ],
)
def test_what_is_seen_of_captured_faults(kind, en, zh):
    seen = [one.evidence for one in EVERY if one.kind == kind]
    assert any(one.en.startswith(en) and one.zh.startswith(zh) for one in seen), seen


def test_both_languages_give_the_same_numbers():
    for one in EVERY:
        en, zh = (set(re.findall(r"\d+", text.rstrip("…"))) for text in (one.evidence.en, one.evidence.zh))
        whole = not (one.evidence.en + one.evidence.zh).count("…")
        assert en == zh or not whole, one


def test_a_quote_is_the_same_in_both_languages():
    quote = found("F15", "content", "<tool_call>none</tool_call>").evidence
    assert quote == Sentence("<tool_call>none</tool_call>", "<tool_call>none</tool_call>")


def test_both_languages_are_shortened_and_made_safe():
    seen = found(
        "F24", "content", Sentence("in a code fence: \x1b[31m" + "a" * 500, "放在代码块里：\x1b[31m" + "长" * 500)
    )
    assert all(119 <= column_width(text) <= 120 for text in (seen.evidence.en, seen.evidence.zh))
    assert "\x1b" not in seen.evidence.en + seen.evidence.zh


def test_letters_are_named_in_every_script_that_is_told_apart():
    groups = {"Han", "kana", "Latin", *script._OTHER_SCRIPTS}
    assert set(CHINESE_NAMES) == groups
    assert letters_in_words({"Thai": 2, "Cyrillic": 3}, "…") == Sentence(
        "Cyrillic 3, Thai 2: …", "3 个西里尔字母、2 个泰文字母：…"
    )


def sentences(path):
    """Every call of `Sentence` in a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Sentence":
            yield node


def texts(node):
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]


NOT_SAID = {"json compliant", "content, in code"}
"""Looked for in an answer, or a place, which is written as in code."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_whatever_a_rule_says_it_says_in_chinese_too(path):
    tree = ast.parse(path.read_text("utf-8"))
    said = [text for call in sentences(path) for text in texts(call.args[0])]
    # What goes into a sentence by a pair of variables: `en, zh = "no text", "没有文本"`.
    pairs = [node for node in ast.walk(tree) if isinstance(node, ast.Tuple) and len(node.elts) == 2]
    said += [text for pair in pairs if HAN.search("".join(texts(pair.elts[1]))) for text in texts(pair.elts[0])]
    documented = [
        ast.get_docstring(node, clean=False)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    inside = [text for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for text in texts(node)]
    english = {text for text in inside if ENGLISH.search(text) and not re.search(r"[\\|\[]", text)}
    assert english - set(documented) - set(said) - NOT_SAID == set()


QUOTED = {
    "F01", "F02", "F03", "F10", "F15", "F16", "F27", "F33", "F43", "F44", "F45", "F46", "F47", "F48", "F49"
}  # fmt: skip
"""Kinds of which a finding may be a quote, a count or a server's own message, and nothing else."""


def test_no_captured_fault_is_told_in_english_on_a_chinese_page():
    assert len(EVERY) > 60
    same = {one.kind for one in EVERY if one.evidence.en == one.evidence.zh and not one.evidence.en.startswith("HTTP ")}
    assert same <= QUOTED

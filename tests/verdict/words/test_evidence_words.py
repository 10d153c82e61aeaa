"""What was seen of a fault is said in Chinese too, whatever rule says it; quotes of an answer stay as they are."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

from promptreg.scoring.faults.captured.lines import observations_from_json
from promptreg.scoring.faults.catalogue import catalogue, found
from promptreg.scoring.faults.registry import find_faults
from promptreg.verdict.words import evidence_words
from promptreg.verdict.words.evidence_words import evidence_in_words

PACKAGE = Path(evidence_words.__file__).parents[2]
TABLE = tomllib.loads((PACKAGE / "verdict/words/evidence.toml").read_text("utf-8"))
NAME = re.compile(r"\{\w+\}")


@pytest.mark.parametrize(
    ("kind", "said", "zh"),
    [
        (
            "F17",
            "finish_reason is tool_calls, but there is no tool call",
            "finish_reason 为 tool_calls，却没有工具调用",
        ),
        ("F24", 'in a code fence: ```json⏎{"a": 1}', '放在代码块里：```json⏎{"a": 1}'),
        ("F24", "between other text: Sure! {}: done", "夹在其他文字中：Sure! {}: done"),
        (
            "F25",
            "not JSON (Expecting value: line 1 column 1 (char 0)): Sure",
            "不是 JSON（此处应有一个值，第 1 行第 1 列）：Sure",
        ),
        (
            "F29",
            "cut at 16 tokens of 64 asked for (in all 90)",
            "请求的上限是 64 个 token，在 16 个处就被截断（合计 90 个）",
        ),
        ("F36", "F24 in a code fence: {}; cold: {}", "F24 放在代码块里：{}；未命中缓存时：{}"),
        ("F39", "F17 finish_reason is stop, but there is no tool call", "F17 finish_reason 为 stop，却没有工具调用"),
        ("F51", "no text, finish_reason stop; 1 token is billed", "没有文本，finish_reason 为 stop；计费 1 个 token"),
        ("F51", "choices is empty; 3 tokens are billed", "choices 是空列表；计费 3 个 token"),
    ],
)
def test_what_a_rule_says_has_chinese_words(kind, said, zh):
    assert evidence_in_words(found(kind, "content", said)).zh == zh


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("F15", "<tool_call>none</tool_call>"),
        ("F03", "“cut off” ×9"),
        ("F43", "no text | no text"),
        ("F55", "none"),
    ],
)
def test_a_quote_is_no_sentence_of_ours(kind, said):
    assert evidence_in_words(found(kind, "content", said)).zh == said


def test_what_an_answer_says_is_quoted_even_where_it_is_a_word_of_ours():
    assert evidence_in_words(found("F24", "content", "in a code fence: none")).zh == "放在代码块里：none"


def test_english_is_as_the_rule_says_it():
    assert evidence_in_words(found("F17", "finish_reason", "anything")).en == "anything"


def sentences(path: Path) -> set[str]:
    """The English of the functions of a module, by the pieces between what is filled in."""
    tree = ast.parse(path.read_text("utf-8"))
    said = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            docstring = ast.get_docstring(function, clean=False)
            texts = [node.value for node in ast.walk(function) if isinstance(node, ast.Constant)]
            said |= {text for text in texts if isinstance(text, str) and text != docstring}
    return {text for text in said if re.search(r"[a-z]{2,} [a-z]{2,}", text) and not re.search(r"[\\|\[]", text)}


NOT_SAID = {"json compliant", "content, in code"}
"""Looked for in an answer, or a place, which is written as in code."""


def test_every_sentence_of_the_rules_is_known_in_chinese():
    faults = PACKAGE / "scoring/faults"
    modules = [*sorted((faults / "rules").glob("*.py")), faults / "reading/envelopes.py"]
    known = "\n".join(NAME.sub("\n", en) for table in TABLE.values() for en in table)
    unknown = {text for path in modules for text in sentences(path) if text.strip(" :;,…") not in known}
    assert len(known) > 3000
    assert unknown <= NOT_SAID, f"say it in Chinese in verdict/words/evidence.toml: {sorted(unknown - NOT_SAID)}"


def test_the_table_fills_in_only_what_the_rule_said():
    assert TABLE.keys() <= {*catalogue().entries, "parts"}
    for table in TABLE.values():
        for en, zh in table.items():
            assert set(NAME.findall(zh)) <= set(NAME.findall(en)), en


QUOTED = {
    "F01",
    "F02",
    "F03",
    "F04",
    "F10",
    "F15",
    "F16",
    "F27",
    "F33",
    "F43",
    "F44",
    "F45",
    "F46",
    "F47",
    "F48",
    "F49",
}
"""Kinds of which a finding may be a quote, a count or a server's own message, and nothing else."""


def test_no_captured_fault_is_told_in_english_on_a_chinese_page():
    lines = (Path(__file__).parents[2] / "data/serving_faults.jsonl").read_text("utf-8").splitlines()
    every = [one for line in lines for one in find_faults(observations_from_json(json.loads(line)))]
    assert len(every) > 60
    told = [(one.kind, evidence_in_words(one)) for one in every]
    same = {(kind, said.en) for kind, said in told if said.en == said.zh and not said.en.startswith("HTTP ")}
    assert {kind for kind, _ in same} <= QUOTED

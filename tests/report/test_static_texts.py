from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.answer.model import Answer, ToolCall
from promptreg.report.answers import paired_groups
from promptreg.report.catalogue import catalogues
from promptreg.report.html import write_html
from promptreg.report.payload import CaseView
from promptreg.report.sample import sample_payload
from promptreg.report.static_texts import LONGEST, shown_texts, texts_html
from promptreg.text.sentence import Sentence

CALL_F, CALL_G = (Answer(tool_calls=(ToolCall(name, "{}"),)) for name in "fg")


def shown(golden, candidate):
    answers = ([Answer(each) if isinstance(each, str) else each for each in side] for side in (golden, candidate))
    groups = paired_groups(*answers)
    case = CaseView("s", "c", "drift", 1.0, Sentence("", ""), golden=groups.golden, candidate=groups.candidate)
    return shown_texts(case)


def html(golden, candidate, language="en"):
    return "".join(texts_html(shown(golden, candidate), catalogues()[language]))


def test_the_most_frequent_answer_that_differs_is_shown():
    text = html(["退货期限是7天。"] * 3, ["退货期限是7天。", "退货期限是30天。", "退货期限是30天。", "不能退货。"])
    assert "golden: 3 of 3 answers · candidate: 2 of 4 answers · 7天 → 30天" in text
    assert "退货期限是<del>7</del><ins>30</ins>天。" in text


@pytest.mark.parametrize(
    ("golden", "candidate", "expected"),
    [
        (["a"], [None], "<del>a</del>"),
        ([], ["a"], "<ins>a</ins>"),
        (["a"], ["a"], '<p class="text" dir="auto">a</p>'),
        (
            [Answer(tool_calls=(ToolCall("f", "{}"),))],
            [Answer(tool_calls=(ToolCall("g", "{}"),))],
            "<del>f</del><ins>g</ins>",
        ),
    ],
)
def test_whatever_there_is(golden, candidate, expected):
    assert expected in html(golden, candidate)


def test_no_answer_shows_nothing():
    assert shown([None], []) is None


def test_texts_are_escaped_and_told_in_the_language_of_the_report():
    text = html(["<img src=x onerror=1>"], ["</main><script>x\ud800"], "zh")
    assert "<img" not in text
    assert "<script" not in text
    assert "\ud800" not in text
    assert "候选：1 条回答中的 1 条" in text


def test_long_texts_are_cut():
    texts = shown(["甲" * 5000], ["乙" * 5000])
    assert sum(len(each.text) for each in texts.operations) == LONGEST
    assert texts.cut
    assert html(["甲" * 500 + "3天"], ["甲" * 500 + "5天"]).count("甲") == 120


def test_the_question_stands_above_the_answers(tmp_path):
    page = write_html(sample_payload(), tmp_path / "a.html").path.read_text(encoding="utf-8")
    static = page[page.index('<main id="static">') : page.index("</main>")]
    row = next(part for part in static.split("<li>") if "refund-window" in part and "<ins>" in part)
    assert '<p class="who">Asked: 退货期限是几天？</p>' in row[: row.index('<p class="text"')]


def test_commands_are_code_and_nothing_else_is(tmp_path):
    step = Sentence("Use `promptreg runs X` and <b>`</b>.", "用 `promptreg runs X` 查看。")
    en, zh = "Use <code>promptreg runs X</code> and &lt;b&gt;`&lt;/b&gt;.", "用 <code>promptreg runs X</code> 查看。"
    for language, said in (("en", en), ("zh", zh)):
        payload = replace(sample_payload(), language=language, next_steps=(step,), warnings=(step,), headline=step)
        page = write_html(payload, tmp_path / "page.html").path.read_text("utf-8")
        assert page.count(said) == 3

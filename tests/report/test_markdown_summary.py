"""The summary for a merge request: what it says, that it is short, and that no text in it does anything."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from promptreg.report.payload import CaseView, CauseView, DeploymentView, Payload, SettingView, SuiteView
from promptreg.report.sample import sample_payload
from promptreg.report.writers.markdown import MARKER, MOST_CHARACTERS, write_markdown
from promptreg.text.sentence import Sentence

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
REFERENCES = re.compile(r'[@#!%~&$^][\w"]|://|www\.|\bGH-\d|:[\w+-]{1,40}:', re.IGNORECASE)

STRUCTURE = ("h2", "h3", "table", "tr", "td", "ul", "li")


class Read(HTMLParser):
    """What a forge makes of a summary."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.comments, self.prose, self.code, self.inside = Counter(), [], [], [], []
        self.feed(RENDERER.render(text))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        assert not attrs
        self.inside.append(tag)

    def handle_endtag(self, tag):
        assert self.inside.pop() == tag

    def handle_comment(self, data):
        self.comments.append(data)

    def handle_data(self, data):
        (self.code if "code" in self.inside else self.prose).append(data)


def written(payload, tmp_path, language="en"):
    return write_markdown(payload, tmp_path / "summary.md", language).path.read_text(encoding="utf-8")


def failing(number, text="检查项未通过。"):
    return [
        CaseView("客服", f"用例-{index}", "fail", float(index), Sentence("It fails.", f"{text}{index}"))
        for index in range(number)
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["## Regression", "**2** fail", "served window", "JSON now in a code block", "7天</code> → <code>30天"]),
        ("zh", ["## 出现退化", "**2** 变差", "服务端窗口", "JSON 现在放在代码块中", "7天</code> → <code>30天"]),
    ],
)
def test_it_says_what_a_reviewer_asks_first(tmp_path, language, said):
    text = written(sample_payload(), tmp_path, language)
    assert text.startswith("<!-- promptreg-summary source=gpu target=ascend -->\n")
    for each in said:
        assert each in text
    assert sample_payload().sentence.text(language) in text
    # Worst first, and nothing that passes.
    ids = re.findall(r"<code>([a-z-]+)</code> \|", text.rpartition("###")[2])
    assert ids[:2] == ["order-as-json", "refund-window"]
    assert not {case.case_id for case in sample_payload().cases if case.verdict in ("pass", "changed")} & set(ids)


def test_only_settings_that_differ_are_listed(tmp_path):
    text = written(sample_payload(), tmp_path)
    assert "| quantisation | <code>fp8</code> | <code>w8a8</code> |" in text
    assert "| cann | not set | <code>8.3.RC1</code> |" in text
    assert "temperature" not in text
    assert "2026-11-28" not in text
    alike = replace(sample_payload(), target=sample_payload().source)
    assert "No recorded setting differs." in written(alike, tmp_path)


def test_thousands_of_failing_chinese_cases_stay_a_comment(tmp_path):
    payload = replace(sample_payload(), cases=iter(failing(3000, "退款期限从七天变成了三十天，" * 40)))
    text = written(payload, tmp_path, "zh")
    assert len(text) < MOST_CHARACTERS
    assert text.count("| 变差 | <code>用例-") == 20
    assert "<code>用例-2999</code>" in text
    assert "另有 2980 项" in text


@pytest.mark.parametrize("text", ["|" * 5000, "`<b>" * 3000, "e" + "\u0301" * 9000, "𠮷" * 3000, "\u200b" * 3000])
def test_no_text_makes_it_too_long(tmp_path, filled, text):
    sentence = Sentence(text, text)
    case = filled(CaseView, text)
    payload = replace(
        filled(Payload, text),
        suites=tuple(SuiteView(f"{text}{index}", "DRIFT", sentence) for index in range(300)),
        warnings=tuple(Sentence(f"{index}{text}", text) for index in range(300)),
        next_steps=tuple(Sentence(f"{index}{text}", text) for index in range(300)),
        causes=tuple(CauseView("s", sentence, sentence, "drift", index) for index in range(300)),
        source=DeploymentView(text, tuple(SettingView("run", f"{index}{text}", text) for index in range(300))),
        target=DeploymentView(text, tuple(SettingView("run", f"{index}{text}", text * 2) for index in range(300))),
        cases=[replace(case, verdict="fail", case_id=f"{text}{index}") for index in range(300)],
    )
    for language in ("en", "zh"):
        shown = written(payload, tmp_path, language)
        assert len(shown) < MOST_CHARACTERS
        assert Read(shown).tags["table"] == 5
        more = re.findall(r"and (\d+) more|另有 (\d+) 项", shown)
        assert len(more) == 7
        assert all(int("".join(each)) > 200 for each in more)


def test_no_hostile_text_does_anything(tmp_path, filled, hostile_texts):
    benign = Read(written(whole(filled, "x"), tmp_path))
    for name, text in {
        **hostile_texts,
        "row": "x |\n| pass | forged | fine |",
        "escaped_pipe": "a\\| b \\\\| c",
        "comment": "--> <!-- promptreg-summary --> <!-- x",
        "heading": "\n\n# reviewed and approved\n\n/close\n",
        "mentions": '@everyone #1 !2 ~bug %1 &3 $4 GH-5 owner/repo#6 :tada: ^alert#7 x@y.example ~"to do"',
        "links": "[a](http://127.0.0.1:9) <http://127.0.0.1:9> https://127.0.0.1:9 www.example.org ![x][y]",
        "tags": "<img src=x><a href=//x>a</a></code></td></table><details>",
        "emphasis": "**bold** _it_ ~~gone~~ $`x`$ ``` code ```",
        "entity": "&lt;b&gt; &#64;everyone",
    }.items():
        shown = written(whole(filled, text), tmp_path)
        read = Read(shown)
        # Less of it is allowed: an empty text is no paragraph, and an empty name no code.
        assert set(read.tags) <= set(benign.tags), name
        assert {tag: read.tags[tag] for tag in STRUCTURE} == {tag: benign.tags[tag] for tag in STRUCTURE}, name
        assert len(read.comments) == 1, name
        assert shown.startswith(MARKER)
        assert shown.count("<!--") == shown.count("-->") == 1
        assert len(shown.splitlines()) == len(shown.split("\n")) - 1, name
        found = [REFERENCES.search(piece) for piece in read.prose if "promptreg" not in piece]
        assert not any(found), (name, found)
        assert not any(re.search(r"://|www\.", piece, re.IGNORECASE) for piece in read.code), name
        assert not set(shown) & set("\x00\x1b\x07\r\u202e\u2028\u2029\x85"), name


def whole(filled, text):
    """A report with one text in every field, whose case is listed."""
    case = replace(filled(CaseView, text), verdict="fail", causes=(1,))
    suites = (filled(SuiteView, text), filled(SuiteView, f"{text} two"))
    return replace(filled(Payload, text), cases=(case, replace(case, verdict="drift")), suites=suites)


def test_texts_are_shown_as_they_are(tmp_path):
    text = "a|b `c` <d> & e_f @you #1 [g](http://h) $i$ *j* &lt;k&#62; ~l~ m\\[n] o\\p"
    case = CaseView("s", text, "fail", 1.0, Sentence(text, text))
    read = Read(written(replace(sample_payload(), cases=(case,)), tmp_path))
    shown = {"".join(piece).replace("\u2060", "") for piece in ("".join(read.code), "".join(read.prose))}
    assert all(text in piece for piece in shown)
    # An id can be copied: nothing invisible in it but where an address would become a link.
    assert any("#1" in piece for piece in read.code)


@pytest.mark.parametrize("sign", "\\`*_[]~$")
def test_every_sign_that_a_forge_reads_is_escaped_by_itself(tmp_path, sign):
    """Two signs of a pair excuse each other, and no renderer here reads the mathematics of a forge."""
    case = CaseView("s", f"a{sign}b", "fail", 1.0, Sentence(f"c{sign}d", ""))
    text = written(replace(sample_payload(), cases=(case,)), tmp_path)
    assert f"<code>a\\{sign}b</code>" in text
    assert f"c\\{sign}d" in text.replace("\u2060", "")  # what breaks references


def test_the_marker_is_the_same_for_the_same_deployments(tmp_path):
    names = replace(sample_payload(), source=DeploymentView("a --> <b>"), target=DeploymentView("华为 910B"))
    line = written(names, tmp_path).split("\n")[0]
    assert line == written(replace(names, cases=(), title="another"), tmp_path).split("\n")[0]
    assert line.startswith("<!-- promptreg-summary source=")
    assert line.endswith(" -->")
    assert "<" not in line[4:]
    assert line.count(">") == 1


def test_a_report_without_findings_is_short(tmp_path):
    cases = [CaseView("s", "a", "pass", 0.0, Sentence("Same.", "相同。"))]
    text = written(replace(sample_payload(), verdict="EQUIVALENT", cases=cases, causes=(), warnings=()), tmp_path)
    assert "## Equivalent" in text
    assert "**1** pass" in text
    assert "Cases, worst first" not in text
    assert "full report" not in text


def test_a_command_in_what_to_do_next_is_code(tmp_path):
    step = Sentence("See `promptreg runs r_1 <b>`; a lone ` stays.", "用 `promptreg review` 记下。")
    text = written(replace(sample_payload(), next_steps=(step,)), tmp_path)
    html = MarkdownIt().render(text)
    assert "See <code>promptreg runs r_1 &lt;b&gt;</code>; a lone ` stays." in html
    assert "用 <code>promptreg review</code> 记下。" in MarkdownIt().render(
        written(replace(sample_payload(), next_steps=(step,)), tmp_path, "zh")
    )


@pytest.mark.parametrize(("suites", "row"), [
    (("a",), "| Number changed | drift | 2 | Add <code>facts: …</code>. |"),
    (("a", "b"), "| <code>a</code> | Number changed | drift | 2 | Add <code>facts: …</code>. |"),
])  # fmt: skip
def test_causes_of_several_suites_tell_whose_they_are(tmp_path, suites, row):
    told = Sentence("Said.", "说了。")
    step = Sentence("Add `facts: …`.", "添加 `facts: …`。")
    causes = [CauseView(name, Sentence("Number changed", "数字变了"), step, "drift", 2) for name in suites]
    views = [SuiteView(name, "DRIFT", told) for name in suites]
    text = written(replace(sample_payload(), suites=tuple(views), causes=tuple(causes)), tmp_path)
    assert row in text.splitlines()
    assert ("| Suite | Cause |" in text) is (len(suites) > 1)

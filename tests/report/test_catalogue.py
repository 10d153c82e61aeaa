from __future__ import annotations

import re
from pathlib import Path

import pytest

from promptreg.report import payload, verdict_names
from promptreg.report.catalogue import LANGUAGES, catalogues, filled

SCRIPTS = sorted((Path(payload.__file__).parent / "assets" / "js").glob("*.js"))


def test_all_languages_have_the_same_keys_in_the_same_order():
    keys = [list(catalogues()[language]) for language in LANGUAGES]
    assert keys[0] == keys[1]


def test_all_languages_fill_in_the_same_values():
    for key, text in catalogues()["en"].items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", catalogues()["zh"][key])), key


@pytest.mark.parametrize(
    ("count", "said"),
    [(1, "1 case"), (0, "0 cases"), (2, "2 cases"), ("1,000", "1,000 cases"), ("{x|a|b}", "{x|a|b} cases")],
)
def test_one_is_no_plural(count, said):
    assert filled("{count} {count|case|cases}", count=count, x=1) == said


def test_unknown_places_stay():
    assert filled("{a} {b|c|d} {}", e=1) == "{a} {b|c|d} {}"


def test_counted_words_have_both_numbers():
    # A noun that stands behind a count without its singular reads "1 cases".
    nouns = "cases|answers|messages|tokens|characters|places|runs|decisions|lines|files|checks|calls|passes"
    for key, text in catalogues()["en"].items():
        if key not in {"static.golden", "static.candidate", "context.window", "undo.many", "redo.many"}:
            assert not re.search(rf"\{{\w+\}} ({nouns})\b", text), key


def test_no_text_is_empty_or_shouts():
    for texts in catalogues().values():
        for key, text in texts.items():
            assert text.strip() == text
            assert text
            assert not set("!！") & set(text), key


def test_chinese_is_chinese():
    for key, text in catalogues()["zh"].items():
        if re.search(r"[a-z]{3}", catalogues()["en"][key]) and key not in {"setting.temperature", "overview.footer"}:
            assert re.search(r"[\u4e00-\u9fff]", text) or "{" in text, key


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_every_key_that_the_page_asks_for_exists(script):
    for key in re.findall(r'\bt\("([^"]+)"', script.read_text(encoding="utf-8")):
        assert key in catalogues()["en"], key
    for prefix in re.findall(r"\bt\(`([a-z_.]+)\$\{", script.read_text(encoding="utf-8")):
        assert any(key.startswith(prefix) for key in catalogues()["en"]), prefix


def test_every_verdict_has_a_name_and_an_explanation():
    for verdict in verdict_names.CaseVerdictName.__args__:
        assert f"verdict.{verdict}" in catalogues()["en"]
        assert f"explain.{verdict}" in catalogues()["en"]
    for verdict in verdict_names.SuiteVerdictName.__args__:
        assert f"suite.{verdict}" in catalogues()["en"]


def test_verdicts_have_one_chinese_name():
    from promptreg.verdict.words.case_sentences import VERDICTS_ZH

    names = {f"verdict.{verdict}": name for verdict, name in VERDICTS_ZH.items()}
    assert names == {key: text for key, text in catalogues()["zh"].items() if key.startswith("verdict.")}


def test_every_channel_of_the_verdicts_has_a_name():
    from promptreg.verdict.words.case_sentences import NAMES

    for name in NAMES.keys() - {"check", "fault", "finish_reason", "language", "refusal"}:
        assert f"channel.{name}" in catalogues()["en"]


@pytest.mark.parametrize("group", ["suite", "verdict"])
def test_the_readme_names_verdicts_as_the_page_does(group):
    """`fail` of the command line is 变差 on the Chinese page: whoever reads one must find the other."""
    readme = (Path(__file__).parents[2] / "README.zh-CN.md").read_text("utf-8")
    words = {key.partition(".")[2]: said for key, said in catalogues()["zh"].items() if key.startswith(f"{group}.")}
    assert len(words) in {5, 8}
    assert [name for name, said in words.items() if f"| `{name}`（{said}） |" not in readme] == []

"""The table of cases: one row each, no formula in any cell, numbers as they are."""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.report.payload import AnswerGroup, CaseView, ChangeView, CheckView, DiffView, OperationView, PartDiffView
from promptreg.report.sample import sample_payload
from promptreg.report.writers.csv_rows import COLUMNS, MOST_EXCEL, safe_cell, write_csv
from promptreg.text.sentence import Sentence

NUMBERS = {"severity", "p_value", "noise_multiple", "distance"}


def rows(payload, tmp_path, language="en", **options):
    data = write_csv(payload, tmp_path / "cases.csv", language, **options).path.read_bytes()
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def runs(text):
    """Whether a spreadsheet might run a cell."""
    if text[:1] in {"\t", "\r", "\n"}:
        return True
    seen = (char for char in text if not char.isspace() and unicodedata.category(char) not in ("Cf", "Cc", "Mn"))
    return unicodedata.normalize("NFKC", next(seen, "x"))[:1] in {"=", "+", "-", "@"}


@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://127.0.0.1:9","x")',
        "+1",
        "-5",
        "-Infinity",
        "@SUM(1)",
        "\tx",
        "\rx",
        "\nx",
        " =1",
        "\u3000=1",
        "\u200b=1",
        "\ufeff=1",
        "\u2060\u200d =1",
        "＝1",
        "＋1",
        "－1",
        "＠1",
        "﹦1",
        "﹢1",
        "﹣1",
        "﹫1",
        "=cmd|' /C calc'!A0",
    ],
)
def test_formulas_begin_with_an_apostrophe(text):
    assert safe_cell(text) == "'" + text
    assert not runs(safe_cell(text))


@pytest.mark.parametrize("text", ["", "退货期限是7天", "a=b", "1-2", " x", "'=1", "*", "(−1)", "\u200bx", "   "])
def test_other_texts_stay(text):
    assert safe_cell(text) == text


@given(st.text())
def test_no_text_is_run(text):
    assert not runs(safe_cell(text))
    assert safe_cell(text).removeprefix("'") == text.removeprefix("'")


def test_one_row_per_case_worst_first(tmp_path):
    found = rows(sample_payload(), tmp_path, "zh")
    assert len(found) == len(sample_payload().cases)
    assert tuple(found[0]) == COLUMNS
    assert [row["case_id"] for row in found][:2] == ["order-as-json", "refund-window"]
    refund = found[1]
    assert refund["golden"].count("7天内") == 1
    assert refund["candidate"].count("30天内") == 1
    assert refund["changes"] == "7天 → 30天"
    assert refund["worse_checks"] == "contains: 7天"
    assert refund["causes"] == "检查项 contains: 7天 未通过"
    assert (refund["source_calls"], refund["target_calls"], refund["target_failed"]) == ("10", "5", "0")
    assert refund["sentence"].startswith("检查项 contains: 7天 在 gpu 上")


def test_changes_of_json_say_where(tmp_path):
    changes = (ChangeView("3", "30", "json", "items[0].price"), ChangeView("", "=1", "json", "=cmd"))
    part = PartDiffView("json", (OperationView("delete", "3"), OperationView("insert", "30")), changes=changes * 2)
    groups = (AnswerGroup((0, 1), "same"), AnswerGroup((2,), "30", diffs=(DiffView(0, (part,)),)))
    case = CaseView("s", "c", "drift", 1.0, Sentence("", ""), golden=(AnswerGroup((0,), "3"),), candidate=groups)
    (row,) = rows(replace(sample_payload(), cases=(case,)), tmp_path)
    assert row["changes"] == "items[0].price: 3 → 30\n=cmd: ∅ → =1"
    assert (row["golden"], row["candidate"]) == ("3", "30")


def test_tool_calls_are_in_the_answers(tmp_path):
    weather = next(row for row in rows(sample_payload(), tmp_path) if row["case_id"] == "weather-tool")
    assert weather["golden"].startswith("get_weather {")


def test_numbers_are_numbers(tmp_path):
    cases = [
        CaseView("s", str(value), "drift", value, Sentence("", ""), p_value=value, noise_multiple=value)
        for value in (-0.3, 1e-9, 5.0, math.inf, -math.inf, math.nan)
    ]
    payload = replace(sample_payload(), cases=cases)
    found = {row["case_id"].removeprefix("'"): row["p_value"] for row in rows(payload, tmp_path)}
    assert found == {"-0.3": "-0.3", "1e-09": "1e-09", "5.0": "5.0", "inf": "inf", "-inf": "", "nan": ""}
    # Numbers stand without quotes, texts with them.
    written = (tmp_path / "cases.csv").read_bytes()
    assert b",-0.3,-0.3,-0.3," in written
    assert b'"\'-0.3"' in written


def test_excel_needs_a_byte_order_mark_and_others_do_not(tmp_path):
    plain = write_csv(sample_payload(), tmp_path / "plain.csv", "zh").path.read_bytes()
    excel = write_csv(sample_payload(), tmp_path / "excel.csv", "zh", excel=True).path.read_bytes()
    assert excel[:3] == b"\xef\xbb\xbf"
    assert excel[3:] == plain
    assert plain.startswith(b'"suite","case_id","verdict"')
    assert "退货期限是几天？" in plain.decode("utf-8")


def test_excel_holds_no_longer_cells(tmp_path):
    long = replace(sample_payload(), cases=[CaseView("s", "长" * 50_000, "fail", 1.0, Sentence("", ""))])
    assert len(rows(long, tmp_path)[0]["case_id"]) == 50_000
    assert len(rows(long, tmp_path, excel=True)[0]["case_id"]) == MOST_EXCEL


def test_no_cases_leave_the_names_of_the_columns(tmp_path):
    path = write_csv(replace(sample_payload(), cases=()), tmp_path / "cases.csv", "en").path
    assert path.read_text(encoding="utf-8").count("\n") == 1


@pytest.fixture
def no_field_limit():
    before = csv.field_size_limit(10_000_000)
    yield
    csv.field_size_limit(before)


@pytest.mark.usefixtures("no_field_limit")
def test_hostile_texts_in_every_field(tmp_path, filled, hostile_texts):
    for name, text in {**hostile_texts, "quotes": 'a","b"\r\n=1,"', "digits": "-5"}.items():
        # Texts of megabytes in every field at once would only measure patience.
        case = filled(CaseView, text) if len(text) < 10_000 else replace(filled(CaseView, "x"), case_id=text)
        payload = replace(sample_payload(), run_id=text, cases=(case, case))
        for options in ({}, {"excel": True}):
            found = rows(payload, tmp_path, **options)
            assert len(found) == 2, name
            for row in found:
                assert None not in row, name
                assert not [column for column, cell in row.items() if column not in NUMBERS and runs(cell)], name
                assert not any(set(cell) & set("\x00\x1b\u202e") for cell in row.values()), name
                assert float(row["severity"]) == 0.5


def test_freedom_from_a_fault_has_a_name_in_the_language_chosen(tmp_path):
    checks = (CheckView("free of F17", 10, 10, 1, 5, worse=True), CheckView("contains: 7天", 10, 10, 1, 5, worse=True))
    case = CaseView("客服", "a", "fail", 7.0, Sentence("So it is.", "就是这样。"), checks=checks)
    payload = replace(sample_payload(), cases=[case])
    (en,), (zh,) = rows(payload, tmp_path), rows(payload, tmp_path, "zh")
    assert en["worse_checks"] == "free of F17\ncontains: 7天"
    assert zh["worse_checks"] == "没有故障 F17\ncontains: 7天"

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from promptreg.errors import OutputError
from promptreg.report import page
from promptreg.report.html import write_html
from promptreg.report.payload import AnswerGroup, CaseView, DiffView, OperationView, PartDiffView, Payload
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence


def many_cases(count, verdict="drift"):
    return [CaseView("s", f"c{n}", verdict, float(n), Sentence(f"Case {n}.", f"用例 {n}。")) for n in range(count)]


def script_json(text, element_id):
    found = re.search(rf'<script type="application/json" id="{element_id}">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def rows_of(text):
    """The list of cases, put together as the page does."""
    cases = script_json(text, "report-data")["cases"]
    columns = {
        name: [None if place is None else column["values"][place] for place in column["of"]]
        if isinstance(column, dict)
        else column
        for name, column in cases["columns"].items()
    }
    assert all(len(column) == cases["count"] for column in columns.values())
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def chunks_of(text):
    packed = re.findall(r'<script type="text/plain" id="chunk-(\d+)">([^<]*)</script>', text)
    assert [int(number) for number, _ in packed] == list(range(len(packed)))
    signs = str.maketrans(".:,", "&<>")
    return [json.loads(gzip.decompress(base64.b85decode(data.translate(signs)))) for _, data in packed]


def test_file_holds_list_worst_first_and_all_details(tmp_path):
    payload = replace(sample_payload(), cases=many_cases(450))
    written = write_html(payload, tmp_path / "deep" / "er" / "r.html")
    text = written.path.read_text(encoding="utf-8")
    rows, chunks = rows_of(text), chunks_of(text)
    assert (written.cases, written.left_out, written.size_bytes) == (450, 0, written.path.stat().st_size)
    assert [row["case_id"] for row in rows] == [f"c{n}" for n in reversed(range(450))]
    assert [len(chunk) for chunk in chunks] == [200, 200, 50]
    for row in rows:
        assert chunks[row["chunk"]][row["position"]]["case_id"] == row["case_id"]


def test_cases_may_come_from_a_generator(tmp_path):
    payload = replace(sample_payload(), cases=(case for case in many_cases(3)))
    assert write_html(payload, tmp_path / "r.html").cases == 3


@pytest.mark.parametrize(("details", "kept"), [("all", 5), ("changed", 3), ("none", 0), ("auto", 5)])
def test_details_that_are_kept(tmp_path, details, kept):
    payload = replace(sample_payload(), cases=many_cases(3) + many_cases(5, "pass")[3:])
    written = write_html(payload, tmp_path / "r.html", details=details)
    assert written.left_out == 5 - kept


def test_auto_leaves_out_passing_cases_of_large_reports(tmp_path):
    payload = replace(sample_payload(), cases=many_cases(600, "pass"))
    assert write_html(payload, tmp_path / "r.html").left_out == 600


def test_policy_allows_just_our_script_and_style(tmp_path):
    text = write_html(sample_payload(), tmp_path / "r.html").path.read_text(encoding="utf-8")
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])

    def digest(pattern):
        return base64.b64encode(hashlib.sha256(re.search(pattern, text, re.DOTALL)[1].encode()).digest()).decode()

    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest('<script>(.*?)</script>')}'",
        "style-src": f"'sha256-{digest('<style>(.*?)</style>')}'",
        "img-src": "data:",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert not re.search(r"<[^>]+ style=|<[^>]+ on[a-z]+=", text)


def test_placeholders_inside_data_stay_what_they_are(tmp_path, filled):
    names = re.findall(r"\{\{\w+\}\}", page.asset("report.html"))
    payload = filled(Payload, " ".join(names))
    text = write_html(payload, tmp_path / "r.html").path.read_text(encoding="utf-8")
    assert script_json(text, "report-data")["title"] == " ".join(names)
    assert text.count("<script>") == 1


def test_hostile_text_closes_nothing(tmp_path, hostile_text, filled):
    # Texts of megabytes are tried in one field: in all of them they only measure patience.
    payload = filled(Payload, hostile_text if len(hostile_text) < 10_000 else "x")
    case = replace(filled(CaseView, "x"), golden=filled(CaseView, hostile_text).golden)
    payload = replace(payload, cases=(case,), run_id=hostile_text)
    text = write_html(payload, tmp_path / "r.html").path.read_bytes().decode("utf-8")
    assert text.count("<script") == text.count("</script>") == 4
    assert text.count("<!--") == 0
    assert "<img" not in text
    whole = hostile_text.replace("\ud800", "\ufffd")
    assert script_json(text, "report-data")["run_id"] == whole
    assert chunks_of(text)[0][0]["golden"][0].get("content", "") == whole


def test_same_payload_same_bytes(tmp_path):
    first, second = (write_html(sample_payload(), tmp_path / name).path.read_bytes() for name in ("a.html", "b.html"))
    assert first == second


@pytest.mark.parametrize("place", ["list", "details"])
def test_too_large_a_report_is_refused_and_the_old_one_stays(tmp_path, place):
    path = tmp_path / "r.html"
    path.write_text("old", encoding="utf-8")
    noise = [
        replace(case, tags=(text,)) if place == "list" else replace(case, messages=({"role": "user", "content": text},))
        for case in many_cases(400)
        for text in [os.urandom(4000).hex()]
    ]
    with pytest.raises(OutputError, match="--details changed"):
        write_html(replace(sample_payload(), cases=noise), path, limit_bytes=1_000_000)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_failing_cases_leave_the_old_report(tmp_path):
    def broken():
        yield from many_cases(2)
        raise RuntimeError("broken store")

    path = tmp_path / "r.html"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(RuntimeError, match="broken store"):
        write_html(replace(sample_payload(), cases=broken()), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_full_disk_is_one_sentence(tmp_path, monkeypatch):
    def no_space(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page.os, "fsync", no_space)
    with pytest.raises(OutputError, match=r"cannot be written to .*r\.html: No space left on device"):
        write_html(sample_payload(), tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_is_one_sentence(tmp_path):
    (tmp_path / "r.html").mkdir()
    with pytest.raises(OutputError, match="cannot be written"):
        write_html(sample_payload(), tmp_path / "r.html")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="cannot be written"):
        write_html(sample_payload(), tmp_path / "file" / "r.html")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_one_sentence(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        write_html(sample_payload(), tmp_path / "r.html")


def test_chinese_and_long_file_names(tmp_path):
    path = tmp_path / ("报告" * 40 + ".html")
    assert write_html(sample_payload(), path).path.exists()


def test_module_writes_the_sample(tmp_path, capsys):
    from promptreg.report.sample import main

    main([str(tmp_path / "s.html")])
    assert Path(capsys.readouterr().out.split(" (")[0]).stat().st_size > 50_000


def test_without_scripts_causes_of_several_suites_tell_whose_they_are(tmp_path):
    payload = sample_payload()
    cause, suite = replace(payload.causes[0], suite="客服"), payload.suites[0]
    for suites, told in (((suite,), False), ((suite, replace(suite, name="客服")), True)):
        text = write_html(replace(payload, causes=(cause,), suites=suites), tmp_path / "r.html").path.read_text("utf-8")
        static = text[text.index('<main id="static">') : text.index("</main>")]
        assert ("· 客服 ·" in static) is told


def test_static_summary_lists_the_worst_fifty(tmp_path):
    payload = replace(sample_payload(), cases=many_cases(120), language="zh")
    text = write_html(payload, tmp_path / "r.html").path.read_text(encoding="utf-8")
    static = text[text.index('<main id="static">') : text.index("</main>")]
    assert static.count("<li><b>") == 50
    assert "用例 119。" in static
    assert '<html lang="zh-CN">' in text
    assert static.count("≠") == 7


def test_infinite_and_missing_severity_come_first(tmp_path):
    cases = [
        replace(case, severity=value)
        for case, value in zip(many_cases(3), (1.0, float("nan"), float("inf")), strict=True)
    ]
    text = write_html(replace(sample_payload(), cases=cases), tmp_path / "r.html").path.read_text(encoding="utf-8")
    assert [row["case_id"] for row in rows_of(text)] == ["c1", "c2", "c0"]


def test_repeated_values_of_the_list_are_written_once_and_rows_keep_their_own(tmp_path):
    cases = [
        replace(case, tags=(f"t{n % 2}", "退款"), sentence=Sentence("One.", "一句话。"), causes=(1,) * (n == 7))
        for n, case in enumerate(many_cases(20))
    ]
    text = write_html(replace(sample_payload(), cases=cases), tmp_path / "r.html").path.read_text(encoding="utf-8")
    listed = script_json(text, "report-data")["cases"]
    assert listed["columns"]["sentence"]["values"] == [{"en": "One.", "zh": "一句话。"}]
    assert len(listed["columns"]["tags"]["values"]) == 2
    rows = {row["case_id"]: row for row in rows_of(text)}
    assert [row["case_id"] for row in rows_of(text)] == [f"c{n}" for n in reversed(range(20))]
    assert (rows["c4"]["tags"], rows["c5"]["tags"]) == (["t0", "退款"], ["t1", "退款"])
    assert [name for name, row in rows.items() if "causes" in row] == ["c7"]


def test_answers_lie_in_the_file_once(tmp_path):
    golden = AnswerGroup((0, 1), content="退款7天内到账。", sha256="0" * 64)
    spelt = (OperationView("equal", "退款"), OperationView("delete", "7"), OperationView("insert", "30"))
    rest = OperationView("equal", "天内到账。")
    diff = DiffView(0, (PartDiffView("content", (*spelt, rest)),))
    candidates = [
        AnswerGroup((0,), content=content, diffs=(diff,), sha256="1" * 64)
        for content in ("退款30天内到账。", "别的", "")
    ]
    case = replace(many_cases(1)[0], golden=(golden,), candidate=tuple(candidates))
    text = write_html(replace(sample_payload(), cases=[case]), tmp_path / "r.html").path.read_text(encoding="utf-8")
    ((packed,),) = chunks_of(text)
    assert packed["golden"] == [{"passes": [0, 1], "content": "退款7天内到账。"}]
    assert packed["candidate"][0]["diffs"][0]["parts"][0]["operations"] == [["=", 2], ["-", "7"], ["+", "30"], ["=", 5]]
    assert [group.get("content") for group in packed["candidate"]] == [None, "别的", ""]

"""The files of a comparison: written from one reading of the cases, and each whatever became of the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.errors import OutputError
from promptreg.report import html
from promptreg.report.form import Form, Output, kind_of
from promptreg.report.sample import sample_payload
from promptreg.workflow.views.outputs import write_outputs


def making(payloads):
    def make():
        payload = sample_payload()
        payloads.append(payload)
        return replace(payload, cases=iter(payload.cases))

    return make


def beside(folder):
    return (Output("markdown", folder / "summary.md"), Output("junit", folder / "junit.xml"))


def test_all_are_written_from_one_reading(tmp_path):
    made = []
    written = write_outputs(making(made), Output("html", tmp_path / "a.html"), beside(tmp_path), Form("zh"))
    assert len(made) == 1
    assert (written.path, written.cases) == (tmp_path / "a.html", 15)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "junit.xml", "summary.md"]
    alone = write_outputs(making(made), Output("markdown", tmp_path / "alone.md"), (), Form("zh")).path
    assert (tmp_path / "summary.md").read_bytes() == alone.read_bytes()
    assert "7天</code> → <code>30天".encode() in alone.read_bytes()
    alone = write_outputs(making(made), Output("junit", tmp_path / "alone.xml"), (), Form("zh")).path
    assert (tmp_path / "junit.xml").read_bytes() == alone.read_bytes()


def test_what_ci_reads_is_written_where_the_page_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("promptreg.report.files.LIMIT_BYTES", 100)
    with pytest.raises(OutputError, match="--force"):
        write_outputs(making([]), Output("html", tmp_path / "a.html"), beside(tmp_path), Form())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["junit.xml", "summary.md"]
    assert (tmp_path / "junit.xml").read_text(encoding="utf-8").count("<testcase") == 16
    written = write_outputs(making([]), Output("html", tmp_path / "a.html"), (), Form(force=True))
    assert written.size_bytes > 100
    assert html.LIMIT_BYTES == 100_000_000


def test_one_that_cannot_be_written_keeps_no_other_from_it(tmp_path):
    (tmp_path / "file").write_text("a file where a folder is needed", encoding="utf-8")
    (tmp_path / "old.xml").write_text("old", encoding="utf-8")
    wanted = (Output("markdown", tmp_path / "file" / "s.md"), Output("junit", tmp_path / "old.xml"))
    with pytest.raises(OutputError, match=r"cannot be written to .*s\.md"):
        write_outputs(making([]), Output("html", tmp_path / "a.html"), wanted, Form())
    assert (tmp_path / "a.html").exists()
    assert (tmp_path / "old.xml").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("A.HTML", "html"),
        ("a.htm", "html"),
        ("a.md", "markdown"),
        ("a.XML", "junit"),
        ("a.csv", "csv"),
        ("报告.jsonl", "jsonl"),
    ],
)
def test_the_suffix_says_the_kind(tmp_path, name, kind):
    assert kind_of(tmp_path / name) == kind

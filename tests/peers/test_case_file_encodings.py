"""Row 16: marks, line ends and quotes of CSV files are read right; another encoding is named with its line."""

from __future__ import annotations

import pytest

SUITE = "suite: orders\nprompts: {ask: [user: '{{ q }}']}\ncases:\n  - {cases_from: q.csv, prompt: ask%s}\n"


@pytest.fixture
def project_of(moved):
    def make(raw, more=""):
        project = moved()
        project.write("suites/orders.yaml", SUITE % more)
        (project.folder / "suites/q.csv").write_bytes(raw)
        return project

    return make


@pytest.mark.parametrize(
    ("raw", "values"),
    [
        ("\ufeffq\n退货期限是几天？\n".encode(), ["退货期限是几天？"]),
        ("q\r\n一\r\n二\r\n".encode(), ["一", "二"]),
        ("q\n一".encode(), ["一"]),
        ("q\n一\n\n".encode(), ["一"]),
        ('q\n"第一行\n第二行, 还有 ""引号"""\n'.encode(), ['第一行\n第二行, 还有 "引号"']),
        (b'q\n"{""a"":""""}"\n', ['{"a":""}']),
    ],
)
def test_what_is_right_is_read(project_of, raw, values):
    assert sorted(project_of(raw).sent()) == sorted(values)


def test_gbk_is_refused_with_encoding_and_line_and_read_when_it_is_named(project_of):
    raw = "q\nok\n退货期限是几天？\n".encode("gbk")
    said = project_of(raw).refused()
    assert "suites/q.csv:3: The file is not UTF-8" in said
    assert "encoding: gb18030" in said
    assert sorted(project_of(raw, ", encoding: gb18030").sent()) == ["ok", "退货期限是几天？"]


@pytest.mark.parametrize("raw", [b'q\n"a"b\n', b'q\n"a\n', b"q,r\na\n"])
def test_bad_quotes_and_columns_are_refused_with_their_line(project_of, raw):
    assert "suites/q.csv:2: " in project_of(raw).refused()

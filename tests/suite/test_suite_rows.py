from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.suite.build import derived_id
from promptreg.suite.rows import read_rows


def rows_of(folder, content, name="r.csv", encoding=None):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    rows, problems = read_rows(path, name, encoding)
    return [row.values for row in rows], [str(problem) for problem in problems], [row.place.line for row in rows]


def test_marks_line_ends_quotes_and_blanks_are_kept(tmp_path):
    raw = b'\xef\xbb\xbfid,q\r\n1," a ""b""\r\nc "\r\n\r\n007,\xe9\x80\x80\xe8\xb4\xa7\xf0\x9f\x98\x80\r\n'
    values, problems, lines = rows_of(tmp_path, raw)
    assert values == [{"id": "1", "q": ' a "b"\r\nc '}, {"id": "007", "q": "退货😀"}]
    assert (problems, lines) == ([], [2, 5])


def test_a_last_line_without_end_and_lone_carriage_returns(tmp_path):
    assert rows_of(tmp_path, "id,q\r1,a\r2,b")[0] == [{"id": "1", "q": "a"}, {"id": "2", "q": "b"}]


def test_a_cell_may_be_long(tmp_path):
    long = "长" * 300_000
    assert rows_of(tmp_path, f"id,q\n1,{long}\n")[0] == [{"id": "1", "q": long}]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("id,q\na,b\nc\n", "r.csv:3: This row has 1 values, the header has 2 columns."),
        ("id,q\na,b,c\n", "r.csv:2: This row has 3 values"),
        ('id,q\na,"b"c\n', "r.csv:2: The quotes of the row that begins here do not fit"),
        ('id,q\na,b\nc,"d\ne\n', "r.csv:3: The quotes of the row that begins here do not fit"),
        ("id,q,q\na,b,c\n", "r.csv:1: Columns stand twice: `q`."),
        ("id,,q\na,b,c\n", "r.csv:1: Column 2 has no name."),
        ("id;q\na;b\n", "r.csv:1: The columns seem to be separated by semicolons"),
        ("id,q\n", "r.csv: The case file has no cases."),
        ("", "r.csv: The case file has no cases."),
    ],
)
def test_broken_csv(tmp_path, content, expected):
    assert rows_of(tmp_path, content)[1][0].startswith(expected)


def test_other_encodings_are_named_with_the_way_out(tmp_path):
    raw = "id,q\n1,a\n2,退货期限是几天？\n".encode("gbk")
    (problem,) = rows_of(tmp_path, raw)[1]
    assert problem.startswith("r.csv:3: The file is not UTF-8")
    assert problem.endswith(
        "It looks like GB18030. Save it as UTF-8, or write `encoding: gb18030` beside `cases_from`."
    )
    assert rows_of(tmp_path, raw, encoding="gb18030")[0][1] == {"id": "2", "q": "退货期限是几天？"}
    (problem,) = rows_of(tmp_path, "id,q\n1,退货\n".encode("utf-16"))[1]
    assert problem.endswith("or write `encoding: utf-16` beside `cases_from`.")
    assert rows_of(tmp_path, "id,q\n1,退货\n".encode("utf-16"), encoding="utf-16")[0] == [{"id": "1", "q": "退货"}]


def test_json_lines(tmp_path):
    content = '\ufeff{"id": "a", "vars": {"n": 1.10, "b": 12345678901234567890}}\r\n\r\n{"q": "x\\r\\ny\u2028z"}\n'
    values, problems, lines = rows_of(tmp_path, content, "r.jsonl")
    assert values == [{"id": "a", "vars": {"n": "1.10", "b": "12345678901234567890"}}, {"q": "x\r\ny\u2028z"}]
    assert (problems, lines) == ([], [1, 3])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{bad", "r.jsonl:1: This is not valid JSON"),
        ("[1]", "r.jsonl:1: Each line of a JSON Lines file is one object"),
        ('{"a": 1, "a": 2}', "r.jsonl:1: This cannot be read as JSON: the key `a` stands twice in one object."),
        ('{"a": NaN}', "r.jsonl:1: This cannot be read as JSON: NaN is not JSON; write null"),
        ('{"a":' * 100_000, "r.jsonl:1: This JSON is nested too deeply."),
        ("\n", "r.jsonl: The case file has no cases."),
    ],
)
def test_broken_json_lines(tmp_path, line, expected):
    assert rows_of(tmp_path, line, "r.jsonl")[1][0].startswith(expected)


def test_other_kinds_of_files_are_refused(tmp_path):
    assert "*.csv, *.jsonl" in rows_of(tmp_path, "x", "r.xlsx")[1][0]


def test_derived_ids_depend_on_the_content_only():
    assert derived_id({"a": "1", "b": "长河"}) == derived_id({"b": "长河", "a": "1"}) == "9ac5efc7d522"


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\ufeff"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]))
def test_what_a_writer_wrote_comes_back_to_the_byte(tmp_path_factory, records, end):
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerow(["id", "q"])
    writer.writerows(records)
    values, problems, _ = rows_of(tmp_path_factory.mktemp("rows"), buffer.getvalue())
    assert problems == []
    assert [(value["id"], value["q"]) for value in values] == records

from __future__ import annotations

import json
import os
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.answer.model import Answer, ToolCall
from promptreg.baseline.lines import baseline_schema
from promptreg.baseline.model import Baseline, FaultRules, Golden, GoldenAnswer, GoldenCall, Header, golden_of
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import write_baseline
from promptreg.errors import BaselineError, OutputError
from promptreg.text.sentence import Sentence

HEADER = Header(
    suite="客服",
    deployment="gpu",
    recorded_at="2026-12-01T23:15:02Z",
    run_id="20261201-231502-gpu-3f2a",
    model="deepseek-v3",
    passes=3,
    server="vllm",
    fingerprint={"models": ["deepseek-v3"], "version": "0.10"},
    request_defaults={"temperature": 0.7},
    warnings=(Sentence("The model changed.", "模型变了。"),),
    provenance={"hardware": "8×H20"},
)
YES, NO = (
    Answer("可以，7天内。🙂", finish_reason="stop"),
    Answer("不行\r\n\u2028", reasoning="想…", reasoning_field="reasoning"),
)
SHA = "a" * 64


def baseline(*goldens, header=HEADER):
    return Baseline(header, {golden.case_id: golden for golden in goldens})


def golden(case_id, *answers):
    return golden_of(case_id, SHA, dict(enumerate(answers)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "基线" / "客服" / "gpu.jsonl"


def problems_of(path):
    with pytest.raises(BaselineError) as raised:
        read_baseline(path)
    return [(problem.place.line, problem.message) for problem in raised.value.problems]


def rewrite(path, change):
    write_baseline(path, baseline(golden("a", YES, NO, YES), golden("b", YES, None, YES)))
    lines = path.read_bytes().decode().split("\n")
    path.write_bytes("\n".join(change(lines)).encode())


def test_the_file_is_as_the_architecture_says(path):
    write_baseline(path, baseline(golden("b", NO, YES, NO), golden("a", YES, None, YES)))

    data = path.read_bytes()
    header, first, second, end = data.decode().split("\n")
    assert end == ""
    assert json.loads(header)["schema"] == "promptreg.baseline/1"
    assert first == (
        '{"answers":[{"answer":{"content":"可以，7天内。🙂","finish_reason":"stop"},"passes":[0,2]}],'
        f'"case_id":"a","failed_passes":[1],"request_sha256":"{SHA}"}}'
    )
    assert [part["passes"] for part in json.loads(second)["answers"]] == [[0, 2], [1]]
    assert b"\r" not in data.replace(b"\\r", b"")


def test_what_is_written_is_read(path):
    calls = Answer(tool_calls=(ToolCall("查询", '{"id": 7}'), ToolCall("b", "")), flags=("lone_surrogate",))
    written = baseline(golden("a", YES, NO, YES), golden("é", calls, None, Answer()), golden("空"))

    write_baseline(path, written)

    assert read_baseline(path) == written


def test_answers_can_be_had_by_pass():
    assert golden("a", YES, None, YES).by_pass(3) == (YES, None, YES)
    assert golden("a", YES, NO).by_pass(3) == (YES, NO, None)
    assert golden("a", YES, NO).by_pass(1) == (YES,)


def test_recording_the_same_again_changes_nothing_but_the_header(path):
    arrivals = {0: NO, 1: YES, 2: None, 3: YES, 4: NO}
    write_baseline(path, baseline(golden_of("b", SHA, arrivals), golden("a", YES), header=replace(HEADER, passes=5)))
    before = path.read_bytes().split(b"\n")

    again = golden_of("b", SHA, dict(reversed(arrivals.items())))
    later = replace(HEADER, passes=5, recorded_at="2026-12-02T00:00:00Z")
    write_baseline(path, baseline(golden("a", YES), again, header=later))
    after = path.read_bytes().split(b"\n")

    assert before[0] != after[0]
    assert before[1:] == after[1:]


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
ANSWERS = st.builds(
    Answer,
    content=TEXT,
    reasoning=TEXT,
    reasoning_field=st.none() | TEXT,
    tool_calls=st.lists(st.builds(ToolCall, TEXT, TEXT), max_size=2).map(tuple),
    finish_reason=st.none() | TEXT,
    flags=st.lists(TEXT, max_size=2).map(tuple),
)
KINDS = st.sampled_from(("F09", "F41", "X-maps"))
CALLS = st.builds(
    GoldenCall, st.dictionaries(KINDS, st.sampled_from(("E", "W")), max_size=2), st.none() | st.integers(0, 2)
)
GOLDENS = st.builds(
    lambda case_id, answers, order, calls, together: replace(
        golden_of(case_id, SHA, {index: answers[index] for index in order}), calls=calls, together=together
    ),
    TEXT.filter(bool),
    st.lists(st.none() | ANSWERS, min_size=4, max_size=4),
    st.permutations(range(4)),
    st.dictionaries(st.integers(0, 3), CALLS),
    st.none() | st.sets(KINDS).map(sorted).map(tuple),
)
HEADERS = st.builds(
    Header,
    suite=TEXT.filter(bool),
    deployment=TEXT.filter(bool),
    recorded_at=TEXT,
    run_id=TEXT,
    model=TEXT,
    passes=st.integers(4, 9),
    server=st.none() | TEXT,
    fingerprint=st.none() | st.dictionaries(TEXT, JSON, max_size=2),
    request_defaults=st.dictionaries(TEXT, JSON, max_size=2),
    warnings=st.lists(st.builds(Sentence, TEXT, TEXT), max_size=2).map(tuple),
    provenance=st.dictionaries(TEXT, JSON, max_size=2),
    fault_rules=st.none() | st.builds(FaultRules, TEXT.filter(bool), st.sampled_from(((), ("X-maps",)))),
)


@settings(max_examples=60, deadline=None)
@given(HEADERS, st.lists(GOLDENS, max_size=4))
def test_write_read_write_gives_the_same_bytes(tmp_path_factory, header, goldens):
    path = tmp_path_factory.mktemp("baseline") / "b.jsonl"
    written = baseline(*goldens, header=header)
    write_baseline(path, written)
    first = path.read_bytes()

    read = read_baseline(path)
    write_baseline(path, read)

    assert read == written
    assert path.read_bytes() == first
    for line in first.decode().split("\n")[:-1]:
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(line))


SCHEMA = baseline_schema()


def test_the_schema_refuses_what_the_reader_refuses():
    validator = jsonschema.Draft202012Validator(SCHEMA)

    assert not validator.is_valid({"case_id": "a"})
    assert not validator.is_valid({"case_id": "a", "request_sha256": SHA, "answers": [], "failed_passes": [], "x": 1})


def test_crlf_and_byte_order_mark_are_accepted(path):
    written = baseline(golden("a", YES, NO, YES))
    write_baseline(path, written)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert read_baseline(path) == written


def test_a_last_line_without_an_end_is_accepted(path):
    rewrite(path, lambda lines: lines[:-1])

    assert set(read_baseline(path).goldens) == {"a", "b"}


def test_no_file_says_what_makes_it(path):
    ((line, message),) = problems_of(path)

    assert line is None
    assert "promptreg record" in message


def test_an_empty_file_is_an_error(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\n")

    assert "empty" in problems_of(path)[0][1]


def test_a_line_cut_in_half_is_named(path):
    rewrite(path, lambda lines: [lines[0], lines[1][: len(lines[1]) // 2], lines[2], ""])

    ((line, message),) = problems_of(path)
    assert line == 2
    assert "cut" in message


def test_a_file_cut_in_a_character_is_named(path):
    rewrite(path, lambda lines: lines)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex("天".encode()) + 1])

    assert problems_of(path)[0][0] == 3
    assert "UTF-8" in problems_of(path)[0][1]


def test_all_problems_come_at_once(path):
    def damage(lines):
        return [
            lines[0],
            lines[1],
            "<<<<<<< HEAD",
            lines[1],
            lines[2].replace("[0,2]", "[0,2,2,5]"),
            '{"case_id":"c"}',
            '{"answers":[],"case_id":"d","extra":1,"failed_passes":["0"],"request_sha256":"x"}',
            "[" * 100_000,
            '{"a": NaN}',
            '{"a": 1e999}',
            "7",
            "null",
        ]

    rewrite(path, damage)

    problems = problems_of(path)
    assert [line for line, _ in problems] == sorted(line for line, _ in problems)
    assert {line for line, _ in problems} == set(range(3, 13))
    text = "\n".join(message for _, message in problems)
    for words in (
        "merge conflict",
        "in line 2 already",
        "listed 2 times",
        "says 3 passes",
        "'answers' is missing",
        "unknown",
    ):
        assert words in text


def test_a_lost_header_is_said_and_the_rest_is_still_checked(path):
    rewrite(path, lambda lines: [lines[1], lines[1], ""])

    (first, second) = problems_of(path)
    assert first[0] == 1
    assert "header" in first[1]
    assert second[0] == 2


def test_a_cut_header_is_one_problem(path):
    rewrite(path, lambda lines: [lines[0][:30], *lines[1:]])

    ((line, message),) = problems_of(path)
    assert line == 1
    assert "cut" in message


def test_another_version_names_both(path):
    rewrite(path, lambda lines: [lines[0].replace("baseline/1", "baseline/2"), *lines[1:]])

    ((line, message),) = problems_of(path)
    assert line == 1
    assert "promptreg.baseline/2" in message
    assert "promptreg.baseline/1" in message


def test_a_second_header_is_an_error(path):
    rewrite(path, lambda lines: [lines[0], *lines])

    assert {line for line, _ in problems_of(path)} == {2}


def test_a_folder_in_place_of_the_file_is_an_error(path):
    path.mkdir(parents=True)

    assert problems_of(path)[0][1] == "This is a folder, not a file."


def test_nothing_changes_when_writing_fails(path, monkeypatch):
    write_baseline(path, baseline(golden("a", YES)))
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        write_baseline(path, baseline(golden("a", NO)))

    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["gpu.jsonl"]


def test_a_path_that_cannot_be_a_folder_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(OutputError, match="cannot be written"):
        write_baseline(tmp_path / "file" / "gpu.jsonl", baseline())


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_one_sentence(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="Permission denied"):
            write_baseline(tmp_path / "gpu.jsonl", baseline())
    finally:
        tmp_path.chmod(0o700)


def test_the_baseline_of_another_suite_is_never_overwritten(path):
    write_baseline(path, baseline(golden("a", YES)))

    with pytest.raises(OutputError, match="upper and lower case"):
        write_baseline(path, baseline(golden("a", YES), header=replace(HEADER, deployment="GPU")))

    assert read_baseline(path).header.deployment == "gpu"


def test_a_damaged_baseline_can_be_recorded_again(path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe")

    write_baseline(path, baseline(golden("a", YES)))

    assert set(read_baseline(path).goldens) == {"a"}


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    link = tmp_path / "gpu.jsonl"
    link.symlink_to(tmp_path / "real" / "gpu.jsonl")

    write_baseline(link, baseline(golden("a", YES)))

    assert link.is_symlink()
    assert (tmp_path / "real" / "gpu.jsonl").is_file()


def test_a_long_answer_is_no_problem(path):
    written = baseline(golden("a", Answer("长" * 1_000_000)))
    write_baseline(path, written)

    assert read_baseline(path) == written


def test_goldens_of_equal_answers_are_one():
    assert golden("a", YES, YES, YES) == Golden("a", SHA, (GoldenAnswer((0, 1, 2), YES),))


def test_warnings_without_chinese_are_told_in_english(path):
    def english(lines):
        header = json.loads(lines[0])
        del header["warnings_zh"]
        return [json.dumps(header, ensure_ascii=False), *lines[1:]]

    rewrite(path, english)
    (said,) = read_baseline(path).header.warnings
    assert (said.en, said.zh) == ("The model changed.", "The model changed.")

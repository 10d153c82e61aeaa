from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptreg.context.conversations import read_recordings
from promptreg.context.trial.known import Kind
from promptreg.errors import ProjectError

HELLO = {"role": "user", "content": "你好 👩‍👩‍👧 \r\n ok"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"q": "订单"}'}}],
}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "[]"}


def line(**keys):
    return json.dumps(keys, ensure_ascii=False)


def problems_of(*paths):
    with pytest.raises(ProjectError) as caught:
        read_recordings(paths)
    return [str(problem) for problem in caught.value.problems]


def test_a_line_is_a_conversation_with_tools_and_facts(tmp_path):
    file = tmp_path / "sessions.jsonl"
    fact = {"value": "KX-4821", "kind": "update", "outdated": "KX-1", "message": 0}
    text = line(id="一", messages=[HELLO, CALL, RESULT], tools=[{"type": "function"}], facts=[fact])
    file.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n\r\n" + line(messages=[HELLO]).encode() + b"\r\n")

    first, second = read_recordings([file])

    assert first.conversation_id == "一"
    assert first.messages == (HELLO, CALL, RESULT)
    assert first.tools == ({"type": "function"},)
    (known,) = first.facts
    assert (known.kind, known.value, known.outdated) == (Kind.UPDATE, "KX-4821", ("KX-1",))
    assert (known.role, known.index, known.depth) == ("user", 0, 0.0)
    assert (second.conversation_id, str(second.place)) == ("sessions-3", f"{file.as_posix()}:3")


def test_a_line_is_one_message_of_a_conversation(tmp_path):
    file = tmp_path / "log.ndjson"
    lines = [
        line(conversation="a", role="user", content="1"),
        line(conversation="b", role="user", content="2"),
        line(conversation="a", role="assistant", content="3"),
    ]
    file.write_text("\n".join(lines), encoding="utf-8")

    a, b = read_recordings([file])

    assert [message["content"] for message in a.messages] == ["1", "3"]
    assert b.messages == ({"role": "user", "content": "2"},)


def test_messages_without_a_conversation_are_one_named_like_the_file(tmp_path):
    file = tmp_path / "chat.jsonl"
    file.write_text(json.dumps(HELLO) + "\n" + json.dumps(CALL), encoding="utf-8")

    (only,) = read_recordings([file])

    assert only.conversation_id == "chat"
    assert only.messages == (HELLO, CALL)


def test_json_files_hold_messages_a_conversation_or_several(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.json").write_text(json.dumps([HELLO]), encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps({"id": 7, "messages": [HELLO, CALL]}), encoding="utf-8")
    (tmp_path / "deep" / "c.json").write_text(json.dumps([{"messages": [HELLO]}, {"messages": [CALL]}]))
    (tmp_path / ".hidden.json").write_text("{", encoding="utf-8")
    (tmp_path / "readme.md").write_text("no conversation", encoding="utf-8")

    recordings = read_recordings([tmp_path], tmp_path)

    assert [recording.conversation_id for recording in recordings] == ["a", "7", "c-1", "c-2"]
    assert str(recordings[2].place) == "deep/c.json:1"


def test_keys_of_a_server_stay_in_the_message(tmp_path):
    file = tmp_path / "log.jsonl"
    message = {"role": "assistant", "content": "x", "reasoning_content": "想", "annotations": [], "id": "m-1"}
    file.write_text(line(messages=[message]), encoding="utf-8")

    assert read_recordings([file])[0].messages == (message,)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "no list `messages`"),
        ('{"messages": "no"}', "no list `messages`"),
        ('{"messages": [{"role": "users", "content": ""}]}', "Message 0: there is no role"),
        ('{"messages": [{"role": "user", "content": 3}]}', "`content` must be a text"),
        ('{"messages": [{"role": "user"}]}', "a message of the role `user` needs a text, even an empty one"),
        ('{"messages": [{"role": "user", "content": [3]}]}', "each part"),
        ('{"messages": [{"role": "assistant", "tool_calls": [{"id": "a"}]}]}', "`tool_calls` is a list"),
        ('{"messages": [3]}', "Message 0: it is no JSON object"),
        ('{"id": {}, "messages": [{"role": "user", "content": ""}]}', "`id` must be"),
        ('{"messages": [{"role": "user", "content": ""}], "tools": {}}', "`tools` must be"),
        ('{"messages": [{"role": "user", "content": ""}], "facts": {}}', "`facts` must be"),
        ('{"messages": [{"role": "user", "content": ""}], "facts": [{"val": "x"}]}', "Did you mean `value`"),
        ('{"messages": [{"role": "user", "content": ""}], "facts": [{"value": ""}]}', "`value` is a text"),
        ('{"messages": [{"role": "user", "content": ""}], "facts": [{"value": "x", "kind": "y"}]}', "no kind"),
        ('{"messages": [{"role": "user", "content": ""}], "facts": [{"value": "x", "message": 1}]}', "from 0 to 0"),
        ('{"messages": [{"role": "user", "content": NaN}]}', "NaN is not JSON"),
        ('{"role": "user", "content": "x", "content": "y"}', "the key `content` stands twice in one object."),
        ('{"messages": [{"role": "user", "角色": 1, "角色": 1}]}', "the key `角色` stands twice"),
        ('{"messages": [], "response_format": 5}', "`response_format` must be a JSON object"),
        ('{"role": "nobody", "content": ""}', "There is no role"),
        ('{"conversation": [], "role": "user", "content": ""}', "`conversation` is the id"),
        ("[" * 100_000, "nested too deeply"),
        ('{"messages": [{"role": "user", "content": "x", "a": ' + "[" * 98 + "]" * 98 + "}]}", "at most 100 levels"),
        ('{"messages": [{"role": "user", "content": "", "n": ' + "9" * 5000 + "}]}", "too long to be read"),
    ],
)
def test_a_wrong_line_is_one_problem_with_its_line(tmp_path, written, said):
    file = tmp_path / "log.jsonl"
    file.write_text(line(id="good", messages=[HELLO]) + "\n" + written + "\n", encoding="utf-8")

    (problem,) = problems_of(file)

    assert problem.startswith(f"{file.as_posix()}:2: ")
    assert said in problem


def test_as_many_levels_as_are_read_can_be_copied_and_written(tmp_path):
    (tmp_path / "a.jsonl").write_text(line(messages=[{**HELLO, "a": json.loads("[" * 97 + "]" * 97)}]))

    (recording,) = read_recordings([tmp_path])

    assert len(json.dumps(copy.deepcopy(recording.messages)[0]["a"])) == 2 * 97


def test_a_conversation_without_messages_is_read_for_others_to_leave_out(tmp_path):
    (tmp_path / "a.jsonl").write_text(line(id="none", messages=[], facts=[{"value": "x", "message": 0}]))
    (tmp_path / "b.json").write_text("[]")
    (tmp_path / "c.json").write_text('{"messages": []}')

    recordings = read_recordings([tmp_path])

    assert [(one.conversation_id, one.messages, one.facts) for one in recordings] == [
        ("none", (), ()), ("b", (), ()), ("c", (), ())
    ]  # fmt: skip


def test_every_wrong_line_is_told_and_the_line_inside_a_json_file(tmp_path):
    lines, whole = tmp_path / "a.jsonl", tmp_path / "b.json"
    lines.write_text("{\n[]\n", encoding="utf-8")
    whole.write_text('{\n"messages":\n oops}', encoding="utf-8")

    problems = problems_of(lines, whole)

    assert [problem.split(": ")[0].rpartition("/")[2] for problem in problems] == ["a.jsonl:1", "a.jsonl:2", "b.json:3"]


def test_ids_stand_once(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join([line(id="x", messages=[HELLO])] * 2), encoding="utf-8")

    assert "`x` stands at" in problems_of(file)[0]


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.jsonl", b"", "is empty"),
        ("a.jsonl", "你好".encode("gb18030"), "not UTF-8"),
        ("a.jsonl", b"\xff\xfe\x00", "UTF-16"),
        ("a.csv", b"x", "is one of"),
    ],
)
def test_files_that_are_none(tmp_path, name, raw, said):
    (tmp_path / name).write_bytes(raw)

    assert said in problems_of(tmp_path / name)[0]


def test_missing_files_and_empty_folders_are_told(tmp_path):
    assert "does not exist" in problems_of(tmp_path / "no.jsonl")[0]
    assert "has no file" in problems_of(tmp_path)[0]
    assert "No conversations were named" in problems_of()[0]


@settings(max_examples=60)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_sentence(tmp_path_factory, text):
    file = tmp_path_factory.mktemp("any") / "any.jsonl"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))

    try:
        recordings = read_recordings([file])
    except ProjectError as error:
        assert error.problems  # noqa: PT017 - either of two outcomes is right
    else:
        assert all(recording.messages for recording in recordings)


def test_a_file_that_is_wrong_all_over_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"x\n" * 100_000)
    told = problems_of(file)
    assert len(told) == 201
    assert told[-1].endswith("log.jsonl:200: So much is wrong that the rest was not read.")

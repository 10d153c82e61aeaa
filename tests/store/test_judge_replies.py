from __future__ import annotations

import pytest

from promptreg.store.replies import JudgeReply
from promptreg.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store.db") as opened:
        yield opened


def test_replies_come_back_as_text_that_utf8_can_say(store, hostile_texts):
    for name, text in hostile_texts.items():
        store.add_judge_reply(name, "评判", JudgeReply(text, "stop"), 1.0)
    found = store.judge_replies(hostile_texts)

    assert found.keys() == hostile_texts.keys()
    for name, text in hostile_texts.items():
        assert found[name].text == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_the_first_reply_stays(store):
    store.add_judge_reply("q", "judge", JudgeReply("VERDICT: PASS", None), 1.0)
    store.add_judge_reply("q", "judge", JudgeReply("VERDICT: FAIL", "stop"), 2.0)

    assert store.judge_replies(["q", "unknown"]) == {"q": JudgeReply("VERDICT: PASS", None)}
    assert store.judge_replies([]) == {}


def test_more_hashes_than_a_query_takes(store):
    names = [f"q{number}" for number in range(2500)]
    for name in names[::2]:
        store.add_judge_reply(name, "judge", JudgeReply(name, "stop"), 1.0)

    assert store.judge_replies(iter(names)).keys() == set(names[::2])

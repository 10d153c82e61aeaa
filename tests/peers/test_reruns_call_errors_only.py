"""Row 4: what was answered is not called again; what failed is."""

from __future__ import annotations

import pytest

QUESTIONS = {f"case-{number}": f"Question {number}?" for number in range(10)}
BROKEN = [{"match": f"Question {number}", "faults": ["status_500"]} for number in (3, 7)]


def asked(chats):
    return sorted(chat["messages"][-1]["content"] for chat in chats)


@pytest.mark.parametrize("by", ["record", "compare", "pytest"])
def test_two_of_ten_failed(moved, gate, by):
    project = moved({"rules": BROKEN} if by == "record" else None, {"rules": BROKEN})
    project.deployment("gpu", project.source.base_url, role="source", max_retries=0)
    project.deployment("ascend", project.target.base_url, role="target", max_retries=0)
    project.section("plan", record_passes=1, compare_passes=1, looks=[1])
    project.suite("orders", QUESTIONS)
    server = project.source if by == "record" else project.target
    if by != "record":
        assert project.run("record").exit_code == 0

    def run(*resume):
        if by == "pytest":
            gate(project, *(f"--promptreg{option[1:]}" for option in resume), stored=False)
        else:
            project.run(by, *resume)

    run()
    assert asked(server.chats) == sorted(QUESTIONS.values())
    run("--resume")
    assert asked(server.chats[10:]) == ["Question 3?", "Question 7?"]

"""Row 20: reasoning is kept apart, wherever the server puts it; the answer that remains is the same.

Checks read what the application receives: think tags that only the target leaves in the content break its JSON.
"""

from __future__ import annotations

import pytest

ANSWER = '{"a":1}'
THOUGHT = '也许是 {"a":2}'


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        ([], [], 1.0),
        ([], ["reasoning_renamed"], 1.0),
        ([], ["think_tags"], 0.0),
        ([], ["think_end"], 0.0),
        (["think_tags"], ["think_tags"], 1.0),
        (["think_end"], ["think_tags"], 1.0),
        (["think_tags"], [], 1.0),
    ],
    ids=lambda value: "".join(value) or "none" if isinstance(value, list) else "",
)
def test_checks_and_comparison_see_the_answer_only(moved, cases_of, before, after, passed):
    script = {"kind": "vllm", "rules": [{"match": "", "answers": [{"content": ANSWER, "reasoning": THOUGHT}]}]}
    project = moved({**script, "faults": before}, {**script, "faults": after})
    project.suite(
        "json", {"a": "Give JSON.", "b": "给出 JSON。"}, checks=["json", {"json_equals": {"value": {"a": 1}}}]
    )
    _, said = project.judged()
    for case in cases_of(said).values():
        rates = {check["check"].split(":")[0]: check["target_rate"] for check in case["checks"]}
        assert (rates["json"], rates["json_equals"]) == (passed, passed)
        assert case["channels"].get("embedding", {"z": 0.0})["z"] == 0.0
    assert [suite["drift_rejected"] for suite in said["suites"]] == [not passed]


def test_an_answer_that_only_the_reasoning_has_is_not_taken_for_one(moved, cases_of):
    script = {"rules": [{"match": "", "answers": [{"content": ANSWER, "reasoning": THOUGHT}]}]}
    project = moved(script, {**script, "faults": ["content_null"]})
    project.suite("json", {"a": "Give JSON.", "b": "给出 JSON。"}, checks=["json"])
    code, said = project.judged()
    assert code == 1
    assert {case["checks"][0]["target_rate"] for case in cases_of(said).values()} == {0.0}

"""What rules are told of a request, and what is said where nobody knows the source's calls."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.baseline.model import FaultRules, GoldenCall, Header, golden_of
from promptreg.scoring.faults.case import NOTHING_NOTED
from promptreg.scoring.faults.model import Severity
from promptreg.suite.model import Request
from promptreg.text.redaction import NOTHING, Redaction
from promptreg.workflow.judging.call_faults import Side, noted_of
from promptreg.workflow.judging.unknown_faults import unknown_warning

ASKED = Request(({"role": "user", "content": "发到 li.wei@example.com，谢谢。"},), {"max_tokens": 5})
OURS, OTHERS = FaultRules("1.2"), FaultRules("1.1", ("X-maps",))


def header(rules):
    return Header("客服", "gpu", "2026-12-01T23:15:02Z", "r", "m", 3, fault_rules=rules)


def test_rules_see_no_more_of_a_request_than_is_kept_of_answers():
    """Else what was taken out of an answer alone would look like characters that the server lost."""
    assert Side(None, None, NOTHING).request(ASKED) == {"messages": list(ASKED.messages), "max_tokens": 5}
    (message,) = Side(None, None, Redaction.of(["email"])).request(ASKED)["messages"]
    assert message == {"role": "user", "content": "发到 [redacted]，谢谢。"}


def test_only_what_the_very_same_rules_found_is_used():
    golden = replace(golden_of("礼品卡", "a" * 64, {0: None}), calls={0: GoldenCall({"F41": "E"}, 41)})
    assert noted_of(golden, header(OURS), OURS).calls == {0: {"F41": Severity.ERROR}}
    for rules in (None, OTHERS, FaultRules("1.2", ("X-maps",))):
        assert noted_of(golden, header(rules), OURS) == NOTHING_NOTED


@pytest.mark.parametrize(
    ("theirs", "en", "zh"),
    [
        (None, "the baseline does not tell of them", "基线中没有记载"),
        (OURS, "the baseline does not tell of them", "基线中没有记载"),
        (
            OTHERS,
            "rules of promptreg 1.1 with X-maps, not by those of promptreg 1.2",
            "出自 promptreg 1.1（含 X-maps）",
        ),
    ],
)
def test_the_warning_says_why_nobody_knows(theirs, en, zh):
    said = unknown_warning(header(theirs), 1, 30, OURS)
    assert "not known for 1 of 30 cases" in said.en
    assert (en in said.en, zh in said.zh) == (True, True)
    assert "`promptreg record --on gpu`" in said.en
    assert unknown_warning(header(theirs), 0, 30, OURS) is None

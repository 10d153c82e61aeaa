"""Which decisions of the files beside the baselines count for what a run shows."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import pytest

from promptreg.cli.review.text import case_line
from promptreg.review.standing import StandingCase, standing_bytes, standing_path
from promptreg.store.reviews import ShownCase
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.review.standing import utc_today
from promptreg.workflow.review.waiting import decided_cases

GOLDEN, ANSWERS, OTHER = "a" * 64, "b" * 64, "c" * 64


def decided(
    folder, *, candidate=ANSWERS, golden=GOLDEN, source="gpu", verdict="fail", decision="reject", expires_on=None
):
    """The case 天气工具 as a run shows it, on which one decision stands."""
    stands = StandingCase(
        "天气工具",
        decision,
        "gpu",
        GOLDEN,
        ANSWERS,
        CaseVerdict.FAIL,
        "已知问题",
        "王小明",
        "2026-12-03T06:50:53Z",
        "run",
        expires_on,
    )
    path = standing_path(folder / "baselines", "人事制度", "ascend")
    path.parent.mkdir(parents=True)
    path.write_bytes(standing_bytes("人事制度", "ascend", [stands]))
    config = SimpleNamespace(root=folder, paths=SimpleNamespace(baselines="baselines"))
    shown = ShownCase("人事制度", "天气工具", source, "ascend", verdict, 3.0, golden, candidate, "Rejected.", "拒绝。")
    store, record = SimpleNamespace(decisions=lambda: ()), SimpleNamespace(deployment="ascend")
    return decided_cases(config, store, record, [shown])["人事制度", "天气工具"]


@pytest.mark.parametrize("candidate", [ANSWERS, OTHER])
@pytest.mark.parametrize("verdict", ["fail", "drift"])
def test_a_rejected_case_waits_for_nobody_whatever_the_target_answers(tmp_path, candidate, verdict):
    case = decided(tmp_path, candidate=candidate, verdict=verdict)
    assert (case.decision, case.reviewer, case.stands, case.waits) == ("reject", "王小明", True, False)


@pytest.mark.parametrize(
    "shown", [{"golden": OTHER}, {"source": "other"}, {"verdict": "error"}, {"verdict": "missing"}], ids=str
)
def test_a_rejection_of_something_else_decides_nothing(tmp_path, shown):
    case = decided(tmp_path, candidate=OTHER, **shown)
    assert (case.decision, case.waits) == (None, True)


def test_a_deferral_is_of_exactly_what_was_shown(tmp_path):
    assert decided(tmp_path, candidate=OTHER, decision="defer").decision is None


@pytest.mark.parametrize("verdict", ["fail", "waived"])
@pytest.mark.parametrize(("days", "expired"), [(-1, True), (0, False), (1, False)])
def test_a_waiver_past_its_day_is_no_decision(tmp_path, verdict, days, expired):
    day = utc_today() + timedelta(days=days)
    case = decided(tmp_path, verdict=verdict, decision="waive", expires_on=day)
    assert (case.decision, case.expired, case.waits) == ("waive", expired, expired)
    assert case.to_json()["expired"] is expired
    for language, said in (("en", f"[waiver expired on {day}]"), ("zh", f"[豁免已于 {day} 到期]")):
        assert (said in case_line(case, language).plain) is expired

"""Earlier runs of the same target, from their stored verdicts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from promptreg.errors import UsageError
from promptreg.report.payload import CaseView
from promptreg.store.reviews import ShownCase
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.views.history import EARLIER_RUNS, history_of

SAID = Sentence("So.", "如此。")


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "store.db") as store:
        yield store


def run(store, verdicts, *, suite="support", source="gpu", judged=True, **fields):
    """A stored run; its cases by id with their verdicts."""
    spec = {"kind": "compare", "deployment": "ascend", "model": "m", "passes": 5, "seed": 0, **fields}
    run_id = store.start_run(RunSpec(**spec))
    if judged:
        store.update_run(run_id, state="done", verdict="DRIFT")
        store.show(
            run_id,
            [
                ShownCase(suite, name, source, "ascend", verdict, 0.0, None, None, "", "")
                for name, verdict in verdicts.items()
            ],
        )
    return store.run(run_id)


def now(**verdicts):
    """Of one suite the source and its judgement, with made-up verdicts."""
    empty = judge_suite("support", [], new=list(verdicts))
    cases = tuple(replace(case, verdict=CaseVerdict(verdicts[case.case_id])) for case in empty.cases)
    return [("gpu", replace(empty, cases=cases))]


def view(case_id, verdict):
    return CaseView("support", case_id, verdict, 0.0, SAID)


def test_without_an_earlier_run_there_is_nothing(store):
    history = history_of(store, run(store, {"a": "pass"}), now(a="pass"))
    assert (history.views(), history.against, history.since) == ((), None, None)
    (case,) = history.told([view("a", "pass")])
    assert (case.earlier, case.was, case.since) == ((), None, None)


def test_each_case_has_its_verdict_in_every_earlier_run(store):
    run(store, {"a": "pass", "b": "fail"})
    run(store, {"a": "fail"})
    last = run(store, {"a": "pass", "b": "pass"})
    history = history_of(store, last, now(a="pass", b="pass"))
    a, b, fresh = history.told([view("a", "pass"), view("b", "pass"), view("c", "new")])
    assert a.earlier == ("pass", "fail")
    assert (a.was, a.since) == ("fail", "fixed")
    assert b.earlier == ("fail", "none")
    assert (b.was, b.since) == ("none", "new")
    assert (fresh.was, fresh.since) == ("none", "same")
    assert history.since == Sentence(
        "No case newly fails, 1 is fixed, 1 is new.", "没有用例新出现失败，1 个已修复，1 个是新的。"
    )
    first, second = history.views()
    assert [(each.verdict, each.cases) for each in first.counts] == [("pass", 1), ("fail", 1)]
    assert [(each.verdict, each.cases) for each in second.counts] == [("fail", 1)]


def test_a_case_that_is_gone_is_counted(store):
    run(store, {"a": "pass", "b": "fail"})
    history = history_of(store, run(store, {"a": "pass"}), now(a="pass"))
    assert history.since.en == "No case newly fails, 1 is no longer compared, 1 as before."


def test_other_targets_sources_suites_recordings_and_unjudged_runs_are_no_history(store):
    run(store, {"a": "pass"}, deployment="ascend-b")
    run(store, {"a": "pass"}, source="another-gpu")
    run(store, {"a": "pass"}, suite="other")
    run(store, {}, judged=False)
    run(store, {"a": "pass"}, kind="record")
    last = run(store, {"a": "pass"})
    run(store, {"a": "fail"})  # a later one
    assert history_of(store, last, now(a="pass")).views() == ()


def test_a_clock_that_is_set_back_takes_no_run_out_of_the_history(store, monkeypatch):
    first = run(store, {"a": "pass"})
    monkeypatch.setattr("time.time", lambda: 1000.0)
    last = run(store, {"a": "fail"})
    assert [each.run_id for each in history_of(store, last, now(a="fail")).views()] == [first.run_id]
    assert history_of(store, first, now(a="pass")).views() == ()


def test_only_the_newest_runs_are_shown_oldest_first(store):
    runs = [run(store, {"a": "pass"}) for _ in range(EARLIER_RUNS + 3)]
    history = history_of(store, runs[-1], now(a="pass"))
    assert [each.run_id for each in history.views()] == [each.run_id for each in runs[-1 - EARLIER_RUNS : -1]]


def test_another_run_can_be_named_to_be_held_against(store):
    old = run(store, {"a": "fail"}, deployment="ascend-b")
    run(store, {"a": "pass"})
    history = history_of(store, run(store, {"a": "pass"}), now(a="pass"), old)
    assert history.against.view.run_id == old.run_id
    assert len(history.views()) == 1
    (case,) = history.told([view("a", "pass")])
    assert (case.was, case.since, case.earlier) == ("fail", "fixed", ("pass",))


def test_the_run_itself_and_one_without_verdicts_are_refused(store):
    bare = run(store, {}, judged=False)
    other = run(store, {"a": "pass"}, suite="other")
    last = run(store, {"a": "pass"})
    for against, said in ((last, "itself"), (bare, f"promptreg report {bare.run_id}"), (other, "no verdicts")):
        with pytest.raises(UsageError, match=said):
            history_of(store, last, now(a="pass"), against)


def test_hostile_names_come_back_as_they_are(store):
    name = "=1+1\u202e<img src=x>\U0001f600 退款"
    run(store, {name: "drift"}, source="gpu\u2028")
    last = run(store, {name: "drift"}, source="gpu\u2028")
    ((_, judgement),) = now(x="new")
    judgement = replace(judgement, cases=(replace(judgement.cases[0], case_id=name, verdict=CaseVerdict.DRIFT),))
    history = history_of(store, last, [("gpu\u2028", judgement)])
    (case,) = history.told([view(name, "drift")])
    assert (case.was, case.since) == ("drift", "still_failing")

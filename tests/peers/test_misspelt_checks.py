"""Row 7: a misspelt key of checks is an error with its line; a case without checks is judged all the same."""

from __future__ import annotations

import pytest

SUITE = """suite: orders
cases:
  - id: status
    messages:
      - user: Where is my order?
    {key}:
      - contains: order
"""


@pytest.mark.parametrize("key", ["asertions", "asserts", "assert", "chekcs", "check"])
def test_a_misspelt_key_is_an_error_with_its_line(moved, key):
    project = moved()
    project.write("suites/orders.yaml", SUITE.format(key=key))
    said = project.refused()
    assert f"suites/orders.yaml:6: Unknown key `{key}`." in said
    assert "`checks`" in said


def test_a_misspelt_check_is_an_error_with_the_right_name(moved):
    project = moved()
    project.write("suites/orders.yaml", SUITE.format(key="checks").replace("contains", "contain"))
    assert "suites/orders.yaml:7: There is no check `contain`. Did you mean `contains`?" in project.refused()


def test_a_case_without_checks_is_judged_by_what_the_source_answered(moved, answers, cases_of):
    project = moved(answers("Your order is on its way."), answers("Ihre Bestellung wurde storniert."))
    project.write("suites/orders.yaml", SUITE.partition("    {key}")[0])
    code, said = project.judged()
    assert code == 1
    assert said["verdict"] in {"DRIFT", "REGRESSION"}
    assert cases_of(said)["status"]["verdict"] in {"drift", "fail"}

"""Row 29: JUnit tells a failure from an error, and holds no character that XML forbids."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

HOSTILE = "7 days\x00\x08\x1b[31m\ufffe\uffff ok 天 😀"
RULES = [{"match": "Question 1", "answers": [HOSTILE]}, {"match": "Question 2", "faults": ["status_500"]}]
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def results(path):
    assert not FORBIDDEN.search(path.read_text(encoding="utf-8"))
    cases = ET.parse(path).getroot().iter("testcase")
    return {case.get("name"): {part.tag for part in case if part.tag != "properties"} for case in cases}


def test_a_failure_and_a_500(moved, gate):
    project = moved({"rules": [{"match": "", "answers": ['{"days": 7}']}]}, {"rules": RULES})
    project.deployment("ascend", project.target.base_url, role="target", max_retries=0)
    project.section("plan", record_passes=10, compare_passes=5, looks=[5])
    project.suite("orders", {"wrong": "Question 1?", "broken": "Question 2?"}, checks=["json"])
    assert project.run("record").exit_code == 0
    project.run("compare", "--junit", "out.xml")
    of_command = results(project.folder / "out.xml")
    said, of_pytest = gate(project)
    results(project.folder / "junit.xml")
    assert (of_command["wrong"], of_command["broken"]) == ({"failure"}, {"error"})
    assert (of_pytest["wrong"], of_pytest["broken"]) == ({"failure"}, {"error"})
    assert "7 days" in (project.folder / "junit.xml").read_text(encoding="utf-8")
    assert not re.search("[\x00\x08]", said)

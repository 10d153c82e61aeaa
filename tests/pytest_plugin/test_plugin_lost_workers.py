"""pytest-xdist: whatever kills its workers, every selected case has a result, and that is an error."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

REFUND, GIFT, VERDICT = "suites/moved.yaml::refund", "suites/moved.yaml::gift", "suites/moved.yaml::[verdict]"
ALL = (REFUND, GIFT, VERDICT)
MINE = "a_test.py::test_mine"


NAMES = (
    "import os, pathlib\n"
    "once = pathlib.Path(__file__).with_name('once')\n"
    "worker = os.environ.get('PYTEST_XDIST_WORKER')\n"
)
IN_GIFT = (
    "def pytest_runtest_call(item):\n"
    "    if item.name == 'gift' and not once.exists():\n"
    "        once.touch()\n"
    "        os._exit(9)\n"
)
AT_ONCE = "def pytest_runtest_setup(item):\n    os._exit(9)\n"
HALF = (  # the controller knows what was selected, and has sent nothing to anybody
    "import time\n"
    "def pytest_xdist_node_collection_finished():\n    once.touch()\n"
    "def pytest_collection():\n"
    "    while worker == 'gw1':\n"
    "        if once.exists(): os._exit(9)\n"
    "        time.sleep(0.01)\n"
)
BEFORE = "def pytest_collection():\n    if worker: os._exit(9)\n"


@pytest.fixture
def killed(folder):
    """Runs workers of which those end that a hook of conftest.py names; gives what it says and JUnit's results."""

    def run(hook, *arguments):
        folder.write("conftest.py", NAMES + hook)
        junit = ("--junitxml", "junit.xml", "--promptreg-codequality", "quality.json")
        done = folder.stored("-p", "xdist.plugin", *junit, "-rA", *arguments)
        found = ET.parse(folder.folder / "junit.xml").getroot().iter("testcase")
        kinds = {case.get("name"): {part.tag for part in case if part.tag != "properties"} for case in found}
        return done, folder.outcomes(done), kinds

    return run


@pytest.mark.every_pytest
def test_one_that_is_replaced_loses_the_item_that_it_ran(folder, killed):
    done, outcomes, kinds = killed(IN_GIFT, "-n", "2")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes == {REFUND: "failed", GIFT: "error", VERDICT: "failed"}
    assert kinds == {"refund": {"failure"}, "gift": {"error"}, "[verdict]": {"failure"}}
    done.stdout.fnmatch_lines(["The pytest-xdist worker gw? crashed or was killed while it ran this item, *"])
    done.stdout.fnmatch_lines(["DRIFT  moved: *", "1 of 3 items are errors because their pytest-xdist worker *"])
    told = json.loads((folder.folder / "quality.json").read_text(encoding="utf-8"))
    assert [each["check_name"] for each in told] == ["promptreg-drift", "promptreg-error", "promptreg-drift"]


@pytest.mark.parametrize("restarts", [("--max-worker-restart=0",), ("--max-worker-restart=1",)])
def test_where_all_are_killed_every_item_is_an_error(folder, killed, restarts):
    done, outcomes, kinds = killed(AT_ONCE, "-n", "1", *restarts)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes == dict.fromkeys(ALL, "error")
    assert kinds == {"refund": {"error"}, "gift": {"error"}, "[verdict]": {"error"}}
    done.stdout.fnmatch_lines(["No worker of pytest-xdist was left to run this item, *"])
    done.stdout.fnmatch_lines(["3 of 3 items are errors because their pytest-xdist worker *"])
    assert len(json.loads((folder.folder / "quality.json").read_text(encoding="utf-8"))) == 3


@pytest.mark.every_pytest
def test_one_that_is_killed_before_any_item_is_sent_leaves_no_green_session(folder, killed):
    folder.write("a_test.py", "def test_mine():\n    pass\n")
    done, outcomes, _ = killed(HALF, "-n", "2", "--max-worker-restart=0", "a_test.py", "suites")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes == dict.fromkeys((*ALL, MINE), "error")


def test_where_none_has_collected_one_error_says_so(killed):
    done, outcomes, kinds = killed(BEFORE, "-n", "1", "--max-worker-restart=0")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes == {}
    done.stdout.fnmatch_lines(["*Every worker of pytest-xdist ended before it had collected: nothing was judged.*"])
    assert list(kinds.values()) == [{"error"}]


def test_a_stop_that_was_asked_for_adds_no_errors(killed):
    _, outcomes, kinds = killed("", "-n", "1", "-x")
    assert outcomes == {REFUND: "failed"}
    assert kinds == {"refund": {"failure"}}


def test_a_test_of_the_user_s_own_is_told_as_pytest_xdist_tells_it(folder, killed):
    folder.write("a_test.py", "import os\ndef test_mine():\n    os._exit(9)\n")
    done, outcomes, _ = killed("", "-n", "1", "a_test.py", "suites")
    assert outcomes == {MINE: "failed", REFUND: "failed", GIFT: "passed", VERDICT: "failed"}
    done.stdout.fnmatch_lines(["worker 'gw0' crashed while running 'a_test.py::test_mine'"])

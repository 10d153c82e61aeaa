"""pytest-xdist: the same verdicts and one report, whatever the number of workers and whatever becomes of them."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer

XDIST = ("-p", "xdist.plugin")
REFUND, GIFT, VERDICT = "suites/moved.yaml::refund", "suites/moved.yaml::gift", "suites/moved.yaml::[verdict]"
EXPECTED = {REFUND: "failed", GIFT: "passed", VERDICT: "failed"}
OTHER = "No idea. Ask the shop next door about their cats and gardens, or come back in a year."


def reports(folder):
    return {path.name: path.stat().st_mtime_ns for path in (folder.folder / "reports").glob("*.html")}


@pytest.mark.parametrize(
    ("dist", "workers"),
    [("load", 2), ("loadfile", 1), pytest.param("loadgroup", 1, marks=pytest.mark.every_pytest), ("worksteal", 1)],
)
def test_workers_say_what_one_process_says(folder, dist, workers):
    alone = folder.stored("-rA")
    done = folder.stored(*XDIST, "-n", workers, "--dist", dist, "-rA")
    assert folder.outcomes(done) == folder.outcomes(alone) == EXPECTED
    done.stdout.fnmatch_lines(["DRIFT  moved: *", "Run: *"])
    shown = [line for line in alone.outlines if line.startswith(("Certainly. [-", "again: "))]
    assert shown
    assert all(line in done.outlines for line in shown)


def test_without_workers_xdist_changes_nothing(folder):
    assert folder.outcomes(folder.stored(*XDIST, "-n", "0", "-rA")) == EXPECTED


def test_one_run_and_one_report_for_all_workers(folder):
    before = reports(folder)
    with SimulatedServer(seed=1, noise={"wording": 0.5}, rules=[{"match": "book", "answers": [OTHER]}]) as server:
        folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
        folder.project.deployment("ascend", server.base_url, role="target", max_retries=0)
        folder.project.section("judging", embedder="letters")
        folder.project.section("plan", record_passes=10, compare_passes=5, looks=[5])
        done = folder.pytest(*XDIST, "-n", "2", "-rA")
    assert folder.outcomes(done) == EXPECTED
    assert len(server.chats) == 10
    assert len(reports(folder)) == len(before) + 1


def test_nothing_is_compared_where_no_item_is_reached(folder):
    folder.write("a_test.py", "def test_mine():\n    assert False\n")
    before = reports(folder)
    done = folder.stored(*XDIST, "-n", "1", "-x", "-rA", "a_test.py", "suites")
    assert done.parseoutcomes()["failed"] == 1
    assert reports(folder) == before


def test_what_cannot_be_compared_is_told_once_by_the_controller(folder):
    done = folder.pytest("--promptreg-run", "nowhere", *XDIST, "-n", "2")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert done.parseoutcomes() == {}
    assert done.stderr.str().count("nowhere") == 1


def test_a_package_of_tests_beside_the_suites(folder):
    folder.write("tests/__init__.py", "")
    folder.write(
        "tests/test_mine.py", "from tests import __name__ as name\ndef test_mine():\n    assert name == 'tests'\n"
    )
    done = folder.stored(*XDIST, "-n", "2", "-rA")
    assert folder.outcomes(done) == {**EXPECTED, "tests/test_mine.py::test_mine": "passed"}


@pytest.mark.every_pytest
def test_groups_of_the_user_s_own_do_not_hide_the_items(folder):
    folder.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.hookimpl(tryfirst=True)\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        item.add_marker(pytest.mark.xdist_group('slow one'))\n",
    )
    done = folder.stored(*XDIST, "-n", "2", "--dist", "loadgroup", "-rA")
    # pytest-xdist appends the group's name to node ids; pytest 9.2 does not see it
    found = {name.removesuffix("@slow one"): outcome for name, outcome in folder.outcomes(done).items()}
    assert found == EXPECTED


def test_a_worker_that_does_not_see_the_folder_has_errors_and_no_silence(folder):
    folder.write(
        "conftest.py",
        "import pytest\n"
        "@pytest.hookimpl(trylast=True, optionalhook=True)\n"
        "def pytest_configure_node(node):\n"
        "    node.workerinput['promptreg_folder'] = '/on/another/machine'\n",
    )
    before = reports(folder)
    done = folder.stored(*XDIST, "-n", "1", "-rA")
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert folder.outcomes(done) == dict.fromkeys(EXPECTED, "error")
    told = "Not judged: the pytest-xdist worker (gw0, *) does not see the folder /on/another/machine, *"
    done.stdout.fnmatch_lines([told] * 3)
    assert reports(folder) == before

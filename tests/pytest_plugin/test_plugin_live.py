"""A live run: what is called, when, and that nothing but the run and its report is written."""

from __future__ import annotations

import pytest

from promptreg.testing import SimulatedServer

QUESTIONS = {"refund": "How many days do I have to return a book?", "gift": "礼品卡的有效期是多久？"}
OTHER = "No idea. Ask the shop next door about their cats and gardens, or come back in a year."


@pytest.fixture
def target(folder):
    """The project's target, alive again; it keeps what it was asked."""
    with SimulatedServer(seed=1, noise={"wording": 0.5}, rules=[{"match": "book", "answers": [OTHER]}]) as server:
        folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
        folder.project.deployment("ascend", server.base_url, role="target", max_retries=0)
        folder.project.section("judging", embedder="letters")
        folder.project.section("plan", record_passes=10, compare_passes=5, looks=[5])
        yield server


def asked(server):
    return [chat["messages"][-1]["content"] for chat in server.chats]


def files(folder):
    kept = ("baselines", "suites")
    return {path: path.read_bytes() for name in kept for path in (folder.folder / name).rglob("*") if path.is_file()}


def test_every_case_is_asked_in_passes_once_a_session(folder, target):
    before = files(folder)
    done = folder.pytest("-rA")
    assert folder.outcomes(done) == {
        "suites/moved.yaml::refund": "failed",
        "suites/moved.yaml::gift": "passed",
        "suites/moved.yaml::[verdict]": "failed",
    }
    questions = asked(target)
    assert sorted(questions) == sorted([*QUESTIONS.values()] * 5)
    # Passes over all cases, not one case after the other: the last question comes before the first one's last time.
    assert questions[:5] != [questions[0]] * 5
    assert files(folder) == before
    assert folder.project.run("runs", "--json").json


def test_only_what_is_selected_is_called_and_judged_alike_later(folder, target):
    done = folder.pytest("-rA", "-k", "refund")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "failed"}
    assert set(asked(target)) == {QUESTIONS["refund"]}
    done.stdout.fnmatch_lines(["moved: 1 of 2 cases were selected. The verdict is about these only,*"])
    said = folder.project.run("compare", "--run", "latest", "--json").json
    assert [case["case_id"] for suite in said["suites"] for case in suite["cases"]] == ["refund"]


def test_a_suite_s_verdict_alone_is_about_all_its_cases(folder, target):
    done = folder.pytest("-rA", "suites/moved.yaml::[verdict]")
    assert folder.outcomes(done) == {"suites/moved.yaml::[verdict]": "failed"}
    assert set(asked(target)) == set(QUESTIONS.values())
    done.stdout.no_fnmatch_line("*were selected*")


def test_a_python_test_that_fails_first_costs_no_call(folder, target):
    folder.write("a_test.py", "def test_mine():\n    assert False\n")
    done = folder.pytest("-rA", "-x", "a_test.py", "suites")
    assert done.parseoutcomes() == {"failed": 1}
    assert asked(target) == []


def test_an_inconclusive_suite_fails_unless_that_is_allowed(folder, target):
    done = folder.pytest("-rA", "-k", "gift or verdict", "--promptreg-passes", "1")
    assert folder.outcomes(done) == {"suites/moved.yaml::gift": "passed", "suites/moved.yaml::[verdict]": "failed"}
    assert len(asked(target)) == 1
    done.stdout.fnmatch_lines(["FAILED suites/moved.yaml::?verdict? - INCONCLUSIVE: *"])
    allowed = folder.stored("-rA", "-k", "gift or verdict", "--promptreg-allow-inconclusive")
    assert allowed.ret == 0
    assert allowed.parseoutcomes()["skipped"] == 1
    allowed.stdout.fnmatch_lines(["SKIPPED * INCONCLUSIVE: *"])


def test_another_target_by_name(folder, target):
    with SimulatedServer(seed=1, noise={"wording": 0.5}) as other:
        folder.project.deployment("good", other.base_url)
        folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
        folder.project.deployment("ascend", target.base_url, role="target", max_retries=0)
        done = folder.pytest("-rA", "--promptreg-target", "good", "-k", "refund")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "passed"}
    assert asked(target) == []
    assert len(asked(other)) == 5


def test_no_calls_is_an_error_before_any_call(folder, target):
    done = folder.pytest("--promptreg-no-calls")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert asked(target) == []
    done.stderr.fnmatch_lines(["ERROR: --promptreg-no-calls forbids calling*--promptreg-run latest*"])
    assert set(folder.outcomes(folder.stored("-rA", "--promptreg-no-calls")).values()) == {"failed", "passed"}
    assert asked(target) == []


def test_a_target_that_is_away_is_told_once_and_before_the_first_test(folder, target):
    target.stop()
    folder.write("a_test.py", "def test_mine():\n    pass\n")
    done = folder.pytest("a_test.py", "suites")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert done.parseoutcomes() == {}
    done.stderr.fnmatch_lines(["ERROR: Deployment `ascend` * cannot be reached: *"])
    assert folder.outcomes(folder.pytest("-rA", "a_test.py")) == {"a_test.py::test_mine": "passed"}


def test_select_keeps_the_suite_s_verdict_which_is_then_about_the_selection(folder, target):
    done = folder.pytest("-rA", "--promptreg-select", "tag:policy")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "failed", "suites/moved.yaml::[verdict]": "failed"}
    assert set(asked(target)) == {QUESTIONS["refund"]}
    assert done.parseoutcomes()["deselected"] == 1
    done.stdout.fnmatch_lines(["moved: 1 of 2 cases were selected.*"])


@pytest.mark.parametrize(
    ("expression", "told"),
    [("tag:polic", "*--promptreg-select `tag:polic` matches none*policy*"), ("(a", "*--promptreg-select: *closed*")],
)
def test_a_select_expression_that_means_nothing_is_a_usage_error(folder, expression, told):
    done = folder.pytest("--promptreg-select", expression)
    assert done.ret == 4
    done.stderr.fnmatch_lines([told])


def test_an_interrupted_run_can_be_gone_on_with(folder, target, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("promptreg.pytest_plugin.session.compare", interrupted)
    done = folder.pytest()
    assert done.ret == 2
    done.stdout.fnmatch_lines(["Interrupted. `pytest --promptreg --promptreg-resume` goes on with the run."])


def test_a_bug_is_told_once_with_its_traceback(folder, target, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("what")

    monkeypatch.setattr("promptreg.pytest_plugin.session.compare", broken)
    done = folder.pytest("-rA")
    assert set(folder.outcomes(done).values()) == {"error"}
    assert done.stdout.str().count("Traceback") == 1
    done.stdout.fnmatch_lines(["promptreg failed in a way it should not: ZeroDivisionError: what"])


@pytest.mark.parametrize("kind", ["def", "async def"])
def test_a_function_of_the_user_s_own_is_a_target(folder, kind):
    folder.write(f"shop_{kind[0]}.py", f"{kind} reply(messages, params):\n    print('noise')\n    return {OTHER!r}\n")
    text = (folder.folder / "promptreg.toml").read_text(encoding="utf-8")
    folder.write("promptreg.toml", f'{text}\n[deployments.app]\ncall = "shop_{kind[0]}:reply"\ntimeout_s = 5\n')
    done = folder.pytest("-rA", "--promptreg-target", "app", "-k", "refund")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "failed"}
    done.stdout.fnmatch_lines(["drift * moved/refund: *", "*{+No idea.*"])
    for fault in ("F30", "F53"):  # what only a server would say is not missing
        done.stdout.no_fnmatch_line(f"*{fault}*")


def test_a_function_that_raises_is_told_with_its_line(folder):
    folder.write(
        "shop_bad.py", "def look(messages):\n    return {}['退货']\ndef reply(messages):\n    return look(0)\n"
    )
    text = (folder.folder / "promptreg.toml").read_text(encoding="utf-8")
    folder.write("promptreg.toml", f'{text}\n[deployments.app]\ncall = "shop_bad:reply"\n')
    done = folder.pytest("-rA", "--promptreg-target", "app", "-k", "refund")
    assert folder.outcomes(done) == {"suites/moved.yaml::refund": "error"}
    done.stdout.fnmatch_lines(
        ["error * “shop_bad:reply raised KeyError: '退货' (shop_bad.py:2)”. Correct the function*"]
    )
    done.stdout.no_fnmatch_line("*F48*")

"""The fixture `promptreg`: answers of the user's own application against the baseline, inside ordinary tests."""

from __future__ import annotations

import json

import pytest

CASE = "suites/moved.yaml::refund"


@pytest.fixture
def golden(folder):
    """The recorded answers of `refund`, and the folder's Python tests run with them as `GOLDEN`."""
    lines = (folder.folder / "baselines/moved/gpu.jsonl").read_text(encoding="utf-8").splitlines()
    answers = next(json.loads(line) for line in lines[1:] if json.loads(line)["case_id"] == "refund")["answers"]
    return [answer["answer"]["content"] for answer in answers]


@pytest.fixture
def python(folder, golden):
    """Runs a test file with the fixture; the deployments are gone."""

    def run(body, *arguments):
        folder.write("test_app.py", f"import pytest\nGOLDEN = {golden!r}\n{body}")
        return folder.pytest("-rA", *arguments, "test_app.py")

    return run


def test_a_recorded_answer_passes_and_says_so(folder, python):
    done = python(
        "def test_refund(promptreg):\n"
        "    found = promptreg.compare('moved/refund', GOLDEN[0])\n"
        "    assert found.verdict == 'pass'\n"
        "    message = {'role': 'assistant', 'content': GOLDEN[0] + ' OK'}\n"
        "    assert promptreg.compare('refund', message).verdict == 'changed'\n"
    )
    assert folder.outcomes(done) == {"test_app.py::test_refund": "passed"}
    done.stdout.fnmatch_lines(["Answers that Python tests compared: 2 (1 changed, 1 pass)"])


def test_another_meaning_given_often_enough_is_drift(folder, python):
    done = python(
        "def test_refund(promptreg):\n    promptreg.compare('refund', *['Ask the shop next door, please.'] * 3)\n"
    )
    assert folder.outcomes(done) == {"test_app.py::test_refund": "failed"}
    done.stdout.fnmatch_lines(["drift * moved/refund: *", "asked: *", "*{+Ask the shop*"])
    done.stdout.no_fnmatch_line("*Traceback*")
    done.stdout.no_fnmatch_line("again: *")


@pytest.mark.parametrize(("answers", "outcome"), [(1, "failed"), (3, "failed")])
def test_a_check_that_all_recorded_answers_pass(folder, python, answers, outcome):
    path = folder.folder / "suites/moved.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace('"checks": []', '"checks": [{"contains": "received"}]'))
    done = python(f"def test_refund(promptreg):\n    promptreg.compare('refund', *['No number came.'] * {answers})\n")
    assert folder.outcomes(done) == {"test_app.py::test_refund": outcome}
    done.stdout.fnmatch_lines(["*contains: received*"])
    assert ("smoke test" in done.stdout.str()) == (answers == 1)


def test_a_case_in_code_is_held_against_the_golden_of_its_request(folder, python):
    done = python(
        "def test_refund(promptreg):\n"
        "    question = 'How many days do I have to return a book?'\n"
        "    case = promptreg.case('refund', question, suite='moved', temperature=0.7)\n"
        "    assert promptreg.compare(case, GOLDEN[0]).verdict == 'pass'\n"
        "def test_unknown(promptreg):\n"
        "    promptreg.compare(promptreg.case('other', 'What else?'), 'x')\n"
        "def test_by_its_checks(promptreg):\n"
        "    case = promptreg.case('other', 'What else?', checks=[{'contains': 'x'}, 'not_refusal'])\n"
        "    found = promptreg.compare(case, 'x')\n"
        "    assert (case.id, found.verdict, found.p_value) == ('other', 'pass', None)\n"
        "    assert found.sentence.startswith('By its checks alone: 2 checks hold for all 1 given.')\n"
        "def test_unknown_and_wrong(promptreg):\n"
        "    promptreg.compare(promptreg.case('other', 'What else?', checks=[{'contains': 'x'}]), 'y')\n"
    )
    assert folder.outcomes(done) == {
        "test_app.py::test_refund": "passed",
        "test_app.py::test_by_its_checks": "passed",
        "test_app.py::test_unknown_and_wrong": "failed",
    }
    assert done.parseoutcomes()["skipped"] == 1
    done.stdout.fnmatch_lines(["*Check contains: x fails for 1 of 1 given answers.*"])
    done.stdout.fnmatch_lines(["SKIPPED * new: code/other: *record --top-up*"])
    done.stdout.fnmatch_lines(["Answers that Python tests compared: 4 (1 fail, 1 new, 1 pass, 1 pass by checks alone)"])


def test_a_check_that_could_not_score_is_no_pass(folder, python):
    folder.project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
    folder.project.deployment("ascend", "http://127.0.0.1:9/v1", role="target")
    folder.project.section("judging", embedder="letters")
    done = python(
        "def test_unknown(promptreg):\n"
        "    check = {'judge': {'by': 'gpu', 'rubric': 'It is polite.'}}\n"
        "    promptreg.compare(promptreg.case('other', 'What else?', checks=[check]), 'x')\n",
        "--promptreg-no-calls",
    )
    assert done.parseoutcomes() == {"failed": 1}
    done.stdout.fnmatch_lines(["error * code/other: Not judged: *scored only 0 of 1 given answers.*"])


def test_answers_may_be_compared_in_threads_and_in_a_loop(folder, python):
    done = python(
        "import asyncio\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def test_threads(promptreg):\n"
        "    with ThreadPoolExecutor(4) as pool:\n"
        "        found = list(pool.map(lambda _: promptreg.compare('refund', GOLDEN[0]).verdict, range(8)))\n"
        "    assert found == ['pass'] * 8\n"
        "def test_loop(promptreg):\n"
        "    async def ask():\n"
        "        return await asyncio.to_thread(promptreg.compare, 'refund', GOLDEN[0])\n"
        "    assert asyncio.run(ask()).verdict == 'pass'\n"
        "def test_drift(promptreg):\n"
        "    with ThreadPoolExecutor(1) as pool:\n"
        "        pool.submit(promptreg.compare, 'refund', *['Ask the shop next door.'] * 3).result()\n"
    )
    assert done.parseoutcomes() == {"passed": 2, "failed": 1}
    done.stdout.fnmatch_lines(["Answers that Python tests compared: 10 (1 drift, 9 pass)", "FAILED *drift: moved/*"])


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("promptreg.compare('refnd', 'x')", "*There is no case 'refnd' in the project's suites.*refund*"),
        ("promptreg.compare('refund')", "*compare() needs an answer*"),
        ("promptreg.compare('refund', 7)", "*What was given as an answer cannot be read: it returned int*"),
        ("promptreg.case('a', 'b', checks=['contans'])", "*There is no check `contans`.*contains*"),
        ("promptreg.case('a', 'b', temprature=1)", "*temprature*temperature*"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(python, call, told):
    done = python(f"def test_refund(promptreg):\n    {call}\n")
    assert done.parseoutcomes()["failed"] == 1
    done.stdout.fnmatch_lines([told])


def test_each_case_in_turn_with_stable_ids_and_marks(folder, python):
    body = (
        "def test_reply(promptreg, promptreg_case):\n"
        "    assert promptreg_case.request.messages[0]['role'] == 'user'\n"
        "    promptreg.compare(promptreg_case, *['Nonsense about cats.'] * 3)\n"
    )
    done = python(body)
    names = ["test_app.py::test_reply[moved/refund]", "test_app.py::test_reply[moved/gift]"]
    assert sorted(folder.outcomes(done)) == sorted(names)
    assert list(folder.outcomes(python(body, "-m", "policy", "--strict-markers"))) == names[:1]
    assert list(folder.outcomes(python(body, "--promptreg-select", "id:gift"))) == names[1:]


def test_without_the_option_such_tests_are_skipped(folder):
    folder.write(
        "test_app.py",
        "def test_one(promptreg):\n    assert False\ndef test_two(promptreg_case, promptreg):\n    assert False\n",
    )
    done = folder.bare("-rs", "test_app.py")
    assert done.parseoutcomes() == {"skipped": 2}
    done.stdout.fnmatch_lines(["SKIPPED *needs --promptreg*"])


def test_workers_send_their_counts(folder, python):
    done = python(
        "@pytest.mark.parametrize('number', range(4))\n"
        "def test_refund(promptreg, number):\n"
        "    promptreg.compare('refund', GOLDEN[0])\n",
        "-p",
        "xdist.plugin",
        "-n",
        "2",
    )
    assert done.parseoutcomes() == {"passed": 4}
    done.stdout.fnmatch_lines(["Answers that Python tests compared: 4 (4 pass)"])


def test_nothing_is_written_to_the_baseline(folder, python):
    before = (folder.folder / "baselines/moved/gpu.jsonl").read_bytes()
    python("def test_refund(promptreg):\n    promptreg.compare('refund', *['Nonsense about cats.'] * 3)\n")
    assert (folder.folder / "baselines/moved/gpu.jsonl").read_bytes() == before

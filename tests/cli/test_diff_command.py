"""promptreg diff: two stored comparisons, which cases changed their verdict, and what changed between the runs."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from promptreg.cli.schema import schema_of
from promptreg.store.reviews import ShownCase
from promptreg.store.runs import RunSpec
from promptreg.store.store import Store


def spec(**fields):
    return RunSpec(**{"kind": "compare", "deployment": "ascend", "model": "m", "passes": 5, "seed": 0, **fields})


def shown(case_id, verdict, *, suite="support", severity=1.0, golden="g", **fields):
    said = {"sentence": f"{case_id} is {verdict}.", "sentence_zh": f"{case_id} 为 {verdict}。", **fields}
    return ShownCase(suite, case_id, "gpu", "ascend", verdict, severity, golden, f"c-{case_id}-{verdict}", **said)


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """A function that stores judged runs, given as lists of shown cases, and gives their ids; and a way to diff."""
    (tmp_path / "promptreg.toml").write_text('[deployments.gpu]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n')
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    def store_runs(*runs, **fields):
        ids = []
        with Store.open(tmp_path / ".promptreg" / "store.db") as store:
            for run in runs:
                cases, own = run if isinstance(run, tuple) else (run, {})
                ids.append(store.start_run(spec(**{**fields, **own})))
                store.update_run(ids[-1], state="done", verdict=own.get("verdict", "EQUIVALENT") if own else "DRIFT")
                store.show(ids[-1], cases)
        return ids

    store_runs.folder = tmp_path
    return store_runs


@pytest.fixture
def diff(stored):
    from promptreg.testing import Project

    project = Project(stored.folder)

    def diff(*arguments):
        return project.run("diff", *arguments)

    return diff


TWO = (
    [shown("a", "pass"), shown("b", "fail"), shown("c", "drift"), shown("d", "pass"), shown("old", "pass")],
    [shown("a", "fail"), shown("b", "pass"), shown("c", "drift"), shown("d", "changed"), shown("fresh", "pass")],
)


def test_the_sentence_comes_first_and_counts_every_kind(stored, diff):
    stored(*TWO)
    done = diff("latest~1", "latest")
    assert done.exit_code == 1, done.stderr
    first, *rest = done.stdout.splitlines()
    assert first == "1 case newly fails, 1 is fixed, 1 still fails, 1 is new, 1 is no longer compared, 1 as before."
    assert "  support/a: pass → fail. a is fail." in rest
    assert [line.split(" (")[0] for line in rest if re.fullmatch(r"[A-Z].* \(\d+\)", line)] == [
        "Newly failing",
        "Still failing",
        "Fixed",
        "Compared for the first time",
        "No longer compared",
    ]


def test_chinese(stored, diff, monkeypatch):
    stored(*TWO)
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    done = diff("latest~1", "latest")
    assert done.stdout.splitlines()[0] == (
        "1 个用例新出现失败，1 个已修复，1 个仍然失败，1 个是新的，1 个不再比较，1 个与之前相同。"
    )
    assert "  support/a：pass → fail。a 为 fail。" in done.stdout.splitlines()


def test_nothing_newly_failing_exits_with_0(stored, diff):
    stored(TWO[1], TWO[1])
    done = diff("latest~1", "latest")
    assert done.exit_code == 0
    assert done.stdout.startswith("No case newly fails, 2 still fail, 3 as before.\n")
    assert diff("latest~1", "latest", "-q").stdout == "No case newly fails, 2 still fail, 3 as before.\n"


def test_the_table_counts_verdicts_of_both_runs(stored, diff):
    stored(*TWO)
    lines = diff("latest~1", "latest").stdout.splitlines()
    at = lines.index("Verdicts, of A down, of B across:")
    table = [line.split() for line in lines[at + 1 : at + 6]]
    assert table == [
        ["pass", "changed", "drift", "fail", "–"],
        ["pass", "·", "1", "·", "1", "1"],
        ["drift", "·", "·", "1", "·", "·"],
        ["fail", "1", "·", "·", "·", "·"],
        ["–", "1", "·", "·", "·", "·"],
    ]


def test_the_json_is_as_its_schema_says_and_goes_to_a_file_too(stored, diff):
    old, new = stored(*TWO)
    done = diff(old, new, "--json", "-o", "out/新 diff.json")
    assert done.exit_code == 1
    jsonschema.validate(done.json, schema_of("run-diff"))
    assert (stored.folder / "out" / "新 diff.json").read_text(encoding="utf-8") == done.stdout
    assert done.json["counts"] == {
        "newly_failing": 1, "still_failing": 1, "waived": 0, "fixed": 1, "approved": 0, "unproven": 0,
        "new": 1, "gone": 1, "same": 1,
    }  # fmt: skip
    assert [(case["case_id"], case["change"]) for case in done.json["cases"]][:2] == [
        ("a", "newly_failing"),
        ("c", "still_failing"),
    ]
    assert (done.json["run_a"]["run_id"], done.json["run_b"]["run_id"]) == (old, new)


@pytest.mark.parametrize("name", ["diff", "diff.txt", "diff.md"])
def test_other_files_are_refused(stored, diff, name):
    stored(*TWO)
    done = diff("latest~1", "latest", "-o", name)
    assert done.exit_code == 2
    assert ".json" in done.stderr
    assert not (stored.folder / name).exists()


def test_what_changed_between_the_runs_stands_side_by_side(stored, diff):
    old = {"provenance": {"quantisation": "fp8"}, "options": {"select": None}}
    new = {"provenance": {"quantisation": "w8a8"}, "options": {"select": "tag:x"}, "server": "vllm-ascend"}
    stored((TWO[0], old), (TWO[0], new))
    done = diff("latest~1", "latest", "--json")
    assert done.json["settings"] == [
        {"group": "provenance", "name": "quantisation", "a": "fp8", "b": "w8a8"},
        {"group": "run", "name": "select", "a": None, "b": "tag:x"},
        {"group": "deployment", "name": "server", "a": None, "b": "vllm-ascend"},
    ]
    said = diff("latest~1", "latest").stdout
    assert "  quantisation: fp8 → w8a8\n" in said
    assert "  selection: – → tag:x\n" in said


def test_two_targets_are_told_apart(stored, diff):
    stored(TWO[0], (TWO[0], {"deployment": "ascend-b"}))
    assert diff("latest~1", "latest", "--json").json["settings"] == [
        {"group": "deployment", "name": "name", "a": "ascend", "b": "ascend-b"}
    ]


def test_goldens_that_moved_are_said(stored, diff):
    stored([shown("a", "fail")], [shown("a", "pass", golden="other")])
    done = diff("latest~1", "latest")
    assert "1 case was judged against another golden (support/a)." in done.stdout
    assert "[another golden]" in done.stdout


def test_suites_that_only_one_run_has_are_left_out_and_named(stored, diff):
    stored([shown("a", "pass"), shown("x", "fail", suite="only-a")], [shown("a", "pass")])
    done = diff("latest~1", "latest")
    assert done.exit_code == 0
    assert "Left out, since only one of the runs has it: only-a." in done.stdout


def test_one_suite_can_be_asked_for(stored, diff):
    both = [shown("a", "pass"), shown("x", "pass", suite="other")]
    stored(both, [shown("a", "fail"), shown("x", "pass", suite="other")])
    assert diff("latest~1", "latest", "--suite", "other").exit_code == 0
    assert diff("latest~1", "latest", "--suite", "support", "--suite", "other").exit_code == 1
    done = diff("latest~1", "latest", "--suite", "othr")
    assert done.exit_code == 2
    assert "`other`" in done.stderr


def test_runs_without_a_common_suite_are_an_error(stored, diff):
    stored([shown("a", "pass")], [shown("a", "pass", suite="b")])
    done = diff("latest~1", "latest")
    assert done.exit_code == 2
    assert "no suite in common" in done.stderr


def test_a_run_that_was_never_judged_says_how_it_is(stored, diff):
    first, _ = stored([], TWO[0])
    done = diff(first, "latest")
    assert done.exit_code == 2
    assert f"`promptreg report {first}`" in done.stderr


def test_names_of_runs(stored, diff):
    old, new = stored(*TWO)
    with Store.open(stored.folder / ".promptreg" / "store.db") as store:
        recording = store.start_run(spec(kind="record", deployment="gpu"))
    assert diff(old[:-1], new).exit_code == 1
    for names, said in {
        (old, old): "Both names mean",
        ("2", new): "3 runs begin with '2'",
        ("latest~2", new): "holds 2 comparisons",
        (recording, new): "recorded a baseline",
        ("", new): "no run ''",
        ("latest~", new): "no run 'latest~'",
        ("latest~99999999", new): "no run",
        ("\x1b[31mx", new): "no run",
    }.items():
        done = diff(*names)
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
        assert "\x1b" not in done.stderr


def test_hostile_texts_reach_no_terminal(stored, diff):
    hostile = "\x1b]0;x\x07<img src=x>\u202e\n# 退款"
    stored(
        ([shown(hostile, "pass")], {"provenance": {"image": hostile}}),
        ([shown(hostile, "fail", sentence=hostile, sentence_zh=hostile)], {"provenance": {hostile: "1"}}),
    )
    done = diff("latest~1", "latest")
    assert done.exit_code == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", done.stdout)
    assert json.loads(diff("latest~1", "latest", "--json").stdout)["cases"][0]["case_id"] == hostile


def test_long_lists_are_cut_unless_all_is_asked_for(stored, diff):
    names = [f"case-{number}" for number in range(14)]
    stored([shown(name, "pass") for name in names], [shown(name, "fail") for name in names])
    assert "… and 4 more; -v shows them all" in diff("latest~1", "latest").stdout
    everything = diff("latest~1", "latest", "-v").stdout
    assert all(f"support/{name}:" in everything for name in names)


def test_two_real_comparisons_are_told_with_their_answers_and_no_call(pair_of):
    pair = pair_of(target={"seed": 2})
    pair.project.suite("small", {"hours": "When do you open?"}, request={"temperature": 0.7})
    pair.record()
    pair.compare("--passes", "3")
    pair.target.becomes(pair.target.requests.chats() + 1, answers=["Cats and dogs like gardens."])
    pair.run("compare", "--passes", "3", "-q")
    pair.target.stop()
    done = pair.run("diff", "latest~1", "latest", "-o", "since.html")
    page = (pair.folder / "since.html").read_text(encoding="utf-8")
    assert '"since":{"en":' in page
    assert "Cats and dogs like gardens." in done.stdout
    told = pair.run("diff", "latest~1", "latest", "--json").json
    assert told["exit_code"] == done.exit_code
    assert {case["case_id"] for case in told["cases"]} == {*pair.questions, "hours"}
    # Of one suite the page shows that one, and what is stored of the other stays.
    pair.run("diff", "latest~1", "latest", "-o", "small.html", "--suite", "small")
    written = "".join(pair.decoded((pair.folder / "small.html").read_text(encoding="utf-8")))
    assert "When do you open?" in written
    assert not any(question in written for question in pair.questions.values())
    assert pair.run("diff", "latest~1", "latest", "--json").json == told

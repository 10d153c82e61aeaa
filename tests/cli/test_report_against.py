"""promptreg report --against: what became of each case since an earlier run, in every kind of report; names of runs."""

from __future__ import annotations

import csv
import json
import re

import pytest


@pytest.fixture
def three(pair_of):
    """A pair with three comparisons, the second of a target that answers nonsense; it and the ids, oldest first."""
    pair = pair_of(target={"seed": 2})
    pair.record()
    ids = [pair.compare("--passes", "3")[1]["run_id"]]
    pair.target.becomes(pair.target.requests.chats() + 1, answers=["Cats and dogs like gardens."])
    ids.append(pair.compare("--passes", "3")[1]["run_id"])
    pair.target.becomes(pair.target.requests.chats() + 1, seed=5)
    ids.append(pair.compare("--passes", "3")[1]["run_id"])
    pair.target.stop()
    return pair, ids


def head_of(path):
    return json.loads(re.search(r'id="report-data">(.*?)</script>', path.read_text(encoding="utf-8"))[1])


def test_the_run_before_is_the_default_and_another_can_be_named(three):
    pair, ids = three
    assert pair.run("report", ids[2], "-o", "default.html").exit_code == 0
    head = head_of(pair.folder / "default.html")
    assert [run["run_id"] for run in head["history"]] == ids[:2]
    assert head["against"]["run_id"] == ids[1]
    assert {"drift", "fail"} & set(head["cases"]["columns"]["was"]["values"])
    done = pair.run("report", "latest", "--against", ids[0][:-1], "-o", "named.html")
    assert done.exit_code == 0, done.stderr
    assert head_of(pair.folder / "named.html")["against"]["run_id"] == ids[0]
    # The first run has none.
    assert pair.run("report", "latest~2", "-o", "first.html").exit_code == 0
    head = head_of(pair.folder / "first.html")
    assert (head["history"], head["against"], head["since"]) == ([], None, None)
    assert not {"was", "since", "trend"} & set(head["cases"]["columns"])
    # `compare` itself writes the trend.
    assert [run["run_id"] for run in head_of(pair.folder / "reports" / f"{ids[1]}.html")["history"]] == ids[:1]


def test_a_changed_check_is_told_before_the_difference(three):
    pair, ids = three
    (suite,) = (pair.folder / "suites").glob("*.yaml")
    text = suite.read_text(encoding="utf-8")
    suite.write_text(text.replace('"checks": []', '"checks": [{"max_chars": 9999}]'), encoding="utf-8")
    assert pair.run("report", ids[2], "-o", "again.html").exit_code in (0, 1)
    head = head_of(pair.folder / "again.html")
    assert head["since_notes"][0]["en"].startswith("Checks changed between the runs")
    done = pair.run("diff", ids[1], ids[2])
    assert done.stdout.startswith(
        "Checks changed between the runs, which alone can change verdicts: the check max_chars"
    )
    told = pair.run("diff", ids[1], ids[2], "--json").json
    assert {"a": None, "b": "max_chars: 9999"} in told["cases"][0]["checks"]
    assert pair.run("diff", ids[0], ids[1], "--json").json["cases"][0]["checks"] == []


def test_other_kinds_of_report_say_it_too_and_names_are_checked(three):
    pair, ids = three
    for suffix in ("md", "csv", "jsonl"):
        assert pair.run("report", "latest~1", "-o", f"r.{suffix}").exit_code == 0
    assert re.search(
        r"^Since the run of \d{4}-\d\d-\d\d \d\d:\d\d UTC on .*ascend.*: .*newly fail",
        (pair.folder / "r.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    with (pair.folder / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert "newly_failing" in {row["since"] for row in rows}
    lines = [json.loads(line) for line in (pair.folder / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(line["case_id"], line["was"], line["since"]) for line in lines} == {
        (row["case_id"], row["was"], row["since"]) for row in rows
    }
    assert all(len(line["earlier"]) == 1 for line in lines)
    recording = next(run["run_id"] for run in pair.run("runs", "--json").json["runs"] if run["kind"] == "record")
    for against, said in ((ids[2], "itself"), (recording, "recorded a baseline"), ("latest~7", "holds 3 comparisons")):
        done = pair.run("report", ids[2], "--against", against)
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    # Other commands take the same names.
    assert pair.run("runs", "latest", "--json").json["run_id"] == ids[2]
    assert pair.run("review", "list", "latest~1", "--json").json["run_id"] == ids[1]
    done = pair.run("compare", "--run", ids[0][:-1], "--json")
    assert done.json["run_id"] == ids[0]
    assert pair.run("runs", "2").exit_code == 2

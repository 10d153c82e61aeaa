"""promptreg report: the report of a stored run, written again without a call."""

from __future__ import annotations

import re
import shutil


def test_it_is_written_again_without_calls(pair):
    pair.record("--passes", "2")
    _, said = pair.compare("--passes", "2")
    first = pair.folder / said["report"]
    page = first.read_text(encoding="utf-8")
    first.unlink()
    pair.source.stop()
    pair.target.stop()
    done = pair.run("report", said["run_id"])
    assert done.exit_code == 0, done.stderr
    assert said["verdict"] in done.stdout
    assert f"Report: {said['report']}" in done.stdout
    again = first.read_text(encoding="utf-8")
    assert parts(pair, again) == parts(pair, page)


def parts(pair, page):
    """The report's data without the moment of its writing."""
    return [re.sub(r'"created_at":\s*"?[0-9.T:+Z-]+"?', "", text) for text in pair.decoded(page)[1:]]


def test_it_holds_every_answer_of_both_sides(pair):
    pair.record("--passes", "3")
    _, said = pair.compare("--passes", "1")
    data = "".join(pair.report_payload(said["run_id"])[1:])
    for side in (pair.baseline.read_text(encoding="utf-8"),):
        contents = set(re.findall(r'"content":"(.*?)"[,}]', side))
        assert len(contents) > 6
        assert not [content for content in contents if content not in data]
    assert "已收到您的问题" in data


def test_it_goes_to_another_file_and_exits_with_0_for_drift_too(pair_of):
    pair = pair_of(target={"answers": ["Cats and dogs like gardens."]})
    pair.record()
    code, said = pair.compare()
    assert code == 1
    done = pair.run("report", said["run_id"], "-o", "out/新的 报告.html", "-q")
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 1
    assert (pair.folder / "out" / "新的 报告.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_it_works_where_the_recording_was_made_on_another_machine(pair):
    pair.record("--passes", "2")
    shutil.rmtree(pair.folder / ".promptreg")
    code, said = pair.compare("--passes", "1")
    assert code == 3
    assert pair.run("report", said["run_id"]).exit_code == 0
    assert [run["kind"] for run in pair.run("runs", "--json").json["runs"]] == ["compare"]


def test_an_interrupted_comparison_is_reported_as_an_error(pair):
    pair.record("--passes", "2")
    pair.target.becomes(8, faults=["status_400"])
    code, said = pair.compare("--passes", "3")
    assert (code, said["verdict"]) == (4, "ERROR")
    done = pair.run("report", said["run_id"])
    assert done.exit_code == 0
    assert done.stdout.startswith("ERROR")


def test_details_can_be_left_out(pair):
    pair.record("--passes", "2")
    _, said = pair.compare("--passes", "1")
    done = pair.run("report", said["run_id"], "--details", "none", "-o", "small.html")
    assert done.exit_code == 0, done.stderr
    small = "".join(pair.decoded((pair.folder / "small.html").read_text(encoding="utf-8"))[1:])
    assert "已收到您的问题" in "".join(pair.report_payload(said["run_id"])[1:])
    assert "已收到您的问题" not in small


def test_a_report_that_cannot_be_written_loses_no_verdict(pair):
    pair.record("--passes", "2")
    folder = pair.folder / "reports"
    # Before the calls it would be refused; here it goes wrong while they are made.
    pair.target.requests.then[1] = lambda: folder.write_text("a file where a folder is needed", encoding="utf-8")
    done = pair.run("compare", "--passes", "1", "--json")
    assert done.exit_code == 4
    assert done.stdout == ""
    run_id = pair.run("runs", "--json").json["runs"][0]["run_id"]
    assert "The verdict is INCONCLUSIVE; the run is stored." in done.stderr
    assert f"promptreg report {run_id} -o PATH" in done.stderr
    assert pair.run("report", run_id, "-o", "elsewhere.html").exit_code == 0

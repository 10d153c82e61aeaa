"""What users get wrong: one clear sentence on stderr, no traceback, the right exit code, and nothing stored is lost."""

from __future__ import annotations

import errno
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import closing, contextmanager

import pytest
from sqlite_utils import Database

from promptreg.cli.app import run
from promptreg.store.connect import connect
from promptreg.store.migrations import MIGRATIONS, migrate

USAGE, FAILURE = 2, 4


def refused(done, code, *words):
    """The command ended with this code and one message that holds these words."""
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert "bug in promptreg" not in done.stderr
    assert done.stderr.count("Error:") == 1, done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    return done


def test_no_configuration(tmp_path, pair):
    empty = tmp_path / "空"
    empty.mkdir()
    project = type(pair.project)(empty)
    (pair.folder / "promptreg.toml").unlink()
    for command in (["record"], ["compare"], ["runs"], ["report", "x"]):
        refused(project.run(*command), USAGE, "promptreg.toml", "promptreg init")
    assert not list(empty.iterdir())


def test_a_configuration_that_does_not_exist(pair):
    refused(pair.run("record", "--config", "nowhere.toml"), USAGE, "nowhere.toml")


def test_an_unknown_deployment(pair):
    refused(pair.run("record", "--on", "gpuu"), USAGE, "gpuu", "gpu")
    refused(pair.run("compare", "--to", "ascent"), USAGE)
    refused(pair.run("compare", "--from", "gpuu"), USAGE, "gpuu", "gpu")
    assert not pair.source.requests + pair.target.requests


@pytest.mark.parametrize("option", ["-q", "-v", "--config", "--json"])
def test_an_option_before_the_command(pair, option):
    refused(pair.run(option, "record"), USAGE, f"{option} stands after the command, such as `promptreg record {option}")


def test_a_share_that_is_no_number(pair):
    for option in ("--alpha", "--fdr"):
        refused(pair.run("compare", option, "nan"), USAGE, option, "between 0 and 1")


def test_a_misspelt_parameter_of_a_deployment(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", request={"temprature": 0.1})
    refused(pair.run("record", "--passes", "1"), USAGE, "promptreg.toml:", "did you mean `temperature`?")
    assert not pair.source.requests


def test_an_unknown_embedder_costs_no_call(pair, real_embedder):
    pair.record("--passes", "1")
    config = (pair.folder / "promptreg.toml").read_text(encoding="utf-8")
    pair.project.write("promptreg.toml", config + '\n[judging]\nembedder = "usem4"\n')
    refused(pair.run("compare", "--passes", "1"), USAGE, "usem4", "usem3")
    assert not pair.target.requests


def test_output_that_cannot_be_written(pair):
    """A full disk behind `>`, and a stream that the caller closed, are no bugs of promptreg."""
    command = shlex.join(map(str, pair.project.command("schema")))
    full = subprocess.run(f"{command} > /dev/full", check=False, shell=True, capture_output=True, text=True, timeout=60)
    assert (full.returncode, full.stderr.count("Error:")) == (FAILURE, 1)
    assert "The output cannot be written: No space left on device." in full.stderr
    closed = subprocess.run(f"{command} >&-", check=False, shell=True, capture_output=True, text=True, timeout=60)
    assert (closed.returncode, closed.stderr) == (0, "")


def test_no_role(pair):
    config = (pair.folder / "promptreg.toml").read_text(encoding="utf-8")
    pair.project.write("promptreg.toml", config.replace('"source" = "gpu"', "").replace('"target" = "ascend"', ""))
    refused(pair.run("record"), USAGE, "source", "roles")


def test_a_key_variable_that_is_not_set(pair, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    pair.project.deployment("gpu", pair.source.base_url, role="source", api_key_env="NO_SUCH_KEY")
    refused(pair.run("record"), USAGE, "NO_SUCH_KEY", "gpu")
    assert not pair.source.requests


def test_nobody_listens(pair, closed_port):
    pair.project.deployment("gpu", f"http://127.0.0.1:{closed_port}/v1", role="source")
    done = refused(pair.run("record"), FAILURE, f"127.0.0.1:{closed_port}", "gpu")
    assert done.stdout == ""
    assert pair.run("runs", "--json").json["runs"] == []


def test_an_unknown_host(pair):
    pair.project.deployment("gpu", "http://nowhere.invalid:8000/v1", role="source")
    refused(pair.run("record"), FAILURE, "nowhere.invalid", "cannot be resolved")


def test_a_certificate_that_nobody_signed(pair_of, certificate, monkeypatch):
    pair = pair_of(source={"certificate": certificate})
    refused(pair.run("record", "--passes", "1"), FAILURE, "certificate", "ca_file", "verify = false")
    assert not pair.baseline.exists()
    pair.project.deployment("gpu", pair.source.base_url, role="source", verify=False)
    loud = pair.record("--passes", "1", "-q")
    assert loud.stderr.count("is not checked (verify = false)") >= 1
    assert "is not checked (verify = false)" in pair.header()["warnings"][0]
    shutil.copy(certificate[0], pair.folder / "our-ca.pem")
    pair.project.deployment("gpu", pair.source.base_url, role="source", ca_file="our-ca.pem")
    calm = pair.record("--passes", "1", "-q")
    assert calm.stderr == ""
    assert pair.header()["warnings"] == []


def test_http_where_https_is_spoken_and_the_other_way_round(pair_of, certificate):
    pair = pair_of(source={"certificate": certificate})
    pair.project.deployment("gpu", pair.source.base_url.replace("https:", "http:"), role="source", max_retries=0)
    assert pair.run("record", "--passes", "1").exit_code == FAILURE
    pair.project.deployment("gpu", pair.target.base_url.replace("http:", "https:"), role="source")
    refused(pair.run("record", "--passes", "1"), FAILURE, "http instead of https")


def test_a_wrong_model(pair):
    pair.project.deployment("gpu", pair.source.base_url, role="source", model="no-such-model")
    refused(pair.run("record"), FAILURE, "HTTP 404", "no-such-model", "`model`")
    assert len(pair.source.chats) < 60
    assert not pair.baseline.exists()


def test_a_wrong_key(pair_of, monkeypatch):
    pair = pair_of(source={"api_key": "made-up-right-key-1"})
    monkeypatch.setenv("GPU_KEY", "made-up-wrong-key-2")
    pair.project.deployment("gpu", pair.source.base_url, role="source", api_key_env="GPU_KEY")
    done = refused(pair.run("record"), FAILURE, "GPU_KEY", "401")
    assert "made-up-wrong-key-2" not in done.stderr + done.stdout


@pytest.mark.parametrize("fault", ["not_json", "gateway_page_200", "gateway_page"])
def test_answers_that_are_none(pair_of, fault):
    pair = pair_of(source={"faults": [fault]})
    pair.project.deployment("gpu", pair.source.base_url, role="source", max_retries=0)
    done = pair.run("record", "--passes", "1")
    assert done.exit_code == FAILURE
    assert "6 of 6 calls got no answer" in done.stderr
    assert "Traceback" not in done.stderr
    assert not pair.baseline.exists()


def test_a_gateway_page_instead_of_the_deployment(pair):
    async def gateway(scope, receive, send):
        page = b"<html><head><title>Please sign in</title></head><body></body></html>"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
        await send({"type": "http.response.body", "body": page})

    pair.source.app = gateway
    refused(pair.run("record"), FAILURE, "Please sign in", "base_url")


@pytest.mark.parametrize("text", ["suite: support\ncases: []\n", "", "suite: support\n"])
def test_an_empty_suite(pair, text):
    pair.project.write("suites/support.yaml", text)
    refused(pair.run("record"), USAGE, "support.yaml")
    assert not pair.source.requests


def test_no_suites(pair):
    refused(pair.run("record", "suites/nothing.yaml"), USAGE, "nothing.yaml")
    shutil.rmtree(pair.folder / "suites")
    refused(pair.run("record"), USAGE, "suites")


def test_every_problem_of_a_suite_is_told_at_once_and_nothing_is_sent(pair):
    pair.project.write(
        "suites/support.yaml",
        "suite: support\ncases:\n  - id: a\n    messages: [{user: hi}]\n    checks: [{contians: x}]\n"
        "  - id: a\n    messages: [{user: hi}]\n    request: {temprature: 1}\n",
    )
    done = pair.run("record")
    assert done.exit_code == USAGE
    assert "contains" in done.stderr
    assert "temperature" in done.stderr
    assert re.search(r"support\.yaml:\d+", done.stderr)
    assert not pair.source.requests


def test_no_baseline_yet(pair):
    refused(pair.run("compare"), USAGE, "has no baseline of deployment 'gpu'", "promptreg record --on gpu")
    assert not pair.target.requests


def test_a_baseline_line_that_was_cut(pair):
    pair.record("--passes", "1")
    text = pair.baseline.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    pair.baseline.write_text("".join(lines[:2]) + lines[2][: len(lines[2]) // 2], encoding="utf-8", newline="")
    refused(pair.run("compare"), USAGE, "gpu.jsonl:3", "git")
    assert not pair.target.requests
    assert len(pair.run("runs", "--json").json["runs"]) == 1


def test_a_baseline_with_a_merge_conflict(pair):
    pair.record("--passes", "1")
    text = pair.baseline.read_text(encoding="utf-8")
    pair.baseline.write_text(text.replace("\n", "\n<<<<<<< HEAD\n", 1), encoding="utf-8", newline="")
    refused(pair.run("compare"), USAGE, "gpu.jsonl:2", "merge conflict")


def test_a_store_of_a_newer_version(pair):
    pair.record("--passes", "1")
    path = pair.folder / ".promptreg" / "store.db"

    def m999_of_tomorrow(db):
        db.create_table("tomorrow", {"id": int})

    with closing(connect(path)) as connection:
        migrate(Database(connection), path, (*MIGRATIONS, m999_of_tomorrow))
    before = path.read_bytes()
    for command in (["record"], ["compare"], ["runs"]):
        refused(pair.run(*command), FAILURE, "newer", "store.db", "Upgrade")
    assert path.read_bytes() == before
    assert len(pair.source.chats) == 6


def test_a_store_that_is_none(pair):
    pair.project.write(".promptreg/store.db", "this is a text and not a database " * 100)
    refused(pair.run("record"), FAILURE, "store.db", "not a store of promptreg")
    assert not pair.source.requests


def test_unknown_runs(pair):
    refused(pair.run("runs"), FAILURE, "no store", "promptreg record")
    pair.record("--passes", "1")
    for command in (["runs", "nope"], ["report", "nope"], ["compare", "--run", "nope"]):
        refused(pair.run(*command), USAGE, "'nope'", "promptreg runs")
    run_id = pair.run("runs", "--json").json["runs"][0]["run_id"]
    refused(pair.run("report", run_id), USAGE, "recorded a baseline")


@pytest.mark.parametrize("blocked", [".promptreg", "baselines", "reports"])
def test_a_file_where_a_folder_is_needed(pair, blocked):
    if blocked == "reports":
        pair.record("--passes", "1")
    pair.project.write(blocked, "a file")
    done = refused(pair.run("compare" if blocked == "reports" else "record", "--passes", "1"), FAILURE, blocked)
    assert (pair.folder / blocked).read_text(encoding="utf-8") == "a file"
    if blocked == ".promptreg":
        assert not pair.source.requests
        return
    if blocked == "reports":
        assert not pair.target.requests
        (pair.folder / blocked).unlink()
        assert pair.run("compare", "--passes", "1").exit_code == 3
        return
    runs = pair.run("runs", "--json").json["runs"]
    assert runs[0]["answered"] == 6
    (pair.folder / blocked).unlink()
    pair.source.stop()
    assert "--resume" in done.stderr
    assert pair.run("record", "--passes", "1", "--resume").exit_code == 0
    assert pair.baseline.exists()


@contextmanager
def mounted(folder, *options):
    """A file system of its own, for root only."""
    if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("only root can mount")
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_under_the_store(pair_of, tmp_path):
    folder = tmp_path / "full"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=640k", "tmpfs"):
        long = os.urandom(30_000).hex()
        pair = pair_of(folder=folder, source={"answers": [long], "chunk_tokens": 10_000, "noise": {}})
        pair.project.deployment("gpu", pair.source.base_url, role="source", concurrency=1)
        done = refused(pair.run("record", "--passes", "4"), FAILURE, "disk is full", "store.db", "--resume")
        assert done.stdout == ""
        subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True)
        (run,) = pair.run("runs", "--json").json["runs"]
        assert 0 < run["answered"] < 24
        pair.source.requests.clear()
        assert pair.run("record", "--resume", "--passes", "4").exit_code == 0
        assert len(pair.source.chats) == 24 - run["answered"]
        assert pair.baseline.exists()


def test_a_full_disk_under_a_store_that_is_only_read(pair_of, tmp_path):
    folder = tmp_path / "full"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=4m", "tmpfs"):
        pair = pair_of(folder=folder)
        pair.record("--passes", "1")
        _, said = pair.compare("--passes", "1")
        report = folder / said["report"]
        page = report.read_bytes()
        lines = pair.case_lines()
        filler = fill(folder)
        refused(pair.run("report", said["run_id"]), FAILURE, "disk is full", "store.db")
        assert report.read_bytes() == page
        filler.unlink()
        assert pair.run("report", said["run_id"]).exit_code == 0
        assert pair.case_lines() == lines


@pytest.mark.parametrize("name", ["reports", "baselines/support"])
def test_a_full_disk_under_reports_or_baselines_only(pair, name):
    pair.record("--passes", "1")
    _, said = pair.compare("--passes", "1")
    folder = pair.folder / name
    shutil.rmtree(folder)
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=64k", "tmpfs"):
        pair.project.write(f"{name}/old", "old")
        filler = fill(folder)
        command = ["report", said["run_id"]] if name == "reports" else ["record", "--passes", "1"]
        refused(pair.run(*command), FAILURE, "No space left", name)
        assert sorted(path.name for path in folder.iterdir()) == ["filler", "old"]
        subprocess.run(["mount", "-o", "remount,size=4m", str(folder)], check=True)
        filler.unlink()
        assert pair.run(*command, *(["--resume"] if command[0] == "record" else [])).exit_code == 0


def fill(folder):
    """A file that takes all the room that is left."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError as error:
            assert error.errno == errno.ENOSPC  # noqa: PT017 - the loop ends by the error
    return filler


@contextmanager
def read_only(folder):
    """Nothing can be written in the folder: by its modes, or for root, who may ignore them, by a mount."""
    if os.name == "posix" and os.geteuid() == 0:
        with mounted(folder, "--bind", str(folder)):
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
            yield
        return
    places = [folder, *folder.rglob("*")]
    modes = [place.stat().st_mode for place in places]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        yield
    finally:
        for place, mode in zip(places, modes, strict=True):
            place.chmod(mode)


def test_a_read_only_project(pair_of, tmp_path):
    folder = tmp_path / "read-only"
    folder.mkdir()
    pair = pair_of(folder=folder)
    pair.record("--passes", "1")
    with read_only(folder):
        lines = pair.case_lines()
        refused(pair.run("record", "--passes", "1"), FAILURE, "store.db")
        assert pair.case_lines() == lines
        shown = pair.run("runs")
        assert shown.exit_code in {0, FAILURE}
        assert "Traceback" not in shown.stderr


def test_chinese_names_of_files_and_folders(pair_of, tmp_path):
    pair = pair_of(folder=tmp_path / "项目 一")
    (pair.folder / "suites" / "support.yaml").rename(pair.folder / "suites" / "客服 测试.yaml")
    text = (pair.folder / "suites" / "客服 测试.yaml").read_text(encoding="utf-8")
    pair.project.write("suites/客服 测试.yaml", text.replace('"suite": "support"', '"suite": "客服"'))
    pair.project.deployment("显卡", pair.source.base_url, role="source")
    pair.project.deployment("昇腾", pair.target.base_url, role="target")
    pair.record("suites/客服 测试.yaml", "--passes", "1")
    assert (pair.folder / "baselines" / "客服" / "显卡.jsonl").exists()
    code, said = pair.compare("--passes", "1", "--html", "报告.html")
    assert (code, said["report"]) == (3, "报告.html")
    assert "客服" in pair.run("runs").stdout


@pytest.mark.parametrize("encoding", ["cp1252", "gbk", "ascii"])
def test_a_console_with_a_code_page(pair, encoding, monkeypatch):
    pair.record("--passes", "1")
    _, said = pair.compare("--passes", "1")
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding=encoding) for _ in range(2))
    monkeypatch.chdir(pair.folder)
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert run(["compare", "--run", said["run_id"], "-v"]) == 3
    out.flush()
    err.flush()
    assert err.buffer.getvalue() == b""
    told = out.buffer.getvalue().decode(encoding)
    assert told.startswith("INCONCLUSIVE  support: ")
    assert ("报告" if encoding == "gbk" else r"\u62a5\u544a") in told


def test_a_system_without_utf8(pair):
    """PYTHONUTF8=0, the C locale and a code page: files are UTF-8 all the same, and the console shows escapes."""
    pair.project.suite("support", {"退货": "可以退货吗？"})
    pair.record("--passes", "1")
    lines = pair.case_lines()
    pair.source.stop()
    pair.source.start()
    env = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = pair.project.run_process("record", "--passes", "1", env=env)
    assert done.exit_code == 0, done.stderr
    assert pair.case_lines() == lines
    assert r"1 pass \u2192 baselines/support/gpu.jsonl" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["record", "--passes", "0"],
        ["record", "--passes", "many"],
        ["record", "--nosuch"],
        ["compare", "--alpha", "2"],
        ["compare", "--select", "tag:("],
        ["report"],
        ["report", "some-run", "-o", "report.docx"],
        ["compare", "--run", "some-run", "--passes", "3"],
        ["compare", "--run", "some-run", "--dry-run"],
        ["compare", "--run", "some-run", "--resume", "--to", "gpu"],
    ],
)
def test_impossible_options(pair, arguments):
    done = pair.run(*arguments)
    assert done.exit_code == USAGE
    assert done.stderr
    assert "Traceback" not in done.stderr
    assert not pair.source.requests

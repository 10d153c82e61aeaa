"""docs/extending.md is run as it is printed: the hooks, the suite, the captured response, and what the command says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from promptreg.testing import Project, SimulatedServer

PAGE = (Path(__file__).parents[2] / "docs/extending.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([^`\n]+)`:\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
CONSOLE = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
HELP = "https://shop.example/help/"
GOOD = [
    {"match": "LH-204518", "answers": [f"Your order LH-204518 is on its way: {HELP}track"]},
    {"match": "退货", "answers": [f"请按 {HELP}returns 的说明寄回。"]},
]
WORSE = [
    {"match": "LH-204518", "answers": [f"Your order LH204518 is on its way, see orders-2.shop.internal or {HELP}news"]},
    {"match": "退货", "answers": [f"请按 {HELP}news 的说明寄回。"]},
]


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, {"promptreg.toml": "", **FILES})


def test_the_page_prints_what_is_needed():
    assert set(FILES) == {"promptreg_hooks.py", "suites/orders.yaml", "captured.jsonl"}
    assert len(CONSOLE) == 1


@pytest.mark.parametrize(("line", "printed"), CONSOLE)
def test_the_commands_print_what_the_page_says(project, line, printed):
    program, *arguments = shlex.split(line)
    assert program == "promptreg"
    done = project.run_process(*arguments, env={"LC_ALL": "C.UTF-8", "COLUMNS": "100"})
    assert done.exit_code == 1
    assert _lines(done.stdout) == _lines(printed)


def test_the_chinese_reader_gets_the_chinese_sentences(project):
    done = project.run_process("diagnose", "captured.jsonl", env={"LC_ALL": "zh_CN.UTF-8", "COLUMNS": "120"})
    assert "回答中出现内部地址" in done.stdout
    assert "下一步：在系统提示词和工具结果中查找该地址。" in done.stdout


def test_compare_judges_by_the_check_the_channel_and_the_fault_of_the_page(project, monkeypatch):
    for module in ("compare", "baselines.recording_check"):
        monkeypatch.setattr(f"promptreg.workflow.{module}.load_embedder", lambda *_: _Same())
    project.section("plan", record_passes=10, compare_passes=5)
    with SimulatedServer(rules=GOOD) as source, SimulatedServer(rules=WORSE) as target:
        project.deployment("gpu", source.base_url, role="source")
        project.deployment("ascend", target.base_url, role="target")
        assert project.run("record").exit_code == 0
        done = project.run("compare", "--json")
    assert done.exit_code == 1, done.stderr
    (suite,) = done.json["suites"]
    cases = {case["case_id"]: case for case in suite["cases"]}
    check, freedom = cases["status"]["checks"]
    assert (freedom["check"], freedom["target_rate"]) == ("free of X-internal-address", 0.0)
    assert (check["check"], check["source_rate"], check["target_rate"]) == ("order_number: LH", 1.0, 0.0)
    assert all(cases[name]["channels"]["links"]["z"] > 2 for name in ("status", "returns"))
    assert "X-internal-address" in {fault["kind"] for fault in cases["status"]["faults"]}
    assert "X-internal-address" not in {fault["kind"] for fault in cases["returns"]["faults"]}


def test_a_wrong_argument_is_told_with_its_line_before_any_call(project):
    project.write("suites/orders.yaml", FILES["suites/orders.yaml"].replace("order_number: LH", "order_number: lh"))
    project.deployment("gpu", "http://127.0.0.1:9/v1", role="source")
    done = project.run("record")
    assert done.exit_code == 2
    assert "suites/orders.yaml:4: `order_number` needs the two capital letters" in done.stderr


def test_doctor_says_what_is_registered(project):
    told = project.run("doctor", "--no-network").stdout
    assert "checks order_number; channels links; faults X-internal-address" in " ".join(told.split())


class _Same:
    """Every text means the same: what is found, the page's own code finds."""

    name = "same"

    def encode(self, texts):
        import numpy as np

        return np.tile(np.array([1.0, 0.0], dtype=np.float32), (len(texts), 1))


def _lines(text):
    return [line.rstrip() for line in text.rstrip().splitlines()]

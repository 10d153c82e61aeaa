"""The words of `--dry-run`, in both languages."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.estimate import print_estimate
from promptreg.text.sentence import Sentence
from promptreg.workflow.running.estimate import Estimate

WHY = Sentence("the conversation cannot be shortened enough.", "对话无法缩短到窗口之内。")


def told(capsys, language, **fields):
    plain = {"suites": 1, "cases": 2, "passes": 3, "calls": 6, "prompt_tokens": 900, "answer_tokens": 60, "seconds": 2}
    print_estimate(Estimate("gpu", **{**plain, **fields}), language, as_json=False)
    return capsys.readouterr().out


def test_what_a_recording_would_cost(capsys):
    assert told(capsys, "en") == (
        "6 calls on gpu: 2 cases of 1 suite, 3 passes.\n"
        "About 900 prompt tokens and at most 60 answer tokens (estimated from the text), at most 2 s. "
        "Nothing was sent.\n"
    )
    assert told(capsys, "zh") == (
        "在 gpu 上调用 6 次：1 个测试集的 2 个用例，3 遍。\n"
        "提示词约 900 个 token，回答至多 60 个 token（按文本估算），至多需 2 秒。未发送任何请求。\n"
    )


def test_looks_and_judges_are_told(capsys):
    fields = {"looks": (3, 5), "judge_calls": {"lenient": 0, "strict": 1}, "seconds": 600}
    said = told(capsys, "en", **fields)
    assert "at most 10 min. A suite that clearly changed may stop after 3 passes. `judge` checks take at most" in said
    assert "1 call on strict beside them. Nothing was sent." in said
    assert "明显变化的测试集可能在 3 遍之后停止。`judge` 检查项另需至多：在 strict 上 1 次。" in told(
        capsys, "zh", **fields
    )


@pytest.mark.parametrize("number", [1, 7])
def test_cases_that_will_not_be_sent_are_named(capsys, number):
    unfitted = tuple((f"s/c{place}", WHY) for place in range(number))
    lines = told(capsys, "en", unfitted=unfitted).splitlines()
    assert lines[1].startswith("1 case cannot" if number == 1 else "7 cases cannot")
    assert lines[2] == "  s/c0: the conversation cannot be shortened enough."
    assert ("  … and 2 more" in lines) == (number == 7)
    assert "  s/c0：对话无法缩短到窗口之内。" in told(capsys, "zh", unfitted=unfitted)
    print_estimate(Estimate("gpu", 1, 2, 3, 6, 900, 60, 2.0, unfitted=unfitted[:1]), "en", as_json=True)
    assert json.loads(capsys.readouterr().out)["unfitted"] == [{"case": "s/c0", "why": WHY.en, "why_zh": WHY.zh}]

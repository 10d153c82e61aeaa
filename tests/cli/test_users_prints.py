"""What functions of the user's own print goes to standard error: standard output is for results."""

from __future__ import annotations

import json

import pytest

from promptreg.cli.app import run
from promptreg.context.trial.corpus import Shape, generate

NOISY = """
print("noise at import 噪声")

def last(messages, budget):
    print("noise in a call 噪声")
    return messages[-3:]

async def later(messages, budget):
    print("noise in a call 噪声")
    return messages[-3:]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"noisy_{tmp_path.name}.py").write_text(NOISY, encoding="utf-8")
    (recording,) = generate(1, 5, Shape(turns=20))
    line = {"id": "a", "messages": list(recording.messages)}
    (tmp_path / "talk.jsonl").write_text(json.dumps(line, ensure_ascii=False), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("function", ["last", "later"])
@pytest.mark.parametrize(
    "command",
    [
        "context fit talk.jsonl --window 2048 --reserve 256 --strategy {}",
        "context test talk.jsonl --window 2048 --reserve 256 --strategy {}",
        "context window talk.jsonl --from-window 32768 --to-window 2048 --reserve 256 --strategy {}",
    ],
)
def test_json_stays_alone_on_standard_output(folder, capsys, command, function):
    code = run([*command.format(f"function:noisy_{folder.name}:{function}").split(), "--json"])
    printed = capsys.readouterr()
    assert code in {0, 1}
    assert isinstance(json.loads(printed.out), dict)
    assert "noise at import 噪声" in printed.err
    assert "noise in a call 噪声" in printed.err

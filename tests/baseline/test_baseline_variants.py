"""`prompt_variants`: which pass of a varied case sent what."""

from __future__ import annotations

import json

import pytest

from promptreg.answer.model import Answer
from promptreg.baseline.model import Baseline, Header, golden_of
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import write_baseline
from promptreg.errors import BaselineError

SHA = "a" * 64
ANSWERS = {0: Answer("三十天"), 1: None, 2: Answer("三十天"), 3: Answer("30 days")}
VARIANTS = {3: "space", 0: "as_written", 2: "full_stop", 1: "space"}


@pytest.fixture
def path(tmp_path):
    header = Header("support", "gpu", "2026-12-01T00:00:00+00:00", "run", "m", 4)
    goldens = {"varied": golden_of("varied", SHA, ANSWERS, VARIANTS), "plain": golden_of("plain", SHA, ANSWERS)}
    path = tmp_path / "gpu.jsonl"
    write_baseline(path, Baseline(header, goldens))
    return path


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_they_are_written_by_variant_and_read_by_pass(path):
    _, plain, varied = lines(path)
    assert varied["prompt_variants"] == {"as_written": [0], "full_stop": [2], "space": [1, 3]}
    assert "prompt_variants" not in plain

    goldens = read_baseline(path).goldens
    assert goldens["varied"].variants == VARIANTS
    assert list(goldens["varied"].variants) == [0, 1, 2, 3]
    assert (goldens["varied"].noise, goldens["plain"].noise) == ("null-perturbation", "none")


def test_writing_what_was_read_changes_nothing(path):
    before = path.read_bytes()
    write_baseline(path, read_baseline(path))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("variants", "said"),
    [
        ({"space": [0, 1, 2]}, "does not name each of its passes once"),
        ({"space": [0, 1, 2, 3, 4]}, "does not name each of its passes once"),
        ({"space": [0, 1, 2, 3], "newline": [3]}, "does not name each of its passes once"),
        ({"tab": [0, 1, 2, 3]}, "prompt_variants"),
        ({"space": [-1]}, "prompt_variants"),
        ([], "prompt_variants"),
    ],
)
def test_damaged_ones_are_told_with_their_line(path, variants, said):
    header, plain, varied = lines(path)
    varied["prompt_variants"] = variants
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, plain, varied)), encoding="utf-8")
    with pytest.raises(BaselineError, match=said) as caught:
        read_baseline(path)
    assert f"{path}:3" in str(caught.value)

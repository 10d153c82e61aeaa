"""Suites drawn from recorded answers (tests/data/real_passes/), scored with the product's own channels."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from promptreg.answer.model import Answer
from promptreg.errors import Place
from promptreg.scoring.embedders.registry import DEFAULT_EMBEDDER, load_embedder
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import CaseScores, score_suite
from promptreg.suite.model import Case, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

KINDS = ("A/A", "target", "one case swapped", "a number +1 in 3 cases")


@dataclass(frozen=True, slots=True)
class Recording:
    """Recorded answers by prompt and pass, of a source and of a target deployment."""

    prompts: list[str]
    source: list[list[str]]
    target: list[list[str]]


def read_recording(path: Path) -> tuple[Recording, float]:
    """The recorded answers of a file in tests/data/real_passes/, and the temperature they were sampled at."""
    data = json.loads(path.read_text(encoding="utf-8"))
    source, target = ([[answer[0] for answer in answers] for answers in data[side]] for side in ("source", "target"))
    return Recording(data["prompts"], source, target), data["temperature"]


def draw_recorded(recording: Recording, kind: str, m: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    """Ten golden passes and m replay passes drawn without replacement, with a planted change where the kind says so."""
    draw = random.Random(f"{seed} {kind} {m}")
    prompts = range(len(recording.prompts))
    passes = draw.sample(range(len(recording.source[0])), 10 + m)
    golden = [[recording.source[k][p] for p in passes[:10]] for k in prompts]
    replies = [[recording.source[k][p] for p in passes[10:]] for k in prompts]
    if kind == "target":
        passes = draw.sample(range(len(recording.target[0])), m)
        replies = [[recording.target[k][p] for p in passes] for k in prompts]
    elif kind == "one case swapped":
        first, second = draw.sample(prompts, 2)
        replies[first] = list(replies[second])
    elif kind == "a number +1 in 3 cases":
        able = [k for k in prompts if all(re.search("[0-9]", text) for text in golden[k][:3])]
        for k in draw.sample(able, 3):
            replies[k] = [
                re.sub("[0-9]+", lambda found: str(int(found.group()) + 1), text, count=1) for text in replies[k]
            ]
    return golden, replies


class VectorCache:
    """Vectors kept in memory between suites."""

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embeddings(self, model: str, hashes: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Those that are known."""
        return {digest: self._vectors[model + digest] for digest in hashes if model + digest in self._vectors}

    def add_embeddings(self, model: str, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep vectors."""
        self._vectors.update({model + digest: vector for digest, vector in vectors.items()})


class RecordedScorer:
    """Scores suites of recorded answers with the product's own channels."""

    def __init__(self) -> None:
        self._embedder, self._cache = load_embedder(DEFAULT_EMBEDDER), VectorCache()

    def __call__(self, golden: Sequence[Sequence[str]], replies: Sequence[Sequence[str]]) -> tuple[CaseScores, ...]:
        """Scores of one suite; case ids are the numbers of the prompts."""
        pairs = [
            CasePair(
                Case("recorded", f"case-{k:02}", Request((), {}), Place("recorded")),
                tuple(Answer(content=text, finish_reason="stop") for text in source),
                tuple(Answer(content=text, finish_reason="stop") for text in target),
            )
            for k, (source, target) in enumerate(zip(golden, replies, strict=True))
        ]
        return score_suite(pairs, root=Path(), embedder=self._embedder, cache=self._cache)

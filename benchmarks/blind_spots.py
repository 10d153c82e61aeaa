"""What each channel sees of a changed fact, against what it sees of a harmless rewording.

    python benchmarks/blind_spots.py
    python benchmarks/blind_spots.py tests/data/blind_spots/later_pairs.jsonl

The pairs are those of tests/data/blind_spots/pairs.jsonl, written before the rules that read facts (later_pairs.jsonl
were written after them): one sentence or short text twice, with one fact changed
(number, negation, unit, date, entity), or reworded without a change of meaning. For each kind, language and channel:

AUC   probability that a changed pair lies further apart than a reworded one, ties counted half: 1 sees it always, 0.5
      is blind, 0 takes every change for a harmless rewording
TPR   share of the changed pairs beyond the smallest distance that at most 5 % of the rewordings exceed
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from promptreg.answer.model import Answer
from promptreg.scoring.channels.edit import EditChannel
from promptreg.scoring.channels.embedding import EmbeddingChannel
from promptreg.scoring.channels.facts import FactChannel, FactOrderChannel, FactReader
from promptreg.scoring.channels.length import LengthChannel
from promptreg.scoring.channels.position import PositionChannel
from promptreg.scoring.embedders.registry import DEFAULT_EMBEDDER, load_embedder
from promptreg.text.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.channels.base import Channel

PAIRS = Path(__file__).parents[1] / "tests" / "data" / "blind_spots" / "pairs.jsonl"
BENIGN = "benign rewording"
KINDS = ("number changed", "negated", "unit changed", "date changed", "entity swapped")
LANGUAGES = ("en", "zh")


class Pair(NamedTuple):
    """Two texts, and what differs between them."""

    id: str
    lang: str
    kind: str
    a: str
    b: str


class Seen(NamedTuple):
    """How well a channel tells a kind of change from rewordings."""

    auc: float
    tpr: float


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """All pairs of a file."""
    return [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def fact_channels() -> tuple[Channel, ...]:
    """The channels that need no embedder."""
    reader = FactReader()
    return (*(FactChannel(name, reader) for name in ("numbers", "negation", "entities")), FactOrderChannel(reader))


def distances(channel: Channel, pairs: Sequence[Pair]) -> np.ndarray:
    """Distance of each pair on a channel, shape (P,)."""
    cases = [[Answer(normalise(pair.a)), Answer(normalise(pair.b))] for pair in pairs]
    channel.prepare(cases)
    return np.array([channel.distances(case)[0, 1] if channel.applies(case) else 0.0 for case in cases])


def seen(changed: np.ndarray, benign: np.ndarray) -> Seen:
    """AUC and TPR of one kind against the rewordings."""
    above = (changed[:, None] > benign[None, :]).mean() + 0.5 * (changed[:, None] == benign[None, :]).mean()
    limit = min(value for value in (0.0, *benign) if (benign > value).mean() <= 0.05)
    return Seen(float(above), float((changed > limit).mean()))


def table(channel: Channel, pairs: Sequence[Pair]) -> dict[tuple[str, str], Seen]:
    """By kind and language."""
    found = {}
    for lang in LANGUAGES:
        own = [pair for pair in pairs if pair.lang == lang]
        measured = distances(channel, own)
        kinds = np.array([pair.kind for pair in own])
        for kind in sorted(set(kinds) & set(KINDS)):
            found[kind, lang] = seen(measured[kinds == kind], measured[kinds == BENIGN])
    return found


def main() -> int:
    """Print the table."""
    pairs = read_pairs(Path(sys.argv[1]) if len(sys.argv) > 1 else PAIRS)
    channels: tuple[Channel, ...] = (
        *fact_channels(),
        EmbeddingChannel(load_embedder(DEFAULT_EMBEDDER)),
        EditChannel(),
        PositionChannel(),
        LengthChannel(),
    )
    counts = {lang: sum(pair.lang == lang and pair.kind == BENIGN for pair in pairs) for lang in LANGUAGES}
    print(f"{len(pairs)} pairs, of them rewordings: {counts}. AUC (TPR at 5 % false alarms)\n")
    print("| changed | language | " + " | ".join(channel.name for channel in channels) + " |")
    print("| --- " * (len(channels) + 2) + "|")
    tables = [table(channel, pairs) for channel in channels]
    for kind in KINDS:
        for lang in LANGUAGES:
            if (kind, lang) not in tables[0]:
                continue
            cells = [f"{each[kind, lang].auc:.2f} ({each[kind, lang].tpr:.2f})" for each in tables]
            print(f"| {kind} | {lang} | " + " | ".join(cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes embeddings.npz: the vectors of all answers of this folder, which take a minute to compute.

python tests/data/real_passes/embed.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from promptreg.scoring.embedders.universal import UniversalEmbedder

HERE = Path(__file__).parent


def texts() -> list[str]:
    """All distinct answers, in the order of the file's rows."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(HERE.glob("smollm2_*.json"))]
    return sorted(
        {answer[0] for file in files for side in ("source", "target") for row in file[side] for answer in row}
    )


if __name__ == "__main__":
    vectors = UniversalEmbedder().encode(texts())
    np.savez_compressed(HERE / "embeddings.npz", vectors=vectors.astype(np.float16))

"""POST /v1/embeddings of a simulated deployment: vectors that are the same at every call and on every machine."""

from __future__ import annotations

import math
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.deployment.simulated.script import Embeddings


def vector_of(text: str, dimensions: int) -> list[float]:
    """Pairs of letters, counted in `dimensions` places, scaled to length 1: texts that share words lie near."""
    counts = [0] * dimensions
    for first, second in zip(f" {text}", f"{text} ", strict=True):
        counts[zlib.crc32((first + second).encode("utf-8", "replace")) % dimensions] += 1
    length = math.sqrt(sum(count * count for count in counts))
    return [round(count / length, 6) for count in counts]


def embeddings_body(texts: Sequence[str], model: str, dimensions: int, fault: str | None) -> dict[str, Any]:
    """The body of a response, with the fault in its last vector; the entries come in reverse, as they may."""
    vectors: list[Any] = [vector_of(text, dimensions) for text in texts]
    match fault:
        case "one_short":
            vectors.pop()
        case "one_long":
            vectors.append(vectors[-1])
        case "wrong_length":
            vectors[-1] = vectors[-1][:-1]
        case "text":
            vectors[-1] = ["0.5"] * dimensions
        case "not_finite":
            vectors[-1] = [math.nan] * dimensions
        case "zero":
            vectors[-1] = [0.0] * dimensions
    data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
    tokens = sum(math.ceil(len(text) / 4) for text in texts)
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data[::-1], "model": model, "usage": usage}


def fault_of(script: Embeddings, request: int) -> str | None:
    """What goes wrong with a request, counted from 1."""
    return script.fault if script.at_most is None or request <= script.at_most else None

"""A project's `promptreg_hooks.py` with an embedder that costs nothing, where embeddings are not the matter."""

import zlib

import numpy as np


class Letters:
    name = "letters"

    def encode(self, texts):
        vectors = np.zeros((len(texts), 512), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for pair in zip(f" {text}", f"{text} ", strict=True):
                vector[zlib.crc32("".join(pair).encode("utf-8", "replace")) % 512] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def promptreg_embedders():
    return {"letters": Letters}

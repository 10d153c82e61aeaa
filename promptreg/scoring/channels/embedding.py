"""Channel: how far apart the answers are in meaning."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

import numpy as np

from promptreg.scoring.channels.base import Distances, over_distinct
from promptreg.text.segment import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from promptreg.answer.model import Answer
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache

WHOLE_UP_TO: Final = 400
"""A case whose answers all have at most so many characters is embedded text by text; otherwise sentence by sentence."""

_LONGEST_SENTENCE: Final = 400
_LONGEST_HALF: Final = 8_000
_BOLD: Final = re.compile(r"\*\*(?=[^\s*])([^*\n]{1,400})(?<=\S)\*\*")
# Rounding in the encoder: two vectors of one text differ by 1e-7, depending on what else was in the batch.
_ROUNDING: Final = 1e-6


class EmbeddingChannel:
    """Chord between the unit vectors of the contents: sqrt(2 − 2·cos), the root form that the energy statistic needs.

    Range 0 (same text) to 2, no unit; 0.6 is a cosine of 0.82, and sqrt 2 no relation. An empty content lies at sqrt 2
    from every other and at 0 from another empty one.

    Where an answer of a case is long, all answers of that case are cut into sentences, and the vector of an answer is
    the sum of its sentences' vectors, weighted by their characters. Such sums do not see the order of sentences. Of
    answers beyond 16 000 characters only the first and the last 8 000 are seen.

    Words in bold are embedded without their asterisks, which would move a short answer as far as another meaning does.

    Blind to what the embedder is blind to: numbers, negation, who does what to whom (statistics.md table 6).
    """

    name = "embedding"

    def __init__(self, embedder: Embedder, cache: EmbeddingCache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache
        self._vectors: dict[str, NDArray[np.float32]] = {}
        # Pieces of each text, by whether it is taken whole; kept because finding sentences takes long.
        self._cut: dict[tuple[bool, str], list[str]] = {}

    def prepare(self, cases: Sequence[Sequence[Answer]]) -> None:
        """Embed every distinct piece of text of all these cases: those that the cache lacks in one batched call.

        A case whose answers all have the same text needs no vector: its distances are 0.

        Vectors of earlier cases are dropped, so memory is bounded by the cases given at once.
        """
        self._cut = {}
        apart = (answers for answers in cases if len({answer.content for answer in answers}) > 1)
        wanted = dict.fromkeys(piece for answers in apart for piece in self._pieces_of_case(answers))
        known = {piece: vector for piece, vector in self._vectors.items() if piece in wanted}
        hashes = {piece: _sha256(piece) for piece in wanted if piece not in known}
        if self._cache is not None and hashes:
            stored = self._cache.embeddings(self._embedder.name, hashes.values())
            known |= {piece: stored[digest] for piece, digest in hashes.items() if digest in stored}
        missing = [piece for piece in hashes if piece not in known]
        if missing:
            fresh = self._embed(missing)
            dimensions = len(fresh[missing[0]])
            # A server was given another model under the old name: vectors of two models are never compared.
            stale = [piece for piece, vector in known.items() if len(vector) != dimensions]
            known |= fresh
            if stale:
                known |= self._embed(stale)
        self._vectors = known

    def _embed(self, pieces: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Fresh vectors, which are kept in the cache too."""
        fresh = dict(zip(pieces, self._embedder.encode(pieces), strict=True))
        if self._cache is not None:
            vectors = {_sha256(piece): vector for piece, vector in fresh.items()}
            self._cache.add_embeddings(self._embedder.name, vectors)
        return fresh

    def _pieces_of_case(self, answers: Sequence[Answer]) -> Iterator[str]:
        whole = _is_short(answers)
        for answer in answers:
            key = (whole, answer.content)
            if key not in self._cut:
                self._cut[key] = _pieces(answer.content, whole=whole)
                yield from self._cut[key]

    def applies(self, answers: Sequence[Answer]) -> bool:  # noqa: ARG002 - the protocol asks about the answers
        """Every answer has content, an empty one too."""
        return True

    def distances(self, answers: Sequence[Answer]) -> Distances:
        """See the class for the formula. Distances below 1e-6 are rounding and become 0."""
        whole = _is_short(answers)
        contents = [answer.content for answer in answers]
        try:
            return over_distinct(contents, lambda texts: self._chords(texts, whole=whole))
        except KeyError:
            # A case that was not prepared with others: its vectors are made now.
            self.prepare([answers])
            return over_distinct(contents, lambda texts: self._chords(texts, whole=whole))

    def _chords(self, texts: Sequence[str], *, whole: bool) -> Distances:
        units = np.array([_unit(self._vectors, self._cut[whole, text], self._dimensions) for text in texts])
        chords = np.sqrt(np.maximum(0.0, 2.0 - 2.0 * (units @ units.T)))
        # An empty text has no direction: its vector is zero, and the formula gives sqrt 2 to others already.
        empty = np.flatnonzero(np.logical_not(units.any(axis=1)))
        chords[np.ix_(empty, empty)] = 0.0
        chords[chords < _ROUNDING] = 0.0
        np.fill_diagonal(chords, 0.0)
        symmetric: Distances = np.maximum(chords, chords.T)
        return symmetric

    @property
    def _dimensions(self) -> int:
        return next((len(vector) for vector in self._vectors.values()), 1)


def _is_short(answers: Sequence[Answer]) -> bool:
    return all(len(answer.content) <= WHOLE_UP_TO for answer in answers)


def _pieces(text: str, *, whole: bool) -> list[str]:
    """What is embedded of a text: itself, or its sentences, none of them empty."""
    text = _BOLD.sub(r"\1", text) if "**" in text else text
    if whole:
        return [text] if text.strip() else []
    if len(text) > 2 * _LONGEST_HALF:
        text = text[:_LONGEST_HALF] + "\n" + text[-_LONGEST_HALF:]
    pieces = []
    for sentence in sentences(text):
        stripped = sentence.strip()
        pieces += [stripped[start : start + _LONGEST_SENTENCE] for start in range(0, len(stripped), _LONGEST_SENTENCE)]
    return pieces


def _unit(vectors: Mapping[str, NDArray[np.float32]], pieces: Sequence[str], dimensions: int) -> NDArray[np.float64]:
    """The weighted sum of the pieces' vectors scaled to length 1; zero when there is no piece."""
    if not pieces:
        return np.zeros(dimensions)
    weights = np.array([len(piece) for piece in pieces], dtype=np.float64)
    total: NDArray[np.float64] = weights @ np.array([vectors[piece] for piece in pieces], dtype=np.float64)
    length = float(np.linalg.norm(total))
    return total / length if length > 0 else total


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

"""Scoring as stages of Ray Data: which texts are wanted, their vectors, the scores. Each row is a block of cases.

The local engine hands each embedder lists of texts, block by block, without those that it has vectors of already. Here
the very same lists are handed over, only in many processes: a vector may depend, in its last digit, on what else was
in the list, and equal answers must give equal bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import ray.data

from promptreg.errors import PromptregError
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.scoring.score import blocks_of, score_suite, texts_to_embed
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache
    from promptreg.scoring.pairs import CasePair
    from promptreg.scoring.score import CaseScores

    Floats = NDArray[np.float32]
    Lists = list[list[str]]

_PART: Final = 64
"""Cases that are scored by one task: a few seconds of work, so that the last ones end at about the same time."""


@dataclass(frozen=True, slots=True)
class Judging:
    """What every stage is told."""

    config: Config
    ask: Callable[[str, str], str]
    embedder_name: str

    @property
    def endpoint(self) -> bool:
        """True when vectors come from a server: then one process asks it, so that its `concurrency` holds."""
        return self.config.judging.embedder in self.config.embedders

    def embedder(self) -> Embedder:
        """The project's embedder. What it loads is kept by the process."""
        if self.endpoint:
            return StoredVectors(self.embedder_name)
        name, extensions = self.config.judging.embedder, load_extensions(self.config.root)
        return load_embedder(name, self.config, extensions.embedders)


@dataclass(slots=True)
class _Given:
    """A cache that holds what it is given, and keeps apart what is added."""

    vectors: dict[str, Floats]
    added: dict[str, Floats] = field(default_factory=dict)

    def embeddings(self, model: str, hashes: Iterable[str]) -> dict[str, Floats]:  # noqa: ARG002 - of one model
        return {digest: self.vectors[digest] for digest in hashes if digest in self.vectors}

    def add_embeddings(self, model: str, vectors: Mapping[str, Floats]) -> None:  # noqa: ARG002 - see above
        self.vectors |= vectors
        self.added |= vectors


def score_on_cluster(
    pairs: Sequence[CasePair], judging: Judging, embedder: Embedder, cache: EmbeddingCache
) -> tuple[CaseScores, ...]:
    """The scores of `score_suite`, to the bit.

    Args:
        pairs: cases with their answers.
        judging: what the stages are told.
        embedder: the project's; it embeds here when it is an endpoint.
        cache: read and written here only.

    Raises:
        PromptregError: as in `score_suite`.
    """
    blocks = list(map(tuple, blocks_of(pairs)))
    wanted: list[Lists] = list(_stage(_texts, blocks, judging))
    hashes = [{_sha256(text) for texts in lists for text in texts} for lists in wanted]
    _embed_missing(wanted, hashes, judging, embedder, cache)
    parts: list[tuple[tuple[CasePair, ...], dict[str, Floats]]] = []
    for block, of_block in zip(blocks, hashes, strict=True):
        vectors = cache.embeddings(embedder.name, of_block)
        parts += [(block[start : start + _PART], vectors) for start in range(0, len(block), _PART)]
    scores: list[CaseScores] = []
    for (part, _), (scored, added) in zip(parts, _stage(_scores, parts, judging), strict=True):
        if added:
            cache.add_embeddings(embedder.name, added)
        # Answers were left behind: they are here already, and would be twice in memory.
        scores += [replace(case, answers=(*pair.source, *pair.target)) for pair, case in zip(part, scored, strict=True)]
    return tuple(scores)


def _embed_missing(
    wanted: Sequence[Lists],
    hashes: Sequence[set[str]],
    judging: Judging,
    embedder: Embedder,
    cache: EmbeddingCache,
) -> None:
    """Embed what the cache lacks: each text once, in the list in which the local engine would come to it first."""
    missing: list[Lists] = []
    known: set[str] = set()
    for lists, of_block in zip(wanted, hashes, strict=True):
        known |= cache.embeddings(embedder.name, of_block - known).keys()
        rest: Lists = []
        for texts in lists:
            new = {digest: text for text in texts if (digest := _sha256(text)) not in known}
            known |= new.keys()
            if new:
                rest.append(list(new.values()))
        if rest:
            missing.append(rest)
    local = (_encoded(lists, embedder) for lists in missing) if judging.endpoint else None
    for lists, vectors in zip(missing, local or _stage(_embed, missing, judging), strict=True):
        texts = [text for each in lists for text in each]
        cache.add_embeddings(embedder.name, dict(zip(map(_sha256, texts), vectors, strict=True)))


def _texts(judging: Judging, pairs: Sequence[CasePair]) -> Lists:
    extensions = load_extensions(judging.config.root)
    return texts_to_embed(pairs, root=judging.config.root, ask=judging.ask, extensions=extensions)


def _embed(judging: Judging, lists: Lists) -> Floats:
    return _encoded(lists, judging.embedder())


def _encoded(lists: Lists, embedder: Embedder) -> Floats:
    return np.concatenate([np.asarray(embedder.encode(texts), dtype=np.float32) for texts in lists])


def _scores(
    judging: Judging, part: tuple[Sequence[CasePair], dict[str, Floats]]
) -> tuple[tuple[CaseScores, ...], dict[str, Floats]]:
    pairs, vectors = part
    cache, root = _Given(dict(vectors)), judging.config.root
    scores = score_suite(
        pairs, root=root, embedder=judging.embedder(), cache=cache, ask=judging.ask, extensions=load_extensions(root)
    )
    return tuple(replace(case, answers=()) for case in scores), cache.added


def _stage(work: Callable[[Judging, Any], Any], items: Sequence[Any], judging: Judging) -> Iterator[Any]:
    """What `work` makes of each item, in their order; one task an item, made again where its node is lost.

    Raises:
        PromptregError: what a task raised.
    """
    if not items:
        return iter(())
    rows = [{"number": number, "item": _Carried(item)} for number, item in enumerate(items)]
    data = ray.data.from_items(rows, override_num_blocks=len(rows))
    done = data.map(_row, fn_args=(work, judging), num_cpus=1)
    made: dict[int, Any] = {}
    for row in done.iter_rows():
        if isinstance(error := row["made"].value, PromptregError):
            raise error
        made[row["number"]] = row["made"].value
    return (made.pop(number) for number in range(len(items)))


@dataclass(frozen=True, slots=True, repr=False)
class _Carried:
    """Any value as one cell of a row, which Ray Data does not take apart.

    Without a `repr` of what it holds: Ray Data writes one of each cell that is no number or text, which would take
    minutes for a block of vectors.
    """

    value: Any


def _row(row: dict[str, Any], work: Callable[[Judging, Any], Any], judging: Judging) -> dict[str, Any]:
    try:
        made = work(judging, row["item"].value)
    except PromptregError as error:
        made = error
    return {"number": row["number"], "made": _Carried(made)}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()

"""Answers are scored in this process, or in copies of it where they are many."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.scoring.embedders.universal import UniversalEmbedder
from promptreg.scoring.score import blocks_of, scores_of
from promptreg.store.store import Store
from promptreg.workflow.large import spread_of
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache
    from promptreg.scoring.pairs import CasePair
    from promptreg.scoring.score import CaseScores


def local_scores(
    pairs: Sequence[CasePair],
    *,
    config: Config,
    embedder: Embedder,
    cache: EmbeddingCache,
    ask: Callable[[str, str], str],
) -> Iterator[CaseScores]:
    """The scores of every case, as they are taken; see `Engine.score`."""
    scoring = _Scoring(config, embedder, cache, ask)
    spread = spread_of(config, sum(len(pair.source) + len(pair.target) for pair in pairs))
    # Other embedders hold what a copy of a process must not touch, or call somebody, as often as they were told.
    if spread is map or not isinstance(embedder, (UniversalEmbedder, StoredVectors)) or not isinstance(cache, Store):
        yield from scoring.here(pairs)
        return
    for part in spread(scoring.elsewhere, list(blocks_of(pairs))):
        yield from part


@dataclass(frozen=True, slots=True)
class _Scoring:
    """Scores some cases; see `Engine.score`."""

    config: Config
    embedder: Embedder
    cache: EmbeddingCache
    ask: Callable[[str, str], str]

    def here(self, pairs: Sequence[CasePair]) -> Iterator[CaseScores]:
        """In the process that opened the cache."""
        return scores_of(
            pairs,
            root=self.config.root,
            embedder=self.embedder,
            cache=self.cache,
            ask=self.ask,
            extensions=load_extensions(self.config.root),
        )

    def elsewhere(self, pairs: Sequence[CasePair]) -> tuple[CaseScores, ...]:
        """In a copy of that process, which opens the store for itself."""
        with Store.open(self.config.root / self.config.paths.store, create=False) as store:
            return tuple(replace(self, cache=store).here(pairs))

"""Where the calls of a comparison are made and its answers are scored: in this process, or wherever an engine says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from promptreg.deployment.request import request_body
from promptreg.replay.engine import replay
from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.scoring.embedders.universal import UniversalEmbedder
from promptreg.scoring.score import BLOCK, scores_of
from promptreg.store.store import Store
from promptreg.workflow.large import spread_of
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from promptreg.config import Config
    from promptreg.deployment.client import Client
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Call, Sample
    from promptreg.replay.tally import ReplayResult
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache
    from promptreg.scoring.score import CasePair, CaseScores


class Engine(Protocol):
    """Makes calls and scores answers. Every engine gives the same scores for the same answers."""

    async def replay(
        self,
        calls: Sequence[Call],
        client: Client,
        *,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
        examine: Callable[[Sample], Sample],
    ) -> ReplayResult:
        """Make every call once, with at most the deployment's `concurrency` in flight, however many processes call.

        See `promptreg.replay.engine.replay`. `client` is open; it need not be the one that
        makes the calls, but then `keep_sent` and `redaction` of those that do are its own.
        """

    def score(
        self,
        pairs: Sequence[CasePair],
        *,
        config: Config,
        embedder: Embedder,
        cache: EmbeddingCache,
        ask: Callable[[str, str], str],
    ) -> Iterable[CaseScores]:
        """Score every case; see `promptreg.scoring.score.scores_of`."""


class LocalEngine:
    """Everything in this process."""

    async def replay(
        self,
        calls: Sequence[Call],
        client: Client,
        *,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
        examine: Callable[[Sample], Sample],
    ) -> ReplayResult:
        """Make every call with the client."""
        return await replay(
            calls,
            client,
            body_of=partial(request_body, deployment=client.deployment),
            concurrency=client.deployment.concurrency,
            on_sample=on_sample,
            on_progress=on_progress,
            examine=examine,
        )

    def score(
        self,
        pairs: Sequence[CasePair],
        *,
        config: Config,
        embedder: Embedder,
        cache: EmbeddingCache,
        ask: Callable[[str, str], str],
    ) -> Iterator[CaseScores]:
        """Score every case with the embedder, as they are taken."""
        scoring = _Scoring(config, embedder, cache, ask)
        spread = spread_of(config, sum(len(pair.source) + len(pair.target) for pair in pairs))
        # Other embedders hold what a copy of a process must not touch, or call somebody, as often as they were told.
        if (
            spread is map
            or not isinstance(embedder, (UniversalEmbedder, StoredVectors))
            or not isinstance(cache, Store)
        ):
            yield from scoring.here(pairs)
            return
        parts = [pairs[start : start + BLOCK] for start in range(0, len(pairs), BLOCK)]
        for part in spread(scoring.elsewhere, parts):
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


LOCAL: Final = LocalEngine()

"""Where the calls of a comparison are made and its answers are scored: in this process, or wherever an engine says."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from promptreg.deployment.request import request_body
from promptreg.replay.engine import replay
from promptreg.scoring.embedders.universal import UniversalEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from promptreg.config import Config
    from promptreg.deployment.client import Client
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Call, Sample
    from promptreg.replay.tally import ReplayResult
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache
    from promptreg.scoring.pairs import CasePair
    from promptreg.scoring.score import CaseScores


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

    def load(self, embedder: Embedder) -> None:
        """Load what `score` will need of this process, where that takes a while; called or not, scores are the same."""

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

    def load(self, embedder: Embedder) -> None:
        """Load the modules, and the model of the embedder that comes along."""
        import promptreg.workflow.judging.local_scores  # noqa: F401, PLC0415 - see `score`

        if isinstance(embedder, UniversalEmbedder):
            embedder.load()

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
        # Loaded after the calls: it takes a while.
        from promptreg.workflow.judging.local_scores import local_scores  # noqa: PLC0415 - see above

        return local_scores(pairs, config=config, embedder=embedder, cache=cache, ask=ask)


LOCAL: Final = LocalEngine()

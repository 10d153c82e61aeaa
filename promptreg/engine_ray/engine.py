"""The engine that makes calls and scores answers on a Ray cluster."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from promptreg.engine_ray.cluster import join
from promptreg.errors import ClusterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptreg.config import Config
    from promptreg.deployment.client import Client
    from promptreg.replay.progress import Progress
    from promptreg.replay.sample import Call, Sample
    from promptreg.replay.tally import ReplayResult
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache
    from promptreg.scoring.pairs import CasePair
    from promptreg.scoring.score import CaseScores


@contextmanager
def ray_engine(config: Config, *, address: str | None = None, workers: int | None = None) -> Iterator[RayEngine]:
    """An engine on a cluster, which it joins or starts and leaves again.

    Args:
        config: the project. Its folder is at the same path on every node.
        address: see `promptreg.engine_ray.cluster.join`.
        workers: processes that make calls; None for one a CPU.

    Raises:
        UsageError: Ray is not installed, or the cluster has fewer CPUs than workers are wanted.
        ClusterError: no cluster can be reached or started.
    """
    cluster = join(address, workers)
    try:
        if cluster.cpus < (workers or 1):
            raise ClusterError(
                f"The Ray cluster has {cluster.cpus} CPUs; each of the {workers or 1} workers needs one. Ask for fewer "
                "with --ray-workers, or give the cluster more nodes."
            )
        yield RayEngine(config, workers or cluster.cpus)
    finally:
        cluster.leave()


class RayEngine:
    """See `promptreg.workflow.engine.Engine`. Use `ray_engine`."""

    def __init__(self, config: Config, workers: int) -> None:
        self._config = config
        self._workers = workers

    async def replay(
        self,
        calls: Sequence[Call],
        client: Client,
        *,
        on_sample: Callable[[Sample], None],
        on_progress: Callable[[Progress], None],
        examine: Callable[[Sample], Sample],
    ) -> ReplayResult:
        """Make every call once, each worker with a client of its own; see `replay_on_cluster`."""
        # Imported late, both here and below: they import Ray, whose settings must be there before.
        from promptreg.engine_ray.replaying import replay_on_cluster  # noqa: PLC0415 - see above
        from promptreg.engine_ray.worker import Job  # noqa: PLC0415 - see above

        root = self._config.root
        return await replay_on_cluster(
            calls,
            Job(root, root / Path(self._config.file).name, client.deployment, client.keep_sent, client.redaction),
            workers=self._workers,
            on_sample=on_sample,
            on_progress=on_progress,
            examine=examine,
        )

    def load(self, embedder: Embedder) -> None:
        """Nothing: workers load what they need."""

    def score(
        self,
        pairs: Sequence[CasePair],
        *,
        config: Config,
        embedder: Embedder,
        cache: EmbeddingCache,
        ask: Callable[[str, str], str],
    ) -> tuple[CaseScores, ...]:
        """Score every case in stages of Ray Data; see `score_on_cluster`."""
        from promptreg.engine_ray.scoring import Judging, score_on_cluster  # noqa: PLC0415 - see above

        return score_on_cluster(pairs, Judging(config, ask, embedder.name), embedder, cache)

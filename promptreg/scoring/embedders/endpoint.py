"""Embedders behind an OpenAI-compatible embeddings endpoint (`[embedders.NAME]` of the configuration)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from promptreg.config import secrets_of
from promptreg.errors import EndpointError
from promptreg.scoring.embedders.base import encodable, unit_vectors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from promptreg.config import EmbeddingEndpoint
    from promptreg.deployment.embeddings import EmbeddingsClient
    from promptreg.scoring.embedders.base import Vectors


class EndpointEmbedder:
    """Vectors from a server, many texts in a request and several requests at once. Nothing is sent before `encode`."""

    def __init__(self, endpoint: EmbeddingEndpoint, root: Path | None = None) -> None:
        """Read the keys from the environment.

        Args:
            endpoint: the table of the configuration.
            root: the project's folder, where `ca_file` is found.

        Raises:
            ConfigError: an environment variable that the table names is not set.
        """
        self._endpoint = endpoint
        self._root = root
        self._secrets = secrets_of(endpoint)

    @property
    def name(self) -> str:
        """The model, where it is served, and the length that was asked for: another server may run another version."""
        endpoint = self._endpoint
        dimensions = "" if endpoint.dimensions is None else f"/{endpoint.dimensions}"
        return f"{endpoint.model}{dimensions} at {endpoint.base_url.rstrip('/')}"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of all texts, scaled to length 1. Each distinct text is sent once.

        Raises:
            EndpointError: the endpoint cannot be reached, refuses, or gives vectors that cannot be used.
            ConfigError: for a CA file or a proxy that cannot be used.
        """
        sent = [encodable(text) for text in texts]
        distinct = list(dict.fromkeys(sent))
        if not distinct:
            return np.zeros((0, self._endpoint.dimensions or 1), dtype=np.float32)
        vectors = unit_vectors(np.array(asyncio.run(self._ask(distinct)), dtype=np.float64))
        place = {text: index for index, text in enumerate(distinct)}
        return vectors[[place[text] for text in sent]]

    async def _ask(self, texts: list[str]) -> list[list[float]]:
        from promptreg.deployment.embeddings import EmbeddingsClient  # noqa: PLC0415 - only where there is an endpoint

        size = self._endpoint.batch_size
        batches = [texts[start : start + size] for start in range(0, len(texts), size)]
        gate = asyncio.Semaphore(self._endpoint.concurrency)
        async with EmbeddingsClient(self._endpoint, self._secrets, root=self._root) as client:
            # The first failure ends the others: no request is paid for whose vectors nobody will use.
            try:
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(_gated(gate, client, batch)) for batch in batches]
            except* EndpointError as failed:
                raise failed.exceptions[0] from None
        answers = [task.result() for task in tasks]
        vectors = [vector for answer in answers for vector in answer]
        lengths = sorted({len(vector) for vector in vectors})
        if len(lengths) > 1:
            raise EndpointError(
                f"The embedder `{self._endpoint.name}` (model {self._endpoint.model}) gave vectors of different "
                f"lengths in different requests: {', '.join(map(str, lengths))} numbers. Several models seem to "
                "answer under one name."
            )
        return vectors


async def _gated(gate: asyncio.Semaphore, client: EmbeddingsClient, texts: list[str]) -> list[list[float]]:
    async with gate:
        return await client.vectors(texts)

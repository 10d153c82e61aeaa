"""What counts for a deployment of the configuration; what is wrong with it is told with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.config.where import place_of
from promptreg.deployment.tokenize import counter_for
from promptreg.errors import ConfigError, Problem, UsageError

if TYPE_CHECKING:
    from promptreg.config import Config, Deployment
    from promptreg.context.count.counters import Chosen
    from promptreg.workflow.context.servers import Servers


def configured_counter(config: Config, deployment: Deployment, servers: Servers | None = None) -> Chosen:
    """What counts for a deployment as it is configured.

    Args:
        config: the project.
        deployment: of the project; its window or request may be another.
        servers: asked to count where its `tokenizer` is its server; None where nothing may be sent.

    Raises:
        ConfigError: its `tokenizer` names nothing that can count, with the file and line.
        UsageError: without a `tokenizer`, nothing can count.
    """
    try:
        return counter_for(deployment, None if servers is None else servers.endpoint(deployment), root=config.root)
    except UsageError as error:
        if deployment.tokenizer is None:
            raise
        place = place_of(config, "deployments", deployment.name, "tokenizer")
        raise ConfigError(
            Problem(f"{error}" if place else f"[deployments.{deployment.name}]: {error}", place)
        ) from error

"""Token endpoints of the deployments that count on their own server, opened when they are first needed."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from promptreg.config import secrets_of
from promptreg.deployment.tokenize import TokenEndpoint, counts_on_server

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from promptreg.config import Deployment


class Servers:
    """Used as a context manager; all endpoints are closed at its end."""

    def __init__(self, root: Path | None = None) -> None:
        """Opens nothing yet. `root` is the project's folder, where certificates are found."""
        self._root = root
        self._stack = ExitStack()
        self._open: dict[str, TokenEndpoint] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()
        self._open.clear()

    def endpoint(self, deployment: Deployment) -> TokenEndpoint | None:
        """The endpoint of a deployment whose `tokenizer` is its server; None for all others.

        Raises:
            UsageError: its kind of server has none.
            ConfigError: a key is not set, or the deployment cannot be used as it is configured.
        """
        if not counts_on_server(deployment):
            return None
        known = self._open.get(deployment.name)
        if known is None:
            endpoint = TokenEndpoint(deployment, secrets_of(deployment), root=self._root)
            known = self._open[deployment.name] = self._stack.enter_context(endpoint)
        return known

"""A simulated deployment in a thread of this process, for tests and the demo."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import socket
    from types import TracebackType

    import uvicorn

    from promptreg.deployment.simulated.app import Received
    from promptreg.deployment.simulated.script import Script

_PATIENCE_S = 10.0


class SimulatedServer:
    """A simulated deployment on a free loopback port, in a thread of this process.

    Give it a `Script`, or the fields of one: `SimulatedServer(kind="vllm", faults=["think_tags"])`.
    """

    def __init__(
        self, script: Script | None = None, /, *, host: str = "127.0.0.1", port: int = 0, **fields: Any
    ) -> None:
        from promptreg.deployment.simulated.script import Script  # noqa: PLC0415 - pydantic only when a server is wanted

        if script is not None and fields:
            message = "SimulatedServer takes a script or the fields of one, not both"
            raise TypeError(message)
        self.script: Script = Script.model_validate(fields) if script is None else script
        self.requests: list[Received] = []
        """Every request in the order of arrival, those that were refused or never answered included."""
        self._host, self._port = host, port
        self._bound: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port; 0 before the first start. It stays the same over `stop` and `start`."""
        return self._port

    @property
    def base_url(self) -> str:
        """The base URL, ending in /v1."""
        return f"http://{self._host}:{self._port}/v1"

    @property
    def chats(self) -> list[Any]:
        """The JSON bodies of the chat requests received, in order."""
        return [received.json for received in list(self.requests) if received.path.endswith("/chat/completions")]

    def start(self) -> Self:
        """Starts the server, on the port it had before if it ran before. Its answers begin again at the first turn."""
        from promptreg.deployment.simulated.app import create_app  # noqa: PLC0415 - starlette only when wanted
        from promptreg.deployment.simulated.server import bind, uvicorn_server  # noqa: PLC0415 - uvicorn only when wanted

        if self._thread is not None:
            message = "the simulated server runs already"
            raise RuntimeError(message)
        bound = bind(self._host, self._port)
        self._port = bound.getsockname()[1]
        server = uvicorn_server(create_app(self.script, self.requests.append))
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [bound]}, name=f"simulated-{self._port}", daemon=True
        )
        thread.start()
        self._bound, self._server, self._thread = bound, server, thread
        return self

    def stop(self) -> None:
        """Stops in good order: answers in flight get a second to end."""
        self._end(force=False)

    def kill(self) -> None:
        """Stops at once; connections in flight break."""
        self._end(force=True)

    def _end(self, *, force: bool) -> None:
        if self._server is None or self._thread is None or self._bound is None:
            return
        self._server.force_exit = force
        self._server.should_exit = True
        self._thread.join(_PATIENCE_S)
        self._bound.close()
        self._bound = self._server = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self.stop()

"""Serving a script with uvicorn: in this process until Ctrl-C, or under the control of a caller."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from typing import TYPE_CHECKING

import uvicorn

from promptreg.deployment.simulated.app import create_app
from promptreg.errors import EndpointError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp

    from promptreg.deployment.simulated.script import Script


def listening(host: str, port: int) -> socket.socket:
    """A socket that accepts connections, and sends what is written to them at once; port 0 picks a free port.

    asyncio turns Nagle's algorithm off (TCP_NODELAY) on sockets only that name their protocol. With it, an answer in
    two parts waits 40 ms for the client's acknowledgement of the first.

    Raises:
        OSError: the address cannot be used.
        OverflowError: the port is no port.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(2048)
    except (OSError, OverflowError):
        bound.close()
        raise
    return bound


def bind(host: str, port: int) -> socket.socket:
    """A socket for a simulated deployment; port 0 picks a free port.

    Raises:
        EndpointError: when the address cannot be used.
    """
    try:
        return listening(host, port)
    except (OSError, OverflowError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        raise EndpointError(
            f"The simulated deployment cannot listen on {host}:{port} ({reason}). "
            "Choose another --port, or 0 for a free one."
        ) from problem


def base_url(bound: socket.socket) -> str:
    """The base URL that clients of this socket use."""
    host, port = bound.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - named, not bound
    return f"http://{shown}:{port}/v1"


class _Server(uvicorn.Server):
    """Tells when it serves. By then it handles signals: one that comes earlier would break off the start."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def uvicorn_server(app: ASGIApp, ready: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """A quiet uvicorn server: planted faults would fill its log with complaints about broken responses.

    Args:
        app: what it serves.
        ready: called once it serves.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=1,
        ws="none",
    )
    return _Server(config, ready)


@contextlib.contextmanager
def until_stopped() -> Iterator[None]:
    """A block that Ctrl-C and SIGTERM end without an error.

    uvicorn raises the signal again after it has shut down in good order; for us that is a normal end. Outside the main
    thread, where signals are not handled, SIGTERM is left as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve(script: Script, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serves until Ctrl-C or SIGTERM. `ready` is called with the base URL once connections are accepted.

    Raises:
        EndpointError: when the address cannot be used.
        UsageError: the script's `tokenizer` names nothing that exists.
    """
    app = create_app(script)
    with bind(host, port) as bound, until_stopped():
        uvicorn_server(app, lambda: ready(base_url(bound))).run(sockets=[bound])

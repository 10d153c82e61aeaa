"""A report's page on this machine, for whoever has its address: the token in it is the only way in.

Other pages in the same browser cannot reach it: they do not know the token, requests that name another host are refused
(a name that is made to point here, DNS rebinding), and so are those that come from another origin.
"""

from __future__ import annotations

import os
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse
from starlette.routing import Route

from promptreg.deployment.simulated.server import listening, until_stopped, uvicorn_server
from promptreg.errors import EndpointError
from promptreg.review.decisions import MAX_BYTES
from promptreg.workflow.review.desk import RefusedDecisionsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from promptreg.workflow.review.desk import ReviewDesk

HOST: Final = "127.0.0.1"

_HEADERS: Final = (
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def review_app(desk: ReviewDesk, page: str, token: str, port: int) -> ASGIApp:
    """The application.

    Args:
        desk: takes the decisions.
        page: the HTML of the report.
        token: what a request must carry as `?token=`.
        port: where it listens, which the host of a request must name.
    """

    async def show(_: Request) -> Response:
        return HTMLResponse(page)

    async def read(request: Request) -> Response:
        return JSONResponse(desk.state(request.query_params.get("known", "")))

    async def save(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return PlainTextResponse("Send JSON.", HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BYTES:
                return PlainTextResponse("The request is too large.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            desk.save(bytes(body))
        except RefusedDecisionsError as refused:
            said = {"en": refused.sentence.en, "zh": refused.sentence.zh}
            return JSONResponse(said, HTTPStatus.UNPROCESSABLE_ENTITY)
        return JSONResponse(desk.state())

    routes = [
        Route("/", show, methods=["GET"]),
        Route("/decisions", read, methods=["GET"]),
        Route("/decisions", save, methods=["POST"]),
    ]
    return _Guard(Starlette(routes=routes), token, port)


class _Guard:
    """Lets in only who has the token, names this machine as the host, and comes from this page or from none."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in (HOST, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        app = self._app if self._admits(scope) else PlainTextResponse(_NO_ENTRY, HTTPStatus.FORBIDDEN)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS]
            await send(message)

        await app(scope, receive, with_headers)

    def _admits(self, scope: Scope) -> bool:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return False
        if any(origin != b"http://" + hosts[0] for origin in headers.get(b"origin", [])):
            return False
        if any(site not in {b"same-origin", b"none"} for site in headers.get(b"sec-fetch-site", [])):
            return False
        return secrets.compare_digest(_token_of(scope["query_string"]), self._token)


def _token_of(query: bytes) -> bytes:
    """The first `token` of a query; tokens need no decoding."""
    return next((part[6:] for part in query.split(b"&") if part.startswith(b"token=")), b"")


_NO_ENTRY: Final = "Open the whole address that `promptreg review serve` printed: it ends in a token.\n"


def review_socket(port: int) -> socket:
    """A socket on this machine for `serve_review`; port 0 picks a free port.

    Raises:
        EndpointError: the port cannot be used.
    """
    try:
        return listening(HOST, port)
    except (OSError, OverflowError) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
        raise EndpointError(
            f"The review cannot be served on port {port} ({reason}). Is another review served there? Choose another "
            "--port, or 0 for a free one."
        ) from error


def serve_review(desk: ReviewDesk, page: str, bound: socket, ready: Callable[[str], None]) -> None:
    """Serve the page until Ctrl-C or SIGTERM.

    Args:
        desk: takes the decisions.
        page: the HTML of the report.
        bound: where connections are accepted.
        ready: called with the page's address.
    """
    with until_stopped():
        taken = int(bound.getsockname()[1])
        token = secrets.token_urlsafe(24)
        ready(f"http://{HOST}:{taken}/?token={token}")
        uvicorn_server(review_app(desk, page, token, taken)).run(sockets=[bound])

"""The HTTP side of a simulated deployment: routes, refusals, and responses that can go wrong on purpose."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.responses import Response as HttpResponse
from starlette.routing import Route

from promptreg.deployment.simulated import answering, embeddings, obeying, tokens
from promptreg.deployment.simulated.dialects import DIALECTS, Refusal, error_body, error_status, overflow_message
from promptreg.deployment.simulated.prompt_tokens import PromptTokens
from promptreg.deployment.simulated.reply import Asked, Response
from promptreg.deployment.simulated.shapes import respond

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from promptreg.deployment.simulated.script import Latency, Script

_TRANSPORT = "promptreg.transport"


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """Unix time, seconds."""

    @property
    def json(self) -> Any:
        """The body as JSON.

        Raises:
            ValueError: when it is not JSON.
        """
        return json.loads(self.body)


class _RefusedError(Exception):
    """The request gets the kind's own error; `refusal` says which."""

    def __init__(self, refusal: Refusal, message: str) -> None:
        super().__init__(message)
        self.refusal = refusal


def create_app(script: Script, on_request: Callable[[Received], None] | None = None) -> ASGIApp:
    """The ASGI application of a script. `on_request` sees every request as it arrives, answered or not."""
    deployment = _Deployment(script, on_request)
    dialect = DIALECTS[script.kind]
    routes = [
        Route("/v1/chat/completions", deployment.chat, methods=["POST"]),
        Route("/v1/embeddings", deployment.embeddings, methods=["POST"]),
        Route("/v1/models", deployment.models),
        Route("/models", deployment.models),
        Route("/health", deployment.health),
    ]
    if dialect.version_path is not None:
        routes.append(Route(dialect.version_path, deployment.version))
    if dialect.tokenize_path is not None:
        routes.append(Route(dialect.tokenize_path, deployment.tokenize, methods=["POST"]))
    app = Starlette(routes=routes, exception_handlers={404: deployment.not_found, 405: deployment.not_found})

    async def with_transport(scope: Scope, receive: Receive, send: Send) -> None:
        # uvicorn hands no transport to applications, but a broken connection cannot be shown without one.
        # `send` is a method of its request cycle, which has it.
        scope[_TRANSPORT] = getattr(getattr(send, "__self__", None), "transport", None)
        await app(scope, receive, send)

    return with_transport


class _Deployment:
    """What the routes share: the script, the turns of its answers, and who listens."""

    def __init__(self, script: Script, on_request: Callable[[Received], None] | None) -> None:
        self._script = script
        self._dialect = DIALECTS[script.kind]
        self._prompts = PromptTokens(script)
        self._turns = answering.Turns(script.cycle)
        self._on_request = on_request
        self._started = int(time.time())
        self._embedded = 0

    async def chat(self, request: Request) -> HttpResponse:
        """POST /v1/chat/completions."""
        raw = await self._receive(request)
        try:
            self._authorise(request)
            body = self._parse(raw)
            return await self._answer(request, body)
        except _RefusedError as refused:
            return self._refusal(refused)

    async def models(self, request: Request) -> HttpResponse:
        """GET /v1/models."""
        await self._receive(request)
        try:
            self._authorise(request)
        except _RefusedError as refused:
            return self._refusal(refused)
        window = {"max_model_len": self._script.window} if self._dialect.declares_window else {}
        cards = [
            {"id": name, "object": "model", "created": self._started, "owned_by": self._dialect.owned_by, **window}
            for name in self._script.models
        ]
        return JSONResponse({"object": "list", "data": cards})

    async def health(self, request: Request) -> HttpResponse:
        """GET /health."""
        await self._receive(request)
        return PlainTextResponse("")

    async def version(self, request: Request) -> HttpResponse:
        """GET /version, or what stands in its place."""
        await self._receive(request)
        version = self._dialect.version if self._script.version is None else self._script.version
        if self._script.kind == "mindie":
            window = self._script.window
            return JSONResponse(
                {"version": version, "models": [], "max_input_length": window, "max_total_tokens": window}
            )
        return JSONResponse({"version": version})

    async def tokenize(self, request: Request) -> HttpResponse:
        """POST /tokenize (MindIE: /v1/tokenizer): counts, no real token ids."""
        raw = await self._receive(request)
        try:
            self._authorise(request)
            body = _object(raw)
        except _RefusedError as refused:
            return self._refusal(refused)
        messages = body.get("messages")
        if isinstance(messages, list):
            count = self._prompts.count(body)
        else:
            count = tokens.count(tokens.text_of(body.get("prompt", body.get("inputs", ""))))
        if self._script.kind == "mindie":
            return JSONResponse({"token_number": count})
        return JSONResponse({"count": count, "max_model_len": self._script.window, "tokens": list(range(count))})

    async def embeddings(self, request: Request) -> HttpResponse:
        """POST /v1/embeddings."""
        raw = await self._receive(request)
        self._embedded += 1
        script = self._script
        fault = embeddings.fault_of(script.embeddings, self._embedded)
        try:
            self._authorise(request)
            body = _object(raw)
            texts = _texts(body.get("input"))
            self._check_model(body.get("model"))
        except _RefusedError as refused:
            return self._refusal(refused)
        if fault == "unavailable":
            return JSONResponse({"error": {"message": "The model is loading.", "type": "unavailable"}}, status_code=503)
        asked = body.get("dimensions")
        dimensions = asked if isinstance(asked, int) and 2 <= asked <= 4096 else script.embeddings.dimensions
        vectors = embeddings.embeddings_body(texts, str(body.get("model")), dimensions, fault)
        # Not `JSONResponse`: it refuses NaN, which is one of the faults.
        return HttpResponse(json.dumps(vectors), media_type="application/json")

    async def not_found(self, request: Request, _problem: Exception) -> HttpResponse:
        """Any other path, in the kind's error shape."""
        await self._receive(request)
        return self._refusal(_RefusedError(Refusal.NOT_FOUND, "Not Found"))

    async def _receive(self, request: Request) -> bytes:
        raw = await request.body()
        if self._on_request is not None:
            headers = {name.lower(): value for name, value in request.headers.items()}
            self._on_request(Received(request.method, request.url.path, headers, raw, time.time()))
        return raw

    def _refusal(self, refused: _RefusedError) -> HttpResponse:
        kind = self._script.kind
        status = error_status(kind, refused.refusal)
        return JSONResponse(error_body(kind, refused.refusal, str(refused)), status_code=status)

    def _authorise(self, request: Request) -> None:
        wanted = self._script.api_key
        if wanted is not None and _bearer(request) != wanted:
            raise _RefusedError(Refusal.AUTH, "The API key is missing or not valid.")

    def _parse(self, raw: bytes) -> dict[str, Any]:
        body = _object(raw)
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise _RefusedError(Refusal.BAD_VALUE, "Parameter messages must be a list with at least one message.")
        if not all(isinstance(message, dict) and isinstance(message.get("role"), str) for message in messages):
            raise _RefusedError(Refusal.BAD_VALUE, "Each of the messages must be an object with a role.")
        if self._script.kind == "mindie" and any(message["role"] == "developer" for message in messages):
            raise _RefusedError(Refusal.BAD_VALUE, "Message role must be one of system, user, assistant, tool.")
        temperature = body.get("temperature")
        if temperature is not None and not (_is_number(temperature) and 0 <= temperature <= 2):
            message = f"Parameter temperature must be in [0.0,2.0], got {json.dumps(temperature)}"
            raise _RefusedError(Refusal.BAD_VALUE, message)
        if self._script.kind == "mindie" and body.get("n") not in (None, 1):
            raise _RefusedError(Refusal.BAD_VALUE, f"Parameter n must be 1, got {json.dumps(body['n'])}")
        for name in ("max_tokens", "max_completion_tokens"):
            cap = body.get(name)
            if cap is not None and not (isinstance(cap, int) and not isinstance(cap, bool) and cap >= 1):
                raise _RefusedError(Refusal.BAD_VALUE, f"Parameter {name} must be at least 1, got {json.dumps(cap)}")
        self._check_model(body.get("model"))
        return body

    def _check_model(self, model: object) -> None:
        if self._script.check_model and model not in self._script.models:
            raise _RefusedError(Refusal.MODEL, f"The model `{model}` does not exist.")

    def _asked(self, request: Request, body: dict[str, Any], key: str, turn: int, failed: int) -> Asked:
        messages = body["messages"]
        texts = [tokens.text_of(message.get("content")) for message in messages]
        users = [text for text, message in zip(texts, messages, strict=True) if message["role"] == "user"]
        prompt_tokens, cap = self._prompts.count(body), self._cap(body)
        window = self._script.window
        if self._script.kind == "mindie" and cap is not None and prompt_tokens < window:
            cap = min(cap, window - prompt_tokens)  # only the prompt can be too long for it
        if prompt_tokens + (cap or 1) > window:
            if self._script.overflow == "error":
                raise _RefusedError(Refusal.OVERFLOW, overflow_message(self._script.kind, window, prompt_tokens, cap))
            prompt_tokens = min(prompt_tokens, max(1, window - (cap or 1)))
        own = self._script.max_output
        return Asked(
            kind=self._script.kind,
            body=body,
            model=str(body.get("model") or self._script.models[0]),
            last_user=users[-1] if users else "",
            everything="\n".join(texts),
            prompt_tokens=prompt_tokens,
            cap=cap if own is None else min(own, cap or own),
            wants_stream=body.get("stream") is True,
            wants_usage=isinstance(body.get("stream_options"), dict)
            and body["stream_options"].get("include_usage") is True,
            api_key=_bearer(request),
            request_id=f"chatcmpl-{key[:16]}{turn:04d}{failed:04d}",
            draw=Random(f"{self._script.seed}:{key}:{turn}:{failed}"),  # noqa: S311 - noise that repeats, no secrets
        )

    def _cap(self, body: dict[str, Any]) -> int | None:
        cap = body.get("max_tokens")
        if cap is None and self._dialect.reads_max_completion_tokens:
            cap = body.get("max_completion_tokens")
        return cap

    async def _answer(self, request: Request, body: dict[str, Any]) -> HttpResponse:
        script, key = self._script, answering.request_hash(body)
        turn, failed, attempt = self._turns.next_attempt(key)
        asked = self._asked(request, body, key, turn, failed)
        rule = answering.find_rule(script, asked.last_user, asked.everything)
        # A stream of its own for faults: planting one must not change which variant is answered.
        chance = Random(f"{script.seed}:{key}:{turn}:{failed}:faults")  # noqa: S311 - as above
        faults = answering.struck(rule, chance, attempt)
        self._turns.ended(key, answered=all(fault.answers for fault in faults))
        reply = obeying.stopped(answering.choose_reply(rule, asked), body.get("stop"))
        if obeying.thinking_is_off(script.kind, body):
            reply = obeying.without_thinking(reply)
        for fault in faults:
            if fault.reply is not None:
                reply = fault.reply(reply, asked)
        response = respond(obeying.within_cap(reply, asked.cap), asked, script)
        for fault in faults:
            if fault.response is not None:
                response = fault.response(response, asked)
        return _Wire(response, _first_wait_s(rule.latency or script.latency, asked.draw))


def _first_wait_s(latency: Latency, draw: Random) -> float:
    return max(0.0, latency.first_ms + draw.uniform(-1, 1) * latency.jitter_ms) / 1000


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except ValueError as problem:
        raise _RefusedError(Refusal.BAD_JSON, f"The request body is not JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise _RefusedError(Refusal.BAD_JSON, "The request body must be a JSON object.")
    return body


def _texts(given: object) -> list[str]:
    """The texts of an embeddings request: one, or a list of them."""
    texts = [given] if isinstance(given, str) else given
    if isinstance(texts, list) and texts and all(isinstance(text, str) and text for text in texts):
        return texts
    raise _RefusedError(Refusal.BAD_VALUE, "Parameter input must be a text or a list of texts, none empty.")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _bearer(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" and key else None


class _Wire(HttpResponse):
    """Sends a `Response` part by part, and ends it in the way it asks for."""

    def __init__(self, response: Response, first_wait_s: float) -> None:
        super().__init__(status_code=response.status, headers=dict(response.headers), media_type=response.content_type)
        del self.headers["content-length"]
        self._response = response
        self._first_wait_s = first_wait_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        gone = asyncio.ensure_future(_until_gone(receive))
        sending = asyncio.ensure_future(self._send(scope, gone, send))
        try:
            # A client that has gone must not keep a slow answer alive.
            await asyncio.wait((gone, sending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sending):
                task.cancel()
            await asyncio.gather(gone, sending, return_exceptions=True)

    async def _send(self, scope: Scope, gone: Awaitable[None], send: Send) -> None:
        response = self._response
        if self._first_wait_s:
            await asyncio.sleep(self._first_wait_s)
        if response.ending == "stall_at_head":
            await gone
            return
        if response.ending == "abort_at_head":
            await _abort(scope, gone)
            return
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        transport = scope.get(_TRANSPORT)
        for part in response.parts:
            if part.wait_s:
                await asyncio.sleep(part.wait_s)
            if transport is not None and transport.is_closing():
                return  # the client has gone
            await send({"type": "http.response.body", "body": part.data, "more_body": True})
        if response.ending == "stall":
            await gone
        elif response.ending == "abort":
            await _abort(scope, gone)
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _abort(scope: Scope, gone: Awaitable[None]) -> None:
    transport = scope.get(_TRANSPORT)
    if transport is not None:
        # close, not abort: what was written so far reaches the client before the connection ends.
        transport.close()
        await gone

"""The contestants of engine.py, each run in a process of its own. Run as a script: NAME, calls, port."""

# ruff: noqa: PLC0415 - each process imports only what its contestant needs
from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator

CONCURRENCY = 32
MESSAGES = [
    {"role": "system", "content": "你是长河公司的客服，只用 JSON 回答。"},
    {"role": "user", "content": "退货期限是几天？ How many days do I have to return an item?"},
]
BODY = {"model": "mock", "messages": MESSAGES, "temperature": 0.7, "max_tokens": 256, "stream": True}


class Meter:
    """CPU time (both threads of the process, user and system), wall time and memory between two moments."""

    def __init__(self) -> None:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self._cpu_s = usage.ru_utime + usage.ru_stime
        self._wall_s = time.perf_counter()

    def stop(self) -> dict[str, float]:
        """What was used since the meter was made; the peak is that of the whole process."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "cpu_s": usage.ru_utime + usage.ru_stime - self._cpu_s,
            "wall_s": time.perf_counter() - self._wall_s,
            "peak_mb": usage.ru_maxrss / 1024,
        }


async def many(call: Callable[[], Awaitable[None]], calls: int) -> dict[str, float]:
    """Make one warm-up call per worker, then `calls` calls with bounded concurrency, measured."""
    await asyncio.gather(*(call() for _ in range(CONCURRENCY)))
    meter = Meter()
    numbers: Iterator[int] = iter(range(calls))

    async def work() -> None:
        for _ in numbers:
            await call()

    await asyncio.gather(*(work() for _ in range(CONCURRENCY)))
    return meter.stop()


async def bare_aiohttp(calls: int, port: int) -> dict[str, float]:
    """Post and read the bytes; nothing is parsed, timed or kept."""
    import aiohttp

    data = json.dumps(BODY).encode()
    headers = {"content-type": "application/json"}
    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def call() -> None:
            async with session.post(f"http://127.0.0.1:{port}/v1/chat/completions", data=data) as response:
                await response.read()

        return await many(call, calls)


def openai_client(port: int) -> Any:
    """The official client as it comes, without its retries."""
    import openai

    return openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0)


async def openai_raw(calls: int, port: int) -> dict[str, float]:
    """The official client, bytes only."""
    async with openai_client(port) as client:

        async def call() -> None:
            async with client.chat.completions.with_streaming_response.create(**BODY) as response:
                async for _ in response.iter_bytes():
                    pass

        return await many(call, calls)


async def openai_parsed(calls: int, port: int) -> dict[str, float]:
    """The official client as applications use it: chunks as objects, the text joined."""
    async with openai_client(port) as client:

        async def call() -> None:
            parts: list[str] = []
            async for chunk in await client.chat.completions.create(**BODY):
                parts.extend(choice.delta.content or "" for choice in chunk.choices)
            "".join(parts)

        return await many(call, calls)


async def ours(transport: Literal["wire", "openai"], calls: int, port: int) -> dict[str, float]:
    """Replay, reading and storing, as `promptreg record` does it."""
    from promptreg.config import Deployment
    from promptreg.deployment.client import Client
    from promptreg.deployment.reader import read_exchange
    from promptreg.deployment.request import request_body
    from promptreg.errors import Place
    from promptreg.replay.engine import replay
    from promptreg.replay.plan import plan_passes
    from promptreg.store.runs import RunSpec
    from promptreg.store.store import Store
    from promptreg.suite.model import Case, Request

    deployment = Deployment(
        name="mock",
        base_url=f"http://127.0.0.1:{port}/v1",
        model="mock",
        server="vllm",
        concurrency=CONCURRENCY,
        client=transport,
    )
    passes = 10
    system, user = MESSAGES
    cases = []
    for number in range(calls // passes):
        question = {**user, "content": f"{number}: {user['content']}"}
        place = Place("suites/support.yaml", number + 1)
        cases.append(Case("support", f"case-{number}", Request((system, question), {"max_tokens": 256}), place))
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "store.db") as store:
        run_id = store.start_run(RunSpec("record", "mock", "mock", passes, 0, cases=tuple(cases)))
        planned = plan_passes(cases, range(passes), 0)
        async with Client(deployment, {}) as client:
            body = request_body(cases[0].request, deployment)
            await asyncio.gather(*(client.ask(body) for _ in range(CONCURRENCY)))
            meter = Meter()
            result = await replay(
                planned,
                client,
                body_of=partial(request_body, deployment=deployment),
                concurrency=CONCURRENCY,
                on_sample=partial(store.add_sample, run_id),
            )
            store.flush()
            measured = meter.stop()
        if result.answered != len(planned) or len(store.answered(run_id)) != len(planned):
            raise SystemExit(f"only {result.answered} of {len(planned)} calls were answered")
        started = time.perf_counter()
        for sample in store.samples(run_id):
            read_exchange(sample.attempts[-1])
        return {**measured, "reread_s": time.perf_counter() - started, "store_bytes": store.path.stat().st_size}


CONTESTANTS: dict[str, Callable[[int, int], Coroutine[Any, Any, dict[str, float]]]] = {
    "ours, wire": partial(ours, "wire"),
    "ours, openai": partial(ours, "openai"),
    "bare aiohttp": bare_aiohttp,
    "bare openai, raw": openai_raw,
    "bare openai, parsed": openai_parsed,
}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(CONTESTANTS[sys.argv[1]](int(sys.argv[2]), int(sys.argv[3])))))

"""The official client by itself, as a command that peers.py measures. Run as a script: PORT, cases, concurrency.

Asks every question of the source and of the target, as many at once as told, and keeps the answers in memory: no
checks, nothing stored, no report.
"""

from __future__ import annotations

import asyncio
import sys


async def ask(port: int, cases: int, concurrency: int) -> list[str]:
    """All answers."""
    from openai import AsyncOpenAI  # noqa: PLC0415 - so that the start without a call is measured without it

    answers: list[str] = []
    questions = iter([(model, number) for model in ("source", "target") for number in range(cases)])
    async with AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none", max_retries=0) as client:

        async def work() -> None:
            for model, number in questions:
                completion = await client.chat.completions.create(
                    model=model,
                    messages=[{"role": "user", "content": f"Q{number}: How long may I return item {number}?"}],
                    temperature=0,
                )
                answers.append(completion.choices[0].message.content or "")

        await asyncio.gather(*(work() for _ in range(concurrency)))
    return answers


if __name__ == "__main__":
    if len(sys.argv) == 1:
        import openai  # noqa: F401 - the start of the client, and nothing else
    else:
        port, cases, concurrency = map(int, sys.argv[1:4])
        if len(asyncio.run(ask(port, cases, concurrency))) != 2 * cases:
            raise SystemExit("answers are missing")

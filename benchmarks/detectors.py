"""What the serving faults, the inferred contract and the refusal check cost for an answer, beside their targets.

    OPENBLAS_NUM_THREADS=1 python benchmarks/detectors.py
    OPENBLAS_NUM_THREADS=1 python benchmarks/detectors.py --rules    # which rules the time goes to

CPU time of one call that has been read already, as it has been when faults are looked for: making what the rules see
of it, all rules with what the source recorded, and the default checks (the inferred contract, refusals among
it, without facts, which the fact channels read). The least of several rounds counts, as the rest
is what else the machine did. `reading` is the time for reading the raw response itself, for comparison.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from typing import TYPE_CHECKING, Any, Final

from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.json_text import dump_json
from promptreg.deployment.reader import read_exchange
from promptreg.scoring.contract.features import answer_features
from promptreg.scoring.faults.reading.observe import observe_exchange
from promptreg.scoring.faults.recorded import golden_of
from promptreg.scoring.faults.registry import FAMILIES, find_faults

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.deployment.reading import Reading
    from promptreg.scoring.faults.model import Observation

FRAMES: Final = 250
MANY_FRAMES: Final = 25_000
TARGET_MS: Final = 1.0
"""For 1 000 characters."""

LONG_TARGET_MS: Final = 30.0
"""For 100 000 characters."""

REQUEST: Final[dict[str, Any]] = {
    "model": "deepseek-chat",
    "messages": [
        {"role": "system", "content": "You are the assistant of a shop. 你是商店的助理。"},
        {"role": "user", "content": "How do I send my order 20481 back, and when is it paid? 怎么退货，多久退款？"},
    ],
    "temperature": 0.7,
    "max_tokens": 400_000,
    "stop": ["END"],
}
_EN: Final = (
    "the order is packed on day {n} and leaves our store in Munich|please send the parcel back within {n} days|you can "
    "see the state of order {n} under your account|the amount of {n}.50 euros is paid to the card that you used|open "
    "the page and choose what you want to do|it takes {n} hours until the team has looked at it|we cannot tell how "
    "long the carrier needs for the way|keep the label, because the number on it is needed later"
)
_ZH: Final = (
    "订单将在{n}天内打包并从仓库发出|请在{n}天之内把包裹寄回|您可以在账户页面查看订单{n}的状态|{n}元会退回到您付款时使用的银行卡|"
    "打开页面以后选择您需要的操作|客服团队大约需要{n}个小时处理您的申请|我们无法确定承运商在路上要用多长时间|请保留标签，因为以后需要上面的号码"
)


def main() -> None:
    """Print one table for each part."""
    parser = argparse.ArgumentParser(description="What the detectors cost for an answer.")
    parser.add_argument("--rules", action="store_true", help="print the dearest rules instead")
    if parser.parse_args().rules:
        _print_rules()
        return
    _print_kinds(1_000, 40, TARGET_MS)
    _print_kinds(100_000, 5, LONG_TARGET_MS)
    _print_growth()
    _print_hostile()


def text_of(kind: str, size: int) -> str:
    """A text of one kind: en, zh, code, json or table."""
    rng = random.Random(size)
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(_piece(kind, rng))
        length += len(pieces[-1])
    if kind == "json":
        return json.dumps({"items": pieces}, ensure_ascii=False)
    if kind == "table":
        return "| item | price | state |\n| --- | --- | --- |\n" + "".join(pieces)
    if kind == "code":
        return "Here is the script:\n\n```python\n" + "".join(pieces) + "```\n\nRun it once."
    return "".join(pieces)[:size]


def _piece(kind: str, rng: random.Random) -> str:
    number = rng.randrange(2, 30_000)
    zh = kind == "zh" or (kind in ("json", "table") and rng.random() < 0.5)
    said = rng.choice((_ZH if zh else _EN).split("|")).format(n=number)
    if kind == "code":
        return f"def step_{number}(order):\n    # {said}\n    return order.total * {number} + 1\n\n\n"
    if kind == "table":
        return f"| {said} | {number}.00 | open |\n"
    if kind == "json":
        return said
    return f"{said}。" if zh else f"{said.capitalize()}. "


def body_of(text: str) -> Exchange:
    """An answer that came as one body."""
    tokens = max(1, len(text) // 3)
    value: dict[str, Any] = {
        "model": "deepseek-chat",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 60, "completion_tokens": tokens, "total_tokens": 60 + tokens},
    }
    return _exchange([dump_json(value)], "application/json")


def stream_of(text: str, frames: int = FRAMES) -> Exchange:
    """The same answer as a stream, each frame a chunk of its own."""
    step = max(1, -(-len(text) // frames))
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": text[at : at + step]}, None) for at in range(0, len(text), step)]
    deltas.append(({}, "stop"))
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "deepseek-chat"}
    values: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]}
        for delta, finish in deltas
    ]
    tokens = max(1, len(text) // 3)
    usage = {"prompt_tokens": 60, "completion_tokens": tokens, "total_tokens": 60 + tokens}
    values.append({**head, "choices": [], "usage": usage})
    data = [b"data: " + dump_json(value) + b"\n\n" for value in values]
    return _exchange([*data, b"data: [DONE]\n\n"], "text/event-stream")


def _exchange(data: Sequence[bytes], content_type: str) -> Exchange:
    chunks = tuple(Chunk(0.01 * number, piece) for number, piece in enumerate(data, 1))
    return Exchange(0.0, chunks[-1].at_s, 200, (("content-type", content_type),), chunks)


class Cost:
    """CPU-milliseconds for one exchange, the least of some rounds."""

    def __init__(self, exchange: Exchange, rounds: int, golden: str | None = None) -> None:
        recorded = read_exchange(exchange) if golden is None else read_exchange(body_of(golden))
        seen = observe_exchange(body_of(golden or ""), REQUEST, reading=recorded) if golden is not None else None
        self._exchange = exchange
        self._golden = None if seen is None else golden_of([seen])
        reading = read_exchange(exchange)
        self.reading = _least(lambda: read_exchange(exchange), rounds)
        self.observing = _least(lambda: self.observed(reading), rounds)
        seen_calls = iter([self.observed(reading) for _ in range(rounds)])
        self.rules = _least(lambda: find_faults(next(seen_calls)), rounds)
        answer = reading.answer
        self.checks = 0.0
        if answer is not None:
            self.checks = _least(lambda: answer_features(answer, _no_facts), rounds)

    def observed(self, reading: Reading) -> Observation:
        """What the rules see, new each time: nothing that was worked out before is left in it."""
        return observe_exchange(self._exchange, REQUEST, golden=self._golden, reading=reading)

    @property
    def total(self) -> float:
        """Everything but reading."""
        return self.observing + self.rules + self.checks


def _no_facts(_: str) -> tuple[str, ...]:
    """The facts of an answer are read by the fact channels, and the contract is given what they found."""
    return ()


def _least(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return 1000 * best


def _print_kinds(size: int, rounds: int, target: float) -> None:
    print(f"| {size:,} characters | as | reading | seeing | rules | checks | all but reading | target |")
    print("|---|---|---|---|---|---|---|---|")
    for kind in ("en", "zh", "code", "json", "table"):
        text = text_of(kind, size)
        golden = text_of(kind, size + 7)
        ways = {"body": body_of(text), "stream": stream_of(text)}
        if size >= MANY_FRAMES:
            ways[f"{MANY_FRAMES:,} frames"] = stream_of(text, MANY_FRAMES)
        for way, exchange in ways.items():
            cost = Cost(exchange, rounds, golden)
            met = "met" if cost.total <= target else "**no**"
            cells = (cost.reading, cost.observing, cost.rules, cost.checks, cost.total)
            print(f"| {kind} | {way} | {' | '.join(f'{one:.2f}' for one in cells)} | {target:g} {met} |", flush=True)
    print()


def _print_growth() -> None:
    print("| all but reading, ms | 10 000 | 100 000 | 1 000 000 | growth |\n|---|---|---|---|---|")
    for kind in ("en", "zh", "code", "json", "table"):
        for way, made in (("body", body_of), ("stream", lambda text: stream_of(text, max(1, len(text) // 4)))):
            totals = [
                Cost(made(text_of(kind, size)), rounds, "").total
                for size, rounds in ((10_000, 5), (100_000, 3), (1_000_000, 1))
            ]
            growth = " × ".join(f"{after / before:.1f}" for before, after in itertools.pairwise(totals))
            print(f"| {kind} | {way} | {' | '.join(f'{one:.1f}' for one in totals)} | {growth} |", flush=True)
    print()


HOSTILE: Final = {
    "ab": "ab",
    "blanks": " ",
    "line ends": "\n",
    "braces": "{",
    "keys": '{"a":',
    "angle brackets": "<",
    "tool marks": "<｜",
    "backquotes": "`",
    "fences": "```\n",
    "quotes": '"',
    "stars": "*",
    "bars": "|",
    "brackets": "(",
    "stamps": "责 a",
    "one line of Chinese": "责任",
    "exclamation marks": "!",
    "backslashes": "\\",
    "addresses": "www.a@",
    "digits": "1,",
}
"""Pieces that are repeated to 1 000 000 characters."""


def _print_hostile() -> None:
    print("| repeated | 100 000, ms | 1 000 000, ms | growth |\n|---|---|---|---|")
    for name, piece in HOSTILE.items():
        small, large = (
            Cost(body_of(piece * (size // len(piece))), rounds, "").total
            for size, rounds in ((100_000, 3), (1_000_000, 1))
        )
        print(f"| {name} | {small:.1f} | {large:.0f} | {large / small:.1f} |", flush=True)


def _print_rules() -> None:
    for kind in ("en", "zh"):
        for size, rounds in ((1_000, 60), (100_000, 5)):
            text = text_of(kind, size)
            for way, exchange in (("body", body_of(text)), ("stream", stream_of(text))):
                spent = _by_rule(exchange, text_of(kind, size + 7), rounds)
                listed = ", ".join(f"{name} {ms:.3f}" for name, ms in spent[:14])
                print(f"{kind} {size} {way} {sum(ms for _, ms in spent):.2f}: {listed}")


def _by_rule(exchange: Exchange, golden: str, rounds: int) -> list[tuple[str, float]]:
    """Each rule's time; what several need is counted for the first."""
    reading = read_exchange(exchange)
    recorded = golden_of([observe_exchange(body_of(golden), REQUEST)])
    spent: dict[str, float] = {}
    for _ in range(rounds):
        call = observe_exchange(exchange, REQUEST, golden=recorded, reading=reading)
        for rules in FAMILIES:
            for rule in rules:
                if rule.find is not None:
                    started = time.process_time()
                    list(rule.find(call))
                    taken = 1000 * (time.process_time() - started)
                    name = f"{rule.kind} {getattr(rule.find, '__name__', '')}"
                    spent[name] = min(spent.get(name, taken), taken)
    return sorted(spent.items(), key=lambda item: -item[1])


if __name__ == "__main__":
    main()

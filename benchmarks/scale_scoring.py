"""What judging costs for a case, with the local engine and on Ray: for the plan in docs/design/scale.md.

    python benchmarks/scale_scoring.py [--cases 512]

Cases with 10 source and 5 target answers of some 100 characters, by the default embedder: first without a vector in the
cache, then with all of them. Needs the extra `[ray]`.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from promptreg.answer.model import Answer
from promptreg.config import Config
from promptreg.engine_ray.engine import ray_engine
from promptreg.errors import Place
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.pairs import CasePair
from promptreg.store.store import Store
from promptreg.suite.model import Case, Request
from promptreg.workflow.engine import LOCAL

_ENDINGS = (
    "请保留包装。",
    "有问题请随时联系我们。",
    "Please keep the packaging.",
    "退款将在三个工作日内到账。",
    "祝您生活愉快！",
)


def pairs_of(cases: int) -> list[CasePair]:
    """Cases of which each has answers of its own, in some five wordings."""
    chance = random.Random(0)

    def answer(number: int) -> Answer:
        ending = "".join(chance.sample(_ENDINGS, 2))
        return Answer(f"您好！订单 {number} 支持 {number % 30 + 1} 天内退货，Order {number} may be returned. {ending}")

    return [
        CasePair(
            Case("support", f"用例-{number}", Request(({"role": "user", "content": str(number)},), {}), Place("s", 1)),
            tuple(answer(number) for _ in range(10)),
            tuple(answer(number) for _ in range(5)),
        )
        for number in range(cases)
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=512)
    options = parser.parse_args()
    pairs = pairs_of(options.cases)
    texts = len({answer.content for pair in pairs for answer in (*pair.source, *pair.target)})
    with TemporaryDirectory() as folder:
        config = _project(Path(folder) / "first")
        embedder = load_embedder(config.judging.embedder, config)
        embedder.encode(["warm"])
        print(f"{len(pairs)} cases, {texts} distinct texts")
        scored = []
        with ray_engine(config, workers=2) as on_ray:
            with _store(config) as cache:
                on_ray.score(pairs[:2], config=config, embedder=embedder, cache=cache, ask=_nobody)
            for name, engine in (("local", LOCAL), ("ray, 2 CPUs", on_ray)):
                config = _project(Path(folder) / name)
                with _store(config) as cache:
                    times = []
                    for _ in range(2):
                        begun = time.perf_counter()
                        scores = tuple(engine.score(pairs, config=config, embedder=embedder, cache=cache, ask=_nobody))
                        times.append(time.perf_counter() - begun)
                scored.append([{name: found.tobytes() for name, found in case.distances.items()} for case in scores])
                first, again = times
                per_case = sum(found.nbytes for case in scores for found in case.distances.values()) / len(pairs)
                print(
                    f"{name:14}{first:7.1f} s with embedding, {again:6.1f} s without: {texts / (first - again):6.0f} "
                    f"texts/s, {again / len(pairs) * 1000:5.1f} ms and {per_case / 1000:.0f} kB a case",
                    flush=True,
                )
        print(f"the same bytes: {scored[0] == scored[1]}")


def _project(root: Path) -> Config:
    root.mkdir()
    return Config(root=root, file="promptreg.toml")


def _store(config: Config) -> Store:
    return Store.open(config.root / config.paths.store)


def _nobody(by: str, prompt: str) -> str:
    raise AssertionError(f"no case has a judge, but {by} was asked {prompt!r}")


if __name__ == "__main__":
    main()

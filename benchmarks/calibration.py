"""How often the product's own verdict functions raise false alarms, and what they find.

    python benchmarks/calibration.py --table 2b          the default plan on a synthetic generator, beside the published cells
    python benchmarks/calibration.py --table 4           recordings in blocks and in passes, with states shared by a session
    python benchmarks/calibration.py --passes FILE.json  suites drawn from recorded answers, beside threshold gates
    python benchmarks/calibration.py --speed             seconds and memory of the suite test

Cells outside the published band (null rows ±.04, others ±.12) are marked and counted at the end. The published tables 2b
and 4 were made with an older form of the suite statistic, so a cell above the band in a row with drift is a gain.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import log, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from promptreg.verdict.comparison import compare_cases
from promptreg.verdict.decide import judge_suite
from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.model import CaseVerdict, SuiteVerdict
from promptreg.verdict.rules import Rules, plan_looks
from promptreg.verdict.statistics.anchored import contrast, sign_flip_p
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.suite import SuiteStatistic, case_statistic

Floats = NDArray[np.float64]

DIMENSIONS = 24
NULL_BAND, DRIFT_BAND = 0.04, 0.12

# Any difference counts, as in the published simulation, which knows no materiality.
RULES = Rules(material_distance=0.0)


# --- the generator: answers as points on a sphere ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prompt:
    """One synthetic case: where its answers lie and how they vary."""

    centre: Floats
    direction: Floats
    spread: float
    """Standard deviation of an answer around its mode; 0 for the 30 % of nearly deterministic cases."""
    modes: Floats
    """Offsets of the legitimate answers, one a row."""
    weights: Floats


def draw_prompt(rng: np.random.Generator) -> Prompt:
    """30 % nearly deterministic with a rare second text; the others log-normal in spread, 40 % of them with three modes."""
    centre, direction = (vector / np.linalg.norm(vector) for vector in rng.normal(size=(2, DIMENSIONS)))
    deterministic = rng.random() < 0.30
    if deterministic:
        rare = rng.uniform(0, 0.15)
        spread, weights, reach = 0.0, np.array([1 - rare, rare]), 0.25
    else:
        spread, reach = float(np.exp(rng.normal(log(0.30), 0.5))), 0.5
        weights = rng.dirichlet([2.0] * 3) if rng.random() < 0.4 else np.array([1.0])
    modes = rng.normal(size=(len(weights), DIMENSIONS)) / sqrt(DIMENSIONS) * reach
    modes[0] = 0
    return Prompt(centre, direction, spread, modes, weights)


def draw_answers(rng: np.random.Generator, prompt: Prompt, drift: str, states: Floats) -> Floats:
    """One answer per row of `states`, the offsets of the sessions they belong to."""
    centre, spread, weights = prompt.centre, prompt.spread, prompt.weights
    if drift == "shift":
        centre = centre + prompt.direction * 0.5 * spread
    elif drift == "wrong":
        centre = centre + prompt.direction * max(1.0, 2.5 * spread)
    elif drift == "edit":
        centre = centre + prompt.direction * 0.15
    elif drift == "wider":
        spread *= 1.4
        if prompt.spread == 0:
            weights = np.array([1 - 3 * weights[1], 3 * weights[1]])
    elif drift == "collapse":
        spread *= 0.5
    chosen = rng.choice(len(weights), size=len(states), p=weights)
    points = centre + prompt.modes[chosen] + rng.normal(size=states.shape) / sqrt(DIMENSIONS) * spread + states
    if drift == "garbage":
        garbage = rng.random(len(points)) < 0.10
        points[garbage] = rng.normal(size=(int(garbage.sum()), DIMENSIONS))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def chord_distances(points: Floats) -> Floats:
    """sqrt(2 − 2 cos), exactly 0 for equal points."""
    distances = np.sqrt(np.maximum(2 - 2 * np.clip(points @ points.T, -1, 1), 0))
    distances[distances < 1e-7] = 0
    return np.asarray(distances)


@dataclass(frozen=True, slots=True)
class Sessions:
    """How passes share states: every session moves each case by a state of its own and by one shared by all cases."""

    own: float = 0.0
    """In units of the case's spread (at least 0.02)."""
    shared: float = 0.0
    """Size of the shared state, in the same units times `own`."""
    passes_per_session: int = 1


def draw_suite(
    rng: np.random.Generator, cases: int, n: int, m: int, drift: str, share: float, sessions: Sessions
) -> tuple[list[CaseEvidence], set[str]]:
    """The evidence of one suite, and the ids of its drifted cases."""
    hit = set(rng.permutation(cases)[: max(1, round(share * cases))].tolist()) if drift else set()
    session_of = np.concatenate(
        [np.arange(n) // sessions.passes_per_session, 1000 + np.arange(m) // sessions.passes_per_session]
    )
    labels = np.unique(session_of)
    shared = {label: rng.normal(size=DIMENSIONS) / sqrt(DIMENSIONS) * sessions.shared for label in labels.tolist()}
    evidence = []
    for k in range(cases):
        prompt = draw_prompt(rng)
        size = sessions.own * max(prompt.spread, 0.02)
        states = {
            label: rng.normal(size=DIMENSIONS) / sqrt(DIMENSIONS) * size + shared[label] * size for label in labels.tolist()
        }
        offsets = np.array([states[label] for label in session_of.tolist()])
        points = np.vstack(
            [draw_answers(rng, prompt, "", offsets[:n]), draw_answers(rng, prompt, drift if k in hit else "", offsets[n:])]
        )
        distances = chord_distances(points)
        traits = tuple(_trait(str(int(np.flatnonzero(row == 0)[0]))) for row in distances)
        evidence.append(CaseEvidence(f"case-{k:04}", n, m, {"embedding": distances}, traits))
    return evidence, {f"case-{k:04}" for k in hit}


def _trait(text: str) -> AnswerTraits:
    return AnswerTraits(text, length=1, finish_reason=None, tool_calls="", language=None, refusal=False)


def first_passes(case: CaseEvidence, m: int) -> CaseEvidence:
    """The same case after m target passes."""
    keep = case.source_passes + m
    return replace(
        case,
        target_passes=m,
        distances={name: values[:keep, :keep] for name, values in case.distances.items()},
        traits=case.traits[:keep],
    )


# --- printing cells beside the published ones -------------------------------------------------------------------------


class Bands:
    """Compares measured cells with published ones and keeps count."""

    def __init__(self) -> None:
        self.cells = 0
        self.outside: list[str] = []

    def cell(self, name: str, measured: float, published: float, *, null: bool) -> str:
        """A cell as `measured (published)`, marked when it lies outside the band."""
        self.cells += 1
        band = NULL_BAND if null else DRIFT_BAND
        text = f"{measured:.3f} ({published:.3f})"
        if abs(measured - published) <= band:
            return text + "  "
        side = "above" if measured > published else "below"
        self.outside.append(f"{name}: {measured:.3f} {side} {published:.3f} ± {band}")
        return text + (" ↑" if side == "above" else " ↓")

    def summary(self) -> None:
        """Says plainly which cells fall outside."""
        print(f"\n{self.cells - len(self.outside)} of {self.cells} cells inside the band.")
        for line in self.outside:
            print(f"  outside: {line}")


DRIFTS = (("", 0.0), ("wrong", 0.1), ("wrong", 0.02), ("edit", 0.1), ("shift", 1.0), ("wider", 1.0), ("collapse", 1.0), ("garbage", 1.0))
NAMES = {
    ("", 0.0): "none",
    ("wrong", 0.1): "wrong answer 10 %",
    ("wrong", 0.02): "one case wrong",
    ("edit", 0.1): "subtle edit 10 %",
    ("shift", 1.0): "shift by half a spread, all",
    ("wider", 1.0): "spread x 1.4, all",
    ("collapse", 1.0): "diversity collapse, all",
    ("garbage", 1.0): "10 % garbage replies, all",
}

# Statistics page, table 2b: reject / share of replay calls / case TPR. Columns: K = 50 and K = 20, each without and with sessions.
TABLE_2B = {
    (50, False): [(0.050, 0.99, None), (1.0, 0.60, 1.0), (1.0, 0.73, 0.38), (0.95, 0.69, 0.45), (1.0, 0.63, 0.10), (1.0, 0.60, 0.0), (1.0, 0.91, 0.14), (0.97, 0.74, 0.0)],
    (50, True): [(0.033, 1.0, None), (1.0, 0.60, 1.0), (1.0, 0.78, 0.63), (0.92, 0.67, 0.40), (1.0, 0.66, 0.09), (1.0, 0.60, 0.01), (0.98, 0.95, 0.09), (0.95, 0.76, 0.0)],
    (20, False): [(0.043, 0.99, None), (1.0, 0.60, 1.0), (1.0, 0.65, 1.0), (0.60, 0.82, 0.38), (0.98, 0.76, 0.18), (1.0, 0.61, 0.01), (0.78, 0.97, 0.16), (0.65, 0.92, 0.01)],
    (20, True): [(0.023, 0.99, None), (1.0, 0.60, 1.0), (1.0, 0.65, 1.0), (0.72, 0.78, 0.50), (1.0, 0.79, 0.21), (1.0, 0.61, 0.02), (0.60, 0.97, 0.11), (0.63, 0.89, 0.01)],
}


def table_2b(suites: int, seed: int) -> None:
    """The default plan end to end: n = 10, looks at m = 3 and 5, case list gated by the suite test."""
    bands = Bands()
    looks = plan_looks([3, 5])
    for (cases, with_sessions), published in TABLE_2B.items():
        sessions = Sessions(own=0.2, shared=0.5) if with_sessions else Sessions()
        print(f"\nK = {cases}, {'sessions 0.2 + shared 0.5' if with_sessions else 'no session effect'}: measured (published)")
        print(f"{'drift':30}{'reject':>19}{'share of calls':>19}{'case TPR':>19}{'list wrong':>12}")
        for (drift, share), (reject, calls, rate) in zip(DRIFTS, published, strict=True):
            rng = np.random.default_rng([seed, cases, with_sessions, DRIFTS.index((drift, share))])
            rows = [_plan_once(rng, cases, drift, share, sessions, looks) for _ in range(suites * (5 if not drift else 1))]
            rejected, used, found, wrong = np.array(rows, dtype=float).mean(axis=0)
            name = f"K={cases} {'sessions' if with_sessions else 'plain'} {NAMES[drift, share]}"
            print(
                f"{NAMES[drift, share]:30}"
                f"{bands.cell(name + ' reject', rejected, reject, null=not drift):>19}"
                f"{bands.cell(name + ' calls', used, calls, null=not drift):>19}"
                f"{bands.cell(name + ' TPR', found, rate, null=False) if rate is not None else '':>19}"
                f"{wrong:12.3f}",
                flush=True,
            )
    bands.summary()


def _plan_once(rng, cases, drift, share, sessions, looks) -> tuple[float, float, float, float]:  # type: ignore[no-untyped-def]  # noqa: ANN001, PLR0917 - a row of one loop
    evidence, hit = draw_suite(rng, cases, 10, looks[-1].passes, drift, share, sessions)
    for look in looks:
        judgement = judge_suite("s", [first_passes(case, look.passes) for case in evidence], rules=RULES, look=look)
        if judgement.drift_rejected:
            listed = {case.case_id for case in judgement.cases if case.verdict is CaseVerdict.DRIFT}
            right = len(listed & hit) / max(1, len(hit))
            return 1.0, look.passes / looks[-1].passes, right, len(listed - hit) / max(1, len(listed))
    return 0.0, 1.0, 0.0, 0.0


# Statistics page, table 4, no drift: (design, own, shared) -> false alarm of stratified, joint, anchored.
TABLE_4 = {
    ("block", 0.0, 0.0): (0.039, 0.028, 0.044),
    ("block", 0.2, 0.0): (1.0, 1.0, 0.056),
    ("passes", 0.2, 0.0): (0.028, 0.044, 0.033),
    ("passes", 0.2, 0.5): (0.056, 0.050, 0.044),
    ("passes", 1.0, 0.5): (0.094, 0.039, 0.033),
}


def table_4(suites: int, seed: int) -> None:
    """False alarms without drift, for recordings in blocks and in passes."""
    bands = Bands()
    rows = labellings(10, 5, 0)
    print("K = 50, n = 10, m = 5, no drift; false alarm at 5 %: measured (published)")
    print(f"{'recording':34}{'stratified':>18}{'joint (ours)':>18}{'anchored':>18}")
    for (design, own, shared), published in TABLE_4.items():
        rng = np.random.default_rng([seed, len(design), int(own * 10), int(shared * 10)])
        sessions = Sessions(own, shared, 5 if design == "block" else 1)
        hits = np.zeros(3)
        for number in range(suites):
            evidence, _ = draw_suite(rng, 50, 10, 5, "", 0.0, sessions)
            statistics = [case_statistic(case.distances, rows) for case in evidence]
            for column, joint in enumerate((False, True)):
                suite = SuiteStatistic(len(rows), number, joint=joint)
                for statistic in statistics:
                    suite.add(statistic)
                hits[column] += suite.p_value() <= 0.05
            hits[2] += sign_flip_p([contrast(case.distances["embedding"], 10) for case in evidence], number) <= 0.05
        name = f"{design}, session {own}, shared {shared}"
        cells = [
            bands.cell(f"{name} {column}", hit / suites, value, null=True)
            for column, hit, value in zip(("stratified", "joint", "anchored"), hits.tolist(), published, strict=True)
        ]
        print(f"{name:34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)
    bands.summary()


# --- recorded answers --------------------------------------------------------------------------------------------------

# Statistics page, table 7, "T1 T2 T3 T4" with channels embedding + edit + numbers: temperature .7 and .2.
TABLE_7 = {
    ("A/A", 5): (0.02, 0.04), ("A/A", 3): (0.04, 0.08),
    ("target", 5): (0.76, 1.0), ("target", 3): (0.50, 1.0),
    ("one case swapped", 5): (0.90, 0.94), ("one case swapped", 3): (0.43, 0.48),
    ("a number +1 in 3 cases", 5): (0.90, 0.97), ("a number +1 in 3 cases", 3): (0.71, 0.82),
}  # fmt: skip


# --- speed ------------------------------------------------------------------------------------------------------------


def speed() -> None:
    """Seconds and memory of all tests of a suite with 8 channels and 3003 labellings."""
    rng = np.random.default_rng(0)
    for cases in (50, 1000):
        evidence = []
        for k in range(cases):
            points = rng.normal(size=(8, 15, 4))
            distances = np.sqrt(((points[:, :, None] - points[:, None]) ** 2).sum(-1))
            traits = tuple(_trait(f"{k} {i}") for i in range(15))
            evidence.append(CaseEvidence(f"case-{k:04}", 10, 5, {f"c{i}": distances[i] for i in range(8)}, traits))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, started_cpu = time.perf_counter(), time.process_time()
        compare_cases(evidence, Rules())
        growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        print(
            f"{cases} cases, 8 channels, 3003 labellings: {time.process_time() - started_cpu:.2f} s CPU, "
            f"{time.perf_counter() - started:.2f} s wall, {growth:.0f} MB more memory"
        )


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=["2b", "4"])
    parser.add_argument("--passes", type=Path, metavar="FILE")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--suites", type=int, default=60, help="suites a cell (table 2b: five times as many in null rows)")
    parser.add_argument("--seed", type=int, default=41)
    options = parser.parse_args()
    if options.speed:
        speed()
    if options.table == "2b":
        table_2b(options.suites, options.seed)
    if options.table == "4":
        table_4(options.suites, options.seed)
    if options.passes:
        table_7(options.passes, options.suites, options.seed)
    if not (options.speed or options.table or options.passes):
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())

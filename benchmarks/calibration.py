"""How often the product's own verdict functions raise false alarms, and what they find.

    python benchmarks/calibration.py --table 2b          the default plan on a synthetic generator
    python benchmarks/calibration.py --table 4           recordings in blocks and in passes, no drift
    python benchmarks/calibration.py --passes FILE.json  suites of recorded answers, beside threshold gates
    python benchmarks/calibration.py --real              suites recorded now from the demo's model, 40 a temperature
    python benchmarks/calibration.py --speed             seconds and memory of the suite test

Each cell stands beside the published one (in brackets). Cells outside the published band (null rows ±.04, others ±.12)
are marked and counted at the end. The published tables 2b and 4 were made with an older form of the suite statistic, so
a cell above the band in a row with drift is a gain, and so is one below it in a row without.

`--real` takes half an hour on two free cores. With `--keep FILE` its answers stay, and a run that was ended goes on
from them; `--real --from FILE` judges them again without a call.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from intervals import wilson
from real_verdicts import real_suites
from recorded_suites import KINDS, RecordedScorer, draw_recorded, read_recording
from synthetic_suites import Sessions, draw_suite, first_passes, trait

from promptreg.verdict.comparison import compare_cases
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import CaseEvidence
from promptreg.verdict.rules import Look, Rules, plan_looks
from promptreg.verdict.statistics.anchored import contrast, sign_flip_p
from promptreg.verdict.statistics.energy import PairWeights
from promptreg.verdict.statistics.labellings import labellings
from promptreg.verdict.statistics.suite import CaseMeasures, SuiteStatistic, case_statistics
from promptreg.verdict.verdicts import CaseVerdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.scoring.score import CaseScores

NULL_BAND, DRIFT_BAND = 0.04, 0.12

# Any difference counts, as in the published simulation, which knows no materiality.
RULES = Rules(material_distance=0.0)


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


DRIFTS = (
    ("", 0.0),
    ("wrong", 0.1),
    ("wrong", 0.02),
    ("edit", 0.1),
    ("shift", 1.0),
    ("wider", 1.0),
    ("collapse", 1.0),
    ("garbage", 1.0),
)
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

# Statistics page, table 2b, by number of cases and whether there are sessions: reject, share of calls, case TPR.
TABLE_2B = {
    (50, False): [
        (0.050, 0.99, None),
        (1.0, 0.60, 1.0),
        (1.0, 0.73, 0.38),
        (0.95, 0.69, 0.45),
        (1.0, 0.63, 0.10),
        (1.0, 0.60, 0.0),
        (1.0, 0.91, 0.14),
        (0.97, 0.74, 0.0),
    ],
    (50, True): [
        (0.033, 1.0, None),
        (1.0, 0.60, 1.0),
        (1.0, 0.78, 0.63),
        (0.92, 0.67, 0.40),
        (1.0, 0.66, 0.09),
        (1.0, 0.60, 0.01),
        (0.98, 0.95, 0.09),
        (0.95, 0.76, 0.0),
    ],
    (20, False): [
        (0.043, 0.99, None),
        (1.0, 0.60, 1.0),
        (1.0, 0.65, 1.0),
        (0.60, 0.82, 0.38),
        (0.98, 0.76, 0.18),
        (1.0, 0.61, 0.01),
        (0.78, 0.97, 0.16),
        (0.65, 0.92, 0.01),
    ],
    (20, True): [
        (0.023, 0.99, None),
        (1.0, 0.60, 1.0),
        (1.0, 0.65, 1.0),
        (0.72, 0.78, 0.50),
        (1.0, 0.79, 0.21),
        (1.0, 0.61, 0.02),
        (0.60, 0.97, 0.11),
        (0.63, 0.89, 0.01),
    ],
}


def table_2b(suites: int, seed: int) -> None:
    """The default plan end to end: n = 10, looks at m = 3 and 5, case list gated by the suite test."""
    bands = Bands()
    looks = plan_looks([3, 5])
    for (cases, with_sessions), published in TABLE_2B.items():
        sessions = Sessions(own=0.2, shared=0.5) if with_sessions else Sessions()
        effect = "sessions 0.2 + shared 0.5" if with_sessions else "no session effect"
        print(f"\nK = {cases}, {effect}: measured (published)")
        print(f"{'drift':30}{'reject':>19}{'share of calls':>19}{'case TPR':>19}{'list wrong':>12}")
        for (drift, share), (reject, calls, rate) in zip(DRIFTS, published, strict=True):
            rng = np.random.default_rng([seed, cases, with_sessions, DRIFTS.index((drift, share))])
            count = suites * (1 if drift else 5)
            rows = [
                _plan_once(rng, cases=cases, drift=drift, share=share, sessions=sessions, looks=looks)
                for _ in range(count)
            ]
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


def _plan_once(
    rng: np.random.Generator, *, cases: int, drift: str, share: float, sessions: Sessions, looks: Sequence[Look]
) -> tuple[float, float, float, float]:
    """Rejected, share of the calls used, share of the drifted cases named, share of the named that had not drifted."""
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
    weights = PairWeights(labellings(10, 5, 0))
    print("K = 50, n = 10, m = 5, no drift; false alarm at 5 %: measured (published)")
    print(f"{'recording':34}{'stratified':>18}{'joint (ours)':>18}{'anchored':>18}")
    for (design, own, shared), published in TABLE_4.items():
        rng = np.random.default_rng([seed, len(design), int(own * 10), int(shared * 10)])
        sessions = Sessions(own, shared, 5 if design == "block" else 1)
        hits = np.zeros(3)
        for number in range(suites):
            evidence, _ = draw_suite(rng, 50, 10, 5, "", 0.0, sessions)
            statistics = [*case_statistics((CaseMeasures(case.distances) for case in evidence), weights)]
            for column, joint in enumerate((False, True)):
                suite = SuiteStatistic(weights.labellings, number, joint=joint)
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


# --- recorded answers -----------------------------------------------------------------------------------------------

# Statistics page, table 7, "T1 T2 T3 T4" with channels embedding + edit + numbers: temperature .7 and .2.
TABLE_7 = {
    ("A/A", 5): (0.02, 0.04), ("A/A", 3): (0.04, 0.08),
    ("target", 5): (0.76, 1.0), ("target", 3): (0.50, 1.0),
    ("one case swapped", 5): (0.90, 0.94), ("one case swapped", 3): (0.43, 0.48),
    ("a number +1 in 3 cases", 5): (0.90, 0.97), ("a number +1 in 3 cases", 3): (0.71, 0.82),
}  # fmt: skip


def gates_reject(scores: Sequence[CaseScores]) -> dict[str, bool]:
    """What the usual gates say: a suite fails when one case's first reply is too unlike its first golden."""
    cosines = [1 - case.distances["embedding"][0, case.n] ** 2 / 2 for case in scores]
    ratios = [1 - case.distances["edit"][0, case.n] ** 2 for case in scores]
    return {
        "cosine 0.8": min(cosines) < 0.8,
        "cosine 0.9": min(cosines) < 0.9,
        "edit ratio 0.8": min(ratios) < 0.8,
        "exact match": min(ratios) < 1,
    }


def table_7(path: Path, suites: int, seed: int) -> None:
    """Suites drawn from recorded answers: the product's drift test beside the gates that other tools use."""
    recording, temperature = read_recording(path)
    column = 0 if temperature > 0.5 else 1
    scorer, bands = RecordedScorer(), Bands()
    print(f"{path.name}: {len(recording.prompts)} prompts, n = 10, {suites} suites a row, channels as in the product")
    print(f"{'suite drawn':26}{'m':>2}{'ours (published)':>20}{'95 % interval':>16}{'named':>8}   gates that fire")
    for kind, m in itertools.product(KINDS, (5, 3)):
        rejected, named, gates = 0, 0, Counter[str]()
        for number in range(suites):
            scores = scorer(*draw_recorded(recording, kind, m, seed + number))
            judgement = judge_suite("recorded", scores)
            rejected += judgement.drift_rejected
            named += any(case.verdict is CaseVerdict.DRIFT for case in judgement.cases)
            gates.update(name for name, fires in gates_reject(scores).items() if fires)
        low, high = wilson(rejected, suites)
        cell = bands.cell(f"{kind}, m = {m}", rejected / suites, TABLE_7[kind, m][column], null=kind == "A/A")
        others = ", ".join(f"{name} {gates[name] / suites:.2f}" for name in gates)
        print(f"{kind:26}{m:2}{cell:>20}{f'{low:.2f} to {high:.2f}':>16}{named / suites:8.2f}   {others}", flush=True)
    bands.summary()


# --- speed ------------------------------------------------------------------------------------------------------------


def speed() -> None:
    """Seconds and memory of all tests of a suite with 8 channels and 3003 labellings."""
    rng = np.random.default_rng(0)
    for cases in (50, 1000):
        evidence = []
        for k in range(cases):
            points = rng.normal(size=(8, 15, 4))
            distances = np.sqrt(((points[:, :, None] - points[:, None]) ** 2).sum(-1))
            traits = tuple(trait(f"{k} {i}") for i in range(15))
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
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument(
        "--suites",
        type=int,
        help="suites a cell: 60, or 40 with --real; table 2b takes five times as many in null rows",
    )
    parser.add_argument(
        "--temperature", type=float, nargs="+", default=[0.7, 0.2], help="with --real: temperatures to sample at"
    )
    parser.add_argument("--keep", type=Path, metavar="FILE", help="--real, keeping the answers suite by suite")
    parser.add_argument("--from", dest="kept", type=Path, metavar="FILE", help="--real, judging kept answers")
    parser.add_argument(
        "--self-test", action="store_true", help="with --real: tell EQUIVALENT from INCONCLUSIVE too, which is slow"
    )
    parser.add_argument("--seed", type=int, default=41)
    options = parser.parse_args()
    options.real = options.real or options.keep is not None or options.kept is not None
    suites = options.suites or (40 if options.real else 60)
    if options.real:
        real_suites(options.temperature, suites, keep=options.keep, kept=options.kept, self_test=options.self_test)
    if options.speed:
        speed()
    if options.table == "2b":
        table_2b(suites, options.seed)
    if options.table == "4":
        table_4(suites, options.seed)
    if options.passes:
        table_7(options.passes, suites, options.seed)
    if not (options.real or options.speed or options.table or options.passes):
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())

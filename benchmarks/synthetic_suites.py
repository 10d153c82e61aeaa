"""Synthetic suites: answers as points on a sphere, with drift and session effects of known size.

The same kind of generator as the statistics page's tables were made with: heterogeneous cases, some of them nearly
deterministic, some with several legitimate answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray

from promptreg.scoring.traits import AnswerTraits
from promptreg.verdict.evidence import CaseEvidence

Floats = NDArray[np.float64]

DIMENSIONS = 24


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
    """30 % nearly deterministic with a rare second text; the others log-normal in spread, 40 % with three modes."""
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
            label: rng.normal(size=DIMENSIONS) / sqrt(DIMENSIONS) * size + shared[label] * size
            for label in labels.tolist()
        }
        offsets = np.array([states[label] for label in session_of.tolist()])
        points = np.vstack(
            [
                draw_answers(rng, prompt, "", offsets[:n]),
                draw_answers(rng, prompt, drift if k in hit else "", offsets[n:]),
            ]
        )
        distances = chord_distances(points)
        traits = tuple(trait(str(int(np.flatnonzero(row == 0)[0]))) for row in distances)
        evidence.append(CaseEvidence(f"case-{k:04}", n, m, {"embedding": distances}, traits))
    return evidence, {f"case-{k:04}" for k in hit}


def trait(text: str) -> AnswerTraits:
    """Traits of a synthetic answer, which has nothing but an identity."""
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

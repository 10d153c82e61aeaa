"""A suite beside its baseline: which cases can be compared, which are new, which are missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.baseline.read import read_baseline
from promptreg.errors import BaselineError, Place, Problem
from promptreg.scoring.pairs import CasePair
from promptreg.workflow.context.contexts import NO_CONTEXTS, Contexts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from promptreg.baseline.model import Baseline
    from promptreg.suite.model import Case, Suite


CLUSTER_TAG: Final = "cluster:"
"""Beginning of the tag that cases of one conversation or document share, such as `cluster:contract-7`."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """The cases of a suite, divided by what the baseline knows of them."""

    suite: Suite
    baseline: Baseline
    known: tuple[Case, ...]
    """Cases with a golden of the very same request."""
    new: tuple[Case, ...]
    """Cases without one: never recorded, or their request has changed since. They are not called and not compared."""
    unasked: tuple[str, ...]
    """Ids of new cases that have a golden, but that the run under judgement did not ask in their present form."""
    missing: tuple[str, ...]
    """Ids of goldens whose case is no longer in the suite. Empty when only some cases were selected."""
    varied_otherwise: tuple[str, ...] = ()
    """Ids of new cases whose very request is recorded, but with varied prompts where the suite asks for none, or
    without where it asks for them (`noise`)."""
    source: Contexts = NO_CONTEXTS
    """What the source would be sent now of cases under a context: by that they are paired."""
    target: Contexts = NO_CONTEXTS
    """What the target is sent of them."""


def pair_with_baseline(
    suite: Suite,
    baseline: Baseline,
    *,
    whole: bool,
    asked: Mapping[str, str] | None = None,
    source: Contexts = NO_CONTEXTS,
    target: Contexts = NO_CONTEXTS,
) -> Pairing:
    """Divide the cases of a suite.

    Args:
        suite: as loaded and selected.
        baseline: of the source.
        whole: whether the suite has all its cases; a selection says nothing about cases that are missing.
        asked: of a stored run, the request hashes by case id; None before a run. The suite and the baseline may both
            have moved on since the run: its answers to another request are not compared.
        source: what the source is sent of cases under a context.
        target: what the target is sent of them.

    Raises:
        BaselineError: the file is the baseline of another suite.
    """
    if baseline.header.suite != suite.name:
        raise BaselineError(
            Problem(f"The baseline found for suite {suite.name!r} says that it belongs to {baseline.header.suite!r}.")
        )
    known: list[Case] = []
    new: list[Case] = []
    unasked: list[str] = []
    otherwise: list[str] = []
    for case in suite.cases:
        golden = baseline.goldens.get(case.case_id)
        of_source = source.sent(case).request.sha256
        recorded = golden is not None and bool(golden.answers) and golden.request_sha256 == of_source
        if recorded and golden is not None and golden.noise != case.noise:
            otherwise.append(case.case_id)
            recorded = False
        if recorded and asked is not None and asked.get(case.case_id) != target.sent(case).request.sha256:
            unasked.append(case.case_id)
            recorded = False
        (known if recorded else new).append(case)
    present = {case.case_id for case in suite.cases}
    missing = sorted(set(baseline.goldens) - present) if whole else []
    divided = tuple(known), tuple(new), tuple(unasked), tuple(missing), tuple(otherwise)
    return Pairing(suite, baseline, *divided, source, target)


def recorded_pairs(pairing: Pairing) -> list[CasePair]:
    """The cases that can be compared, each with its recorded answers and none of the target."""
    baseline = pairing.baseline
    return [
        CasePair(case, baseline.goldens[case.case_id].by_pass(baseline.header.passes), ()) for case in pairing.known
    ]


def baseline_of(path: Path, suite: Suite, deployment: str) -> Baseline:
    """The baseline of a suite.

    Raises:
        BaselineError: there is none, or it is damaged.
    """
    if not path.exists():
        raise BaselineError(
            Problem(
                f"Suite {suite.name!r} has no baseline of deployment {deployment!r}. "
                f"`promptreg record --on {deployment}` makes it.",
                Place(suite.path),
            )
        )
    return read_baseline(path)

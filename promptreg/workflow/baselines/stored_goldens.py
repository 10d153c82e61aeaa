"""The goldens that stored samples make: what was answered, and what the fault rules find in the calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from promptreg.baseline.model import golden_of
from promptreg.scoring.faults.case import Noted
from promptreg.scoring.faults.registry import families_with
from promptreg.store.store import Store
from promptreg.suite.model import Request
from promptreg.workflow.context.sent import never_asked
from promptreg.workflow.judging.call_faults import Side, golden_calls
from promptreg.workflow.large import spread_of
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.running.stored import CaseSamples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from promptreg.baseline.model import Golden
    from promptreg.config import Config
    from promptreg.store.runs import RunCase, RunRecord

SAMPLES_TOGETHER: Final = 4_000
"""Samples that are read with one connection to the store, about so many."""


def stored_goldens(config: Config, store: Store, record: RunRecord, suite: str) -> dict[str, Golden]:
    """The goldens that the samples of one suite of a run make, by case id; a case without samples is left out.

    The present rules look at every call that says something of its deployment, one case at a time, so memory does not
    grow with the bodies.

    Raises:
        ConfigError: the project's own rules are wrong.
        StoreError: a stored sample is damaged.
    """
    reading = _Reading(config, store.path, record, suite, store.variants(record.run_id, suite))
    cases = sorted((case for case in store.cases(record.run_id) if case.suite == suite), key=lambda case: case.case_id)
    samples = record.answered + record.failed
    together = max(1, SAMPLES_TOGETHER * len(cases) // max(1, samples))
    parts = [cases[start : start + together] for start in range(0, len(cases), together)]
    return {golden.case_id: golden for some in spread_of(config, samples)(reading, parts) for golden in some}


@dataclass(frozen=True, slots=True)
class _Reading:
    """Makes goldens of some cases of a run; opens the store by itself, for it may run in another process."""

    config: Config
    path: Path
    record: RunRecord
    suite: str
    variants: Mapping[str, Mapping[int, str]]

    def __call__(self, cases: Sequence[RunCase]) -> tuple[Golden, ...]:
        """Of cases whose ids ascend; a case without samples is left out."""
        side = Side(self.config.deployments.get(self.record.deployment), self.record.server, redaction_of(self.config))
        families = families_with(load_extensions(self.config.root).faults)
        found = []
        with Store.open(self.path, create=False) as store:
            samples = CaseSamples(store, self.record.run_id, self.suite, cases[0].case_id)
            for case in cases:
                read = samples.of(case.case_id)
                if not read:
                    continue
                request = side.request(_request(case))
                answers = {index: sample.reading.answer for index, sample in read.items()}
                calls = {
                    index: side.observed(sample, request)
                    for index, sample in read.items()
                    if not never_asked(sample.stored.attempts[-1])
                }
                noted = Noted.of(calls, repeated=case.noise == "none", families=families)
                together = None if noted.together is None or len(calls) < len(read) else tuple(sorted(noted.together))
                golden = golden_of(case.case_id, case.request_sha256, answers, self.variants.get(case.case_id))
                found.append(replace(golden, calls=golden_calls(noted, calls), together=together))
        return tuple(found)


def _request(case: RunCase) -> Request:
    messages, params = case.request.get("messages"), case.request.get("params")
    return Request(
        tuple(one for one in messages if isinstance(one, dict)) if isinstance(messages, list) else (),
        params if isinstance(params, dict) else {},
    )

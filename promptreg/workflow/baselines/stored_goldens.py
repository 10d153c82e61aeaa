"""The goldens that stored samples make: what was answered, and what the fault rules find in the calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.baseline.model import golden_of
from promptreg.scoring.faults.case import Noted
from promptreg.scoring.faults.registry import families_with
from promptreg.suite.model import Request
from promptreg.workflow.context.sent import never_asked
from promptreg.workflow.judging.call_faults import Side, golden_calls
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.running.stored import CaseSamples

if TYPE_CHECKING:
    from promptreg.baseline.model import Golden
    from promptreg.config import Config
    from promptreg.store.runs import RunCase, RunRecord
    from promptreg.store.store import Store


def stored_goldens(config: Config, store: Store, record: RunRecord, suite: str) -> dict[str, Golden]:
    """The goldens that the samples of one suite of a run make, by case id; a case without samples is left out.

    The present rules look at every call that says something of its deployment, one case at a time, so memory does not
    grow with the bodies.

    Raises:
        ConfigError: the project's own rules are wrong.
        StoreError: a stored sample is damaged.
    """
    side = Side(config.deployments.get(record.deployment), record.server, redaction_of(config))
    families = families_with(load_extensions(config.root).faults)
    samples, variants = CaseSamples(store, record.run_id, suite), store.variants(record.run_id, suite)
    found: dict[str, Golden] = {}
    for case in store.cases(record.run_id):
        read = samples.of(case.case_id) if case.suite == suite else {}
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
        golden = golden_of(case.case_id, case.request_sha256, answers, variants.get(case.case_id))
        found[case.case_id] = replace(golden, calls=golden_calls(noted, calls), together=together)
    return found


def _request(case: RunCase) -> Request:
    messages, params = case.request.get("messages"), case.request.get("params")
    return Request(
        tuple(one for one in messages if isinstance(one, dict)) if isinstance(messages, list) else (),
        params if isinstance(params, dict) else {},
    )

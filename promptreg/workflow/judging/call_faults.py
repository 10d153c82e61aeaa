"""What a baseline tells of its recording's calls: a fresh clone knows the source's faults without the calls themselves.

The calls stay in the store of the machine that recorded them. What other rules found in them is not used, neither those
of another release of promptreg nor other rules of the project's own: it would be told as a fault of the target that
only one side was looked at for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from promptreg import __version__
from promptreg.baseline.model import FaultRules, GoldenCall
from promptreg.deployment.request import request_body
from promptreg.scoring.faults.case import NOTHING_NOTED, Noted
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.reading.observe import observe_exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.baseline.model import Baseline, Golden, Header
    from promptreg.canonical import JsonObject
    from promptreg.config.model import Deployment
    from promptreg.scoring.extensions import Extensions
    from promptreg.scoring.faults.model import Observation
    from promptreg.scoring.faults.reading.golden import Golden as RecordedCalls
    from promptreg.suite.model import Request
    from promptreg.text.redaction import Redaction
    from promptreg.workflow.running.stored import ReadSample


@dataclass(frozen=True, slots=True)
class Side:
    """A deployment as the project knows it now, and its kind as it was seen."""

    deployment: Deployment | None
    server: str | None
    redaction: Redaction
    """What is never kept: answers are without it, so the rules see the request without it too."""

    def request(self, request: Request) -> JsonObject:
        """The request as sent; without the deployment's own defaults where the project no longer has it."""
        if self.deployment is None:
            body: JsonObject = {"messages": list(request.messages), **request.params}
        else:
            body = request_body(request, self.deployment)
        return {key: self.redaction.json(value) for key, value in body.items()}

    def observed(self, sample: ReadSample, request: JsonObject, golden: RecordedCalls | None = None) -> Observation:
        """A stored call as the rules see it."""
        exchange = sample.stored.attempts[-1]
        return observe_exchange(exchange, request, golden=golden, server=self.server, reading=sample.reading)


def present_rules(extensions: Extensions) -> FaultRules:
    """The rules that look for faults now."""
    return FaultRules(__version__, tuple(sorted(extensions.entries())))


def golden_calls(noted: Noted, calls: Mapping[int, Observation]) -> dict[int, GoldenCall]:
    """What a golden tells of calls, by pass; calls that are told the same share it.

    Args:
        noted: what was found in them.
        calls: the same calls.
    """
    made: dict[tuple[tuple[tuple[str, str], ...], int | None], GoldenCall] = {}
    told: dict[int, GoldenCall] = {}
    for index, kinds in noted.calls.items():
        call = calls[index]
        tokens = call.usage.prompt_tokens if call.answered and call.usage is not None else None
        faults = tuple((kind, severity.value) for kind, severity in kinds.items())
        told[index] = made.setdefault((faults, tokens), GoldenCall(MappingProxyType(dict(faults)), tokens))
    return told


def told_by(baseline: Baseline, rules: FaultRules) -> Baseline:
    """The baseline as the present rules may add to it: without what other rules found, since one file names one set."""
    if baseline.header.fault_rules == rules:
        return baseline
    goldens = {case_id: replace(golden, calls={}, together=None) for case_id, golden in baseline.goldens.items()}
    return replace(baseline, header=replace(baseline.header, fault_rules=None), goldens=goldens)


def noted_of(golden: Golden, header: Header, rules: FaultRules) -> Noted:
    """What the baseline tells of the faults of a golden's calls; nothing where other rules found them.

    Args:
        golden: of the case.
        header: of its baseline.
        rules: the present ones.
    """
    if header.fault_rules != rules:
        return NOTHING_NOTED
    calls = {
        index: {kind: Severity(severity) for kind, severity in call.faults.items()}
        for index, call in golden.calls.items()
    }
    return Noted(calls, None if golden.together is None else frozenset(golden.together))

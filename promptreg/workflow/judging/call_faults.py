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
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

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
    """What a golden tells of calls, by pass.

    Args:
        noted: what was found in them.
        calls: the same calls.
    """
    return {index: _golden_call(kinds, calls[index]) for index, kinds in noted.calls.items()}


def _golden_call(kinds: Mapping[str, Severity], call: Observation) -> GoldenCall:
    faults = MappingProxyType({kind: severity.value for kind, severity in kinds.items()})
    return GoldenCall(faults, call.usage.prompt_tokens if call.answered and call.usage is not None else None)


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


def unknown_faults(header: Header, untold: int, cases: int, rules: FaultRules) -> Sentence | None:
    """What to say where it is not known which faults the source's own calls show.

    Args:
        header: of the baseline.
        untold: cases of which that is not known.
        cases: cases that were compared.
        rules: the present ones.
    """
    if not untold:
        return None
    theirs = header.fault_rules
    if theirs is None or theirs == rules:
        why = Sentence("the baseline does not tell of them", "基线中没有记载")
    else:
        old, now = _named(theirs), _named(rules)
        why = Sentence(
            f"what the baseline tells of them was found by the rules of {old.en}, not by those of {now.en}",
            f"基线中的记载出自 {old.zh} 的规则，而不是现在的 {now.zh}",
        )
    again = f"promptreg record --on {header.deployment}"
    return Sentence(
        f"Suite {header.suite}: which serving faults the source's own calls show is not known for {untold} of "
        f"{counted(cases, 'case')}: the calls are not in this store, and {why.en}. A fault of the target may count for "
        "less there. `promptreg baseline recheck --write` looks again, without a call, where the recording's store is; "
        f"without that store, `{again}` records again.",
        f"测试集 {header.suite}：{cases} 个用例中有 {untold} 个，无法得知源部署自身的调用有哪些服务故障：调用不在本机的"
        f"存储中，{why.zh}。在这些用例中，目标部署的故障可能被低估。请在保存录制的存储所在处运行 `promptreg baseline "
        f"recheck --write`（不发出调用）；若没有该存储，请用 `{again}` 重新录制。",
    )


def _named(rules: FaultRules) -> Sentence:
    own = ", ".join(rules.own)
    release = f"promptreg {rules.release}"
    return Sentence(f"{release} with {own}", f"{release}（含 {own}）") if own else Sentence(release, release)

"""What carries verdicts. Plain data; `decide` is the only place that makes any."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from promptreg.canonical import Json, JsonObject, canonical_json
from promptreg.scoring.faults.catalogue import catalogue
from promptreg.verdict.verdicts import CaseVerdict, SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.baseline.model import Approval
    from promptreg.scoring.faults.case import CaseFault
    from promptreg.scoring.faults.model import Finding
    from promptreg.store.lacks import Lack
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.causes.cluster import Cluster
    from promptreg.verdict.standing import StandingDecision


UNTESTABLE_FAULTS: Final = ("swapped", "one_number")
"""A case in which one of these goes unseen cannot be tested by distances; a check can still do it."""


@dataclass(frozen=True, slots=True)
class ChannelEffect:
    """How far a case moved on one channel."""

    z: float
    """The larger of energy and outlyingness, in standard deviations over the labellings; 0 is what chance gives on
    average."""
    ratio: float | None
    """Noise multiple: mean distance source to target over mean distance within the source. None when the source has
    no noise."""
    source_spread: float | None = None
    """The source's own noise: mean distance between two of its answers, in the channel's unit. None with fewer than two
    answers, and for what is no distance between answers (form, checks)."""
    target_spread: float | None = None
    """The target's own noise, likewise."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """A check on both sides. Unscored answers are in neither total."""

    check: str
    source_passed: int
    source_total: int
    target_passed: int
    target_total: int
    p_value: float | None = None
    """One-sided hypergeometric p of so many failures falling on the target; None when there was nothing to score."""
    worse: bool = False
    """True when the verdict counts it as worse than on the source."""
    sentence: Sentence | None = None

    @property
    def source_rate(self) -> float | None:
        """Share of scored source answers that pass, None when none was scored."""
        return self.source_passed / self.source_total if self.source_total else None

    @property
    def target_rate(self) -> float | None:
        """Share of scored target answers that pass, None when none was scored."""
        return self.target_passed / self.target_total if self.target_total else None


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that is otherwise on the target, in a form by which cases can be grouped: see `signs`."""

    cause: tuple[str, ...]
    """The same for the same thing in every case, such as ("json", "fenced") or ("length", "shorter", "length")."""
    samples: int
    """Target answers that show it, at least 1."""


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """The verdict on one case and what it rests on."""

    case_id: str
    verdict: CaseVerdict
    p_value: float | None
    """Exact permutation p of the case by itself, before any correction for the number of cases. None when it was not
    compared."""
    sentence: Sentence
    channels: Mapping[str, ChannelEffect] = field(default_factory=dict)
    checks: tuple[CheckOutcome, ...] = ()
    severity: float = 0.0
    """Review order, see `severity`."""
    deterministic_source: bool = False
    """True when all source answers are the same text: then only a material effect counts as drift."""
    material: tuple[str, ...] = ()
    """Material effects found, such as "check", "finish_reason", "tool_calls", "language", "refusal", "length",
    "contract"."""
    breaches: tuple[Sentence, ...] = ()
    """What all source answers share and some target answers lack, the most often lacked first, and in the end how many
    more there are. What the answers say; whether that is more than chance is the verdict's to judge."""
    signs: tuple[Sign, ...] = ()
    """What breaches, refusals, lengths and the like say about the cause, without words; see `clusters`."""
    faults: tuple[CaseFault, ...] = ()
    """Serving faults found more often in the target's calls than in the source's, the gravest first. What they change
    in a verdict is in `zero_tolerance`."""
    not_tolerated: tuple[str, ...] = ()
    """Kinds of faults that made the case fail at once, without a test."""
    context: JsonObject | None = None
    """How its conversation was shortened for each window, as in `compare --json`; None where it has no `context`."""
    decision: StandingDecision | None = None
    """The waiver or rejection that the verdict takes into account; None when it takes none."""
    lacks: tuple[Lack, ...] = ()
    """What the target's answers fail of the case's own checks, and the faults that they show, whether or not the
    source's do too: what an approval would make the golden."""
    approved: Approval | None = None
    """Set where the source's answers are not its own, but a target's that a reviewer approved."""


@dataclass(frozen=True, slots=True)
class RegressionOutcome:
    """The judgement of checks, apart from drift."""

    p_value: float | None
    """None when no check told the two sides apart, so that nothing could have been found."""
    worse: tuple[str, ...] = ()
    """Checks with a lower pass rate on the target, as "case: check"."""
    better: tuple[str, ...] = ()
    """Checks with a higher pass rate on the target: flips in the other direction are never netted out."""
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class PowerOutcome:
    """Planted-drift self-test: how often a fault planted into these very passes would have been found."""

    fault: str
    planted: int
    """How many times it was planted, each time into other cases."""
    found: int
    sentence: Sentence
    missed_cases: tuple[str, ...] = ()
    """Cases in which it was planted and not found."""

    @property
    def power(self) -> float:
        """Share of plantings that made the suite reject."""
        return self.found / self.planted if self.planted else 0.0

    def to_json(self) -> JsonObject:
        """The entry in `self_test`."""
        return {
            "fault": self.fault,
            "planted": self.planted,
            "found": self.found,
            "power": rounded(self.power),
            **_sentences(self.sentence),
            "missed_cases": list(self.missed_cases),
        }


@dataclass(frozen=True, slots=True)
class Facts:
    """What a suite's judgement rests on. Everything needed to repeat it."""

    source_passes: int
    target_passes: int
    compared: int
    """Cases that entered the statistic."""
    labellings: int
    exact: bool
    """True when all labellings were counted, false when they were drawn with `seed`."""
    joint: bool
    """True when whole passes were permuted over all cases at once; false when each case was permuted on its own (few
    passes)."""
    seed: int
    alpha: float
    """The share of the false-alarm budget that this look spends on drift."""
    regression_alpha: float
    fdr: float
    material_distance: float
    drifted_bound: float | None = None
    """Upper 95 % bound on the share of drifted cases, 0 to 1. None when nothing was compared."""
    rank_effect: float | None = None
    """Mean of 0.5 − conformal rank over all answers: 0 without drift, about half the share of wholly changed cases
    with it."""
    localised: bool = True
    """False when drift is proven for the suite but no case could be named."""
    deterministic_cases: int = 0
    looks: tuple[int, ...] = ()
    """The target passes after which a judgement was planned; empty when there was no plan but all passes."""
    decided_at: int | None = None
    """The target passes at the look that rejected first; None when nothing rejected. Fewer than `target_passes` when
    the rest was taken to find the cases."""
    drift_budget: float = 0.05
    """False alarms of the drift test over all looks."""
    regression_budget: float = 0.01
    """False alarms of the regression test over all looks. The whole budget of a comparison is the sum of both."""
    exchangeable: bool = True
    """False when the source's passes differ among themselves, so that the anchored test judged."""
    clustered: bool = False
    """True when cases share a conversation or document, so that the lists hold under any dependence."""


@dataclass(frozen=True, slots=True)
class SuiteJudgement:
    """The verdict on one suite."""

    suite: str
    verdict: SuiteVerdict
    p_value: float | None
    """Of the drift test; the regression test has its own. None when nothing could be compared."""
    sentence: Sentence
    cases: tuple[CaseJudgement, ...]
    """Worst first: by severity, then case id."""
    facts: Facts
    regression: RegressionOutcome
    drift_rejected: bool = False
    """True when the drift test rejects, which the verdict REGRESSION would otherwise hide."""
    power: tuple[PowerOutcome, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    """The cases by cause, the worst cause first; filled in when faults are known."""

    faults: tuple[Finding, ...] = ()
    """Serving faults that only all cases together show, such as one class of tasks that got worse (F40). They are told
    and change no verdict: their false alarms are in nobody's budget."""
    fault_calls: int = 0
    """Target calls with an answer in which serving faults were looked for."""

    @property
    def not_tolerated(self) -> Mapping[str, int]:
        """Kinds of faults that made cases fail at once, with the number of those cases; in most cases first."""
        found: dict[str, int] = {}
        for case in self.cases:
            for kind in case.not_tolerated:
                found[kind] = found.get(kind, 0) + 1
        return dict(sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))

    def untestable(self, faults: Sequence[str]) -> tuple[str, ...]:
        """Cases in which one of these planted faults was not found, sorted: too noisy, or too short of facts."""
        return tuple(sorted({case for o in self.power if o.fault in faults for case in o.missed_cases}))

    @property
    def rejected(self) -> bool:
        """True when one of the two tests found something, at this look or an earlier one, or a fault needs no test."""
        return self.drift_rejected or self.regression.rejected or bool(self.not_tolerated)

    @property
    def settled(self) -> bool:
        """True when further target passes have nothing to add: something was found, and it is known in which cases.

        A suite in which nothing was found is never settled before the last look, since equivalence takes them all.
        """
        return self.rejected and self.facts.localised

    def counts(self) -> dict[CaseVerdict, int]:
        """How many cases have each verdict; verdicts that do not occur are left out."""
        found: dict[CaseVerdict, int] = {}
        for verdict in CaseVerdict:
            number = sum(case.verdict is verdict for case in self.cases)
            if number:
                found[verdict] = number
        return found

    def to_json(self) -> JsonObject:
        """The form in `compare --json`: plain JSON; numbers have six digits, so equal judgements give equal bytes."""
        return {
            "suite": self.suite,
            "verdict": self.verdict.value,
            "p_value": rounded(self.p_value),
            "drift_rejected": self.drift_rejected,
            **_sentences(self.sentence),
            "facts": {
                "source_passes": self.facts.source_passes,
                "target_passes": self.facts.target_passes,
                "compared": self.facts.compared,
                "labellings": self.facts.labellings,
                "exact": self.facts.exact,
                "joint": self.facts.joint,
                "seed": self.facts.seed,
                "alpha": rounded(self.facts.alpha),
                "regression_alpha": rounded(self.facts.regression_alpha),
                "fdr": rounded(self.facts.fdr),
                "material_distance": rounded(self.facts.material_distance),
                "drifted_bound": rounded(self.facts.drifted_bound),
                "rank_effect": rounded(self.facts.rank_effect),
                "localised": self.facts.localised,
                "deterministic_cases": self.facts.deterministic_cases,
                "exchangeable": self.facts.exchangeable,
                "clustered": self.facts.clustered,
                "looks": list(self.facts.looks),
                "decided_at": self.facts.decided_at,
                "false_alarm_budget": {
                    "drift": rounded(self.facts.drift_budget),
                    "regression": rounded(self.facts.regression_budget),
                    "total": rounded(self.facts.drift_budget + self.facts.regression_budget),
                },
            },
            "regression": {
                "p_value": rounded(self.regression.p_value),
                "rejected": self.regression.rejected,
                "worse": list(self.regression.worse),
                "better": list(self.regression.better),
                "not_tolerated": [f"{case.case_id}: {kind}" for case in self.cases for kind in case.not_tolerated],
            },
            "faults": [_suite_fault(finding) for finding in self.faults],
            "fault_calls": self.fault_calls,
            "unseen_below": rounded(unseen_below(self.fault_calls)),
            "self_test": [outcome.to_json() for outcome in self.power],
            "untestable_cases": list(self.untestable(UNTESTABLE_FAULTS)),
            "clusters": [cluster.to_json() for cluster in self.clusters],
            "cases": [_case(case) for case in self.cases],
        }

    def json_text(self) -> str:
        """`to_json` as its one canonical text."""
        return canonical_json(self.to_json())


def _case(case: CaseJudgement) -> Json:
    return {
        "case_id": case.case_id,
        "verdict": case.verdict.value,
        "p_value": rounded(case.p_value),
        **_sentences(case.sentence),
        "severity": rounded(case.severity),
        "deterministic_source": case.deterministic_source,
        "material": list(case.material),
        "breaches": [_sentences(breach) for breach in case.breaches],
        "faults": [fault.to_json() for fault in case.faults],
        "not_tolerated": list(case.not_tolerated),
        "context": case.context,
        "channels": {
            name: {
                "z": rounded(effect.z),
                "ratio": rounded(effect.ratio),
                "source_spread": rounded(effect.source_spread),
                "target_spread": rounded(effect.target_spread),
            }
            for name, effect in case.channels.items()
        },
        "checks": [
            {
                "check": outcome.check,
                "source_rate": rounded(outcome.source_rate),
                "target_rate": rounded(outcome.target_rate),
                "p_value": rounded(outcome.p_value),
                "worse": outcome.worse,
            }
            for outcome in case.checks
        ],
        **({} if case.decision is None else {"decision": case.decision.to_json()}),
        **({"lacks": [lack.to_json() for lack in case.lacks]} if case.lacks else {}),
        **({} if case.approved is None else {"approved": case.approved.to_json()}),
    }


def _suite_fault(finding: Finding) -> Json:
    title = catalogue().entries[finding.kind].title
    return {**finding.to_json(), "title": title.en, "title_zh": title.zh}


def _sentences(sentence: Sentence) -> dict[str, Json]:
    """One key a language: `sentence` is English, as in every release; other languages are keys of their own."""
    return {"sentence": sentence.en, "sentence_zh": sentence.zh}


def unseen_below(calls: int) -> float | None:
    """Upper 95 % bound on the share of calls that show what none of so many independent calls showed; None for none."""
    return float(1.0 - 0.05 ** (1.0 / calls)) if calls else None


def rounded(value: float | None) -> float | None:
    """Six significant digits; the last bits of a floating point number depend on the machine. Infinity becomes None."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.6g}") + 0.0

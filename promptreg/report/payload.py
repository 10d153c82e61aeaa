"""What a report shows, as plain data. Whoever has a comparison fills these views in; writers only read them.

Every text here may come from a model, a server or a user and is treated as hostile by every writer. Times are Unix
seconds, durations are seconds, passes count from 0 (writers show them from 1). Fields with a default may be left out:
what is not known is not shown, and is never shown as zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from promptreg.answer.model import Usage
    from promptreg.canonical import Json, JsonObject
    from promptreg.report.context_views import ContextView
    from promptreg.report.earlier import EarlierRunView
    from promptreg.report.verdict_names import CaseVerdictName, ChangeName, EarlierVerdictName, SuiteVerdictName
    from promptreg.text.sentence import Sentence

SCHEMA = "promptreg.report/1"
"""Name and version of the payload's form. It grows by new keys only."""

SettingGroup: TypeAlias = Literal["deployment", "fingerprint", "request", "provenance", "run"]
PartName: TypeAlias = Literal["content", "reasoning", "tool_calls", "json", "json_sorted"]
"""`json`: contents that are both JSON, laid out alike. `json_sorted`: the same with sorted keys, where that differs."""
OperationKind: TypeAlias = Literal["equal", "delete", "insert"]


@dataclass(frozen=True, slots=True)
class SettingView:
    """One line of a deployment's provenance."""

    group: SettingGroup
    name: str
    """As configured (`temperature`, `quantisation`). Names the catalogue knows are translated."""
    value: str
    compared: bool = True
    """False for what differs by nature (address, time of recording): shown, never marked as a difference."""


@dataclass(frozen=True, slots=True)
class DeploymentView:
    """One of the two deployments."""

    name: str
    settings: tuple[SettingView, ...] = ()
    """In the order to be shown. A setting that only one side has is a difference."""


@dataclass(frozen=True, slots=True)
class OperationView:
    """A stretch of text: in both answers, only in the golden (`delete`) or only in the candidate (`insert`)."""

    kind: OperationKind
    text: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A short change pulled out of a text, with the word or unit it belongs to: `3天` became `30天`."""

    golden: str = ""
    candidate: str = ""
    kind: str = ""
    """Of a fact its kind (`quantity`, `name`, …), `json` for a JSON value, `spelling` for a fact that both sides state
    in other words (7天, 一周); empty for any other change."""
    where: str = ""
    """Of a JSON value: its path (`items[0].price`)."""


@dataclass(frozen=True, slots=True)
class PartDiffView:
    """The difference of one part of an answer. The operations spell both texts out in full."""

    part: PartName
    operations: tuple[OperationView, ...]
    complete: bool = True
    """False when the texts differ too much for the bounded diff: they are then shown without highlights."""
    changes: tuple[ChangeView, ...] = ()
    """Facts that differ, then other short changes, each in reading order; no others where they are many or long."""
    more_changes: int = 0
    """Facts and JSON values that differ, beyond those listed."""
    breaks: tuple[int, ...] = ()
    """Where both texts may begin a new row side by side inside a paragraph: the places in the golden, in characters."""
    note: Sentence | None = None
    """Set when the texts differ in nothing one can see: says which normalisation makes them equal."""


@dataclass(frozen=True, slots=True)
class DiffView:
    """A candidate answer against one golden answer."""

    golden: int
    """Index into the case's `golden` groups."""
    parts: tuple[PartDiffView, ...]
    distance: float | None = None
    """Normalised edit distance of the contents, 0 (equal) to 1."""


@dataclass(frozen=True, slots=True)
class ReasoningView:
    """A reasoning text and the passes that gave it."""

    text: str
    passes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ToolCallView:
    """One tool call of an answer."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """All samples of one side with the same content, tool calls and finish reason."""

    passes: tuple[int, ...]
    content: str = ""
    tool_calls: tuple[ToolCallView, ...] = ()
    finish_reason: str | None = None
    reasonings: tuple[ReasoningView, ...] = ()
    """Distinct reasoning texts inside the group, most frequent first. Empty when there was none."""
    flags: tuple[str, ...] = ()
    """Repairs made while reading (`lone_surrogate`, …)."""
    sha256: str = ""
    """Identity of the group's first answer, so that a decision can be bound to what was shown."""
    diffs: tuple[DiffView, ...] = ()
    """On candidate groups: against the nearest golden group, then perhaps against others."""


@dataclass(frozen=True, slots=True)
class AttemptView:
    """One attempt at a call."""

    duration_s: float
    status: int | None = None
    problem: str | None = None
    """Why it gave no answer, in a sentence; None for the attempt that did."""


@dataclass(frozen=True, slots=True)
class SampleView:
    """One call: how it went. Retried and failed calls stay visible here for ever."""

    pass_index: int
    group: int | None = None
    """Index into the answer groups of its side; None when the call failed."""
    attempts: tuple[AttemptView, ...] = ()
    """Oldest first. Empty when only the answer is known (a baseline without its store)."""
    first_token_s: float | None = None
    in_flight: int | None = None
    usage: Usage | None = None
    notes: tuple[str, ...] = ()
    """Oddities that did not prevent reading (`done_missing`, …)."""
    variant: str | None = None
    """How the last user message was varied on purpose (`as_written`, `space`, …); None where it never is."""


@dataclass(frozen=True, slots=True)
class SpreadView:
    """Distances of one case on one channel: what the noise-against-drift picture is drawn from."""

    source: tuple[float, ...]
    """Per source sample its mean distance to the other source samples: the noise."""
    target: tuple[float, ...]
    """Per target sample its mean distance to the source samples."""


@dataclass(frozen=True, slots=True)
class ChannelView:
    """One distance between answers, for one case."""

    name: str
    z: float | None = None
    """Standard score of the case's statistic among the relabellings."""
    ratio: float | None = None
    """Distance to the source over the source's own noise: 1 is no more than noise; infinite when there is no noise."""
    sentence: Sentence | None = None
    spread: SpreadView | None = None


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check on both sides."""

    label: str
    source_passed: int
    source_total: int
    """Scored samples; unscored ones are not in it."""
    target_passed: int
    target_total: int
    worse: bool = False
    """True when the verdict counts it as worse than on the source."""
    sentence: Sentence | None = None


@dataclass(frozen=True, slots=True)
class FaultView:
    """A fault found in answers (serving.md F01–F55)."""

    kind: str
    severity: str
    sentence: Sentence
    where: str = ""
    evidence: Sentence | None = None
    """What was seen; quotes of an answer are the same in both languages."""
    suspects: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class CauseView:
    """A cause that several cases may have: what the first screen lists and the list of cases can be filtered by."""

    suite: str
    title: Sentence
    """As in "JSON now in a code block"."""
    next_step: Sentence
    verdict: CaseVerdictName
    """Of its worst case."""
    cases: int
    samples: int = 0
    """Target answers, or calls, that show it."""
    also: tuple[Sentence, ...] = ()
    """Other causes of exactly the same cases."""
    kind: str = ""
    """First word of the cause: `fault`, `fact`, `check`, … Says whether the facts that differ are an example of it."""
    about: tuple[str, ...] = ()
    """Kinds of the facts that it is about; empty where it is about none in particular."""


@dataclass(frozen=True, slots=True)
class DecisionView:
    """What a reviewer decided on exactly this golden and these answers."""

    decision: Literal["approve", "reject", "waive", "defer", "remove"]
    reviewer: str
    reason: str = ""
    expires_on: str | None = None
    """Of a waiver: its last day, UTC."""


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """Whose answers stand as the golden, where a reviewer approved answers of a target."""

    reviewer: str
    day: str
    """UTC."""
    deployment: str
    run_id: str
    reason: str = ""
    despite: tuple[Sentence, ...] = ()
    """What was wrong with them when they were approved."""


@dataclass(frozen=True, slots=True)
class CaseView:
    """One case with everything a reviewer asks about it."""

    suite: str
    case_id: str
    verdict: CaseVerdictName
    severity: float
    """Review order: larger is worse. Ties are ordered by suite and case id."""
    sentence: Sentence
    """The verdict explained."""
    p_value: float | None = None
    noise_multiple: float | None = None
    """Largest `ratio` of the channels that count for this case; infinite when the source has no noise."""
    tags: tuple[str, ...] = ()
    causes: tuple[int, ...] = ()
    """Numbers of the report's causes, from 1."""
    channels: tuple[ChannelView, ...] = ()
    checks: tuple[CheckView, ...] = ()
    breaches: tuple[Sentence, ...] = ()
    """What all source answers share and some target answers lack, in words."""
    faults: tuple[FaultView, ...] = ()
    golden: tuple[AnswerGroup, ...] = ()
    """Source answers, nearest pair first. See `answers.paired_groups`."""
    candidate: tuple[AnswerGroup, ...] = ()
    """Target answers, nearest pair first."""
    telling: tuple[int, ...] = ()
    """Places of the target answers that show most of what the case fails by; empty where no single answer does."""
    source_samples: tuple[SampleView, ...] = ()
    target_samples: tuple[SampleView, ...] = ()
    messages: tuple[JsonObject, ...] = ()
    """The request's messages as sent; with a `context` those of the whole conversation."""
    context: ContextView | None = None
    """How the conversation was shortened; None where it never is."""
    source_params: JsonObject = field(default_factory=dict)
    """The rest of the request as sent to the source (deployment defaults merged)."""
    target_params: JsonObject = field(default_factory=dict)
    golden_sha256: str | None = None
    """Identity of the golden, to which decisions are bound; None when there is none."""
    candidate_sha256: str | None = None
    """Identity of what an approval would make the golden; None when the target was not asked."""
    approval: ApprovalView | None = None
    """Set where the golden is not the source's own."""
    lacks: tuple[Sentence, ...] = ()
    """What is wrong with the target's answers by themselves; such answers are approved with a reason only."""
    decision: DecisionView | None = None
    """The last one on this golden and this candidate, this machine's or one in git; None when nobody decided."""
    earlier: tuple[EarlierVerdictName, ...] = ()
    """Its verdict in each run of the payload's `history`."""
    was: EarlierVerdictName | None = None
    """Its verdict in the run that this one is held against; None when there is none."""
    since: ChangeName | None = None
    """What became of it since that run."""


@dataclass(frozen=True, slots=True)
class SuiteView:
    """One suite's verdict and how it came about."""

    name: str
    verdict: SuiteVerdictName
    sentence: Sentence
    p_value: float | None = None
    source_passes: int | None = None
    target_passes: int | None = None
    notes: tuple[Sentence, ...] = ()
    """Plan facts in words: labellings, seed, false-alarm budget, the test's power, the bound on drifted cases."""


@dataclass(frozen=True, slots=True)
class Payload:
    """A whole report."""

    title: str
    run_id: str
    created_at: float
    verdict: SuiteVerdictName
    sentence: Sentence
    """The verdict over all suites and what it rests on."""
    source: DeploymentView
    target: DeploymentView
    suites: tuple[SuiteView, ...]
    cases: Iterable[CaseView]
    """Read once and never held as a whole, so a generator is fine. Any order."""
    causes: tuple[CauseView, ...] = ()
    """Worst first."""
    warnings: tuple[Sentence, ...] = ()
    """What a reader must know before trusting the rest: fingerprint changed during the run, verify = false, …"""
    next_steps: tuple[Sentence, ...] = ()
    """What to do now."""
    language: Literal["auto", "zh", "en"] = "auto"
    """Language the page opens in; `auto` follows the browser."""
    version: str = ""
    """Version of promptreg that wrote the report."""
    history: tuple[EarlierRunView, ...] = ()
    """Earlier runs of the same target, oldest first."""
    against: EarlierRunView | None = None
    """The run that this one is held against: the one before it, or the one that was asked for."""
    since: Sentence | None = None
    """What changed since that run."""
    since_notes: tuple[Sentence, ...] = ()
    """What the two runs were judged with otherwise; told before what changed."""
    headline: Sentence | None = None
    """The verdict over all suites in one sentence that is read in seconds; None where `sentence` is that."""
    report_id: str = ""
    """Identity of what is shown: the run, every golden and every candidate. A decisions file names it."""


def to_json(value: object) -> Json:
    """A view as JSON: fields at their default are left out, numbers that JSON does not have become null.

    Raises:
        TypeError: for a value that no view holds.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    # mypy asks whether instances can be hashed; it is their class that is the key.
    if (defaults := _defaults(type(value))) is not None:  # type: ignore[arg-type] # as said
        return {name: to_json(content) for name, default in defaults if (content := getattr(value, name)) != default}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    raise TypeError(f"{type(value).__name__} is no part of a report")


@cache
def _defaults(kind: type) -> tuple[tuple[str, Any], ...] | None:
    """A view's fields with their defaults, MISSING for those that have none; None for what is no view."""
    if not is_dataclass(kind):
        return None
    given = [each.default if each.default_factory is MISSING else each.default_factory() for each in fields(kind)]
    return tuple(zip((each.name for each in fields(kind)), given, strict=True))

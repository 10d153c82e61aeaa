"""Decisions held against what was shown and against the baselines as they are now. Pure: nothing is written here.

All or nothing: where one decision is refused, none of the file takes effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence
from promptreg.verdict.approvals import told_lacks
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.verdict.waivers import WAIVABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from promptreg.review.decisions import Decision, Decisions
    from promptreg.store.lacks import Lack
    from promptreg.store.reviews import ShownCase

Key = tuple[str, str]
"""Suite and case id."""


class Outcome(StrEnum):
    """What becomes of a decision."""

    ACCEPTED = "accepted"
    DONE = "done"
    """It took effect before; nothing is left to do."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Now:
    """A case's golden as the baseline has it now."""

    golden_sha256: str | None
    moved: Sentence | None = None
    """Who replaced the golden and when, as far as it is known; only looked at when it is not the one shown."""
    in_suite: bool = True
    candidate_sha256: str | None = None
    """Of the answers that the store holds now; only looked at for an approval."""
    failed_passes: int = 0
    """Passes of theirs without an answer."""
    waived_for: str | None = None
    """The verdict that a waiver on this golden was given for; None where none stands."""


@dataclass(frozen=True, slots=True)
class Held:
    """One decision and what becomes of it."""

    decision: Decision
    outcome: Outcome
    sentence: Sentence
    verdict: str | None = None
    """Of the case as it was shown; None when it was not."""
    lacks: tuple[Lack, ...] = ()
    """What is wrong with the answers that an approval makes the golden."""


@dataclass(frozen=True, slots=True)
class Review:
    """A whole decisions file, held against a run."""

    decisions: Decisions
    held: tuple[Held, ...]
    """In the file's order."""

    @property
    def refused(self) -> tuple[Held, ...]:
        """Those that cannot take effect; while there is one, none does."""
        return tuple(each for each in self.held if each.outcome is Outcome.REFUSED)


def hold(decisions: Decisions, shown: Mapping[Key, ShownCase], now: Callable[[ShownCase], Now], today: date) -> Review:
    """Hold every decision against what the run showed and what the baseline holds now.

    Args:
        decisions: the file.
        shown: the run's cases.
        now: gives the state of a case.
        today: UTC.
    """
    held = []
    for decision in decisions.decisions:
        case = shown.get(decision.key)
        if case is None:
            held.append(Held(decision, Outcome.REFUSED, _not_shown(decisions.run_id)))
            continue
        outcome, sentence = _outcome(decision, decisions, case, now(case), today)
        lacks = case.lacks if decision.decision == "approve" else ()
        held.append(Held(decision, outcome, sentence, case.verdict, lacks))
    return Review(decisions, tuple(held))


def _outcome(
    decision: Decision, decisions: Decisions, case: ShownCase, now: Now, today: date
) -> tuple[Outcome, Sentence]:
    """The first rule that applies decides; see the order below.

    1. It belongs to this very comparison: target, source, and the candidate that the run showed.
    2. It took effect before: the golden is the approved candidate already, or the removed case is gone.
    3. The golden is the one that was shown.
    4. What the decision itself needs.
    """
    if (decision.target, decisions.baseline) != (case.target, case.source):
        return Outcome.REFUSED, _other_comparison(case)
    if decision.candidate_sha256 != case.candidate_sha256:
        return Outcome.REFUSED, _candidate_moved(decisions.run_id)
    if decision.decision == "approve" and now.golden_sha256 == case.candidate_sha256 is not None:
        return Outcome.DONE, _SAME_GOLDEN
    if decision.decision == "remove" and now.golden_sha256 is None:
        return Outcome.DONE, _GONE
    if decision.golden_sha256 != now.golden_sha256:
        return Outcome.REFUSED, _golden_moved(now)
    refusal = _RULES[decision.decision](decision, case, now, today)
    return (Outcome.REFUSED, refusal) if refusal is not None else (Outcome.ACCEPTED, _accepted(decision, case))


def _approve(decision: Decision, case: ShownCase, now: Now, _: date) -> Sentence | None:
    if case.verdict == CaseVerdict.ERROR or now.failed_passes:
        return _ERROR
    if case.candidate_sha256 is None:
        return _NOTHING_TO_APPROVE
    if now.candidate_sha256 != case.candidate_sha256:
        return _STORE_MOVED
    return _lacking(case.lacks) if case.lacks and not decision.reason else None


def _waive(decision: Decision, case: ShownCase, now: Now, today: date) -> Sentence | None:
    if case.verdict == CaseVerdict.ERROR:
        return _ERROR
    if waived_verdict(case, now.waived_for) not in WAIVABLE:
        return _nothing_to_waive(case.verdict)
    if not decision.reason:
        return _NO_REASON
    if decision.expires_on is None:
        return _NO_EXPIRY
    return _over(decision.expires_on) if decision.expires_on < today else None


def waived_verdict(case: ShownCase, waived_for: str | None) -> str:
    """The verdict that a waiver of a case covers; one that renews another covers what that one did."""
    return waived_for if case.verdict == CaseVerdict.WAIVED and waived_for is not None else case.verdict


def _remove(_: Decision, case: ShownCase, now: Now, __: date) -> Sentence | None:
    return _STILL_THERE if case.verdict != CaseVerdict.MISSING or now.in_suite else None


def _nothing_needed(_: Decision, __: ShownCase, ___: Now, ____: date) -> Sentence | None:
    return None


_RULES: Final = {
    "approve": _approve,
    "waive": _waive,
    "remove": _remove,
    "reject": _nothing_needed,
    "defer": _nothing_needed,
}
"""By decision: why it cannot take effect, or None."""


def _accepted(decision: Decision, case: ShownCase) -> Sentence:
    if decision.decision == "approve" and case.lacks:
        told = told_lacks(case.lacks)
        return Sentence(
            f"The target's answers become the golden, although {told.en}.",
            f"目标部署的回答成为基准输出，尽管{told.zh}。",
        )
    return {
        "approve": Sentence("The target's answers become the golden.", "目标部署的回答成为基准输出。"),
        "reject": Sentence("The golden stays; the case keeps failing.", "基准输出不变，该用例继续判为失败。"),
        "waive": Sentence(
            f"The case does not count until {decision.expires_on}.", f"该用例在 {decision.expires_on} 之前不计入。"
        ),
        "defer": Sentence("Nothing changes; the case stays undecided.", "没有变化，该用例仍待决定。"),
        "remove": Sentence("The golden leaves the baseline.", "基准输出从基线中移除。"),
    }[decision.decision]


def _not_shown(run_id: str) -> Sentence:
    return Sentence(
        f"Run {run_id} has no such case. The decision belongs to another report.",
        f"运行 {run_id} 中没有这个用例。该决定属于另一份报告。",
    )


def _other_comparison(case: ShownCase) -> Sentence:
    return Sentence(
        f"The run compared {case.target} with the baseline of {case.source}; the decision names other deployments.",
        f"该运行比较的是 {case.target} 与 {case.source} 的基线；决定中写的是别的部署。",
    )


def _candidate_moved(run_id: str) -> Sentence:
    return Sentence(
        f"The answers that were decided on are not those of run {run_id} as it is stored now: the run went on, or was "
        "judged in another way, after that report. Decide again on its newest report.",
        f"作决定时看到的回答与运行 {run_id} 现在保存的不同：该报告之后运行又继续过，或重新判定过。"
        "请在最新报告上重新决定。",
    )


def _golden_moved(now: Now) -> Sentence:
    how = now.moved or _UNKNOWN
    return Sentence(
        f"The golden is not the one that was shown any more. {how.en} Compare again and decide on what is there now.",
        f"基准输出已不是作决定时看到的那一份。{how.zh}请重新比较，再对现状作决定。",
    )


_UNKNOWN: Final = Sentence(
    "It is not known by whom; `git log` of the baseline may tell.", "不知道是谁改的，可查看基线的 `git log`。"
)
_STORE_MOVED: Final = Sentence(
    "The store holds other answers now than the report showed: the run went on after it. Judge it again with "
    "`promptreg report RUN`.",
    "存储中的回答与报告所示不同：该报告之后运行又继续过。请用 `promptreg report RUN` 重新判定。",
)
_SAME_GOLDEN: Final = Sentence("These answers are the golden already.", "这些回答已经是基准输出。")
_GONE: Final = Sentence("The case has left the baseline already.", "该用例已经不在基线中。")
_ERROR: Final = Sentence(
    "An error cannot be accepted: some calls got no answer, so nobody has seen what the target would say. Run "
    "`promptreg compare --resume`, or compare again.",
    "错误不能被接受：有调用没有得到回答，谁也没有看到目标部署会怎么说。"
    "请运行 `promptreg compare --resume`，或重新比较。",
)
_NOTHING_TO_APPROVE: Final = Sentence(
    "There is nothing to approve: the target was not asked this case. Record it on the source with `promptreg record`, "
    "or remove it if the suite no longer has it.",
    "没有可批准的内容：目标部署没有被问到这个用例。请用 `promptreg record` 在源部署录制；"
    "若测试集已删去它，请用 remove。",
)
_NO_REASON: Final = Sentence("A waiver needs a reason.", "豁免需要写明理由。")
_NO_EXPIRY: Final = Sentence(
    "A waiver needs the day on which it expires, such as 2027-01-31.", "豁免需要写明到期日，例如 2027-01-31。"
)
_STILL_THERE: Final = Sentence(
    "The suite still has this case; only a case that is gone can leave the baseline. Approve, reject or waive it.",
    "测试集中仍有这个用例；只有已删去的用例才能移出基线。请批准、拒绝或豁免它。",
)


def _lacking(lacks: Sequence[Lack]) -> Sentence:
    told = told_lacks(lacks)
    return Sentence(
        f"These answers fail the case's own checks or show faults: {told.en}. To approve them all the same, give a "
        "reason.",
        f"这些回答不满足用例自身的检查项，或带有故障：{told.zh}。若仍要批准，请写明理由。",
    )


def _nothing_to_waive(verdict: str) -> Sentence:
    return Sentence(
        f"There is nothing to waive: the case was `{verdict}`, and only `drift` and `fail` count against a suite.",
        f"没有可豁免的内容：该用例是 `{verdict}`，只有 `drift` 和 `fail` 会计入。",
    )


def _over(day: date) -> Sentence:
    return Sentence(
        f"The waiver expired on {day}. Decide again with a later day.",
        f"该豁免已于 {day} 到期。请用更晚的日期重新决定。",
    )

"""Answers that somebody else obtained, such as a test of the user's own application, against a case's golden.

They are judged as a run's answers are, by their text: distances, checks, what all golden answers share. What only a
captured call shows (serving faults) is not looked for. A few answers prove little, see `smoke`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.paths import baseline_path
from promptreg.deployment.exchange import Chunk, Exchange
from promptreg.deployment.reader import read_exchange
from promptreg.deployment.transports.function import MAY_RETURN, BadReturnError, completion_of
from promptreg.errors import UsageError
from promptreg.report.answers import paired_groups
from promptreg.review.facts import changed_facts
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.scoring.pairs import CasePair
from promptreg.scoring.score import score_suite
from promptreg.store.reviews import ShownCase
from promptreg.suite.model import Suite, last_user_text
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.verdict.decide import judge_suite
from promptreg.verdict.evidence import evidence_of
from promptreg.verdict.model import CaseJudgement
from promptreg.verdict.verdicts import CaseVerdict, severity
from promptreg.verdict.waivers import judge_with_decisions
from promptreg.workflow.context.case_contexts import CaseFitter
from promptreg.workflow.context.contexts import NO_CONTEXTS
from promptreg.workflow.judging.faults import ReadCase
from promptreg.workflow.judging.judge_calls import Judges
from promptreg.workflow.judging.rules import rules_of
from promptreg.workflow.pairing import baseline_of, pair_with_baseline
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import answer_without_private, redaction_of
from promptreg.workflow.review.case import CaseSides
from promptreg.workflow.review.standing import standing_of, utc_today
from promptreg.workflow.review.waiting import ReviewedCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer
    from promptreg.config import Config
    from promptreg.report.payload import ChangeView
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.scoring.rates import CheckRate
    from promptreg.store.store import Store
    from promptreg.suite.model import Case
    from promptreg.verdict.evidence import CaseEvidence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.workflow.pairing import Pairing

ENOUGH_ANSWERS: Final = 3
"""From so many answers on, ten golden ones are enough for both tests to reject; below, `smoke` looks at checks."""


@dataclass(frozen=True, slots=True)
class GivenJudgement:
    """What became of a case whose answers were given."""

    case: CaseJudgement
    sides: CaseSides
    compared: bool
    """False where there is no golden of the request, so that its checks alone were asked."""


def answer_from(returned: object) -> Answer:
    """The answer in what an application returned: a text, a message, or a chat completion.

    Raises:
        UsageError: it is none of these, or no answer is in it.
    """
    try:
        body = completion_of(returned).body
    except BadReturnError as error:
        raise UsageError(f"What was given as an answer cannot be read: it {error}; {MAY_RETURN}.") from error
    headers = (("content-type", "application/json"),)
    reading = read_exchange(Exchange(time.time(), 0.0, 200, headers, (Chunk(0.0, body),)))
    if reading.answer is None:
        raise UsageError(f"What was given as an answer cannot be read: {reading.problem}.")
    return reading.answer


class GivenAnswers:
    """Judges given answers; the embedder is loaded once for all of them."""

    def __init__(
        self, config: Config, store: Store, *, source: str | None = None, target: str | None = None, may_call: bool
    ) -> None:
        """Nothing is read yet.

        Args:
            config: the project.
            store: open; it keeps vectors and replies of judges.
            source: whose baseline; None for the source role.
            target: whose decisions hold; None for the target role.
            may_call: whether judges and an embeddings endpoint may be called.

        Raises:
            ConfigError: a deployment or the embedder is wrong.
        """
        self._config, self._store, self._redaction = config, store, redaction_of(config)
        self._source = config.deployment(source) if source is not None else config.role("source")
        self._target = config.deployment(target) if target is not None else config.role("target")
        self._extensions = load_extensions(config.root)
        self._embedder: Embedder = load_embedder(config.judging.embedder, config, self._extensions.embedders)
        if not may_call and config.judging.embedder in config.embedders:
            self._embedder = StoredVectors(self._embedder.name)
        self._judges = Judges(config, store, may_ask=may_call)

    def judge(self, case: Case, answers: Sequence[Answer]) -> GivenJudgement:
        """Judge one case.

        Args:
            case: of a suite, or of the same form.
            answers: at least one.

        Raises:
            PromptregError: the baseline is damaged, a check cannot be built, or a judge is needed and cannot be asked.
        """
        pairing = self._pairing(case)
        golden = pairing.baseline.goldens.get(case.case_id) if pairing is not None else None
        known = pairing is not None and golden is not None and bool(pairing.known)
        source: tuple[Answer | None, ...] = ()
        if known and golden is not None:
            taken = [*golden.failed_passes, *(index for part in golden.answers for index in part.passes)]
            source = golden.by_pass(1 + max(taken, default=-1))
        # As a client would have kept them: the golden is without what is never kept.
        pair = CasePair(case, source, tuple(answer_without_private(answer, self._redaction) for answer in answers))
        (scores,) = score_suite(
            [pair],
            root=self._config.root,
            embedder=self._embedder,
            cache=self._store,
            ask=self._judges.replies([pair]).ask,
            extensions=self._extensions,
        )
        if pairing is None or not known:
            judged = _new(case, scores.checks, len(answers))
        else:
            read = {case.case_id: ReadCase(source, pair.target)}
            standing = standing_of(self._config, self._target.name, pairing, read)
            judge = partial(self._judged, pairing)
            judged = judge_with_decisions(judge, [evidence_of(scores)], standing, utc_today()).cases[0]
            if len(answers) < ENOUGH_ANSWERS and judged.verdict in {CaseVerdict.PASS, CaseVerdict.CHANGED}:
                judged = smoke(judged, scores.checks)
        sha256 = None if golden is None else golden_sha256(golden)
        shown = ShownCase(
            case.suite,
            case.case_id,
            self._source.name,
            self._target.name,
            judged.verdict.value,
            judged.severity,
            sha256,
            None,
            judged.sentence.en,
            judged.sentence.zh,
        )
        asked = self._redaction.text(last_user_text(case.request.messages) or "")
        return GivenJudgement(judged, _sides(shown, pair, asked), known)

    def _pairing(self, case: Case) -> Pairing | None:
        """The case beside its golden; None where the suite has no baseline."""
        suite = Suite(case.suite, case.place.path, (case,))
        path = baseline_path(self._config.root / self._config.paths.baselines, case.suite, self._source.name)
        if not path.exists():
            return None
        contexts = NO_CONTEXTS if case.context is None else CaseFitter(self._config).fit(self._source, (suite,))
        return pair_with_baseline(suite, baseline_of(path, suite, self._source.name), whole=False, source=contexts)

    def _judged(self, pairing: Pairing, scores: Sequence[CaseEvidence], *, self_test: bool) -> SuiteJudgement:
        del self_test  # it would say what all cases of a suite can show
        exchangeable = pairing.baseline.header.exchangeable is not False
        return judge_suite(pairing.suite.name, scores, rules=rules_of(self._config), exchangeable=exchangeable)


def smoke(judged: CaseJudgement, checks: Sequence[CheckRate]) -> CaseJudgement:
    """What too few answers for a test can still say: a check fails that every golden answer passes.

    Where nothing changed, one answer of eleven is the only one that fails a check with probability 1/11 at most.
    """
    for rate in checks:
        if rate.source_total and rate.source_passed == rate.source_total and rate.target_passed < rate.target_total:
            failed = rate.target_total - rate.target_passed
            failed, total, recorded = rate.target_total - rate.target_passed, rate.target_total, rate.source_total
            told = Sentence(
                f"Check {rate.check} holds for all {recorded} golden answers and fails for {failed} of {total} given."
                f"{rate.example.en} So few answers are a smoke test; give {ENOUGH_ANSWERS} or more for a test "
                "with a known rate of false alarms.",
                f"检查项 {rate.check} 在全部 {recorded} 个基准输出上都通过，而给出的 {total} 个回答中有 {failed} 个"
                f"未通过。{rate.example.zh}回答太少，只能算冒烟测试；至少给出 {ENOUGH_ANSWERS} 个回答，误报率才已知。",
            )
            return _with_verdict(judged, CaseVerdict.FAIL, told)
    return judged


def _new(case: Case, checks: Sequence[CheckRate], given: int) -> CaseJudgement:
    """Without a golden only checks can say anything, each answer by itself; without checks nothing is judged."""
    told = Sentence(
        "Nothing was compared: there is no recording of this request. Put the case into a suite and run `promptreg "
        "record --top-up`.",
        "没有比较：此请求没有录制。请把用例写入测试集并运行 `promptreg record --top-up`。",
    )
    judged = CaseJudgement(case.case_id, CaseVerdict.NEW, None, told)
    for rate in checks:
        if rate.target_passed < rate.target_total:
            failed, total = rate.target_total - rate.target_passed, rate.target_total
            told = Sentence(
                f"Check {rate.check} fails for {failed} of {total} given answers.{rate.example.en} There is no "
                "recording to compare with.",
                f"给出的 {total} 个回答中有 {failed} 个未通过检查项 {rate.check}。{rate.example.zh}没有可比较的录制。",
            )
            return _with_verdict(judged, CaseVerdict.FAIL, told)
    unscored = next((rate for rate in checks if rate.target_total < given), None)
    if unscored is not None:
        told = Sentence(
            f"Not judged: there is no recording to compare with, and check {unscored.check} scored only "
            f"{unscored.target_total} of {given} given answers.",
            f"无法判定：没有可比较的录制，检查项 {unscored.check} 只给 {given} 个回答中的 {unscored.target_total} 个"
            "评了分。",
        )
        return _with_verdict(judged, CaseVerdict.ERROR, told)
    if checks:
        told = Sentence(
            f"By its checks alone: {counted(len(checks), 'check')} {'holds' if len(checks) == 1 else 'hold'} for all "
            f"{given} given. There is no recording to compare with.",
            f"仅由检查项判定：{given} 个回答全部通过 {len(checks)} 个检查项。没有可比较的录制。",
        )
        return _with_verdict(judged, CaseVerdict.PASS, told)
    return judged


def _with_verdict(judged: CaseJudgement, verdict: CaseVerdict, sentence: Sentence) -> CaseJudgement:
    return replace(judged, verdict=verdict, sentence=sentence, severity=severity(verdict, 0.0))


def _sides(shown: ShownCase, pair: CasePair, asked: str) -> CaseSides:
    groups = paired_groups(pair.source, pair.target)
    facts: tuple[ChangeView, ...] = ()
    if (candidate := groups.shown_first) is not None:
        facts = changed_facts(groups.golden[candidate.diffs[0].golden].content, candidate.content)
    return CaseSides(ReviewedCase(shown), asked, groups, facts, len(pair.source), len(pair.target), golden_moved=False)

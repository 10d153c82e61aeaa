"""What a comparison shows of each case, kept in the store so that decisions can be held against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.baseline.lines import golden_sha256
from promptreg.baseline.model import golden_of
from promptreg.canonical import sha256_of
from promptreg.store.reviews import ShownCase
from promptreg.workflow.criteria import criteria_of_case
from promptreg.workflow.private import redaction_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from promptreg.answer.model import Answer
    from promptreg.baseline.model import Golden
    from promptreg.config import Config
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.workflow.judging.judge import JudgedSuite


def candidate_of(golden: Golden, answers: Sequence[Answer | None], variants: Mapping[int, str] | None) -> Golden:
    """The golden that a target's answers would be: what an approval promotes, byte for byte.

    Args:
        golden: whose place they would take; its request stays, since under a `context` each side is sent its own.
        answers: by pass; None for a call that failed.
        variants: how the passes varied the prompt.
    """
    taken = {index: name for index, name in (variants or {}).items() if index < len(answers)}
    return golden_of(golden.case_id, golden.request_sha256, dict(enumerate(answers)), taken)


def shown_cases(config: Config, store: Store, record: RunRecord, judged: Iterable[JudgedSuite]) -> Iterator[ShownCase]:
    """Every case of a judged run, those that were not compared too, with the checks that it was judged by."""
    redaction = redaction_of(config)
    for suite in judged:
        pairing, name = suite.pairing, suite.judgement.suite
        cases = {case.case_id: case for case in pairing.suite.cases}
        variants, goldens = store.variants(record.run_id, name), pairing.baseline.goldens
        for case in suite.judgement.cases:
            golden, pair = goldens.get(case.case_id), suite.pairs.get(case.case_id)
            candidate = None
            if golden is not None and pair is not None:
                candidate = candidate_of(golden, pair.target, variants.get(case.case_id))
            yield ShownCase(
                suite=name,
                case_id=case.case_id,
                source=pairing.baseline.header.deployment,
                target=record.deployment,
                verdict=case.verdict.value,
                severity=case.severity,
                golden_sha256=None if golden is None else golden_sha256(golden),
                candidate_sha256=None if candidate is None else golden_sha256(candidate),
                sentence=case.sentence.en,
                sentence_zh=case.sentence.zh,
                lacks=case.lacks,
                approved=golden is not None and golden.approved is not None,
                criteria=None
                if (asked := cases.get(case.case_id)) is None
                else criteria_of_case(asked, config.root, redaction),
            )


def report_id(run_id: str, shown: Iterable[ShownCase]) -> str:
    """Identity of what a report shows: of the run and every golden and candidate in it; 16 hex digits."""
    cases = sorted((case.suite, case.case_id, case.golden_sha256, case.candidate_sha256) for case in shown)
    return sha256_of([run_id, [list(case) for case in cases]])[:16]

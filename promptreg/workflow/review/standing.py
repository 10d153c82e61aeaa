"""The decisions beside the baselines, as the verdict takes them into account."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from promptreg.baseline.lines import golden_sha256
from promptreg.review.standing import answer_sha256, read_standing, standing_path
from promptreg.suite.files import shown_path
from promptreg.verdict.waivers import Standing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.config import Config
    from promptreg.review.standing import StandingCase
    from promptreg.workflow.judging.faults import ReadCase
    from promptreg.workflow.pairing import Pairing


def utc_today() -> date:
    """The day by which waivers expire, the same on every machine."""
    return datetime.now(UTC).date()


def standing_decisions(config: Config, suite: str, target: str) -> Mapping[str, StandingCase]:
    """The decisions that stand on a suite and target, by case id.

    Raises:
        BaselineError: their file is damaged.
    """
    path = standing_path(config.root / config.paths.baselines, suite, target)
    return read_standing(path, shown_path(path, config.root), suite, target)


def standing_of(config: Config, target: str, pairing: Pairing, read: Mapping[str, ReadCase]) -> dict[str, Standing]:
    """The waivers and rejections of a suite's compared cases, by case id.

    Args:
        config: the project.
        target: the deployment that was judged.
        pairing: the suite beside its baseline.
        read: the answers of the compared cases.

    Raises:
        BaselineError: the file of decisions is damaged.
    """
    found: dict[str, Standing] = {}
    for case_id, case in standing_decisions(config, pairing.suite.name, target).items():
        decision = case.of_verdict()
        # A decision on another source's golden says nothing of this one.
        if decision is None or case_id not in read or case.source != pairing.baseline.header.deployment:
            continue
        source = {answer_sha256(answer) for answer in read[case_id].source if answer is not None}
        wrong = set(case.answers) - source
        found[case_id] = Standing(
            decision,
            golden_moved=case.golden_sha256 != golden_sha256(pairing.baseline.goldens[case_id]),
            repeated=sum(answer_sha256(answer) in wrong for answer in read[case_id].target if answer is not None),
        )
    return found

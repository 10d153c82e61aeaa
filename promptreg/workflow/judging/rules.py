"""The rules of a project, as a command may change them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.verdict.rules import Rules

if TYPE_CHECKING:
    from promptreg.config import Config


def rules_of(config: Config, *, alpha: float | None = None, fdr: float | None = None) -> Rules:
    """The rules of a project, with what a command says instead."""
    judging = config.judging
    return Rules(
        alpha=judging.alpha if alpha is None else alpha,
        fdr=judging.fdr if fdr is None else fdr,
        material_distance=judging.material_distance,
        max_error_fraction=judging.max_error_fraction,
        max_drifted_fraction=judging.max_drifted_fraction,
        seed=config.plan.seed,
    )

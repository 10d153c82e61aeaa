"""Family A: text that is degenerate or damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from promptreg.scoring.faults.model import Rule

rules: Final[tuple[Rule, ...]] = ()
"""F01 to F08 and F55."""

"""From verdicts to the exit code of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.errors import ExitCode
from promptreg.verdict.verdicts import SuiteVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable


def exit_code(verdicts: Iterable[SuiteVerdict], allow_inconclusive: bool = False) -> ExitCode:
    """The exit code of a comparison of one or more suites; the worst suite decides.

    ERROR (4) comes first, because what could not be judged hides what it would have shown; then DRIFT and REGRESSION
    (1); then INCONCLUSIVE (3, or 0 where the user allows it). No suite at all is inconclusive.
    """
    found = set(verdicts)
    if SuiteVerdict.ERROR in found:
        return ExitCode.FAILURE
    if found & {SuiteVerdict.DRIFT, SuiteVerdict.REGRESSION}:
        return ExitCode.DRIFT
    if not found or SuiteVerdict.INCONCLUSIVE in found:
        return ExitCode.EQUIVALENT if allow_inconclusive and found else ExitCode.INCONCLUSIVE
    return ExitCode.EQUIVALENT

"""What verdicts are called in a report's payload, of this run and of others."""

from __future__ import annotations

from typing import Literal, TypeAlias

CaseVerdictName: TypeAlias = Literal["pass", "changed", "drift", "fail", "new", "missing", "error", "waived"]
SuiteVerdictName: TypeAlias = Literal["EQUIVALENT", "DRIFT", "REGRESSION", "INCONCLUSIVE", "ERROR"]
EarlierVerdictName: TypeAlias = Literal["none", CaseVerdictName]
"""`none`: that run did not have the case."""
ChangeName: TypeAlias = Literal[
    "newly_failing", "still_failing", "waived", "fixed", "approved", "unproven", "new", "gone", "same"
]
"""What became of a case since an earlier run."""

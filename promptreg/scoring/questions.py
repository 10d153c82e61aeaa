"""The checks of cases, and what they will ask judges; asked before anything is scored."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from promptreg.scoring.checks.base import NO_SERVICES, Services
from promptreg.scoring.checks.registry import build_checks
from promptreg.scoring.extensions import NO_EXTENSIONS, Extensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.scoring.checks.base import Question
    from promptreg.scoring.checks.registry import BuiltCheck
    from promptreg.scoring.pairs import CasePair


def questions_of(
    pairs: Sequence[CasePair], *, root: Path, extensions: Extensions = NO_EXTENSIONS
) -> Iterator[Question]:
    """Everything that scoring will ask judges about these answers, each question once, in order.

    Raises:
        SuiteError: when a check cannot be built.
    """
    seen: set[bytes] = set()
    for pair, checks in zip(pairs, checks_by_case(pairs, root, NO_SERVICES, extensions), strict=True):
        asking = [check for check in checks if check.asks]
        answers = pair.for_checks() if asking else ()
        for answer in {answer: None for answer in answers if answer is not None}:
            for question in (question for check in asking for question in check.questions(answer)):
                # Prompts are long and many: what was seen is remembered by its hash.
                mark = sha256("\0".join(question).encode("utf-8", "backslashreplace")).digest()
                if mark not in seen:
                    seen.add(mark)
                    yield question


def checks_by_case(
    pairs: Sequence[CasePair], root: Path, services: Services, extensions: Extensions
) -> list[tuple[BuiltCheck, ...]]:
    """The checks of each case, ready to be run.

    Raises:
        SuiteError: when one cannot be built; every problem at once.
    """
    specs = [spec for pair in pairs for spec in pair.case.checks]
    built = iter(build_checks(specs, root, services, extensions.checks))
    return [tuple(next(built) for _ in pair.case.checks) for pair in pairs]

"""All checks by name, their `not_` forms, and how a suite's checks become functions."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.canonical import canonical_json
from promptreg.errors import Problem, SuiteError
from promptreg.scoring.checks import contains, json, json_schema, language, max_chars, refusal, regex
from promptreg.scoring.checks.base import BadArgument, Builder, Check, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.suite.model import CheckSpec
    from promptreg.text.sentence import Sentence

_BUILDERS: Final[Mapping[str, Builder]] = MappingProxyType(
    {
        "contains": contains.build,
        "json": json.build,
        "json_schema": json_schema.build,
        "language": language.build,
        "max_chars": max_chars.build,
        "refusal": refusal.build,
        "regex": regex.build,
    },
)
_NEGATION: Final = "not_"

CHECK_NAMES: Final[frozenset[str]] = frozenset(_BUILDERS) | {f"{_NEGATION}{name}" for name in _BUILDERS}
"""Every name that a suite can use."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check on one answer."""

    passed: bool | None
    """None when the answer could not be judged by this check: unscored, neither a pass nor a failure."""
    sentence: Sentence
    """What was found, as a statement about the answer."""


@dataclass(frozen=True, slots=True)
class BuiltCheck:
    """A check of a suite, ready to be run on answers."""

    spec: CheckSpec
    rule: Sentence
    """What an answer must do to pass, the right way round for `not_` forms."""
    _check: Check
    _negated: bool

    @property
    def label(self) -> str:
        """How reports name the check."""
        return self.spec.label

    def __call__(self, answer: Answer) -> CheckResult:
        """Judge one answer by its content as received."""
        finding = self._check.find(answer)
        passed = None if finding.holds is None else finding.holds is not self._negated
        return CheckResult(passed, finding.sentence)


def build_checks(specs: Iterable[CheckSpec], root: Path) -> tuple[BuiltCheck, ...]:
    """Checks from a suite, in order.

    Args:
        specs: As loaded from suites.
        root: The project's folder; files named by checks must be inside it.

    Raises:
        SuiteError: with every wrong argument and unknown name, each with its place.
    """
    built: list[BuiltCheck] = []
    problems: dict[Problem, None] = {}
    # Suites give the same defaults to every case: each different check is made once.
    made: dict[tuple[str, str, str], BuiltCheck | Problem] = {}
    for spec in specs:
        key = (spec.name, canonical_json(spec.argument), spec.place.path)
        if key not in made:
            made[key] = _build(spec, root)
        result = made[key]
        if isinstance(result, Problem):
            problems[result] = None
        else:
            built.append(BuiltCheck(spec, result.rule, result._check, result._negated))  # noqa: SLF001 - same class
    if problems:
        raise SuiteError(tuple(problems))
    return tuple(built)


def _build(spec: CheckSpec, root: Path) -> BuiltCheck | Problem:
    negated = spec.name not in _BUILDERS and spec.name.startswith(_NEGATION)
    builder = _BUILDERS.get(spec.name.removeprefix(_NEGATION) if negated else spec.name)
    if builder is None:
        names = ", ".join(sorted(CHECK_NAMES))
        return Problem(f"There is no check `{spec.name}`. Known are {names}.", spec.place)
    try:
        check = builder(spec.argument, Setting(spec.name, root, spec.place))
    except BadArgument as error:
        return Problem(str(error), spec.place)
    return BuiltCheck(spec, check.negated_rule if negated else check.rule, check, negated)

"""All checks by name, their `not_` forms, and how a suite's checks become functions."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.canonical import canonical_json
from promptreg.config.hints import no_such_check
from promptreg.errors import Problem, SuiteError
from promptreg.scoring.checks.base import (
    NO_SERVICES,
    AskingCheck,
    BadArgument,
    Builder,
    Check,
    Measured,
    MeasuredCheck,
    PreparedCheck,
    Question,
    Services,
    Setting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.suite.model import CheckSpec
    from promptreg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class _Builder:
    """The builder of a check. Its module is loaded where a suite uses it: loading all would hold up the first call."""

    where: str
    """`module.function`, in this folder."""

    def __call__(self, argument: Json, setting: Setting) -> Check:
        """See `Builder`."""
        module, function = self.where.split(".")
        build: Builder = getattr(import_module(f"promptreg.scoring.checks.{module}"), function)
        return build(argument, setting)


_BUILDERS: Final[Mapping[str, Builder]] = MappingProxyType(
    {
        "contains": _Builder("contains.build"),
        "contains_all": _Builder("contains.build_all"),
        "contains_any": _Builder("contains.build_any"),
        "icontains": _Builder("contains.build_ignoring_case"),
        "icontains_all": _Builder("contains.build_all_ignoring_case"),
        "icontains_any": _Builder("contains.build_any_ignoring_case"),
        "equals": _Builder("equals.build"),
        "iequals": _Builder("equals.build_ignoring_case"),
        "one_of": _Builder("equals.build_one_of"),
        "starts_with": _Builder("ends.build_start"),
        "ends_with": _Builder("ends.build_end"),
        "bleu": _Builder("likeness.build_bleu"),
        "call": _Builder("call.build"),
        "chrf": _Builder("likeness.build_chrf"),
        "code_fence": _Builder("structure.build_code_fence"),
        "facts": _Builder("facts.build"),
        "finish_reason": _Builder("finish_reason.build"),
        "json": _Builder("json.build"),
        "json_equals": _Builder("json_equals.build"),
        "json_fields": _Builder("json_equals.build_fields"),
        "json_schema": _Builder("json_schema.build"),
        "judge": _Builder("judge.build"),
        "language": _Builder("language.build"),
        "latency": _Builder("call_limits.build_latency"),
        "length": _Builder("length.build"),
        "levenshtein": _Builder("likeness.build_levenshtein"),
        "list": _Builder("structure.build_list"),
        "markdown": _Builder("structure.build_markdown"),
        "max_chars": _Builder("max_chars.build"),
        "no_tool_call": _Builder("tools.build_none"),
        "python": _Builder("python.build"),
        "refusal": _Builder("refusal.build"),
        "regex": _Builder("regex.build"),
        "rouge": _Builder("likeness.build_rouge"),
        "similar": _Builder("similar.build"),
        "sql": _Builder("sql.build"),
        "table": _Builder("structure.build_table"),
        "tool_call": _Builder("tools.build_call"),
        "usage": _Builder("call_limits.build_usage"),
        "xml": _Builder("xml.build"),
    },
)
_NEGATION: Final = "not_"

CHECK_NAMES: Final[frozenset[str]] = frozenset(_BUILDERS) | {f"{_NEGATION}{name}" for name in _BUILDERS}
"""Every name that a suite can use."""


def check_names(own: Collection[str] = ()) -> frozenset[str]:
    """Every name that the suites of a project with its own checks can use."""
    return CHECK_NAMES.union(own, (f"{_NEGATION}{name}" for name in own))


MEASURED_CHECKS: Final = frozenset({"latency", "length", "usage"})
"""Checks, without `not_`, that may have to know how the call of an answer went."""


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

    @property
    def needs_call(self) -> bool:
        """True when the verdict on an answer also depends on how its call went."""
        return isinstance(self._check, MeasuredCheck)

    def prepare(self, contents: Sequence[str]) -> None:
        """Let the check make for many contents at once what it needs for each."""
        if isinstance(self._check, PreparedCheck):
            self._check.prepare(contents)

    @property
    def asks(self) -> bool:
        """True for a check that asks a judge."""
        return isinstance(self._check, AskingCheck)

    def questions(self, answer: Answer) -> Sequence[Question]:
        """What the check has to ask a judge about an answer; empty for checks that ask none."""
        return self._check.questions(answer) if isinstance(self._check, AskingCheck) else ()

    def __call__(self, answer: Answer, measured: Measured | None = None) -> CheckResult:
        """Judge one answer as received, and the call that gave it where the check is about that."""
        if measured is not None and isinstance(self._check, MeasuredCheck):
            finding = self._check.find_measured(answer, measured)
        else:
            finding = self._check.find(answer)
        passed = None if finding.holds is None else finding.holds is not self._negated
        return CheckResult(passed, finding.sentence)


def build_checks(
    specs: Iterable[CheckSpec],
    root: Path,
    services: Services = NO_SERVICES,
    own: Mapping[str, Builder] = MappingProxyType({}),
) -> tuple[BuiltCheck, ...]:
    """Checks from a suite, in order.

    Args:
        specs: As loaded from suites.
        root: The project's folder; files named by checks must be inside it.
        services: What checks may use beside the answer; those that lack theirs leave answers unscored.
        own: The project's own checks, by name.

    Raises:
        SuiteError: with every wrong argument and unknown name, each with its place.
    """
    built: list[BuiltCheck] = []
    problems: dict[Problem, None] = {}
    # Suites give the same defaults to every case: each different check is made once.
    made: dict[tuple[str, str, str], BuiltCheck | Problem] = {}
    builders = {**_BUILDERS, **own}
    for spec in specs:
        key = (spec.name, canonical_json(spec.argument), spec.place.path)
        if key not in made:
            made[key] = _build(spec, builders, root, services)
        result = made[key]
        if isinstance(result, Problem):
            problems[result] = None
        else:
            built.append(BuiltCheck(spec, result.rule, result._check, result._negated))  # noqa: SLF001 - same class
    if problems:
        raise SuiteError(tuple(problems))
    return tuple(built)


def argument_reader(
    root: Path, services: Services = NO_SERVICES, own: Mapping[str, Builder] = MappingProxyType({})
) -> Callable[[CheckSpec], str | None]:
    """A function that says what is wrong with a check as written, in a sentence; None when nothing is.

    Args:
        root: The project's folder.
        services: What checks may use beside the answer.
        own: The project's own checks, by name.
    """
    builders = {**_BUILDERS, **own}
    # Suites give the same checks to many cases: each different one is made once.
    known: dict[tuple[str, str, str], str | None] = {}

    def wrong(spec: CheckSpec) -> str | None:
        key = (spec.name, canonical_json(spec.argument), spec.place.path)
        if key not in known:
            made = _build(spec, builders, root, services)
            known[key] = made.message if isinstance(made, Problem) else None
        return known[key]

    return wrong


def _build(spec: CheckSpec, builders: Mapping[str, Builder], root: Path, services: Services) -> BuiltCheck | Problem:
    negated = spec.name not in builders and spec.name.startswith(_NEGATION)
    builder = builders.get(spec.name.removeprefix(_NEGATION) if negated else spec.name)
    if builder is None:
        return Problem(no_such_check(spec.name, check_names(builders)), spec.place)
    try:
        check = builder(spec.argument, Setting(spec.name, root, spec.place, services))
    except BadArgument as error:
        return Problem(str(error), spec.place)
    return BuiltCheck(spec, check.rules.negated if negated else check.rules.plain, check, negated)

"""`suggest-checks`: what the recorded answers of each case share, as checks for the suite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.baseline.paths import baseline_path
from promptreg.canonical import canonical_json
from promptreg.errors import BaselineError, Problem
from promptreg.scoring.contract.suggest import Suggestion, suggested_checks
from promptreg.scoring.contract.yaml_text import checks_yaml, scalar
from promptreg.text.counted import counted
from promptreg.workflow.pairing import baseline_of, pair_with_baseline
from promptreg.workflow.project import project_suites

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from promptreg.baseline.model import Baseline
    from promptreg.config import Config
    from promptreg.suite.model import Case, Suite
    from promptreg.text.sentence import Language

_LENGTHS: Final = frozenset({"max_chars", "length"})


@dataclass(frozen=True, slots=True)
class SuggestedSuite:
    """What a suite could check."""

    suite: str
    path: str
    deployment: str
    passes: int
    everywhere: tuple[Suggestion, ...]
    """For every case: what belongs under `defaults`."""
    cases: tuple[tuple[str, tuple[Suggestion, ...]], ...]
    """By case id, in the order of the suite: what `defaults` does not say. Cases without a suggestion are left out."""
    not_recorded: tuple[str, ...]
    """Ids of cases without a golden of their present request."""

    def yaml(self, language: Language) -> str:
        """The part of a suite file to copy from, ending with a newline; "" when there is nothing to suggest."""
        if not self.everywhere and not self.cases:
            return ""
        return "\n".join((*self._lines(language), ""))

    def _lines(self, language: Language) -> Iterator[str]:
        if language == "zh":
            yield f"# {self.path}：{self.deployment} 上录制的所有回答（{self.passes} 遍）都满足的检查项。"
            yield "# 保留应当成立的，其余删除，再并入测试集。"
        else:
            passes = counted(self.passes, "pass")
            yield f"# {self.path}: checks that all answers recorded on {self.deployment} pass ({passes})."
            yield "# Keep those that are meant to hold, drop the others, and merge them into the suite."
        yield f"suite: {scalar(self.suite)}"
        if self.everywhere:
            yield "defaults:"
            yield "  checks:"
            yield from checks_yaml(self.everywhere, 4, language)
        if self.cases:
            yield "cases:"
        for case_id, suggestions in self.cases:
            yield f"  - id: {scalar(case_id)}"
            yield "    checks:"
            yield from checks_yaml(suggestions, 6, language)


def suggest(
    config: Config, paths: Sequence[Path], *, deployment: str | None = None, select: str | None = None
) -> tuple[SuggestedSuite, ...]:
    """Suggest checks for suites from their baselines. Nothing is sent, nothing is written.

    Args:
        config: The project.
        paths: Suite files or folders, or names of the project's suites; none for all of the project's own.
        deployment: Whose baseline to read; None for the source role.
        select: Only some cases, as `--select` takes it.

    Raises:
        SuiteError: with every problem of the suites.
        ConfigError: the deployment is not configured.
        BaselineError: a suite without a baseline, or a damaged one; every suite's problems at once.
        UsageError: the selection is wrong or empty.
    """
    suites = project_suites(config, _files(config, paths), select)
    name = (config.deployment(deployment) if deployment is not None else config.role("source")).name
    problems: list[Problem] = []
    suggested: list[SuggestedSuite] = []
    for suite in suites:
        try:
            baseline = baseline_of(baseline_path(config.root / config.paths.baselines, suite.name, name), suite, name)
            suggested.append(_suggest(config, suite, baseline, whole=select is None))
        except BaselineError as error:
            problems += error.problems
    if problems:
        raise BaselineError(problems)
    return tuple(suggested)


def _files(config: Config, paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths, with the file of a suite for what is no path but its name."""
    if all(path.exists() or (config.root / path).exists() for path in paths):
        return tuple(paths)
    by_name = {suite.name: config.root / suite.path for suite in project_suites(config, (), None)}
    return tuple(
        path if path.exists() or (config.root / path).exists() else by_name.get(str(path), path) for path in paths
    )


def _suggest(config: Config, suite: Suite, baseline: Baseline, *, whole: bool) -> SuggestedSuite:
    pairing = pair_with_baseline(suite, baseline, whole=whole)
    by_case = {case.case_id: _of_case(case, baseline, config.root) for case in pairing.known}
    common = _common(list(by_case.values())) if len(by_case) > 1 else {}
    cases = tuple(
        (case_id, rest)
        for case_id, suggestions in by_case.items()
        if (rest := tuple(each for each in suggestions if _key(each) not in common))
    )
    return SuggestedSuite(
        suite.name,
        suite.path,
        baseline.header.deployment,
        baseline.header.passes,
        tuple(common.values()),
        cases,
        tuple(case.case_id for case in pairing.new),
    )


def _of_case(case: Case, baseline: Baseline, root: Path) -> tuple[Suggestion, ...]:
    golden = baseline.goldens[case.case_id]
    answers = [answer for answer in golden.by_pass(baseline.header.passes) if answer is not None]
    # What the suite checks already in its own way is not said again.
    present = {check.name for check in case.checks}
    if present & _LENGTHS:
        present |= _LENGTHS
    return tuple(each for each in suggested_checks(answers, root) if each.name not in present)


def _common(of_cases: Sequence[tuple[Suggestion, ...]]) -> dict[tuple[str, str], Suggestion]:
    """What is suggested for every case, in the words of the first one."""
    keys = [{_key(each) for each in suggestions} for suggestions in of_cases]
    shared = set.intersection(*keys)
    return {_key(each): each for each in of_cases[0] if _key(each) in shared}


def _key(suggestion: Suggestion) -> tuple[str, str]:
    return suggestion.name, canonical_json(suggestion.argument)

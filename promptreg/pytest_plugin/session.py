"""The one comparison of a pytest session, and what it says of every item. Made when the first item needs it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promptreg.errors import OutputError, PromptregError, UsageError
from promptreg.pytest_plugin.failure import case_text, suite_text, texts
from promptreg.pytest_plugin.options import in_pytest
from promptreg.pytest_plugin.outcomes import CASE_KINDS, Outcome, suite_kind
from promptreg.report.form import Form, kind_of
from promptreg.report.new_file import unwritable
from promptreg.report.output import plain
from promptreg.store.store import Store
from promptreg.text.sentence import Sentence
from promptreg.workflow.compare import check_compare, compare
from promptreg.workflow.compare_options import CompareOptions
from promptreg.workflow.review.case import CaseBook
from promptreg.workflow.review.waiting import reviewed_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.config import Config
    from promptreg.pytest_plugin.options import Asked
    from promptreg.pytest_plugin.outcomes import Kind, Terminal
    from promptreg.pytest_plugin.selection import Entry, Selected
    from promptreg.replay.progress import Progress
    from promptreg.report.form import Output
    from promptreg.text.sentence import Language
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.workflow.compared import Compared
    from promptreg.workflow.review.case import CaseSides
    from promptreg.workflow.review.waiting import ReviewedRun

_SHOWN: tuple[Kind, ...] = ("failed", "error")


@dataclass(frozen=True, slots=True)
class Judged:
    """The comparison of a session."""

    outcomes: Mapping[str, Outcome]
    """By node id."""
    compared: Compared | None = None
    """None when there was none, for the reason that every outcome gives."""
    totals: Mapping[str, int] = field(default_factory=dict)
    """How many cases each suite has, compared or not."""


def judged_session(
    project: Config,
    asked: Asked,
    entries: Sequence[Entry],
    selected: Mapping[str, Selected],
    terminal: Terminal,
    *,
    beside: tuple[Output, ...] = (),
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_note: Callable[[Sentence], None] = lambda _: None,
) -> Judged:
    """Compare what was selected and say what becomes of each item.

    An error of the comparison is the outcome of every item: none of them was judged.

    Args:
        project: the configuration.
        asked: the options.
        entries: the items.
        selected: what they ask for, by suite.
        terminal: for what failures show.
        beside: what else to write.
        on_progress: called as samples arrive.
        on_note: called with sentences to be seen at once.
    """
    try:
        options = compare_options(asked, selected, terminal.language, beside)
        compared = compare(project, options, on_progress=on_progress, on_notice=on_note, on_look=on_note)
    except PromptregError as error:
        return failed_session(entries, in_pytest(str(error)))
    outcomes = dict(_outcomes(project, asked, entries, compared, terminal))
    totals = {name: suite.total for name, suite in selected.items()}
    return Judged(outcomes, replace(compared, beside=()), totals)  # `beside` is for CI, not to be named to people


def check_session(
    project: Config, asked: Asked, selected: Mapping[str, Selected], terminal: Terminal, paths: Iterable[Path | None]
) -> None:
    """What can be said of a comparison before it is made.

    Args:
        project: the configuration.
        asked: the options.
        selected: what the items ask for, by suite.
        terminal: for the reader's language.
        paths: files that are written besides; None for none.

    Raises:
        PromptregError: it cannot be made.
    """
    problems = [problem for path in paths if path is not None and (problem := unwritable(path)) is not None]
    if problems:
        raise OutputError(" ".join(problems))
    check_compare(project, compare_options(asked, selected, terminal.language))


def failed_session(entries: Sequence[Entry], message: str) -> Judged:
    """The same error for every item; only the first tells it in full, so that a log of many stays readable."""
    message = plain(message)
    first = message.split("\n", 1)[0]
    outcomes = {entry.node_id: Outcome.error(first) for entry in entries}
    if entries:
        outcomes[entries[0].node_id] = Outcome("error", first, message, message)
    return Judged(outcomes)


def compare_options(
    asked: Asked, selected: Mapping[str, Selected], language: Language, beside: tuple[Output, ...] = ()
) -> CompareOptions:
    """What `promptreg compare` would be told.

    A stored run is judged as a whole, whatever items were selected: that costs nothing, and its verdicts are then those
    of the command line. Only --promptreg-select narrows it.

    Raises:
        UsageError: calls are forbidden and no run is named, or the suffix of the report says nothing.
    """
    if asked.run is None and asked.no_calls:
        raise UsageError(
            "--promptreg-no-calls forbids calling the target deployment. Name a stored run with --promptreg-run RUN "
            "(`--promptreg-run latest` is the newest), or leave --promptreg-no-calls out."
        )
    stored = asked.run is not None
    whole = all(suite.whole for suite in selected.values())
    return CompareOptions(
        suites=() if stored else tuple(suite.path for suite in selected.values()),
        target=asked.target,
        passes=asked.passes,
        run_id=asked.run,
        resume=asked.resume,
        select=asked.select,
        cases=None if stored or whole else {name: suite.ids for name, suite in selected.items()},
        offline=stored,
        report=asked.report,
        report_kind="html" if asked.report is None else kind_of(asked.report),
        beside=beside,
        form=Form(language),
        allow_inconclusive=asked.allow_inconclusive,
    )


def _outcomes(
    project: Config, asked: Asked, entries: Sequence[Entry], compared: Compared, terminal: Terminal
) -> Iterator[tuple[str, Outcome]]:
    run_id, suites = compared.comparison.run_id, {suite.suite: suite for suite in compared.comparison.suites}
    cases = {(name, case.case_id): case for name, suite in suites.items() for case in suite.cases}
    with Store.open(project.root / project.paths.store, create=False) as store:
        answers = _Answers(project, store, run_id)
        for entry in entries:
            if (suite := suites.get(entry.suite)) is None:
                yield entry.node_id, _not_in_run(run_id, entry.suite, terminal)
            elif entry.case_id is None:
                yield entry.node_id, _suite_outcome(suite, run_id, asked, terminal)
            elif (case := cases.get((entry.suite, entry.case_id))) is None:
                yield entry.node_id, _not_asked(run_id, terminal)
            else:
                yield entry.node_id, _case_outcome(case, entry.suite, run_id, answers, terminal)


class _Answers:
    """Both sides' answers of the cases of a run. Read when the first case fails."""

    def __init__(self, project: Config, store: Store, run_id: str) -> None:
        self._project, self._store, self._run_id = project, store, run_id
        self._book: CaseBook | None = None
        self._run: ReviewedRun | None = None

    def of(self, suite: str, case_id: str) -> CaseSides | None:
        """None where they cannot be read: the verdict is then told alone."""
        try:
            if self._run is None or self._book is None:
                self._run = reviewed_run(self._project, self._store, self._run_id)
                self._book = CaseBook(self._project, self._store, self._run)
            (case,) = self._run.named([f"{suite}/{case_id}"])
            return self._book.sides(case)
        except PromptregError:
            return None


def _case_outcome(case: CaseJudgement, suite: str, run_id: str, answers: _Answers, terminal: Terminal) -> Outcome:
    kind = CASE_KINDS[case.verdict]
    sentence = _line(case.verdict.value, case.sentence, terminal)
    properties = [("promptreg_verdict", case.verdict.value), ("promptreg_run", run_id)]
    if case.p_value is not None:
        properties.append(("promptreg_p_value", f"{case.p_value:.6g}"))
    if case.channels:
        properties.append(("promptreg_effect_z", f"{max(effect.z for effect in case.channels.values()):.6g}"))
    ratios = [effect.ratio for effect in case.channels.values() if effect.ratio is not None]
    if ratios:
        properties.append(("promptreg_noise_multiple", f"{max(ratios):.6g}"))
    if kind not in _SHOWN:
        return Outcome(kind, sentence, properties=tuple(properties))
    sides = answers.of(suite, case.case_id)
    lines = case_text(case, suite, run_id, sides, terminal.language)
    return Outcome(kind, sentence, *texts(lines, terminal), tuple(properties))


def _suite_outcome(suite: SuiteJudgement, run_id: str, asked: Asked, terminal: Terminal) -> Outcome:
    kind = suite_kind(suite.verdict, allow_inconclusive=asked.allow_inconclusive)
    sentence = _line(suite.verdict.value, suite.sentence, terminal)
    properties = [("promptreg_verdict", suite.verdict.value), ("promptreg_run", run_id)]
    if suite.p_value is not None:
        properties.append(("promptreg_p_value", f"{suite.p_value:.6g}"))
    if suite.regression.p_value is not None:
        properties.append(("promptreg_regression_p_value", f"{suite.regression.p_value:.6g}"))
    if suite.facts.rank_effect is not None:
        properties.append(("promptreg_rank_effect", f"{suite.facts.rank_effect:.6g}"))
    if kind not in _SHOWN:
        return Outcome(kind, sentence, properties=tuple(properties))
    return Outcome(kind, sentence, *texts(suite_text(suite, run_id, terminal.language), terminal), tuple(properties))


def _not_in_run(run_id: str, suite: str, terminal: Terminal) -> Outcome:
    """An item whose suite the run did not ask is no pass."""
    said = plain(
        Sentence(
            f"Run {run_id} did not compare the suite {suite}. Leave --promptreg-run out to compare it.",
            f"运行 {run_id} 没有比较测试集 {suite}。不加 --promptreg-run 即可比较。",
        ).text(terminal.language)
    )
    return Outcome.error(said)


def _not_asked(run_id: str, terminal: Terminal) -> Outcome:
    sentence = Sentence(
        f"Run {run_id} did not compare this case: it was narrowed to others.",
        f"运行 {run_id} 没有比较此用例：它只选了其他用例。",
    )
    return Outcome("skipped", sentence.text(terminal.language))


def _line(verdict: str, sentence: Sentence, terminal: Terminal) -> str:
    return in_pytest(f"{verdict}: {' '.join(plain(sentence.text(terminal.language)).split())}")

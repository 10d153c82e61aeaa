"""The fixture `promptreg`: answers of the user's own application against the baseline, inside ordinary tests."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import pytest

from promptreg.config.hints import did_you_mean
from promptreg.config.params import validate_params
from promptreg.errors import Place, PromptregError, UsageError
from promptreg.pytest_plugin.collection import NOT_MARKS, NotAsRecordedError, mark_of
from promptreg.pytest_plugin.failure import case_text, texts
from promptreg.pytest_plugin.names import item_name
from promptreg.pytest_plugin.outcomes import CASE_KINDS, Outcome
from promptreg.pytest_plugin.summary import BY_CHECKS
from promptreg.report.output import plain
from promptreg.scoring.checks import registry
from promptreg.scoring.checks.base import Services
from promptreg.store.store import Store
from promptreg.suite.model import Case, CheckSpec, Request
from promptreg.suite.select import select_cases
from promptreg.verdict.verdicts import CaseVerdict
from promptreg.workflow.judging.given_answers import GivenAnswers, answer_from
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.project import project_suites

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.answer.model import Answer
    from promptreg.config import Config
    from promptreg.pytest_plugin.options import Asked
    from promptreg.pytest_plugin.outcomes import Terminal
    from promptreg.suite.model import Suite
    from promptreg.workflow.judging.given_answers import GivenJudgement

__tracebackhide__ = True
"""Of an error in a call, pytest shows the test's line and not these."""


@dataclass(frozen=True, slots=True)
class AsRecorded:
    """What `compare` found, where it does not end the test."""

    verdict: CaseVerdict
    """`pass` or `changed`; `pass` by its checks alone where nothing of the request is recorded, see the sentence."""
    sentence: str
    p_value: float | None


class Answers:
    """What all tests of a session share: suites, the store, one embedder, and what came out."""

    def __init__(self, project: Config, asked: Asked, counts: Counter[str]) -> None:
        """Nothing is read yet.

        Args:
            project: the configuration.
            asked: the options.
            counts: how many answers had which verdict; added to.
        """
        self._project, self._asked = project, asked
        self._suites: tuple[Suite, ...] | None = None
        self._store: Store | None = None
        self._judge: GivenAnswers | None = None
        self._worker = ThreadPoolExecutor(1, "promptreg-answers")
        """All judging happens in this thread: tests compare from threads of their own, a store has one."""
        self._counted = Lock()
        self._counts = counts

    def count(self, verdict: str) -> None:
        """One more answer with this verdict."""
        with self._counted:
            self._counts[verdict] += 1

    def cases(self) -> dict[str, Case]:
        """The project's cases by SUITE/ID, as --promptreg-select leaves them.

        Raises:
            PromptregError: a suite is wrong.
        """
        if self._suites is None:
            self._suites = select_cases(project_suites(self._project, (), None), self._asked.select)
        return {f"{case.suite}/{case.case_id}": case for suite in self._suites for case in suite.cases}

    def params(self) -> list[Any]:
        """The cases as parameters of a test: their ids are stable, their tags are marks."""
        return [
            pytest.param(
                case,
                id=f"{case.suite}/{item_name(case.case_id)}",
                marks=[mark_of(tag) for tag in case.tags if tag not in NOT_MARKS],
            )
            for case in self.cases().values()
        ]

    def named(self, name: str) -> Case:
        """A case by SUITE/ID, or by its id alone where only one suite has it.

        Raises:
            UsageError: there is no such case, or there are several.
        """
        cases = self.cases()
        if name in cases:
            return cases[name]
        found = [case for case in cases.values() if case.case_id == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"Several suites have a case {name!r}: write SUITE/ID, such as {found[0].suite}/{name}.")
        known = {*cases, *(case.case_id for case in cases.values())}
        raise UsageError(f"There is no case {name!r} in the project's suites.{did_you_mean(name, known)}")

    def judge(self, case: Case, answers: Sequence[Answer]) -> GivenJudgement:
        """Judge what was answered to a case. May be called from any thread.

        Raises:
            PromptregError: as `GivenAnswers.judge`.
        """
        asked = self._worker.submit(lambda: self._judging().judge(case, answers))
        if isinstance(error := asked.exception(), PromptregError):
            raise error.with_traceback(None)  # its sentence says it all
        return asked.result()

    def _judging(self) -> GivenAnswers:
        """Made at the first answer."""
        if self._judge is None:
            self._store = Store.open(self._project.root / self._project.paths.store, create=True)
            asked = self._asked
            may_call = not asked.no_calls and asked.run is None
            self._judge = GivenAnswers(self._project, self._store, target=asked.target, may_call=may_call)
        return self._judge

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._worker.submit(self._store.close).result()
            self._store = self._judge = None
        self._worker.shutdown()

    def check_specs(self, checks: Iterable[Mapping[str, Any] | str], place: Place) -> tuple[CheckSpec, ...]:
        """Checks as a suite writes them: `"not_refusal"` or `{"contains": "7天"}`.

        Raises:
            UsageError: one of them is unknown or has wrong arguments.
        """
        own = load_extensions(self._project.root).checks
        wrong = registry.argument_reader(self._project.root, Services(judges=self._project.deployments), own)
        known = registry.check_names(own)
        specs = []
        for written in checks:
            items = [(written, None)] if isinstance(written, str) else list(written.items())
            for name, argument in items:
                spec = CheckSpec(name, argument, place)
                if name not in known:
                    raise UsageError(f"There is no check `{name}`.{did_you_mean(name, known)}")
                if (problem := wrong(spec)) is not None:
                    raise UsageError(problem)
                specs.append(spec)
        return tuple(specs)


class PromptregFixture:
    """What a test gets from the fixture `promptreg`."""

    def __init__(self, answers: Answers, node: pytest.Item, terminal: Terminal, *, properties: bool) -> None:
        """Of one test."""
        self._answers, self._node, self._terminal, self._properties = answers, node, terminal, properties

    def case(
        self,
        case_id: str,
        messages: Sequence[Mapping[str, Any]] | str,
        *,
        suite: str = "code",
        checks: Iterable[Mapping[str, Any] | str] = (),
        tags: Iterable[str] = (),
        infer: bool = True,
        **request: Any,
    ) -> Case:
        """A case defined in code instead of a suite's file.

        It is compared with the golden of that id in the baseline of `suite`, where the request is the same. Without one
        its checks are all that can be judged.

        Args:
            case_id: as in a suite.
            messages: the conversation, or the text of one user message.
            suite: under which it is, or will be, recorded.
            checks: as a suite writes them, such as `{"contains": "7天"}`.
            tags: as a suite writes them.
            infer: whether answers are held to what all golden answers share.
            request: request parameters, such as `temperature=0.7`.

        Raises:
            UsageError: a check or a parameter is wrong.
        """
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        if problems := validate_params(request):
            raise UsageError(" ".join(problems))
        place = Place(self._node.nodeid)
        specs = self._answers.check_specs(checks, place)
        asked = Request(tuple(dict(message) for message in messages), request)
        return Case(suite, case_id, asked, place, specs, tuple(tags), infer=infer)

    def compare(self, case: Case | str, *answers: object) -> AsRecorded:
        """Judge what the application answered; a drift or a failing check fails the test.

        Fewer than three answers are a smoke test: a check that every golden answer passes and one of these does not
        fails, and nothing else can be proven.

        Args:
            case: its name (SUITE/ID, or the id where only one suite has it), or a case.
            answers: of the application to the same request: texts, messages or chat completions.

        Returns:
            The verdict `pass` or `changed`; `pass` too where there is no golden and all checks of the case hold. Any
            other ends the test: `drift`, `fail` and `error` fail it, `waived` makes it an expected failure, `new`
            (nothing is recorded, and it has no checks) skips it.

        Raises:
            UsageError: there is no such case, or an answer cannot be read.
        """
        if not answers:
            raise UsageError("compare() needs an answer: promptreg.compare(case_id, answer), or several of them.")
        meant = self._answers.named(case) if isinstance(case, str) else case
        given = self._answers.judge(meant, [answer_from(answer) for answer in answers])
        judged, language = given.case, self._terminal.language
        alone = judged.verdict is CaseVerdict.PASS and not given.compared
        self._answers.count(BY_CHECKS if alone else judged.verdict.value)
        if self._properties:
            self._node.user_properties.append(("promptreg_verdict", judged.verdict.value))
            if judged.p_value is not None:
                self._node.user_properties.append(("promptreg_p_value", f"{judged.p_value:.6g}"))
        sentence = plain(judged.sentence.text(language))
        told = f"{judged.verdict.value}: {meant.suite}/{meant.case_id}: {sentence}"
        kind = CASE_KINDS[judged.verdict]
        if kind in {"failed", "error"}:
            lines = case_text(judged, meant.suite, None, given.sides, language)
            raise NotAsRecordedError(Outcome("failed", told, *texts(lines, self._terminal)))
        if kind == "xfailed":
            pytest.xfail(told)
        if kind == "skipped":
            pytest.skip(told)
        return AsRecorded(judged.verdict, sentence, judged.p_value)

"""The section at the end of a session: verdicts, counts, causes, worst cases, the report's path."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from rich.console import Console

from promptreg.cli.console import PIPE_WIDTH
from promptreg.cli.verdicts import print_comparison
from promptreg.pytest_plugin.options import in_pytest
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal
from promptreg.verdict.verdicts import CaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.config import Config
    from promptreg.pytest_plugin.outcomes import Terminal
    from promptreg.pytest_plugin.session import Judged
    from promptreg.verdict.model import SuiteJudgement

BY_CHECKS: Final = "pass by checks alone"
"""Under this an answer is counted that no golden could be compared with."""

_BY_CHECKS_ZH: Final = "pass（仅由检查项判定）"
_SEEN: Final = 0.8


def summary_lines(project: Config, judged: Judged, terminal: Terminal) -> list[str]:
    """The lines; none when nothing was compared."""
    if judged.compared is None:
        return []
    out = Console(
        file=io.StringIO(),
        force_terminal=terminal.colours,
        color_system="standard" if terminal.colours else None,
        width=PIPE_WIDTH,
        soft_wrap=True,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    print_comparison(judged.compared, project, quiet=False, verbose=False, out=out)
    said = in_pytest(out.file.getvalue())  # type: ignore[attr-defined]  # the StringIO above
    out.file = io.StringIO()
    for suite in judged.compared.comparison.suites:
        for sentence in _narrowed(suite, judged.totals.get(suite.suite, 0)):
            out.print(safe_for_terminal(sentence.text(terminal.language)), style="yellow")
    if judged.compared.failures:
        out.print(safe_for_terminal(judged.compared.failures.text(terminal.language)), style="red")
    more: str = out.file.getvalue()
    return (said + more).splitlines()


def _narrowed(suite: SuiteJudgement, total: int) -> Iterator[Sentence]:
    """What a selection does to a verdict; nothing where all `total` cases of the suite are in it."""
    chosen = sum(case.verdict is not CaseVerdict.MISSING for case in suite.cases)
    if chosen >= total:
        return
    yield Sentence(
        f"{suite.suite}: {chosen} of {total} cases were selected. The verdict is about these only, and "
        "the fewer they are, the larger a change must be to be found.",
        f"{suite.suite}：{total} 个用例中选了 {chosen} 个。结论只针对这些用例；用例越少，变化要越大才能被发现。",
    )
    for outcome in suite.power:
        if outcome.power < _SEEN:
            yield Sentence(f"  Self-test: {outcome.sentence.en}.", f"  自检：{outcome.sentence.zh}。")


def counts_sentence(counts: Mapping[str, int]) -> Sentence:
    """How the answers of Python tests came out."""
    listed = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    zh = listed.replace(BY_CHECKS, _BY_CHECKS_ZH)
    return Sentence(
        f"Answers that Python tests compared: {sum(counts.values())} ({listed})",
        f"Python 测试比较的回答：{sum(counts.values())} 个（{zh}）",
    )

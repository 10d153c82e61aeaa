"""What a failing item shows: the verdict, both answers with their difference, the noise, and how to see it again."""

from __future__ import annotations

import io
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal

from rich.console import Console
from rich.text import Text

from promptreg.cli.console import PIPE_WIDTH, STYLES
from promptreg.cli.review.text import case_lines
from promptreg.cli.verdicts import counts_line
from promptreg.pytest_plugin.options import in_pytest
from promptreg.report.catalogue import catalogues
from promptreg.report.output import plain
from promptreg.text.terminal import safe_for_terminal
from promptreg.verdict.words.case_sentences import both_noises

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from promptreg.pytest_plugin.outcomes import Terminal
    from promptreg.text.sentence import Language
    from promptreg.verdict.model import CaseJudgement, SuiteJudgement
    from promptreg.workflow.review.case import CaseSides

_WORDS: Final = {
    "noise": {"en": "noise", "zh": "波动"},
    "check": {"en": "{check}: {source}, {target}", "zh": "{check}：{source}，{target}"},
    "again": {"en": "again", "zh": "重看"},
    "distance": {
        "en": "{channel}: {ratio:.3g} times as far as the source's answers lie from each other",
        "zh": "{channel}：距离是源部署回答彼此间距离的 {ratio:.3g} 倍",
    },
    "p": {"en": "p = {p:.2g}", "zh": "p = {p:.2g}"},
}


def case_text(
    case: CaseJudgement, suite: str, run_id: str | None, sides: CaseSides | None, language: Language
) -> Iterator[Text]:
    """Of a case that failed, or could not be judged.

    Args:
        case: its judgement.
        suite: its suite.
        run_id: the run that was judged; None where there was none.
        sides: both sides' answers; None where they cannot be read.
        language: the reader's.
    """
    if sides is None:
        yield Text.assemble(
            (case.verdict.value, STYLES[case.verdict.value]),
            f" {in_pytest(safe_for_terminal(case.sentence.text(language)))}",
        )
    else:
        yield from case_lines(_of_pytest(sides), language)
    words = catalogues()[language]
    for check in case.checks:
        if check.worse:
            source = f"{words['side.source']} {check.source_passed}/{check.source_total}"
            target = f"{words['side.target']} {check.target_passed}/{check.target_total}"
            text = _WORDS["check"][language].format(check=safe_for_terminal(check.check), source=source, target=target)
            yield Text(text, style="red")
    for breach in case.breaches:
        yield Text(f"- {safe_for_terminal(breach.text(language))}")
    for fault in case.faults:
        finding = fault.finding
        colon = "：" if language == "zh" else ": "
        yield Text(f"{finding.kind} {finding.severity.value}{colon}{safe_for_terminal(fault.title.text(language))}")
    if (noise := _noise(case, language)) is not None:
        yield noise
    if run_id is None:
        return
    name = shlex.quote(safe_for_terminal(f"{suite}/{case.case_id}"))
    yield _again(f"promptreg review show {name} --run {run_id}", language)


def suite_text(suite: SuiteJudgement, run_id: str, language: Language) -> Iterator[Text]:
    """Of a suite whose verdict fails its item; its causes are in the section at the end."""
    verdict = suite.verdict.value
    sentence = in_pytest(safe_for_terminal(suite.sentence.text(language)))
    yield Text.assemble((verdict, STYLES[verdict]), f"  {safe_for_terminal(suite.suite)}: {sentence}")
    yield Text(counts_line(suite, language))
    yield _again(f"promptreg compare --run {run_id}", language)


def _of_pytest(sides: CaseSides) -> CaseSides:
    """The same with the options in its sentence under the names that they have here."""
    shown = sides.case.shown
    said = replace(shown, sentence=in_pytest(shown.sentence), sentence_zh=in_pytest(shown.sentence_zh))
    return replace(sides, case=replace(sides.case, shown=said))


def texts(lines: Iterable[Text], terminal: Terminal) -> tuple[str, str]:
    """Without colours and unbroken for files; with colours and at the terminal's width for whoever watches."""
    lines = list(lines)
    told = plain(rendered(lines, colours=False))
    return told, rendered(lines, colours=True, width=terminal.columns) if terminal.colours else told


def rendered(lines: Iterable[Text], *, colours: bool, width: int | None = None) -> str:
    """The lines as text.

    Args:
        lines: what to show.
        colours: whether the terminal has some.
        width: columns at which lines are broken, two for a wide character; None to leave that to the reader.
    """
    system: Literal["standard"] | None = "standard" if colours else None
    out = Console(
        file=io.StringIO(),
        force_terminal=colours,
        color_system=system,
        width=width or PIPE_WIDTH,
        soft_wrap=width is None,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )
    for line in lines:
        out.print(line, overflow=None if width is None else "fold")
    text: str = out.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
    return text.rstrip("\n")


def _noise(case: CaseJudgement, language: Language) -> Text | None:
    """How far the case moved, measured by the source's own noise, on the channel that shows it most."""
    measured = {name: effect for name, effect in case.channels.items() if effect.ratio is not None}
    if not measured:
        return None
    name, effect = max(measured.items(), key=lambda entry: (entry[1].z, entry[0]))
    channel = catalogues()[language].get(f"channel.{name}", name)
    parts = []
    if effect.ratio is not None:
        parts.append(_WORDS["distance"][language].format(ratio=effect.ratio, channel=channel))
        if case.p_value is not None:
            parts.append(_WORDS["p"][language].format(p=case.p_value))
    if (own := both_noises(effect)) is not None:
        parts.append(own.zh if language == "zh" else own.en[0].lower() + own.en[1:])
    return Text(_label("noise", language) + ("；" if language == "zh" else "; ").join(parts)) if parts else None


def _again(command: str, language: Language) -> Text:
    return Text(_label("again", language) + command, style="dim")


def _label(name: str, language: Language) -> str:
    return _WORDS[name][language] + ("：" if language == "zh" else ": ")

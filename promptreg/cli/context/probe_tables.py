"""What a deployment answered about a conversation's facts, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.cli.context.tables import table_of
from promptreg.context.trial.probe_tallies import AGAIN, FULL, NONE, counted, share
from promptreg.context.trial.probes import Grade
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from promptreg.context.trial.probe_report import ProbeCell, ProbeReport
    from promptreg.text.sentence import Language

_NONE = "—"
_MOST_REASONS = 5
"""Reasons why answers do not count that are listed, the most frequent ones."""
_MAIN = (
    Sentence("strategy", "策略"),
    Sentence("n", "n"),
    Sentence("with all", "完整对话"),
    Sentence("here", "此处"),
    Sentence("kept", "保留"),
    Sentence("p", "p 值"),
    Sentence("alike", "一致度"),
)
_GRADES = (Grade.CORRECT, Grade.STALE, Grade.ABSTAINED, Grade.WRONG, Grade.UNSCORED)


def print_probes(out: Console, report: ProbeReport, language: Language, *, quiet: bool) -> None:
    """Print the report, what it means first."""
    out.print()
    out.print(safe_for_terminal(report.headline.text(language)), style="bold")
    if quiet:
        return
    _whole(out, report, language)
    for window in dict.fromkeys(cell.window for cell in report.cells):
        _window(out, report, window, language)
    told = Sentence(
        "n: questions that are scored both with the whole conversation and here, after what the strategy leaves. With "
        "all, here: share of them that is right. Kept: of what it knows with the whole conversation, the share that it "
        "still knows. p: exact McNemar test of the loss; * it is real, at 5% over all rows. Alike: words in common "
        "with the answer to the whole conversation (F1). Never said: answered by “not known”.",
        "n：带完整对话与此处（策略保留的内容之后）均计分的问题数。完整对话、此处：其中答对的占比。"
        "保留：带完整对话时答对的问题中，此处仍答对的占比。p 值：损失的精确 McNemar 检验；"
        "* 表示损失成立（对所有行按 5% 控制）。一致度：与带完整对话的回答的用词一致度（F1）。"
        "未说过的：答“未知”的占比。",
    )
    out.print()
    out.print(told.text(language), style="dim")
    out.print(report.noise_words.text(language))
    for sentence in report.remarks:
        out.print(safe_for_terminal(sentence.text(language)), style="yellow")
    for sentence in report.unscored_words[:_MOST_REASONS]:
        out.print(safe_for_terminal(sentence.text(language)), style="dim")


def _whole(out: Console, report: ProbeReport, language: Language) -> None:
    """The answers of the arms that belong to no window."""
    table = _answers(Sentence("answers", "回答"), language)
    for arm in (FULL, AGAIN, NONE):
        answers = report.arms[arm]
        said, unsaid = answers[: report.said], answers[report.said :]
        grades = counted(said)
        asked = share(unsaid, Grade.ABSTAINED) if unsaid else None
        table.add_row(arm.label.text(language), *(str(grades[grade]) for grade in _GRADES), _share(asked))
    out.print()
    out.print(table)


def _answers(title: Sentence, language: Language) -> Table:
    heads = (title, *(grade.label for grade in _GRADES))
    return table_of((*heads, Sentence("never said", "未说过的")), language)


def _window(out: Console, report: ProbeReport, window: int, language: Language) -> None:
    out.print()
    out.print(Sentence(f"Window {window:,}, answers", f"窗口 {window:,}，回答").text(language), style="bold")
    table = table_of(_MAIN, language)
    for cell in report.of(window):
        table.add_row(*_row(cell))
    out.print(table)
    table = _answers(Sentence("answers here", "此处的回答"), language)
    for cell in report.of(window):
        grades = counted(cell.answers)
        name = safe_for_terminal(cell.strategy)
        table.add_row(name, *(str(grades[grade]) for grade in _GRADES), _share(cell.abstained))
    out.print()
    out.print(table)


def _row(cell: ProbeCell) -> list[str]:
    pairs = cell.pairs
    p = f"{cell.p:.3f}" if cell.p >= 0.001 else f"{cell.p:.0e}"
    return [
        safe_for_terminal(cell.strategy),
        str(pairs.asked),
        _share(pairs.full),
        _share(pairs.correct),
        _share(pairs.kept),
        _NONE if not pairs.asked else f"{p} *" if cell.real else p,
        _share(cell.drift.f1),
    ]


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"

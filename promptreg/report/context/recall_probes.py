"""The part of the context-test page on live probes: what a model still answers right after each strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.context.trial.probe_tallies import counted
from promptreg.context.trial.probes import Grade
from promptreg.report.context.bilingual import both, name, warnings
from promptreg.report.context.recall_table import NONE, Cell, Group, count, grouped, heat, share, window_title
from promptreg.report.embed import escaped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.context.trial.grid_report import Column
    from promptreg.context.trial.probe_report import ProbeCell, ProbeReport

_MOST_REASONS: Final = 5
"""Reasons why answers do not count, the most frequent ones."""


def probe_section(probes: ProbeReport | None, columns: Sequence[Column]) -> Iterator[str]:
    """What the model was asked and what it knew, a row for each strategy; nothing where nothing was asked."""
    if probes is None:
        return
    title = Sentence(f"Asked: {name(probes.deployment)}", f"提问：{name(probes.deployment)}")
    yield f'<section class="asked"><h2>{both(title)}</h2>\n'
    yield f"<p>{both(probes.headline)} {both(probes.noise_words)}</p>\n{warnings(probes.remarks)}"
    heads = (
        Sentence("strategy", "策略"), Sentence("kept", "保留"),
        Sentence("questions scored in both", "两边均计分的问题"), Sentence("not scored here", "此处未计分"),
        Sentence("right with everything", "完整对话答对"), Sentence("right here", "此处答对"),
        Sentence("lost", "丢失"), Sentence("gained", "新增"), Sentence("p (McNemar)", "p（McNemar）"),
        Sentence("a real loss", "确有损失"), Sentence("says “not known” of what was never said", "对未说过的答“未知”"),
        Sentence("words as with everything (F1)", "用词一致度（F1）"),
    )  # fmt: skip
    groups = [
        Group(window_title(column), [(escaped(name(cell.strategy)), _cells(cell)) for cell in cells])
        for column in columns
        if (cells := probes.of(column.budget.window))
    ]
    note = Sentence(
        "Kept: of the questions that the model gets right with the whole conversation, the share that it still gets "
        "right. What it misses with everything is not held against a strategy.",
        "保留：模型带完整对话能答对的问题中，此处仍答对的占比。带完整对话也答不对的不算策略的损失。",
    )
    yield f'{grouped(heads, groups)}<p class="hint">{both(note)}</p>\n'
    if probes.unscored_words:
        told = "".join(
            f'<li class="hint">{both(sentence)}</li>\n' for sentence in probes.unscored_words[:_MOST_REASONS]
        )
        yield f'<ul class="notes">{told}</ul>\n'
    yield "</section>\n"


def _cells(cell: ProbeCell) -> list[Cell]:
    pairs = cell.pairs
    yes, no = Sentence("✗ yes", "✗ 是"), Sentence("no", "否")
    return [
        heat(pairs.kept),
        count(pairs.asked),
        count(counted(cell.answers)[Grade.UNSCORED]),
        share(pairs.full),
        share(pairs.correct),
        count(pairs.lost),
        count(pairs.gained),
        Cell(f"{cell.p:.2g}" if pairs.asked else NONE),
        Cell(both(yes if cell.real else no), "number wrong" if cell.real else "number"),
        share(cell.abstained),
        Cell(NONE if cell.drift.f1 is None else f"{cell.drift.f1:.2f}"),
    ]

"""The causes of a comparison on the terminal: how many cases each has, the worst of them, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.cli.console import STYLES
from promptreg.text.preview import column_width, preview
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.text import Text

    from promptreg.text.sentence import Language
    from promptreg.verdict.causes.cluster import Cluster

CAUSES_SHOWN = 8
"""Causes listed per suite without `-v`; the report shows all."""

CASES_NAMED = 3
"""Worst cases named beside a cause."""

ALSO_NAMED = 2
"""Other causes of the same cases that are named with it."""

_TITLE = {"en": "Causes", "zh": "原因"}
_COUNT = {"en": ("{count} case", "{count} cases"), "zh": ("{count} 个用例", "{count} 个用例")}
_ALSO = {"en": " (also: {titles})", "zh": "（同时：{titles}）"}
_NAMES = {"en": ": {names}", "zh": "：{names}"}
_BETWEEN = {"en": "; ", "zh": "；"}
_MORE = {"en": "… and {count} more causes", "zh": "……另有 {count} 个原因"}


def cause_lines(clusters: Sequence[Cluster], language: Language, *, everything: bool) -> Iterator[Text]:
    """The lines of one suite's causes; none where there are no clusters.

    Args:
        clusters: worst first.
        language: the reader's.
        everything: all causes instead of the first few.
    """
    from rich.text import Text  # noqa: PLC0415 - rich loads when there is something to print

    if not clusters:
        return
    yield Text(f"  {_TITLE[language]}")
    shown = clusters if everything else clusters[:CAUSES_SHOWN]
    counts = [_count(len(cluster.case_ids), language) for cluster in shown]
    width = max(map(column_width, counts))
    for count, cluster in zip(counts, shown, strict=True):
        indent = " " * (4 + width - column_width(count))
        yield Text.assemble((indent + count, STYLES[cluster.verdict.value]), f"  {_told(cluster, language)}")
        yield Text(f"    {'':{width}}  → {safe_for_terminal(cluster.next_step.text(language))}", style="dim")
    left = len(clusters) - len(shown)
    if left:
        yield Text("    " + _MORE[language].format(count=left))


def _count(number: int, language: Language) -> str:
    return _COUNT[language][number != 1].format(count=number)


def _told(cluster: Cluster, language: Language) -> str:
    """The title, what else holds for the same cases, and the worst of them."""
    also = [safe_for_terminal(title.text(language)) for title in cluster.also]
    between = _BETWEEN[language]
    titles = between.join(also[:ALSO_NAMED]) + (f"{between}…" if len(also) > ALSO_NAMED else "")
    names = ", ".join(preview(case_id, 40) for case_id in cluster.case_ids[:CASES_NAMED])
    names += ", …" if len(cluster.case_ids) > CASES_NAMED else ""
    told = safe_for_terminal(cluster.title.text(language)) + (_ALSO[language].format(titles=titles) if also else "")
    return told + _NAMES[language].format(names=names)

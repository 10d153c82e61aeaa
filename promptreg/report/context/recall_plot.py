"""The pictures of the context-test page as SVG: recall by depth and window, and recall against cache hits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.report.context.bilingual import both, label
from promptreg.report.context.recall_table import level
from promptreg.report.embed import escaped
from promptreg.text.preview import column_width, preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.context.trial.retention import Retained

_CELL: Final = (40, 30)
"""Width and height of a cell of a heat map."""
_GAP: Final = 2
_APART: Final = 10
"""Before the last column, which is no depth."""
_ROW_NAMES: Final = 62
_HEAD: Final = 20
_LINE: Final = 17
"""Between two names of points."""
_LONGEST_NAME: Final = 30
"""Columns of a point's name."""


@dataclass(frozen=True, slots=True)
class HeatRow:
    """One window of a heat map."""

    name: str
    cells: Sequence[Retained | None]
    """By depth; None where no fact was said."""


def heat_map(columns: Sequence[Sentence], rows: Sequence[HeatRow], title: Sentence) -> str:
    """Shares of kept facts as cells, each with its colour and its number; the last column stands apart."""
    across, down = _CELL
    lefts = [_ROW_NAMES + place * across for place in range(len(columns) - 1)]
    lefts.append(_ROW_NAMES + (len(columns) - 1) * across + _APART)
    width = lefts[-1] + across + 6
    height = _HEAD + len(rows) * down + 2
    pieces = [
        both(words, "text", f' class="mid" x="{left + across // 2}" y="13"')
        for words, left in zip(columns, lefts, strict=True)
    ]
    for line, row in enumerate(rows):
        top = _HEAD + line * down
        pieces.append(f'<text class="end" x="{_ROW_NAMES - 8}" y="{top + 19}">{escaped(row.name)}</text>')
        for left, words, cell in zip(lefts, columns, row.cells, strict=True):
            pieces.append(_cell(left, top, cell, f"{row.name}, {words.en} · {words.zh}"))
    return (
        f'<svg class="heat-map" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{label(title)}">{"".join(pieces)}</svg>'
    )


def _cell(left: int, top: int, cell: Retained | None, where: str) -> str:
    across, down = _CELL
    box = f'x="{left + _GAP / 2}" y="{top}" width="{across - _GAP}" height="{down - _GAP}" rx="3"'
    if cell is None or cell.recall is None:
        return f'<rect class="no-fact" {box}/>'
    told = f"{where}: {cell.recall:.0%}, {cell.kept}/{cell.total}"
    return (
        f'<g class="{level(cell.recall)}"><title>{escaped(told)}</title><rect {box}/>'
        f'<text class="mid" x="{left + across / 2:.0f}" y="{top + 18.5}">{cell.recall * 100:.0f}</text></g>'
    )


def scale_of_colours() -> str:
    """The legend of heat maps."""
    steps = "".join(
        f'<g class="h{step}"><rect x="{step * 22}" y="0" width="22" height="14"/></g>' for step in range(11)
    )
    return f'<svg class="colours" viewBox="0 0 242 14" width="242" height="14" aria-hidden="true">{steps}</svg>'


@dataclass(frozen=True, slots=True)
class Point:
    """One strategy in one window. Shares are 0 to 1."""

    number: int
    name: str
    hits: float
    recall: float
    front: bool
    """Whether none beats it in both."""
    valid: bool = True
    """Whether it compares with the others."""


@dataclass(frozen=True, slots=True)
class _Canvas:
    """A size of the picture, in its own units."""

    kind: str
    width: int
    right: int
    """Room for names beside the plot."""
    named: bool
    left: int = 46
    top: int = 26
    bottom: int = 44
    least: int = 250
    """Height of the plot."""


_WIDE: Final = _Canvas("wide", 640, 244, named=True)
_NARROW: Final = _Canvas("narrow", 350, 34, named=False)


def trade_off(points: Sequence[Point], title: Sentence) -> str:
    """Recall against cache hits: a mark for each strategy, its name beside the plot at the end of a line."""
    pictures = (_Scatter(points, canvas).picture(title) for canvas in (_WIDE, _NARROW))
    return f'<div class="plot">{"".join(pictures)}</div>'


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places near the wanted ones, in their order, at least `gap` apart and within `low` and `high` where they fit.

    Args:
        wanted: ascending.
        gap: between neighbours.
        low: the first place.
        high: the last one.
    """
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + gap if places else low))
    end = high
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], end)
        end = places[number] - gap
    return places


class _Scatter:
    """One size of the picture."""

    def __init__(self, points: Sequence[Point], canvas: _Canvas) -> None:
        self._points = sorted(points, key=lambda point: (-point.recall, point.hits, point.number))
        self._canvas = canvas
        self._floor = canvas.top + max(canvas.least, _LINE * len(points))
        self._right = canvas.width - canvas.right

    def picture(self, title: Sentence) -> str:
        canvas = self._canvas
        height = self._floor + canvas.bottom
        pieces = [*self._frame(), self._front(), *self._names(), *(self._mark(point) for point in self._points)]
        return (
            f'<svg class="{canvas.kind}" viewBox="0 0 {canvas.width} {height}" role="img" '
            f'aria-label="{label(title)}">{"".join(pieces)}</svg>'
        )

    def _x(self, hits: float) -> float:
        return self._canvas.left + hits * (self._right - self._canvas.left)

    def _y(self, recall: float) -> float:
        return self._floor - recall * (self._floor - self._canvas.top)

    def _frame(self) -> Iterator[str]:
        canvas, floor, right = self._canvas, self._floor, self._right
        for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
            x, y = self._x(tick), self._y(tick)
            yield f'<line class="grid" x1="{canvas.left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{canvas.top}" y2="{floor}"/>'
            yield f'<text class="end" x="{canvas.left - 7}" y="{y + 4:.1f}">{tick:.0%}</text>'
            yield f'<text class="mid" x="{x:.1f}" y="{floor + 17}">{tick:.0%}</text>'
        middle = (canvas.left + right) / 2
        yield both(Sentence("recall", "保留率"), "text", ' x="4" y="11"')
        words = Sentence("cache hits", "缓存命中")
        yield both(words, "text", f' class="mid" x="{middle:.1f}" y="{floor + 37}"')

    def _front(self) -> str:
        """The border that no strategy is beyond, as steps."""
        best = sorted((point for point in self._points if point.front), key=lambda point: point.hits)
        if not best:
            return ""
        path = f"M{self._x(0):.1f},{self._y(best[0].recall):.1f}"
        for point, after in zip(best, [*best[1:], None], strict=True):
            path += f"H{self._x(point.hits):.1f}V{self._y(0 if after is None else after.recall):.1f}"
        return f'<path class="front-line" d="{path}"/>'

    def _names(self) -> Iterator[str]:
        wanted = [self._y(point.recall) for point in self._points]
        left = self._right + (26 if self._canvas.named else 14)
        places = spread(wanted, _LINE, self._canvas.top + 4, self._floor)
        for point, place, y in zip(self._points, places, wanted, strict=True):
            x = self._x(point.hits)
            bend = self._right + 4
            yield (
                f'<path class="leader" d="M{x:.1f},{y:.1f}L{bend},{place:.1f}H{left - 4}"/>'
                f'<text class="point-name{" on-front" if point.front else ""}" x="{left}" y="{place + 4:.1f}">'
                f"{escaped(self._label(point))}</text>"
            )

    def _label(self, point: Point) -> str:
        if not self._canvas.named:
            return str(point.number)
        room = int((self._canvas.width - self._right - 28) / 8)
        shown = f"{point.number} {point.name}"
        return shown if column_width(shown) <= room else preview(shown, min(room, _LONGEST_NAME))

    def _mark(self, point: Point) -> str:
        x, y = self._x(point.hits), self._y(point.recall)
        told = f"{point.number} {preview(point.name, 80)}: {point.recall:.0%}, {point.hits:.1%}"
        title = f"<title>{escaped(told)}</title>"
        if point.front:
            corners = f"{x:.1f},{y - 7:.1f} {x + 7:.1f},{y:.1f} {x:.1f},{y + 7:.1f} {x - 7:.1f},{y:.1f}"
            return f'<polygon class="point on-front" points="{corners}">{title}</polygon>'
        if not point.valid:
            cross = f"M{x - 5:.1f},{y - 5:.1f}l10,10m0,-10l-10,10"
            return f'<path class="point not-valid" d="{cross}">{title}</path>'
        return f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5">{title}</circle>'

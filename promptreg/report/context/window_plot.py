"""The pictures of the window-change page as SVG: tokens per turn against both windows, and a window taken apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.report.context.bilingual import both
from promptreg.report.context.bilingual import label as label_of
from promptreg.report.embed import escaped
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.context.change import SideView, WindowReport
    from promptreg.context.window import Session, Turn

MOST_LINES: Final = 60
"""Conversations that are drawn, the longest; more cannot be told apart."""
_NARROW: Final = 500
_LONGEST_NAME: Final = 24


@dataclass(frozen=True, slots=True)
class Canvas:
    """A size of the picture, in its own units."""

    name: str
    width: int
    height: int
    left: int
    right: int = 12
    top: int = 14
    bottom: int = 42


CANVASES: Final = (Canvas("wide", 1000, 420, 58), Canvas("narrow", 360, 330, 46))
"""One for wide windows, one for phones: texts stay readable on both."""


def turns_plot(report: WindowReport) -> str:
    """A line for each conversation: tokens of its prompts, turn by turn, against the budgets of both windows."""
    drawn = sorted(report.sessions, key=lambda session: -session.longest.target)[:MOST_LINES]
    label = Sentence(
        f"Tokens of the prompt in each turn of {counted(len(drawn), 'conversation')}, against what the windows of "
        f"{report.source.name} and {report.target.name} leave for it",
        f"{len(drawn)} 段对话每一轮提示词的 token 数，与 {report.source.name}、{report.target.name} 的窗口所留空间对照",
    )
    pictures = (_picture(report, drawn, canvas, label) for canvas in CANVASES)
    return f'<div class="plot">{"".join(pictures)}</div>'


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where turns and tokens stand on a canvas."""

    canvas: Canvas
    turns: int
    """Of the longest conversation."""
    most: float
    """Tokens at the upper edge."""

    @property
    def right(self) -> int:
        return self.canvas.width - self.canvas.right

    @property
    def floor(self) -> int:
        return self.canvas.height - self.canvas.bottom

    def x(self, number: int) -> float:
        return self.canvas.left + (number - 1) / max(1, self.turns - 1) * (self.right - self.canvas.left)

    def y(self, tokens: float) -> float:
        return self.floor - tokens / self.most * (self.floor - self.canvas.top)

    def across(self, kind: str, tokens: float) -> str:
        """A line across the picture."""
        y = f"{self.y(tokens):.1f}"
        return f'<line class="{kind}" x1="{self.canvas.left}" x2="{self.right}" y1="{y}" y2="{y}"/>'


def _picture(report: WindowReport, sessions: Sequence[Session], canvas: Canvas, label: Sentence) -> str:
    budgets = (report.source.budget.tokens, report.target.budget.tokens)
    most = max(*budgets, *(session.longest.target for session in sessions)) * 1.04
    scale = _Scale(canvas, max(session.turn_count for session in sessions), most)
    pieces = [
        *_frame(scale, report.target.budget.tokens),
        *(_line(session, scale) for session in reversed(sessions)),
        _limit(scale, report.source, "source"),
        _limit(scale, report.target, "target"),
        *(_marks(session, scale) for session in sessions),
    ]
    return (
        f'<svg class="{canvas.name}" viewBox="0 0 {canvas.width} {canvas.height}" role="img" '
        f'aria-label="{label_of(label)}">{"".join(pieces)}</svg>'
    )


def _frame(scale: _Scale, target: int) -> Iterator[str]:
    """The axes, and the ground on which prompts no longer fit the target."""
    canvas, right = scale.canvas, scale.right
    height = scale.y(target) - canvas.top
    yield f'<rect class="over" x="{canvas.left}" y="{canvas.top}" width="{right - canvas.left}" height="{height:.1f}"/>'
    for tick in _ticks(scale.most, 5):
        yield scale.across("grid", tick)
        yield f'<text class="end" x="{canvas.left - 7}" y="{scale.y(tick) + 4:.1f}">{_short(tick)}</text>'
    yield scale.across("axis", 0)
    for number in _turn_ticks(scale.turns, 10 if canvas.width > _NARROW else 5):
        yield f'<text class="mid" x="{scale.x(number):.1f}" y="{scale.floor + 17}">{number}</text>'
    middle = (canvas.left + right) / 2
    yield both(Sentence("turn", "轮次"), "text", f' class="mid" x="{middle:.1f}" y="{canvas.height - 6}"')


def _limit(scale: _Scale, side: SideView, role: str) -> str:
    """What a window leaves for the prompt, with its name."""
    tokens = side.budget.tokens
    shown = escaped(side.name if len(side.name) <= _LONGEST_NAME else side.name[: _LONGEST_NAME - 1] + "…")
    height = scale.y(tokens)
    place = height - 6 if height > scale.canvas.top + 16 else height + 15  # below the line where it is at the very top
    text = f'<text class="limit-name end {role}" x="{scale.right - 4}" y="{place:.1f}">{shown} {tokens:,}</text>'
    return scale.across(f"limit {role}", tokens) + text


def _line(session: Session, scale: _Scale) -> str:
    points = " ".join(f"{scale.x(turn.number):.1f},{scale.y(turn.target):.1f}" for turn in session.turns)
    kind = "talk" if session.target_overflow is not None else "talk calm"
    return f'<polyline class="{kind}" points="{points}"><title>{escaped(session.conversation_id)}</title></polyline>'


def _marks(session: Session, scale: _Scale) -> str:
    """The first turn that does not fit, of each side."""
    marks = ""
    for turn, role in ((session.source_overflow, "source"), (session.target_overflow, "target")):
        if turn is not None:
            marks += _mark(turn, session, role, scale.x(turn.number), scale.y(turn.target))
    return marks


def _mark(turn: Turn, session: Session, role: str, x: float, y: float) -> str:
    title = f"{session.conversation_id}: {turn.number} · {turn.target:,}"
    shape = diamond(x, y, 5) if role == "target" else f'<circle class="first source" cx="{x:.1f}" cy="{y:.1f}" r="4">'
    return f"{shape}<title>{escaped(title)}</title></{'polygon' if role == 'target' else 'circle'}>"


def diamond(x: float, y: float, size: float) -> str:
    """The opening tag of the mark of a first turn that does not fit the target."""
    points = f"{x:.1f},{y - size:.1f} {x + size:.1f},{y:.1f} {x:.1f},{y + size:.1f} {x - size:.1f},{y:.1f}"
    return f'<polygon class="first" points="{points}">'


def _ticks(most: float, about: int) -> list[int]:
    """Round numbers from 0 up to `most`."""
    rough = max(1.0, most / about)
    power = 10 ** math.floor(math.log10(rough))
    step = next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)
    return list(range(0, int(most) + 1, max(1, step)))


def _turn_ticks(last: int, about: int) -> list[int]:
    return sorted({1, *(tick for tick in _ticks(last, about) if tick > 0)})


def _short(tokens: int) -> str:
    return f"{tokens // 1000}K" if tokens >= 1000 and tokens % 1000 == 0 else f"{tokens:,}"


def stack(rows: Sequence[tuple[str, Sentence, int]], label: Sentence) -> str:
    """One bar of parts side by side, as shares of their sum. Parts below nothing are left out."""
    total = sum(max(0, tokens) for _, _, tokens in rows) or 1
    place, pieces = 0.0, []
    for name, words, tokens in rows:
        if tokens > 0:
            width = tokens / total * 1000
            title = escaped(f"{words.en} · {words.zh}: {tokens:,}")
            box = f'x="{place:.2f}" y="0" width="{width:.2f}" height="26"'
            pieces.append(f'<rect class="k-{name}" {box}><title>{title}</title></rect>')
            place += width
    return (
        '<div class="plot"><svg class="stack" viewBox="0 0 1000 26" preserveAspectRatio="none" height="26" role="img" '
        f'aria-label="{label_of(label)}">{"".join(pieces)}</svg></div>'
    )


def key(name: str, words: Sentence) -> str:
    """One entry of the legend of `stack`."""
    square = f'<rect class="k-{name}" x="2" y="2" width="12" height="12" rx="2"/>'
    return f'<li><svg viewBox="0 0 16 16" aria-hidden="true">{square}</svg>{both(words)}</li>'

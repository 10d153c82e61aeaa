"""Progress of a replay: the event, and three ways to show it (bar, lines, nothing)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, Self, TextIO

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import rich.progress

    from promptreg.text.sentence import Language

CALLS: Final = Sentence("calls", "次调用")
"""What is counted where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a replay stands."""

    done: int
    """Calls that ended, answered or failed."""
    total: int
    """Calls of this replay; what a resume left out is not in it."""
    failed: int
    """Calls that ended without an answer, after all their attempts."""
    retried: int
    """Calls that needed more than one attempt."""
    in_flight: int
    elapsed_s: float
    what: Sentence = CALLS
    """What is counted: calls of the deployment that is recorded or compared, or those of a judge."""
    limit: int | None = None
    """Calls that may be in flight now; None where nothing lowers the number."""
    concurrency: int | None = None
    """Calls that may be in flight while nothing is overloaded."""

    @property
    def calls_per_s(self) -> float:
        """Mean rate so far; 0 before anything ended."""
        return self.done / self.elapsed_s if self.elapsed_s > 0 else 0.0

    @property
    def remaining_s(self) -> float | None:
        """Time left at the mean rate so far, in seconds; None before anything ended."""
        return (self.total - self.done) / self.calls_per_s if self.calls_per_s > 0 else None


class Renderer(Protocol):
    """Shows progress from `__enter__` to `__exit__`; called with every event."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def __call__(self, progress: Progress) -> None:
        """Show where the replay stands now."""

    def note(self, text: str) -> None:
        """Show a line of its own, such as what was decided between two parts of a replay."""


def renderer_for(stream: TextIO, title: str, *, quiet: bool = False, language: Language = "en") -> Renderer:
    """The renderer that suits a stream, normally `sys.stderr`.

    In this order: nothing when quiet; plain lines when the stream is not a terminal, when the terminal is "dumb" or
    when `CI` is set; else a bar. The bar leaves colours out when `NO_COLOR` is set.
    """
    if quiet:
        return Silent()
    if not stream.isatty() or os.environ.get("TERM") == "dumb" or os.environ.get("CI"):
        return PlainLines(stream, title, language)
    return TerminalBar(stream, title, language)


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close."""

    def __call__(self, progress: Progress) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""


class PlainLines:
    """One line every few seconds and one at the end; no control characters. For CI logs and pipes."""

    def __init__(
        self,
        stream: TextIO,
        title: str,
        language: Language = "en",
        *,
        every_s: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._title = title
        self._language: Language = language
        self._every_s = every_s
        self._clock = clock
        self._next_at = 0.0
        self._last: Progress | None = None
        self._shown: Progress | None = None

    def __enter__(self) -> Self:
        self._next_at = self._clock() + self._every_s
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._last is not None and self._last is not self._shown:
            self._write(self._last)

    def __call__(self, progress: Progress) -> None:
        """Remember the event; write it when the last line is old enough."""
        if self._last is not None and self._last.what != progress.what and self._last is not self._shown:
            self._write(self._last)
        self._last = progress
        now = self._clock()
        if now >= self._next_at:
            self._next_at = now + self._every_s
            self._write(progress)

    def note(self, text: str) -> None:
        """Write the last event, if it was not, and the line."""
        if self._last is not None and self._last is not self._shown:
            self._write(self._last)
        self._line(text)

    def _write(self, progress: Progress) -> None:
        self._shown = progress
        self._line(describe(progress, self._language))

    def _line(self, text: str) -> None:
        self._stream.write(printable(f"{self._title}: {text}", self._stream) + "\n")
        self._stream.flush()


class TerminalBar:
    """A bar by rich, redrawn in place."""

    def __init__(self, stream: TextIO, title: str, language: Language = "en") -> None:
        self._stream = stream
        self._language: Language = language
        self._title = printable(title, stream)
        self._bar: rich.progress.Progress | None = None
        self._task: rich.progress.TaskID | None = None

    def __enter__(self) -> Self:
        # Imported here: `promptreg --help` and runs in CI need no rich.
        from rich.console import Console  # noqa: PLC0415 - see above
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415 - see above
        from rich.progress import Progress as Bar  # noqa: PLC0415 - see above

        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}", markup=False),
            console=Console(file=self._stream),
            refresh_per_second=5,
        )
        self._task = self._bar.add_task(self._title, total=None, facts="")
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Hand the event to the bar, which redraws itself a few times a second."""
        if self._bar is not None and self._task is not None:
            what = printable(progress.what.text(self._language), self._stream)
            title = self._title if progress.what == CALLS else f"{self._title}: {what}"
            self._bar.update(
                self._task,
                description=title,
                completed=progress.done,
                total=progress.total,
                facts=printable(_facts(progress, self._language), self._stream),
            )

    def note(self, text: str) -> None:
        """Print the line above the bar."""
        if self._bar is not None:
            self._bar.console.print(printable(text, self._stream), markup=False, highlight=False)


def describe(progress: Progress, language: Language = "en") -> str:
    """One plain line: "120/3000 calls, 2 failed, 24.0/s, 2 min left"."""
    between = "，" if language == "zh" else ", "
    return f"{progress.done}/{progress.total} {progress.what.text(language)}{between}{_facts(progress, language)}"


def printable(text: str, stream: TextIO) -> str:
    """The text with what the stream's encoding cannot say replaced, so that no code page makes progress fail."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def _facts(progress: Progress, language: Language) -> str:
    facts = [Sentence(f"{progress.failed} failed", f"失败 {progress.failed}")]
    if progress.retried:
        facts.append(Sentence(f"{progress.retried} retried", f"重试 {progress.retried}"))
    if progress.limit is not None and progress.concurrency is not None and progress.limit < progress.concurrency:
        facts.append(
            Sentence(
                f"overloaded: {progress.limit} of {progress.concurrency} at once",
                f"过载：并发降至 {progress.limit}（原为 {progress.concurrency}）",
            )
        )
    facts.append(Sentence(f"{progress.calls_per_s:.1f}/s", f"{progress.calls_per_s:.1f} 次/秒"))
    if progress.done >= progress.total:
        took = _duration(progress.elapsed_s)
        facts.append(Sentence(f"took {took.en}", f"用时 {took.zh}"))
    elif progress.remaining_s is not None:
        left = _duration(progress.remaining_s)
        facts.append(Sentence(f"{left.en} left", f"还需约 {left.zh}"))
    else:
        facts.append(Sentence("waiting for the first answer", "等待第一个回答"))
    return ("，" if language == "zh" else ", ").join(fact.text(language) for fact in facts)


def _duration(seconds: float) -> Sentence:
    whole = round(seconds)
    if whole < 60:
        return Sentence(f"{whole} s", f"{whole} 秒")
    if whole < 3600:
        return Sentence(f"{round(whole / 60)} min", f"{round(whole / 60)} 分钟")
    hours, minutes = whole // 3600, whole % 3600 // 60
    return Sentence(f"{hours} h {minutes} min", f"{hours} 小时 {minutes} 分钟")

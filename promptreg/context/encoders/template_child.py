"""The process in which a chat template is rendered. Its own, because nothing else holds a template to its limits.

A template is a program of unknown origin. Jinja's sandbox keeps it away from Python, but not from time and memory:
loops in loops, texts and lists that double, `center`, `replace`, formats with a width, recursive macros, comparisons of
nested lists. Some of these run in one call of C code, which no check between two steps sees. A process has a limit on
its memory by the system and can be ended.

Started by `promptreg.context.encoders.template_process`: a line of JSON comes in, a line of JSON goes out.
"""

from __future__ import annotations

import json
import signal
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NoReturn

from jinja2 import TemplateError, TemplateSyntaxError
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from jinja2 import Template

MAX_CHARACTERS: Final = 10_000_000
"""Of one rendered prompt; a window of a million tokens holds less than half of it."""
MAX_MEMORY_BYTES: Final = 1 << 30
"""Of the whole process. Where the system knows no such limit (Windows), only time and characters are limited."""
_TEMPLATE: Final = "<template>"
"""What Jinja calls the file of a template that was a text."""


class _RefusedError(Exception):
    """The template itself called `raise_exception`."""


class _TooLongError(Exception):
    """More than `MAX_CHARACTERS` were written."""

    def __init__(self, line: int | None) -> None:
        super().__init__()
        self.line = line


class _TooSlowError(Exception):
    """The time of a request is over."""


class Renderer:
    """Holds the template between two requests."""

    def __init__(self) -> None:
        self._template: Template | None = None

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Compile the `source` of the first request; render with the `values` of each later one.

        Returns:
            `{}`, `{"text": …}`, or what went wrong: `syntax`, `refused`, `failed` or `limit` (`time`, `characters`,
            `memory`), and the `line` of the template where it is known.
        """
        try:
            if self._template is None:
                self._template = _environment().from_string(request["source"])
                return {}
            chunks = self._template.generate(request["values"])
            return {"text": "".join(_limited(chunks, self._template))}
        except Exception as problem:  # noqa: BLE001 - whatever a template's expressions raise is the template's fault
            return _told(problem)


def _told(problem: Exception) -> dict[str, Any]:
    if isinstance(problem, TemplateSyntaxError):
        return {"syntax": problem.message or "", "line": problem.lineno}
    if isinstance(problem, _TooLongError):
        return {"limit": "characters", "line": problem.line}
    line, said = _line_of(problem), _on_one_line(problem) or type(problem).__name__
    for kind, limit in ((MemoryError, "memory"), (_TooSlowError, "time")):
        if isinstance(problem, kind):
            return {"limit": limit, "line": line}
    if isinstance(problem, _RefusedError):
        return {"refused": said, "line": line}
    if isinstance(problem, RecursionError):
        said = "it is nested, or calls itself, too deeply"
    elif not isinstance(problem, TemplateError):
        said = f"{said} ({type(problem).__name__})"
    return {"failed": said, "line": line}


def _on_one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())


def _limited(chunks: Iterator[str], template: Template) -> Iterator[str]:
    characters = 0
    for chunk in chunks:
        characters += len(chunk)
        if characters > MAX_CHARACTERS:
            frame = getattr(getattr(chunks, "gi_yieldfrom", None), "gi_frame", None)
            raise _TooLongError(None if frame is None else template.get_corresponding_lineno(frame.f_lineno))
        yield chunk


def _line_of(problem: BaseException) -> int | None:
    line, step = None, problem.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == _TEMPLATE:
            line = step.tb_lineno
        step = step.tb_next
    return line


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = _tojson
    environment.globals.update(raise_exception=_refuse, strftime_now=_now)
    return environment


def _refuse(message: object) -> NoReturn:
    raise _RefusedError(message)


def _now(form: str) -> str:
    return datetime.now().astimezone().strftime(form)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Without the escapes of HTML that Jinja's own filter writes; its arguments as `transformers` gives them."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _limit_memory() -> None:
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    try:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (OSError, ValueError):  # a system that has the name and not the limit, or a lower one already
        return


def _set_alarm(seconds: float) -> None:
    """Tells in which line the time was over. A call of C code is not interrupted: then the process is ended."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _ring(number: int, frame: object) -> NoReturn:  # noqa: ARG001 - a signal handler's signature
    raise _TooSlowError


def main() -> None:
    """Say that it is there, with an empty line, then answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks; it closes the input
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _ring)
    _limit_memory()
    renderer = Renderer()
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        _set_alarm(request["seconds"])
        said = renderer.answer(request)
        _set_alarm(0)
        sys.stdout.buffer.write(_line_of_json(said))
        sys.stdout.buffer.flush()


def _line_of_json(said: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(said).encode("ascii") + b"\n"
    except MemoryError:
        return b'{"limit": "memory", "line": null}\n'


if __name__ == "__main__":
    main()

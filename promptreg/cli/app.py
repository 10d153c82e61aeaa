"""The `promptreg` command: finds the module of a subcommand, and turns errors into messages and exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from typing import TYPE_CHECKING, Final

import click

from promptreg import __version__
from promptreg.cli.lazy import LazyGroup
from promptreg.errors import ExitCode, ProjectError, PromptregError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "init": "Write a commented promptreg.toml and an example suite.",
    "record": "Record goldens: every case in several passes on the source deployment.",
    "compare": "Replay on the target deployment, judge the drift, write the report.",
    "report": "Write the report of a stored run again.",
    "diff": "Say what changed from one stored comparison to another.",
    "review": "Decide on what a comparison found: list, show, apply, decide.",
    "baseline": "Say what changed in the goldens; promote a run.",
    "runs": "List stored runs, or show one.",
    "diagnose": "Look for serving faults in captured responses.",
    "context": "Fit a conversation into a window; see what a smaller window does.",
    "facts": "Show what is read as a fact in a text, and how.",
    "suggest-checks": "Print checks that all recorded answers pass, as YAML for the suite.",
    "demo": "Do the main job on this machine, with a real small model or simulated.",
    "simulate": "Serve an OpenAI-compatible simulated deployment.",
    "doctor": "Check this installation, the project and its deployments.",
    "schema": "Print the JSON Schema of a file format.",
}
"""Every subcommand and the line that `promptreg --help` shows for it; the module `promptreg.cli.<name>` holds the rest
(with _ for -).

Written here so that `--help` imports no command: numpy, openai, aiohttp and rich load only when a command needs them.
"""


_OUTPUT_FAILED = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF})
"""What writing to a standard stream can end with; the errors of files carry their names."""


_AFTER_THE_COMMAND = {
    "-q": "",
    "--quiet": "",
    "-v": "",
    "--verbose": "",
    "--config": " PATH",
    "--json": "",
}
"""Options of the subcommands that other tools take before the subcommand, and what follows them."""


class Commands(LazyGroup):
    """The subcommands of `promptreg`."""

    commands_by_name = COMMANDS
    modules = "promptreg.cli."

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does it; options of the subcommands that stand before the subcommand are told where they belong."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name in _AFTER_THE_COMMAND:
                name = error.option_name
                raise click.UsageError(
                    f"{name} stands after the command, such as `promptreg record {name}{_AFTER_THE_COMMAND[name]}`.",
                    ctx,
                ) from error
            raise

    def unknown(self, name: str) -> str:
        """Names the closest command, or all of them."""
        from rapidfuzz import process  # noqa: PLC0415 - only a misspelt command pays for this import

        match = process.extractOne(name, list(COMMANDS), score_cutoff=60)
        closest = f"Did you mean {match[0]!r}?" if match else f"The commands are: {', '.join(COMMANDS)}."
        return f"There is no command {name!r}. {closest}"


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: promptreg record && promptreg compare. Exit codes: 0 equivalent, 1 drift or regression, "
    "2 usage or configuration, 3 inconclusive, 4 endpoint or internal error, 130 interrupted.",
)
@click.version_option(__version__, prog_name="promptreg", message="%(prog)s %(version)s")
def cli() -> None:
    """Prompt regression testing for LLM applications that move to another serving stack.

    Record what your prompts answer on the deployment you trust, replay them on the one you move to, and learn which
    answers drifted further than the source's own noise.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Nothing that a user can cause ends in a traceback."""
    _make_console_safe()
    code = _code_of(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()  # the command's own code stands: a reader that leaves early changes no verdict
    except OSError as error:
        code = _ended_by(error, arguments)
    return code


def _code_of(arguments: Sequence[str]) -> int:
    try:
        result = cli.main(args=list(arguments), prog_name="promptreg", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except SystemExit as leave:
        # click turns a broken pipe into exit code 1, which means drift here.
        if isinstance(leave.__context__, BrokenPipeError):
            return _ended_by(leave.__context__, arguments)
        raise
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - a bug, too, must end with a sentence and a code
        return _ended_by(error, arguments)
    return result if isinstance(result, int) else ExitCode.EQUIVALENT


def _give_up_stdout() -> None:
    """Let what is still buffered go nowhere; Python would complain about the broken pipe at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_RESUMABLE: Final = frozenset({"record", "compare"})
"""The commands with the option `--resume`."""


def _ended_by(error: BaseException, arguments: Sequence[str]) -> ExitCode:
    """Say what ended the command, and with which code it exits."""
    code = ExitCode.FAILURE
    how_on = "; `--resume` goes on from there" if set(arguments[:1]) & _RESUMABLE else ""
    match error:
        case click.Abort() | KeyboardInterrupt():
            # click makes its own error of a Ctrl-C; what was interrupted may say itself what is left of it
            said = str(error) or str(error.__cause__ or "")
            click.echo(said or f"Interrupted. Whatever was stored stays{how_on}.", err=True)
            code = ExitCode.INTERRUPTED
        case click.ClickException():
            error.show()
            code = ExitCode.USAGE
        case BrokenPipeError():
            # The reader of a pipe has gone (`| head`). Commands with a verdict keep their own code.
            _give_up_stdout()
            code = ExitCode.EQUIVALENT
        case OSError(filename=None, errno=number) if number in _OUTPUT_FAILED:
            _give_up_stdout()
            click.echo(
                f"Error: The output cannot be written: {error.strerror}. What was stored stays; make room, or send the "
                "output elsewhere, and run the command again.",
                err=True,
            )
        case UnicodeEncodeError() if error.encoding == sys.getfilesystemencoding() != "utf-8":
            click.echo(
                f"Error: File names are {error.encoding} on this system and cannot have "
                f"“{error.object[error.start : error.end]}”. Set PYTHONUTF8=1, or use a UTF-8 locale.",
                err=True,
            )
        case PromptregError():
            _show(error)
            code = error.exit_code
        case _:
            _show_bug(error)
    return code


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(sys.argv[1:]))


def _show(error: PromptregError) -> None:
    from promptreg.text.terminal import safe_for_terminal  # noqa: PLC0415 - not needed for --help

    if isinstance(error, ProjectError) and len(error.problems) > 1:
        click.echo(f"Error: {len(error.problems)} problems", err=True)
        for problem in error.problems:
            click.echo(safe_for_terminal(f"  {problem}"), err=True)
    else:
        click.echo(safe_for_terminal(f"Error: {error}"), err=True)


def _show_bug(error: BaseException) -> None:
    from promptreg.text.terminal import safe_for_terminal  # noqa: PLC0415 - not needed for --help

    click.echo(
        f"Error: promptreg failed inside: {type(error).__name__}: {safe_for_terminal(str(error))}\n"
        "This is a bug in promptreg, not in your project. Set PROMPTREG_TRACEBACK=1 to see where.",
        err=True,
    )
    if os.environ.get("PROMPTREG_TRACEBACK"):
        traceback.print_exception(error)


def _make_console_safe() -> None:
    """A console whose code page lacks a character (Windows cp1252, gbk) shows an escape instead of failing.

    A stream that the caller has closed (`>&-`) is None in Python; what would go there then goes nowhere.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, io.TextIOWrapper(io.FileIO(os.devnull, "w"), encoding="utf-8"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")

"""`promptreg diagnose`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from promptreg.cli.options import example
from promptreg.errors import ConfigError, ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from promptreg.scoring.faults.catalogue import Catalogue
    from promptreg.scoring.faults.model import Finding, Rule
    from promptreg.text.sentence import Language, Sentence

MOST_REPORTED = 20
"""Unreadable lines that are named one by one; the rest are counted."""

MOST_LINE_BYTES = 256 * 1024 * 1024
"""Of one line: several answers of the largest size that a deployment may give."""

_COLUMNS = {
    "en": ("id", "kind", "", "what", "where", "evidence"),
    "zh": ("编号", "类别", "", "问题", "位置", "依据"),
}
_STYLES = {"E": "bold red", "W": "yellow", "I": "dim"}
_LEGEND = {
    "en": "E: a client breaks or the answer is wrong. W: the contract differs. I: a note.",
    "zh": "E：客户端会出错或回答有误。W：接口约定有差异。I：仅供参考。",
}
_NEXT = {"en": "Next: ", "zh": "下一步："}
_SUSPECTS = {"en": "Suspects:", "zh": "可能原因："}
_NOTHING = {"en": "No faults were found.", "zh": "未发现故障。"}
_EMPTY = {"en": "The file holds no responses.", "zh": "文件中没有响应。"}
_UNREADABLE = {"en": "Line {number} cannot be read: {why}.", "zh": "第 {number} 行无法读取：{why}。"}
HOOKS = "promptreg_hooks.py"
"""As `scoring.extensions.FILE_NAME`, written here so that --help loads nothing."""
_UNREAD_HOOKS = {
    "en": f"Note: {HOOKS} was not read, because there is no promptreg.toml beside it. An empty one will do.",
    "zh": f"注意：未读取 {HOOKS}，因为同一文件夹中没有 promptreg.toml。放一个空文件即可。",
}
_MORE = {"en": "{count} more lines cannot be read.", "zh": "另有 {count} 行无法读取。"}


class _Diagnosis(NamedTuple):
    """One line of the file."""

    identifier: str
    findings: tuple[Finding, ...]


@click.command(
    "diagnose",
    epilog=example("promptreg diagnose captured.jsonl\n  promptreg diagnose --format json - < captured.jsonl") + "\n\n"
    'A line: {"id": "a", "request": {"messages": […]}, "status": 200, "body": {…}}. A stream has "sse": [{…}, '
    '"[DONE]"] or "raw_stream" instead of "body", "raw" is the exact text of a body, "error" says why nothing came, '
    'and several calls of one request have "runs". "golden" holds what the source answered: a whole response, or some '
    "of content, reasoning, tool_calls, finish_reason, usage, prompt_tokens, status, message_keys and reasoning_chars. "
    '"expect_values" has needle, client_token_estimate and canary. All keys: promptreg schema payload.\n\n'
    "Exit codes: 1 when a fault of severity E was found, 2 when a line could not be read, else 0.",
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True), metavar="FILE")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or one JSON object per line that was read.",
)
@click.option("-q", "--quiet", is_flag=True, help="Leave out what each kind means and what to try.")
def command(file: Path, form: str, quiet: bool) -> int:
    """Look for serving faults in captured responses, one JSON object per line of FILE.

    Damaged text, reasoning in the wrong field, tool calls left as markup, broken JSON, streams cut short, wrong counts
    and 49 more kinds, and those of your own hooks. No suite and no calls are needed. With - as FILE, standard input is
    read.
    """
    from promptreg.cli.console import reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config.load import project_root  # noqa: PLC0415 - see above
    from promptreg.scoring.faults.catalogue import catalogue  # noqa: PLC0415 - see above
    from promptreg.scoring.faults.registry import families_with  # noqa: PLC0415 - see above
    from promptreg.workflow.plugins import load_extensions  # noqa: PLC0415 - see above

    root = project_root(Path.cwd())
    extensions = load_extensions(root)
    language = reader_language(_configured_language())
    if root is None and Path(HOOKS).is_file():
        click.echo(_UNREAD_HOOKS[language], err=True)
    unreadable: list[tuple[int, Sentence]] = []
    diagnoses: list[_Diagnosis] = []
    grave = False
    for diagnosis in _diagnoses(_lines(file), families_with(extensions.faults), unreadable):
        grave = grave or any(finding.severity == "E" for finding in diagnosis.findings)
        if form == "json":
            click.echo(_json(diagnosis))
        else:
            diagnoses.append(diagnosis)
    if form == "table":
        book = catalogue().with_entries(extensions.entries())
        _print_table(diagnoses, book, language, explained=not quiet)
    _report_unreadable(unreadable, language)
    if grave:
        return ExitCode.DRIFT
    return ExitCode.USAGE if unreadable else ExitCode.EQUIVALENT


def _configured_language() -> Literal["auto", "en", "zh"]:
    """What the project says. One whose file is wrong says nothing: nothing else of it is needed here."""
    from promptreg.config.load import load_config  # noqa: PLC0415 - see above

    try:
        return load_config(None, Path.cwd()).language
    except ConfigError:
        return "auto"


def _lines(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1."""
    try:
        with nullcontext(sys.stdin.buffer) if str(file) == "-" else file.open("rb") as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MOST_LINE_BYTES + 1), b""), 1):
                if len(line) > MOST_LINE_BYTES:
                    limit = f"{MOST_LINE_BYTES // 2**20} MB"
                    raise UsageError(f"Line {number} of {file} is longer than {limit}, which no captured response is.")
                text = line.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else line.strip()
                if text:
                    yield number, text
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}. Name a file of captured responses.") from error


def _diagnoses(
    lines: Iterable[tuple[int, bytes]], families: Sequence[Sequence[Rule]], unreadable: list[tuple[int, Sentence]]
) -> Iterator[_Diagnosis]:
    """What was found in each line; lines that cannot be read are added to `unreadable`."""
    from promptreg.scoring.faults.captured.golden import UnreadablePayload  # noqa: PLC0415 - see above
    from promptreg.scoring.faults.captured.lines import read_payload  # noqa: PLC0415 - see above
    from promptreg.scoring.faults.registry import find_faults  # noqa: PLC0415 - see above

    for number, line in lines:
        try:
            payload = read_payload(line)
        except UnreadablePayload as error:
            unreadable.append((number, error.reason))
            continue
        yield _Diagnosis(payload.identifier or f"line {number}", find_faults(payload.calls, families))


def _json(diagnosis: _Diagnosis) -> str:
    from promptreg.text.terminal import json_for_terminal  # noqa: PLC0415 - see above

    faults = [finding.to_json() for finding in diagnosis.findings]
    return json_for_terminal({"id": diagnosis.identifier, "faults": faults})


def _print_table(diagnoses: Sequence[_Diagnosis], book: Catalogue, language: Language, *, explained: bool) -> None:
    from rich.table import Table  # noqa: PLC0415 - see above
    from rich.text import Text  # noqa: PLC0415 - see above

    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.text.preview import preview  # noqa: PLC0415 - see above

    out = console()
    faulty = [diagnosis for diagnosis in diagnoses if diagnosis.findings]
    if not faulty:
        out.print((_NOTHING if diagnoses else _EMPTY)[language])
    else:
        table = Table(box=None, pad_edge=False)
        for column in _COLUMNS[language]:
            table.add_column(column, overflow="fold")
        for diagnosis in faulty:
            for number, finding in enumerate(diagnosis.findings):
                table.add_row(
                    preview(diagnosis.identifier, 40) if number == 0 else "",
                    finding.kind,
                    Text(finding.severity.value, _STYLES[finding.severity.value]),
                    book.entries[finding.kind].title.text(language),
                    finding.where,
                    finding.evidence.text(language),
                )
        out.print(table)
        if explained:
            _explain(out, faulty, book, language)
    if diagnoses:
        out.print(_summary(diagnoses, language))


def _explain(out: Console, faulty: Sequence[_Diagnosis], book: Catalogue, language: Language) -> None:
    """What each kind that was found means, what to do next, and what may cause it."""
    out.print()
    for kind in sorted({finding.kind for diagnosis in faulty for finding in diagnosis.findings}):
        entry = book.entries[kind]
        out.print(f"{kind}  {entry.title.text(language)}", style="bold")
        out.print(f"     {entry.sees.text(language)}")
        out.print(f"     {_NEXT[language]}{entry.next_step.text(language)}")
        suspects = _suspects(faulty, kind)
        if suspects:
            out.print(f"     {_SUSPECTS[language]}")
        for suspect in suspects:
            out.print(f"     - {book.suspects[suspect].text(language)}")
    out.print()
    out.print(_LEGEND[language], style="dim")


def _suspects(faulty: Sequence[_Diagnosis], kind: str) -> tuple[str, ...]:
    """The suspects of all findings of a kind, each once, in their order."""
    findings = [finding for diagnosis in faulty for finding in diagnosis.findings if finding.kind == kind]
    return tuple(dict.fromkeys(suspect for finding in findings for suspect in finding.suspects))


def _summary(diagnoses: Sequence[_Diagnosis], language: Language) -> str:
    from promptreg.cli.words import counted  # noqa: PLC0415 - see above

    faults = [finding for diagnosis in diagnoses for finding in diagnosis.findings]
    counts = {mark: sum(finding.severity == mark for finding in faults) for mark in "EWI"}
    told = ", ".join(f"{count} {mark}" for mark, count in counts.items() if count)
    faulty = sum(bool(diagnosis.findings) for diagnosis in diagnoses)
    if language == "zh":
        return f"{len(diagnoses)} 行中 {faulty} 行有故障" + (f"：{told}。" if told else "。")
    return f"{faulty} of {counted(len(diagnoses), 'line')} with faults" + (f": {told}." if told else ".")


def _report_unreadable(unreadable: Sequence[tuple[int, Sentence]], language: Language) -> None:
    from promptreg.text.terminal import safe_for_terminal  # noqa: PLC0415 - see above

    for number, why in unreadable[:MOST_REPORTED]:
        click.echo(safe_for_terminal(_UNREADABLE[language].format(number=number, why=why.text(language))), err=True)
    if len(unreadable) > MOST_REPORTED:
        click.echo(_MORE[language].format(count=len(unreadable) - MOST_REPORTED), err=True)

"""`promptreg context fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import config_option, example, json_option, reserve_option, summariser_option
from promptreg.errors import CannotFit, ExitCode, UsageError
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from promptreg.config import Config
    from promptreg.context.count.counting import Message
    from promptreg.context.ledger import Ledger
    from promptreg.text.sentence import Language, Sentence
    from promptreg.workflow.context.fit import FitResult

_TEXT_COLUMNS = 76
"""Of a message that are shown; `-o` and `--json` have all of it."""
_SENT = {"en": ("", "role", "tokens", "text"), "zh": ("", "角色", "token", "文本")}
_LEDGER = {
    "en": ("messages", "role", "tokens", "left", "what", "why"),
    "zh": ("消息", "角色", "token", "剩余", "处理", "原因"),
}
_ACTIONS = {
    "en": {"dropped": "dropped", "cut": "cut", "replaced": "replaced"},
    "zh": {"dropped": "移除", "cut": "截短", "replaced": "替换"},
}
_PUT_IN = {"en": "new", "zh": "新增"}


@click.command(
    "fit",
    epilog=example(
        "promptreg context fit conversation.jsonl --window 8192 --reserve 1024\n"
        "  promptreg context fit conversation.jsonl --deployment ascend --strategy prune-results "
        "--strategy hysteresis:target=0.5 -o fitted.jsonl\n"
        "  promptreg context fit --strategies"
    )
    + "\n\nExit codes: 0 fitted, 1 when what must stay (system and pinned messages, tools, the newest user message) is "
    "larger than the window leaves for the prompt, 2 for a file or an option that is wrong, 4 when a server that is to "
    "count cannot be asked.",
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False, metavar="FILE")
@click.option("--id", "identifier", metavar="ID", help="Which conversation, where FILE has several.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Tokens for prompt and answer together.")
@click.option("--deployment", metavar="NAME", help="A deployment of promptreg.toml, for its window and tokenizer.")
@reserve_option
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    help="How to shorten; several follow each other while it is still too long. Default: hysteresis.",
)
@summariser_option
@click.option(
    "--pin", "pinned", type=int, multiple=True, metavar="N", help="A message that stays, from 0; -1: the last."
)
@click.option(
    "--counter",
    metavar="NAME",
    help="deepseek (exact), deepseek-v3.1 and so on, estimate, characters, words, messages, or the server of the "
    "deployment. Default: the deployment's tokenizer, else deepseek.",
)
@click.option(
    "--encoder", metavar="FORMAT", help="Prompt format: v3, r1, v3.1, v3.2, v4 (v4:thinking=no), or a chat template."
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write the messages: .jsonl or .json."
)
@json_option
@click.option("--strategies", "listed", is_flag=True, help="List the strategies and their options.")
@config_option
@click.option("-q", "--quiet", is_flag=True, help="Print neither the conversation nor the ledger, only the totals.")
def command(
    file: Path | None,
    identifier: str | None,
    window: int | None,
    deployment: str | None,
    reserve: int | None,
    strategies: tuple[str, ...],
    summariser: str | None,
    pinned: tuple[int, ...],
    counter: str | None,
    encoder: str | None,
    output: Path | None,
    as_json: bool,
    listed: bool,
    config_path: Path | None,
    quiet: bool,
) -> int:
    """Shorten one conversation until it fits a window, and say what happened to each message and why.

    FILE has the messages as JSON Lines, one a line, or as JSON. System and pinned messages stay word for word, a tool
    call keeps its results or goes with them, and the newest user message is always there.
    """
    from promptreg.cli.console import reader_language, users_prints_apart  # noqa: PLC0415 - loaded when the command runs
    from promptreg.context.conversations import read_recordings  # noqa: PLC0415 - see above
    from promptreg.workflow.context.fit import composed, fit_recording, only  # noqa: PLC0415 - see above
    from promptreg.workflow.context.servers import Servers  # noqa: PLC0415 - see above
    from promptreg.workflow.context.sides import Wanted, side_of  # noqa: PLC0415 - see above
    from promptreg.workflow.context.summariser import summary_model  # noqa: PLC0415 - see above

    config = _config(config_path) if any((deployment, config_path, summariser)) else None
    language = reader_language("auto" if config is None else config.language)
    if listed:
        _print_strategies(language)
        return ExitCode.EQUIVALENT
    if file is None:
        raise UsageError("Name a FILE with a conversation, such as `promptreg context fit conversation.jsonl`.")
    if output is not None and output.suffix.lower() not in {".jsonl", ".json"}:
        raise UsageError(f"The messages are written as JSON Lines or JSON: {output} must end in .jsonl or .json.")
    recording = only(read_recordings([file], Path.cwd()), identifier, str(file))
    wanted = Wanted(deployment, window, reserve, counter, encoder)
    try:
        with (
            Servers(None if config is None else config.root) as servers,
            summary_model(summariser, config, strategies, servers) as model,
            users_prints_apart(),
        ):
            side = side_of(wanted, config, "window", servers)
            result = fit_recording(recording, side, composed(strategies, config, model), pinned, model)
    except CannotFit as error:
        click.echo(safe_for_terminal(f"Error: {recording.named}: {error}"), err=True)
        return ExitCode.DRIFT
    if output is not None:
        _write(result, output)
    if as_json:
        click.echo(json_for_terminal(result.to_json()))
    else:
        _print(result, language, output, quiet=quiet)
    return ExitCode.EQUIVALENT


def _config(path: Path | None) -> Config:
    from promptreg.config import load_config  # noqa: PLC0415 - see above

    return load_config(path, Path.cwd())


def _write(result: FitResult, path: Path) -> None:
    from promptreg.errors import OutputError  # noqa: PLC0415 - see above

    messages = [dict(message) for message in result.fitted.messages]
    if path.suffix.lower() == ".jsonl" and not result.recording.tools:
        text = "".join(json_for_terminal(message) + "\n" for message in messages)
    else:
        document = {"id": result.recording.conversation_id, "messages": messages}
        if result.recording.tools:
            document["tools"] = [dict(tool) for tool in result.recording.tools]
        text = json_for_terminal(document) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"The messages cannot be written to {path}: {error.strerror or error}.") from error


def _print(result: FitResult, language: Language, output: Path | None, *, quiet: bool) -> None:
    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.workflow.context.sides import budget_words, guesses  # noqa: PLC0415 - see above

    out = console()
    if not quiet:
        out.print(_sent(result, language))
        out.print()
        if result.fitted.ledger.entries:
            out.print(_ledger(result, language))
            out.print()
    out.print(_summary(result, language), style="bold")
    for sentence in (budget_words(result.side), *guesses([result.side])):
        out.print(safe_for_terminal(sentence.text(language)))
    if result.use is not None and result.use.calls:
        out.print(safe_for_terminal(_paid(result).text(language)))
    for note in result.fitted.ledger.notes:
        out.print(safe_for_terminal(note.sentence.text(language)))
    for finding in result.lints:
        out.print(safe_for_terminal(f"! {finding.sentence.text(language)}"), style="yellow")
    if output is not None:
        out.print({"en": f"Written to {output}.", "zh": f"已写入 {output}。"}[language])


def _paid(result: FitResult) -> Sentence:
    """What the summaries took, and when that is paid back."""
    from promptreg.text.sentence import Sentence  # noqa: PLC0415 - see above

    use, even = result.use, result.break_even
    if use is None or even is None:
        return Sentence("", "") if use is None else use.sentence
    return Sentence(
        f"{use.sentence.en} Paid back after {even:.1f} prompts as short as this one.",
        f"{use.sentence.zh}经 {even:.1f} 个同样缩短的提示词即可抵回。",
    )


def _table(columns: Sequence[str], *numbers: int) -> Table:
    from rich.table import Table  # noqa: PLC0415 - see above

    table = Table(box=None, pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, justify="right" if place in numbers else "left", overflow="fold")
    return table


def _sent(result: FitResult, language: Language) -> Table:
    """The messages that are sent, one line each."""
    from promptreg.text.preview import preview  # noqa: PLC0415 - see above

    fitted = result.fitted
    counter = result.side.chosen.counter
    table = _table(_SENT[language], 0, 2)
    for message, origin in zip(fitted.messages, fitted.origins, strict=True):
        table.add_row(
            _PUT_IN[language] if origin is None else str(origin),
            preview(str(message.get("role", "")), 12),
            str(counter.message(message)),
            preview(_text(message), _TEXT_COLUMNS),
        )
    return table


def _text(message: Message) -> str:
    """What it says, and what it calls."""
    from promptreg.context.count.counting import calls_of, content_text  # noqa: PLC0415 - see above

    calls = (f"→ {function.get('name')}({function.get('arguments')})" for function in calls_of(message))
    return " ".join(text for text in (content_text(message.get("content")), *calls) if text)


def _ledger(result: FitResult, language: Language) -> Table:
    from promptreg.text.preview import preview  # noqa: PLC0415 - see above
    from promptreg.workflow.context.fit import stretches  # noqa: PLC0415 - see above

    table = _table(_LEDGER[language], 2, 3)
    for stretch in stretches(result.fitted.ledger.entries):
        entry = stretch.entries[0]
        what = _ACTIONS[language][entry.action.value]
        table.add_row(
            stretch.places,
            preview(", ".join(stretch.roles), 40),
            str(stretch.tokens),
            str(stretch.kept),
            what if entry.summary is None else f"{what} ({entry.summary})",
            entry.sentence.text(language),
        )
    return table


def _summary(result: FitResult, language: Language) -> str:
    from promptreg.context.ledger import BROKEN  # noqa: PLC0415 - see above
    from promptreg.text.counted import counted  # noqa: PLC0415 - see above

    ledger, fitted = result.fitted.ledger, result.fitted
    of, sent = len(result.recording.messages), len(fitted.messages)
    gone = len(ledger.absent)
    if not ledger.entries:
        return {
            "en": f"It fits as it is: {counted(fitted.total, 'token')} in {counted(of, 'message')}.",
            "zh": f"无需缩短：{of} 条消息共 {fitted.total} token。",
        }[language]
    en = f"{counted(ledger.before, 'token')} became {fitted.total}"
    sent_en = f"{counted(sent, 'message')} {'is' if sent == 1 else 'are'} sent"
    if all(entry.reason in BROKEN for entry in ledger.entries):
        return {
            "en": f"{en}: {sent_en}, {gone} of {of} {'has' if gone == 1 else 'have'} no place in a prompt. "
            "Nothing had to be shortened.",
            "zh": f"{ledger.before} token 变为 {fitted.total}：发送 {sent} 条消息，原有 {of} 条中 {gone} 条"
            "无法放入提示词；无需缩短。",
        }[language]
    instead = _instead(ledger)
    return {
        "en": f"{en} by {ledger.strategy}{instead.en}: {sent_en}, {gone} of {of} {'is' if gone == 1 else 'are'} not.",
        "zh": f"经 {ledger.strategy}{instead.zh}，{ledger.before} token 缩为 {fitted.total}：发送 {sent} 条消息，"
        f"原有 {of} 条中 {gone} 条未发送。",
    }[language]


def _instead(ledger: Ledger) -> Sentence:
    """That no summary of the strategy's summariser is there, though the strategy's name says so; else nothing."""
    from promptreg.context.ledger import NoteKind  # noqa: PLC0415 - see above
    from promptreg.text.sentence import Sentence  # noqa: PLC0415 - see above

    kinds = {note.kind for note in ledger.notes}
    fell_back = kinds & {NoteKind.SUMMARISER_FAILED, NoteKind.SUMMARY_REFUSED}
    if any(entry.summary is not None for entry in ledger.entries):
        extract = Sentence(", with an extract in place of its summary", "（以抽取式摘要代替其摘要）")
        return extract if fell_back else Sentence("", "")
    if fell_back or NoteKind.NO_SUMMARY in kinds:
        return Sentence(", without a summary", "（未加入摘要）")
    return Sentence("", "")


def _print_strategies(language: Language) -> None:
    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.context.adapters.registry import LISTED  # noqa: PLC0415 - see above
    from promptreg.context.strategies.registry import STRATEGIES  # noqa: PLC0415 - see above

    table = _table({"en": ("strategy", "what it does", "options"), "zh": ("策略", "做法", "选项")}[language])
    for name, offered in {**STRATEGIES, **LISTED}.items():
        table.add_row(name, offered.sentence.text(language), ", ".join(offered.options))
    console().print(table)

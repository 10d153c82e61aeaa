"""`promptreg context test`."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import config_option, example, html_option, json_option, reserve_option, summariser_option
from promptreg.errors import ExitCode, UsageError
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import json_for_terminal

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.context.conversations import Recording
    from promptreg.context.trial.grid_report import ContextReport
    from promptreg.text.sentence import Language
    from promptreg.workflow.context.probe import Probing
    from promptreg.workflow.context.trial import Asked

_TURNS = 80


@click.command(
    "test",
    epilog=example(
        "promptreg context test conversations/ --window 32768 --window 8192 --html reports/context.html\n"
        "  promptreg context test --generate 3 --strategy hysteresis --strategy summary-on-cut --deployment ascend\n"
        "  promptreg context test conversations.jsonl --function my_context:shorten --json"
    )
    + "\n\nExit codes: 0 tested, 1 when a strategy or function violates an invariant, 2 for a file or an option that "
    "is wrong, or when no conversation can be tested, 4 when the deployment of --ask, or a "
    "server that is to count, cannot be asked.",
)
@click.argument("conversations", nargs=-1, type=click.Path(path_type=Path), metavar="[CONVERSATIONS…]")
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    metavar="NAME[:OPTION=VALUE,…]",
    help="What to test, + between strategies that follow each other; `context fit --strategies` lists them. Default: "
    "six of them; hysteresis alone beside --function.",
)
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="MODULE:CALLABLE",
    help="A function of your own, from the project's folder: it gets the messages and the tokens that the prompt may "
    "have, and returns the messages to send.",
)
@summariser_option
@click.option(
    "--window",
    "windows",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="N",
    help="Tokens for prompt and answer together. Default: those of the source and the target of [roles], else 32768 "
    "and 8192.",
)
@click.option(
    "--deployment", metavar="NAME", help="A deployment of promptreg.toml, for its window, tokenizer and cache."
)
@reserve_option
@click.option(
    "--counter",
    metavar="NAME",
    help="What counts in all windows. Default: the tokenizer of the deployment, or of the target of [roles] where its "
    "window is tested, else that of --ask, else deepseek.",
)
@click.option("--encoder", metavar="FORMAT", help="Prompt format: v3, r1, v3.1, v3.2, v4, or a chat template.")
@click.option(
    "--granularity",
    type=click.IntRange(min=1),
    metavar="N",
    help="Tokens of the smallest prefix that the server's cache reuses. Default: the deployment's, else 16.",
)
@click.option(
    "--generate",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="So many generated conversations, where none are given. Default: 1.",
)
@click.option(
    "--turns", type=click.IntRange(1, 1000), metavar="N", help=f"User messages of each of them. Default: {_TURNS}."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of generated conversations and planted facts.")
@click.option(
    "--plant/--no-plant",
    default=True,
    help="Put facts into conversations that bring no `facts` of their own, to look for them later. Default: yes.",
)
@click.option(
    "--pin",
    "pinned",
    type=int,
    multiple=True,
    metavar="N",
    help="A message of each conversation that stays, from 0; -1: the last. Functions are not told of it.",
)
@click.option(
    "--ask",
    metavar="NAME",
    help="Ask this deployment about the facts: after the whole conversation, after what each strategy leaves, and "
    "after nothing.",
)
@click.option(
    "--questions",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="At most so many facts are asked for with --ask. Default: 50.",
)
@click.option(
    "--dry-run", is_flag=True, help="With --ask: print how many calls it takes; no model is called, nothing is tested."
)
@json_option
@html_option
@config_option
@click.option("-v", "--verbose", is_flag=True, help="Show examples of violations whole.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the sentence that sums it up, and violations.")
def command(
    conversations: tuple[Path, ...],
    strategies: tuple[str, ...],
    functions: tuple[str, ...],
    summariser: str | None,
    windows: tuple[int, ...],
    deployment: str | None,
    reserve: int | None,
    counter: str | None,
    encoder: str | None,
    granularity: int | None,
    generate: int | None,
    turns: int | None,
    seed: int,
    plant: bool,
    pinned: tuple[int, ...],
    ask: str | None,
    questions: int | None,
    dry_run: bool,
    as_json: bool,
    html: Path | None,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Test strategies, or a function of your own, on CONVERSATIONS. No model is called without --ask or --summariser.

    Each conversation is sent call by call, as an application would, in each window. What is left of facts that were
    said, how many tokens a prompt needs and how many of them the server's prefix cache has, and whether the nine
    invariants hold, such as: within the budget, system messages word for word, no tool call without its results.
    CONVERSATIONS are files of JSON Lines or JSON, or folders of them.
    """
    from promptreg.cli.console import reader_language  # noqa: PLC0415 - loaded when the command runs, not for --help
    from promptreg.cli.context.test_tables import print_test  # noqa: PLC0415 - see above
    from promptreg.workflow.context.trial import Asked  # noqa: PLC0415 - see above

    if conversations and (generate is not None or turns is not None):
        raise UsageError("CONVERSATIONS and --generate or --turns exclude each other: give files, or none.")
    if ask is None and (questions is not None or dry_run):
        raise UsageError("--questions and --dry-run go with --ask: name the deployment that is asked.")
    config = _config(config_path, needed=any((deployment, ask, summariser)))
    language = reader_language("auto" if config is None else config.language)
    asked = Asked(
        strategies,
        functions,
        windows,
        deployment,
        reserve,
        counter,
        encoder,
        granularity,
        seed=seed,
        plant=plant,
        pinned=pinned,
    )
    recordings = _recordings(conversations, generate or 1, turns or _TURNS, seed)
    probing = None if ask is None or config is None else _probing(config, ask, questions, language, quiet=quiet)
    if dry_run and probing is not None:
        _print_plan(recordings, asked, config, probing, language, as_json=as_json)
        return ExitCode.EQUIVALENT
    report = _run(recordings, asked, config, probing, summariser, language, quiet=quiet)
    if html is not None:
        from promptreg.report.context.recall_page import write_recall_page  # noqa: PLC0415 - see above

        write_recall_page(report, html, "auto" if config is None else config.language)
    if as_json:
        click.echo(json_for_terminal(report.to_json()))
    else:
        print_test(report, language, quiet=quiet, verbose=verbose)
        if html is not None:
            click.echo({"en": f"Written to {html}.", "zh": f"已写入 {html}。"}[language])
    if not report.conversations:
        return ExitCode.USAGE
    return ExitCode.DRIFT if report.broken else ExitCode.EQUIVALENT


def _config(path: Path | None, *, needed: bool) -> Config | None:
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.config.load import project_root  # noqa: PLC0415 - see above

    if path is None and not needed and project_root(Path.cwd()) is None:
        return None
    return load_config(path, Path.cwd())


def _recordings(paths: tuple[Path, ...], count: int, turns: int, seed: int) -> tuple[Recording, ...]:
    from promptreg.context.conversations import read_recordings  # noqa: PLC0415 - see above
    from promptreg.workflow.context.trial import corpus  # noqa: PLC0415 - see above

    return read_recordings(paths, Path.cwd()) if paths else corpus(count, seed, turns)


def _probing(config: Config, name: str, questions: int | None, language: Language, *, quiet: bool) -> Probing:
    """Who is asked; what that takes is said before the first call."""
    from promptreg.cli.console import notices  # noqa: PLC0415 - see above
    from promptreg.config import secrets_of  # noqa: PLC0415 - see above
    from promptreg.workflow.context.probe import DEFAULT_QUESTIONS, Probing  # noqa: PLC0415 - see above

    deployment = config.deployment(name)
    secrets_of(deployment)  # a missing key is found before a long test
    tell = notices(quiet=quiet)
    return Probing(
        deployment,
        questions or DEFAULT_QUESTIONS,
        config.root,
        on_plan=lambda plan: tell(plan.sentence.text(language)),
    )


def _print_plan(
    recordings: tuple[Recording, ...],
    asked: Asked,
    config: Config | None,
    probing: Probing,
    language: Language,
    *,
    as_json: bool,
) -> None:
    from promptreg.cli.console import users_prints_apart  # noqa: PLC0415 - see above
    from promptreg.workflow.context.servers import Servers  # noqa: PLC0415 - see above
    from promptreg.workflow.context.trial import planned_probes  # noqa: PLC0415 - see above

    with Servers(None if config is None else config.root) as servers, users_prints_apart():
        plan = planned_probes(recordings, asked, config, probing, servers=servers)
    click.echo(json_for_terminal(plan.to_json()) if as_json else plan.sentence.text(language))


def _run(
    recordings: tuple[Recording, ...],
    asked: Asked,
    config: Config | None,
    probing: Probing | None,
    summariser: str | None,
    language: Language,
    *,
    quiet: bool,
) -> ContextReport:
    """The test, under a progress bar on stderr."""
    from promptreg.cli.console import users_prints_apart  # noqa: PLC0415 - see above
    from promptreg.replay.progress import Progress, renderer_for  # noqa: PLC0415 - see above
    from promptreg.workflow.context.servers import Servers  # noqa: PLC0415 - see above
    from promptreg.workflow.context.summariser import summary_model  # noqa: PLC0415 - see above
    from promptreg.workflow.context.trial import DEFAULT_STRATEGIES, context_test  # noqa: PLC0415 - see above

    began = time.monotonic()
    with renderer_for(sys.stderr, "context test", quiet=quiet, language=language) as show:

        def progress(done: int, of: int) -> None:
            show(Progress(done, of, 0, 0, 0, time.monotonic() - began, Sentence("runs", "次试验")))

        def prompts(done: int, of: int) -> None:
            show(
                Progress(
                    done, of, 0, 0, 0, time.monotonic() - began, Sentence("prompts with questions", "个带问题的提示词")
                )
            )

        if probing is not None:
            probing = replace(probing, on_progress=show, on_prompts=prompts)
        strategies = asked.strategies or (() if asked.functions else DEFAULT_STRATEGIES)
        with (
            Servers(None if config is None else config.root) as servers,
            summary_model(summariser, config, strategies, servers) as model,
            users_prints_apart(),
        ):
            return context_test(
                recordings, asked, config, progress=progress, probing=probing, servers=servers, model=model
            )

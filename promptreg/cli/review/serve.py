"""`promptreg review serve`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from promptreg.cli.options import common_options, example

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.config import Config
    from promptreg.text.sentence import Language
    from promptreg.workflow.review.desk import ReviewDesk

_WORDS: Final = {
    "open": {
        "en": "Open this address on this machine; whoever has it can decide:",
        "zh": "请在本机打开以下地址；知道该地址的人都可以作决定：",
    },
    "end": {
        "en": "Decisions are saved at once. Ctrl-C ends it.",
        "zh": "决定会立即保存。按 Ctrl-C 结束。",
    },
    "none": {
        "en": "Ended. No decision waits to take effect.",
        "zh": "已结束。没有待生效的决定。",
    },
    "saved": {
        "en": "Ended. Decisions in the store that do not count yet: {count}. To see what they do, then --write:",
        "zh": "已结束。存储中有 {count} 个决定，尚未生效。使其生效（确认后加 --write）：",
    },
}


@click.command("serve", epilog=example("promptreg review serve"))
@click.argument("run_id", required=False, metavar="[RUN]")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Port; 0 picks a free one.")
@click.option("--reviewer", metavar="NAME", help="Who decides. Default: git's user.name.")
@common_options
def command(
    run_id: str | None,
    port: int,
    reviewer: str | None,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Serve the report of RUN (default: the newest comparison) on this machine, to decide on its cases.

    The report's page, judged against the baseline as it is now, without calls. What is decided on it goes into the
    store's log at once, and two open pages see each other's decisions. Only the printed address, with its token, lets
    anybody in. Ctrl-C or SIGTERM ends it; the decisions take effect with `promptreg review apply`, whose line is
    printed then.
    """
    del verbose
    from promptreg.cli.console import reader_language  # noqa: PLC0415 - loaded when the command runs
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.store.store import Store  # noqa: PLC0415 - see above
    from promptreg.workflow.git import reviewer_name  # noqa: PLC0415 - see above
    from promptreg.workflow.review.desk import ReviewDesk  # noqa: PLC0415 - see above
    from promptreg.workflow.review.server import review_socket, serve_review  # noqa: PLC0415 - see above
    from promptreg.workflow.review.waiting import reviewed_run  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    language = reader_language(config.language)
    who = reviewer or reviewer_name(config.root)
    with Store.open(config.root / config.paths.store, create=False) as store:
        found = reviewed_run(config, store, run_id).record.run_id

    def ready(address: str) -> None:
        if not quiet:
            click.echo(_WORDS["open"][language])
        click.echo(address)
        if not quiet:
            click.echo(_WORDS["end"][language])

    with review_socket(port) as bound:  # first: judging may take a minute, which a taken port should not cost
        page = _page(config, found, who)
        with Store.open(config.root / config.paths.store, create=False) as store:
            desk = ReviewDesk(config, store, reviewed_run(config, store, found), who)
            serve_review(desk, page, bound, ready)
            for line in _end(config, desk, language):
                click.echo(line)
    return 0


def _page(config: Config, run_id: str, reviewer: str) -> str:
    """The report, judged now, so that it shows what the decisions will be bound to."""
    from promptreg.report.form import Form  # noqa: PLC0415 - see above
    from promptreg.workflow.compare import compare  # noqa: PLC0415 - see above
    from promptreg.workflow.compare_options import CompareOptions  # noqa: PLC0415 - see above

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        compare(config, CompareOptions(run_id=run_id, report=path, form=Form(served_to=reviewer), ask_judges=False))
        return path.read_text(encoding="utf-8")


def _end(config: Config, desk: ReviewDesk, language: Language) -> Iterator[str]:
    """What was decided, in files that `review apply` takes."""
    from promptreg.baseline.paths import safe_name  # noqa: PLC0415 - see above
    from promptreg.cli.review.keys import save_decisions  # noqa: PLC0415 - see above
    from promptreg.suite.files import shown_path  # noqa: PLC0415 - see above
    from promptreg.text.terminal import safe_for_terminal  # noqa: PLC0415 - see above

    files = desk.open_decisions()
    if not files:
        yield _WORDS["none"][language]
        return
    yield _WORDS["saved"][language].format(count=sum(len(each.decisions) for each in files))
    for decisions in files:
        of = "" if len(files) == 1 else f".{safe_name(decisions.reviewer)}"
        path = config.root / config.paths.reports / f"{safe_name(decisions.run_id)}{of}.decisions.json"
        save_decisions(path, decisions)
        yield f"  promptreg review apply {safe_for_terminal(shown_path(path, config.root))}"

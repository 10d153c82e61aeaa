"""`promptreg compare`."""

from __future__ import annotations

import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import Share, common_options, example, json_option

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from promptreg.config import Config
    from promptreg.report.form import Kind, Output
    from promptreg.workflow.engine import Engine


def _numbers(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...]:
    """`3,5` as numbers."""
    parts = [] if value is None else value.replace("，", ",").split(",")
    if not all(part.strip().isdecimal() and len(part) < 5 for part in parts):
        raise click.BadParameter(f"write numbers of passes with commas between them, such as 3,5; got {value!r}.")
    return tuple(int(part) for part in parts)


@click.command("compare", epilog=example("promptreg compare suites/support.yaml --to ascend --passes 5 --looks 3,5"))
@click.argument("suites", nargs=-1, type=click.Path(path_type=Path))
@click.option("--to", "target", metavar="NAME", help="The deployment to judge. Default: the target role.")
@click.option("--from", "source", metavar="NAME", help="Whose baseline to judge against. Default: the source role.")
@click.option("--passes", type=click.IntRange(1, 1000), help="Samples of every case. Default: plan.compare_passes (5).")
@click.option(
    "--looks", metavar="N,N", callback=_numbers, help="Judge after so many passes; the last ends it. Default: 3,5."
)
@click.option("--run", "run_id", metavar="RUN", help="Judge a stored run again; the target is not called.")
@click.option("--resume", is_flag=True, help="Go on with the last unfinished run; stored calls are not repeated.")
@click.option("--select", metavar="EXPR", help="Only some cases, such as `tag:policy and not id:refund*`.")
@click.option("--alpha", type=Share(), help="False-alarm rate of the drift test.")
@click.option("--fdr", type=Share(), help="False discovery rate of the case list.")
@click.option("--html", "html", type=click.Path(path_type=Path, dir_okay=False), help="Where to write the report.")
@click.option(
    "--junit", type=click.Path(path_type=Path, dir_okay=False), help="Write the verdicts as JUnit XML too, for CI."
)
@click.option(
    "--markdown",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write a summary for a merge request too, in less than 60 000 characters.",
)
@click.option(
    "--engine",
    "engine_name",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="Where calls are made and answers scored: in this process, or on a Ray cluster (extra `[ray]`).",
)
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="HOST:PORT of a Ray cluster, or `auto`. Default: RAY_ADDRESS, else one on this machine for this command.",
)
@click.option(
    "--ray-workers", type=click.IntRange(1, 10_000), metavar="N", help="Processes that make calls. Default: one a CPU."
)
@click.option("--allow-inconclusive", is_flag=True, help="Exit with 0 instead of 3 when nothing could be decided.")
@click.option("--dry-run", is_flag=True, help="Print calls, estimated tokens and time; send nothing.")
@json_option
@common_options
def command(
    suites: tuple[Path, ...],
    target: str | None,
    source: str | None,
    passes: int | None,
    looks: tuple[int, ...],
    run_id: str | None,
    resume: bool,
    select: str | None,
    alpha: float | None,
    fdr: float | None,
    html: Path | None,
    junit: Path | None,
    markdown: Path | None,
    engine_name: str,
    ray_address: str | None,
    ray_workers: int | None,
    allow_inconclusive: bool,
    dry_run: bool,
    as_json: bool,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Replay the recorded cases on the target, judge the drift, write the HTML report.

    SUITES are files or folders; without any, the project's own suites are compared. Exit codes: 0 equivalent, 1 drift
    or regression, 3 inconclusive, 4 when the deployment failed, 2 when the project is wrong.
    """
    from promptreg.cli.console import (  # noqa: PLC0415 - loaded when the command runs, not for --help
        messages_shown,
        reader_language,
        sentences,
        users_prints_apart,
    )
    from promptreg.cli.estimate import print_estimate  # noqa: PLC0415 - see above
    from promptreg.cli.record import print_failures  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.replay.progress import renderer_for  # noqa: PLC0415 - see above
    from promptreg.report.form import Form  # noqa: PLC0415 - see above
    from promptreg.text.terminal import json_pieces_for_terminal  # noqa: PLC0415 - see above
    from promptreg.workflow.compare import compare, plan_compare  # noqa: PLC0415 - see above
    from promptreg.workflow.compare_options import CompareOptions  # noqa: PLC0415 - see above

    if run_id is not None:
        _refuse_beside_run(
            {"--to": target, "--passes": passes, "--looks": looks, "--resume": resume, "--dry-run": dry_run}
        )
    if engine_name != "ray":
        _refuse_without_ray({"--ray-address": ray_address, "--ray-workers": ray_workers})
    config = load_config(config_path, Path.cwd())
    language = reader_language(config.language)
    options = CompareOptions(
        suites=suites,
        source=source,
        target=target,
        passes=passes,
        looks=looks,
        run_id=run_id,
        resume=resume,
        select=select,
        alpha=alpha,
        fdr=fdr,
        report=html,
        beside=_beside(html, markdown=markdown, junit=junit),
        form=Form(language),
        allow_inconclusive=allow_inconclusive,
    )
    if dry_run:
        with users_prints_apart():
            estimate = plan_compare(config, options)
        print_estimate(estimate, language, as_json=as_json)
        return 0
    with (
        messages_shown(verbose=verbose),
        _engine(engine_name, config, ray_address, ray_workers) as engine,
        renderer_for(sys.stderr, "compare", quiet=quiet, language=language) as show,
        users_prints_apart(),
    ):
        result = compare(
            config,
            options,
            on_progress=show,
            on_notice=sentences(language, quiet=quiet),
            on_look=lambda said: show.note(said.text(language)),
            engine=engine,
        )
    with suppress(BrokenPipeError):  # whoever stops reading (`| head`) does not change the verdict
        if as_json:
            for piece in json_pieces_for_terminal(result.to_json(config.root)):
                click.echo(piece, nl=False)
            click.echo()
        else:
            from promptreg.cli.verdicts import print_comparison  # noqa: PLC0415 - no call should wait for it

            print_comparison(result, config, quiet=quiet, verbose=verbose)
    if result.failures:
        again = None if result.ended_early else "compare --resume"
        print_failures(result.failures, again, result.comparison.run_id, language, stays=result.stays)
    return int(result.comparison.exit_code)


def _engine(name: str, config: Config, address: str | None, workers: int | None) -> AbstractContextManager[Engine]:
    """The engine of that name, open as long as the comparison takes."""
    if name == "ray":
        from promptreg.engine_ray.engine import ray_engine  # noqa: PLC0415 - only where it is asked for

        return ray_engine(config, address=address, workers=workers)
    from promptreg.workflow.engine import LOCAL  # noqa: PLC0415 - loaded when the command runs, not for --help

    return nullcontext(LOCAL)


def _refuse_without_ray(given: Mapping[str, object]) -> None:
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above

    names = [name for name, value in given.items() if value is not None]
    if names:
        raise UsageError(f"{' and '.join(names)} only means something with --engine ray.")


def _beside(html: Path | None, *, markdown: Path | None, junit: Path | None) -> tuple[Output, ...]:
    """What is written beside the report; no two of them to one file."""
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above
    from promptreg.report.form import Output  # noqa: PLC0415 - see above

    taken = {} if html is None else {html.resolve(): "--html"}
    outputs = []
    wanted: tuple[tuple[Kind, Path | None], ...] = (("markdown", markdown), ("junit", junit))
    for kind, path in wanted:
        if path is not None:
            if other := taken.get(path.resolve()):
                raise UsageError(f"--{kind} and {other} name the same file, {path}: give each its own.")
            taken[path.resolve()] = f"--{kind}"
            outputs.append(Output(kind, path))
    return tuple(outputs)


def _refuse_beside_run(given: Mapping[str, object]) -> None:
    from promptreg.errors import UsageError  # noqa: PLC0415 - see above

    names = [name for name, value in given.items() if value]
    if names:
        raise UsageError(
            f"--run judges a stored run as it was taken, without calling the target: leave {', '.join(names)} out, "
            "or leave --run out to take a new run."
        )

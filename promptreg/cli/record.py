"""`promptreg record`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from promptreg.cli.options import common_options, example, json_option
from promptreg.cli.words import counted
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.text.sentence import Language, Sentence
    from promptreg.verdict.recording import RecordingJudgement
    from promptreg.workflow.recording import Recording


UNSTABLE_SHOWN = 10
"""Unstable cases listed per suite without `-v`."""

_NO_BASELINE = {
    "en": "{suite}: no call was answered; no baseline was written.",
    "zh": "{suite}：没有一次调用得到回答，未写入基线。",
}
_NEXT = {
    "en": "Next: commit the baselines, then `promptreg compare`.",
    "zh": "下一步：提交基线文件，然后运行 `promptreg compare`。",
}
_UNSTABLE = {
    "en": "Cases in which the source disagrees with itself: {count}. Better fix these prompts before the migration.",
    "zh": "源部署自身回答不一致的用例：{count} 个。最好在迁移之前先修改这些提示词。",
}
_WORDED = {
    "en": "Cases in which only wording or meaning varies much, with the same facts and checks: {count} ({names}). "
    "Paraphrases need no fix; a drift must be larger there to be found.",
    "zh": "只有措辞或语义差别较大、事实和检查项都一致的用例：{count} 个（{names}）。换一种说法无需处理；这些用例的漂移"
    "要更大才能被发现。",
}
_MORE = {"en": "… and {count} more; -v shows them all", "zh": "……另有 {count} 个，用 -v 全部列出"}
_LOWER_BOUND = {
    "en": "Lower bound of what a comparison would find (its last {second} passes judged against the first {first}):",
    "zh": "比较时至少能发现的问题（以前 {first} 遍判断后 {second} 遍得到的下限）：",
}


@click.command("record", epilog=example("promptreg record suites/support.yaml --on gpu --passes 10"))
@click.argument("suites", nargs=-1, type=click.Path(path_type=Path))
@click.option("--on", "deployment", metavar="NAME", help="The deployment to record on. Default: the source role.")
@click.option("--passes", type=click.IntRange(1, 1000), help="Samples of every case. Default: plan.record_passes (10).")
@click.option("--select", metavar="EXPR", help="Only some cases, such as `tag:policy and not id:refund*`.")
@click.option("--top-up", is_flag=True, help="Only what the baselines lack: new or changed cases, missing passes.")
@click.option("--resume", is_flag=True, help="Go on with the last unfinished run; stored calls are not repeated.")
@click.option("--dry-run", is_flag=True, help="Print calls, estimated tokens and time; send nothing.")
@json_option
@common_options
def command(
    suites: tuple[Path, ...],
    deployment: str | None,
    passes: int | None,
    select: str | None,
    top_up: bool,
    resume: bool,
    dry_run: bool,
    as_json: bool,
    config_path: Path | None,
    verbose: bool,
    quiet: bool,
) -> int:
    """Record goldens on the source deployment and write the baselines.

    Every case is asked once per pass, in shuffled order, as a request of its own: ten passes show how much the source
    differs from itself, and that noise is what the target is judged against. SUITES are files or folders; without any,
    the project's own suites are recorded. Commit the files under baselines/ to git.
    """
    from promptreg.cli.console import (  # noqa: PLC0415 - loaded when the command runs, not for --help
        messages_shown,
        reader_language,
        sentences,
        users_prints_apart,
    )
    from promptreg.cli.estimate import print_estimate  # noqa: PLC0415 - see above
    from promptreg.config import load_config  # noqa: PLC0415 - see above
    from promptreg.replay.progress import renderer_for  # noqa: PLC0415 - see above
    from promptreg.workflow.record import RecordOptions, plan_record, record  # noqa: PLC0415 - see above

    config = load_config(config_path, Path.cwd())
    language = reader_language(config.language)
    options = RecordOptions(suites, deployment, passes, select, resume, top_up, self_test=verbose or as_json)
    if dry_run:
        with users_prints_apart():
            estimate = plan_record(config, options)
        print_estimate(estimate, language, as_json=as_json)
        return 0
    with (
        messages_shown(verbose=verbose),
        renderer_for(sys.stderr, "record", quiet=quiet, language=language) as show,
        users_prints_apart(),
    ):
        recording = record(config, options, on_progress=show, on_notice=sentences(language, quiet=quiet))
    if as_json:
        click.echo(json_for_terminal(recording.to_json(config.root)))
    else:
        _print(recording, config, quiet=quiet, verbose=verbose)
    if recording.failures:
        again = "record --top-up" if top_up else "record --resume"
        print_failures(recording.failures, again, recording.run_id, language, stays=recording.stays)
    return int(recording.exit_code)


_FAILED_AGAIN = {
    "en": "`promptreg {again}` tries just those again",
    "zh": "用 `promptreg {again}` 可以只重试这些调用",
}
_FAILED_STAYS = {
    "en": "The same calls would fail again: correct what the errors name first",
    "zh": "同样的调用会再次失败：请先按错误信息修正",
}
_FAILED_DECIDED = {
    "en": "The verdict stands without them",
    "zh": "没有这些回答，判定同样成立",
}
_FAILED_LISTED = {
    "en": "{step}; `promptreg runs {run}` lists them.",
    "zh": "{step}；用 `promptreg runs {run}` 列出它们。",
}


def print_failures(summary: Sentence, again: str | None, run_id: str, language: Language, *, stays: bool) -> None:
    """Say on stderr that calls failed, with the reason of most of them and what to do.

    Args:
        summary: how many calls, and the reason.
        again: the command that tries them again; None where the verdict needs them no more.
        run_id: of the run.
        language: of the reader.
        stays: whether all of them would fail again.
    """
    from promptreg.cli.console import console  # noqa: PLC0415 - see above

    step = (_FAILED_STAYS if stays else _FAILED_DECIDED if again is None else _FAILED_AGAIN)[language]
    listed = _FAILED_LISTED[language].format(step=step.format(again=again), run=run_id)
    said = f"{summary.en} {listed}" if language == "en" else f"{summary.zh}{listed}"
    console(stderr=True).print(safe_for_terminal(said), style="red")


_WARNING = {"en": "Warning: ", "zh": "警告："}


def _print(recording: Recording, config: Config, *, quiet: bool, verbose: bool) -> None:
    from promptreg.cli.console import console, reader_language  # noqa: PLC0415 - see above

    root, store = config.root, config.root / config.paths.store
    out, errors = console(), console(stderr=True)
    language = reader_language(config.language)
    for warning in recording.warnings:
        errors.print(safe_for_terminal(f"{_WARNING[language]}{warning.text(language)}"), style="yellow")
    for suite in recording.suites:
        if suite.baseline is None:
            errors.print(_NO_BASELINE[language].format(suite=suite.suite), style="red")
        elif not quiet:
            size = {
                "en": f"{counted(suite.cases, 'case')}, {counted(recording.passes, 'pass', 'passes')}",
                "zh": f"{suite.cases} 个用例，{recording.passes} 遍",
            }
            out.print(f"{suite.suite}: {size[language]} → {_shown(suite.baseline, root)}")
            if suite.judgement is not None:
                _print_judgement(suite.judgement, language, verbose=verbose)
    if not quiet:
        for said in recording.contexts:
            out.print(safe_for_terminal(said.text(language)))
    if not recording.failures and not quiet:
        run, on = recording.run_id, recording.deployment
        done = {
            "en": f"Run {run}: {counted(recording.answered, 'sample')} recorded on {on}.",
            "zh": f"运行 {run}：在 {on} 上录制了 {recording.answered} 个采样。",
        }
        out.print(done[language])
        out.print(_NEXT[language])
    if verbose:
        out.print(f"Store: {_shown(store, root)}")


def _print_judgement(judgement: RecordingJudgement, language: Language, *, verbose: bool) -> None:
    """Cases that disagree with themselves, and with -v what the self-test found."""
    from promptreg.cli.console import console  # noqa: PLC0415 - see above
    from promptreg.text.preview import preview  # noqa: PLC0415 - see above

    out = console()
    # How far meanings lie apart is no sign of a wrong prompt by itself: at a temperature, answers are paraphrased.
    worded = [case for case in judgement.unstable if {name for name, _ in case.reasons} == {"embedding"}]
    unstable = [case for case in judgement.unstable if case not in worded]
    if unstable:
        out.print("  " + _UNSTABLE[language].format(count=len(unstable)), style="yellow")
    for case in unstable if verbose else unstable[:UNSTABLE_SHOWN]:
        reasons = "; ".join(sentence.text(language) for _, sentence in case.reasons)
        out.print(safe_for_terminal(f"    {preview(case.case_id, 40)}: {reasons}"))
    left = len(unstable) - UNSTABLE_SHOWN
    if left > 0 and not verbose:
        out.print("    " + _MORE[language].format(count=left))
    if worded:
        names = ", ".join(preview(case.case_id, 40) for case in worded[:UNSTABLE_SHOWN])
        names += ", …" if len(worded) > UNSTABLE_SHOWN else ""
        out.print("  " + _WORDED[language].format(count=len(worded), names=names), style="dim")
    if judgement.power:
        out.print("  " + _LOWER_BOUND[language].format(first=judgement.halves[0], second=judgement.halves[1]))
    for outcome in judgement.power:
        out.print(f"    {outcome.sentence.text(language)}")


def _shown(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

"""What a run would cost, in words: `--dry-run` of `record` and `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import json_for_terminal, safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.text.sentence import Language
    from promptreg.workflow.running.estimate import Estimate

_NAMED: Final = 5
"""Cases that will not be sent, by name."""


def print_estimate(estimate: Estimate, language: Language, *, as_json: bool) -> None:
    """What a run would cost, for people or machines."""
    if as_json:
        click.echo(json_for_terminal(estimate.to_json()))
        return
    for line in _lines(estimate):
        click.echo(safe_for_terminal(line.text(language)))


def _lines(estimate: Estimate) -> Iterator[Sentence]:
    yield Sentence(
        f"{counted(estimate.calls, 'call')} on {estimate.deployment}: {counted(estimate.cases, 'case')} of "
        f"{counted(estimate.suites, 'suite')}, {counted(estimate.passes, 'pass', 'passes')}.",
        f"在 {estimate.deployment} 上调用 {estimate.calls} 次：{estimate.suites} 个测试集的 {estimate.cases} 个用例，"
        f"{estimate.passes} 遍。",
    )
    yield from _unfitted(estimate)
    early, judging, time = _early(estimate), _judging(estimate), _duration(estimate.seconds)
    yield Sentence(
        f"About {estimate.prompt_tokens} prompt tokens and at most {estimate.answer_tokens} answer tokens (estimated "
        f"from the text), at most {time.en}. {early.en}{judging.en}Nothing was sent.",
        f"提示词约 {estimate.prompt_tokens} 个 token，回答至多 {estimate.answer_tokens} 个 token（按文本估算），"
        f"至多需 {time.zh}。{early.zh}{judging.zh}未发送任何请求。",
    )


def _unfitted(estimate: Estimate) -> Iterator[Sentence]:
    number = len(estimate.unfitted)
    if not number:
        return
    yield Sentence(
        f"{counted(number, 'case')} cannot be shortened enough and will not be sent:",
        f"{number} 个用例无法缩短到窗口之内，不会发送：",
    )
    for name, why in estimate.unfitted[:_NAMED]:
        yield Sentence(f"  {name}: {why.en}", f"  {name}：{why.zh}")
    if number > _NAMED:
        yield Sentence(f"  … and {number - _NAMED} more", f"  ……另有 {number - _NAMED} 个")


def _early(estimate: Estimate) -> Sentence:
    early = [str(look) for look in estimate.looks[:-1]]
    if not early:
        return Sentence("", "")
    return Sentence(
        f"A suite that clearly changed may stop after {' or '.join(early)} passes. ",
        f"明显变化的测试集可能在 {' 或 '.join(early)} 遍之后停止。",
    )


def _judging(estimate: Estimate) -> Sentence:
    calls = [(number, name) for name, number in estimate.judge_calls.items() if number]
    if not calls:
        return Sentence("", "")
    en = " and ".join(f"{counted(number, 'call')} on {name}" for number, name in calls)
    zh = "、".join(f"在 {name} 上 {number} 次" for number, name in calls)
    return Sentence(f"`judge` checks take at most {en} beside them. ", f"`judge` 检查项另需至多：{zh}。")


def _duration(seconds: float) -> Sentence:
    if seconds < 120:
        return Sentence(f"{seconds:.0f} s", f"{seconds:.0f} 秒")
    if seconds < 7200:
        return Sentence(f"{seconds / 60:.0f} min", f"{seconds / 60:.0f} 分钟")
    return Sentence(f"{seconds / 3600:.1f} h", f"{seconds / 3600:.1f} 小时")

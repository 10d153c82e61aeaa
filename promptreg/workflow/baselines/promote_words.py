"""What there is to say of a promotion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal
from promptreg.verdict.rules import MINIMUM_SOURCE_PASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.workflow.baselines.promote import Promotion

_SHOWN: Final = 5


def promoted(done: Promotion) -> Iterator[Sentence]:
    """What was, or would be, written; what is missing; what to do next."""
    for suite in done.suites:
        verb_en, verb_zh = ("Replaces", "替换") if suite.replaces else ("Makes", "新建")
        path = safe_for_terminal(suite.path)
        yield Sentence(
            f"{verb_en} {path}: {counted(suite.cases, 'case')}, {counted(suite.passes, 'pass')}.",
            f"{verb_zh} {path}：{suite.cases} 个用例，{suite.passes} 遍。",
        )
    if done.lacking:
        names = safe_for_terminal(", ".join(done.lacking[:_SHOWN]) + (", …" if len(done.lacking) > _SHOWN else ""))
        yield Sentence(
            f"Left out, because the run has no answer to them: {names}.", f"以下用例没有回答，未写入：{names}。"
        )
    if any(suite.passes < MINIMUM_SOURCE_PASSES for suite in done.suites):
        yield Sentence(
            f"A source needs {MINIMUM_SOURCE_PASSES} passes or more before anything can be called equivalent to it: "
            f"`promptreg record --on {done.deployment} --top-up` takes the rest.",
            f"源部署至少需要 {MINIMUM_SOURCE_PASSES} 遍才能得出等价的结论：用 `promptreg record --on {done.deployment} "
            "--top-up` 补足其余各遍。",
        )
    yield (
        Sentence(
            f'Written. To compare against it from now on, set source = "{done.deployment}" under [roles].',
            f'已写入。今后要与它比较，请在 [roles] 中设置 source = "{done.deployment}"。',
        )
        if done.written
        else Sentence("Nothing was changed yet; --write does it.", "尚未改动；加上 --write 执行。")
    )

"""What there is to say of `baseline recheck`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.text.terminal import safe_for_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.workflow.baselines.recheck import Recheck


def rechecked(done: Recheck) -> Iterator[Sentence]:
    """What each baseline tells of its calls, and whether files changed."""
    for baseline in done.baselines:
        path = safe_for_terminal(baseline.path)
        changes_en, changes_zh = ("changes", "有改动") if baseline.changes else ("stays as it is", "没有改动")
        lacks_en, lacks_zh = (
            ("", "") if baseline.told else (" This store has none of them.", "本机的存储中没有这些调用。")
        )
        yield Sentence(
            f"{path}: {changes_en}. The faults of the source's calls are known for {baseline.told} of "
            f"{counted(baseline.cases, 'case')}.{lacks_en}",
            f"{path}：{changes_zh}。{baseline.cases} 个用例中，有 {baseline.told} 个的源部署调用故障已知。{lacks_zh}",
        )
    if any(baseline.changes for baseline in done.baselines):
        yield (
            Sentence("Written.", "已写入。")
            if done.written
            else Sentence("Nothing was changed yet; --write does it.", "尚未改动；加上 --write 执行。")
        )

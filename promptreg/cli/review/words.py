"""What `promptreg review` asks in a terminal, in both languages."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.text.sentence import Language

KEYS: Final[Mapping[Language, str]] = MappingProxyType(
    {
        "en": "[a]pprove  [r]eject  [w]aive  [s] defer  [u]ndo  [v]iew all  [q]uit; capital: all remaining >",
        "zh": "[a] 批准  [r] 拒绝  [w] 豁免  [s] 暂缓  [u] 撤销  [v] 全文  [q] 结束；大写：其余全部 >",
    }
)
"""The keys, shown under every case."""

WORDS: Final[Mapping[Language, Mapping[str, str]]] = MappingProxyType(
    {
        "en": {
            "all": "{verb} all {count} remaining cases, this one included?",
            "replaces": "Golden answers that approving replaces: {golden}, by target answers: {candidate}.",
            "all_replaces": "Approving replaces the golden answers of each case by the target's answers.",
            "reason_reject": "Why (may be empty)",
            "reason_waive": "Why is it accepted for now",
            "until": "Until (last day, UTC)",
            "reason_approve_lacking": "These answers fail checks or show faults. Why approve them all the same",
            "no_reason_waive": "A waiver needs a reason; nothing was decided.",
            "no_reason_approve_lacking": "Such an approval needs a reason; nothing was decided.",
            "no_day": "Write a day such as 2027-01-31.",
            "nothing_to_undo": "There is nothing to undo.",
            "pause": "Press any key to go on.",
            "end": "[y] write  [f] save as a decisions file  [n] drop >",
            "end_refused": "[y] write the others  [f] save all as a decisions file  [n] drop >",
            "saved": "Saved: {path}. `promptreg review apply {path} --write` lets it take effect.",
            "dropped": "Nothing was changed.",
        },
        "zh": {
            "all": "对包括本例在内的其余 {count} 个用例全部执行 {verb}？",
            "replaces": "批准后，{golden} 条基准输出将被这 {candidate} 条回答替换。",
            "all_replaces": "批准后，每个用例的基准输出都将被目标部署的回答替换。",
            "reason_reject": "理由（可留空）",
            "reason_waive": "暂时接受的理由",
            "until": "有效至（最后一天，UTC）",
            "reason_approve_lacking": "这些回答不满足检查项或带有故障。仍要批准的理由",
            "no_reason_waive": "豁免需要理由；没有作出决定。",
            "no_reason_approve_lacking": "这样的批准需要理由；没有作出决定。",
            "no_day": "请写成 2027-01-31 这样的日期。",
            "nothing_to_undo": "没有可撤销的决定。",
            "pause": "按任意键继续。",
            "end": "[y] 写入  [f] 存为决定文件  [n] 放弃 >",
            "end_refused": "[y] 写入其余  [f] 全部存为决定文件  [n] 放弃 >",
            "saved": "已保存：{path}。用 `promptreg review apply {path} --write` 使其生效。",
            "dropped": "没有任何改动。",
        },
    }
)
"""Questions and short answers by name."""

"""Check `judge`: another deployment says whether the answer keeps a rubric, or is as good as a given text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.errors import PromptregError
from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, quoted, too_long
from promptreg.scoring.checks.judge_text import agreed, pair_prompt, read_pair, read_single, single_prompt
from promptreg.scoring.checks.options import fields, text
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 50_000
"""Characters; a longer answer is unscored."""

_EXAMPLE: Final = "{by: judge, rubric: 回答是否礼貌并给出了期限。}"


@dataclass(frozen=True, slots=True)
class Judged:
    """One question for an answer by itself; two, with the places swapped, for an answer beside a given text."""

    by: str
    """Name of the judge's deployment."""
    rubric: str
    to: str | None
    ask: Callable[[str, str], str] | None

    @property
    def rules(self) -> Rules:
        """The judge must say yes, or no."""
        rubric = quoted(self.rubric)
        if self.to is None:
            return must(f"keep the rubric {rubric}, judged by {self.by}", f"符合评分标准{rubric}（由 {self.by} 判定）")
        return must(
            f"be at least as good as {quoted(self.to)} by the rubric {rubric}, judged by {self.by}",
            f"按评分标准{rubric}不差于{quoted(self.to)}（由 {self.by} 判定）",
        )

    def find(self, answer: Answer) -> Finding:
        """What the judge says."""
        content = answer.content.strip()
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        if not content:
            return found(False, "is empty", "是空的")
        if self.ask is None:
            return found(None, f"was not judged: {self.by} was not asked", f"未被判定：没有询问 {self.by}")
        try:
            return self._asked(content, self.ask)
        except PromptregError as error:
            reason = preview(str(error), 160).rstrip(".")
            return found(None, f"was not judged: {reason}", f"未被判定：{reason}")

    def _asked(self, content: str, ask: Callable[[str, str], str]) -> Finding:
        if self.to is None:
            said = read_single(ask(self.by, single_prompt(self.rubric, content)))
            if said is None:
                return self._unreadable()
            verb_en, verb_zh = ("keeps", "符合") if said else ("does not keep", "不符合")
            return found(said, f"{verb_en} the rubric, says {self.by}", f"{verb_zh}评分标准（{self.by} 判定）")
        first = read_pair(ask(self.by, pair_prompt(self.rubric, content, self.to)))
        second = read_pair(ask(self.by, pair_prompt(self.rubric, self.to, content)))
        if first is None or second is None:
            return self._unreadable()
        holds = agreed(first, second)
        if holds is None:
            return found(
                None,
                f"was not judged: {self.by} changed its mind when the two texts changed places",
                f"未被判定：交换两段文本的位置后，{self.by} 的结论变了",
            )
        verb_en, verb_zh = ("is at least as good as", "不差于") if holds else ("is worse than", "差于")
        return found(holds, f"{verb_en} the given text, says {self.by}", f"{verb_zh}给定的文本（{self.by} 判定）")

    def _unreadable(self) -> Finding:
        return found(
            None,
            f"was not judged: {self.by} gave no verdict that can be read",
            f"未被判定：{self.by} 没有给出可读取的结论",
        )


def build(argument: Json, setting: Setting) -> Judged:
    """`judge: {by: DEPLOYMENT, rubric: TEXT}`; with `to: TEXT`, both are compared."""
    table = fields(argument, setting, ("by", "rubric", "to"), _EXAMPLE)
    return Judged(
        text(table.get("by"), setting, "by"),
        text(table.get("rubric"), setting, "rubric"),
        text(table["to"], setting, "to") if "to" in table else None,
        setting.services.ask,
    )

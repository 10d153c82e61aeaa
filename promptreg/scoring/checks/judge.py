"""Check `judge`: another deployment says whether the answer keeps a rubric, or is as good as a given text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.config.model import unknown_deployment
from promptreg.errors import PromptregError
from promptreg.scoring.checks.base import (
    BadArgument,
    Finding,
    Question,
    Rules,
    Setting,
    found,
    must,
    quoted,
    too_long,
)
from promptreg.scoring.checks.options import fields, text
from promptreg.scoring.checks.reading.judge_text import agreed, pair_prompt, read_pair, read_single, single_prompt
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
        if self._is_given(content):
            return found(True, "is the given text itself", "就是给定的文本")
        if self.ask is None:
            return found(None, f"was not judged: {self.by} was not asked", f"未被判定：没有询问 {self.by}")
        try:
            return self._asked(content, self.ask)
        except PromptregError as error:
            reason = preview(str(error), 160).rstrip(".")
            return found(None, f"was not judged: {reason}", f"未被判定：{reason}")

    def questions(self, answer: Answer) -> tuple[Question, ...]:
        """One prompt, or both orders of a pair; none about an answer that is decided, or unscored, without a judge."""
        content = answer.content.strip()
        if not content or len(content) > LONGEST or self._is_given(content):
            return ()
        return tuple(Question(self.by, prompt) for prompt in self._prompts(content))

    def _is_given(self, content: str) -> bool:
        return self.to is not None and content == self.to.strip()

    def _prompts(self, content: str) -> tuple[str, ...]:
        if self.to is None:
            return (single_prompt(self.rubric, content),)
        return (pair_prompt(self.rubric, content, self.to), pair_prompt(self.rubric, self.to, content))

    def _asked(self, content: str, ask: Callable[[str, str], str]) -> Finding:
        replies = [ask(self.by, prompt) for prompt in self._prompts(content)]
        if self.to is None:
            said = read_single(replies[0])
            if said is None:
                return self._unreadable()
            verb_en, verb_zh = ("keeps", "符合") if said else ("does not keep", "不符合")
            return found(said, f"{verb_en} the rubric, says {self.by}", f"{verb_zh}评分标准（{self.by} 判定）")
        first, second = map(read_pair, replies)
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
    by, known = text(table.get("by"), setting, "by"), setting.services.judges
    if known is not None and by not in known:
        raise BadArgument(unknown_deployment(f"`by` of `{setting.name}` names the deployment", by, known))
    return Judged(
        by,
        text(table.get("rubric"), setting, "rubric"),
        text(table["to"], setting, "to") if "to" in table else None,
        setting.services.ask,
    )

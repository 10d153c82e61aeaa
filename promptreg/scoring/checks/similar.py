"""Check `similar`: the content means about the same as a given text, by the project's embedder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.errors import PromptregError
from promptreg.scoring.checks.base import Finding, Rules, Setting, Similarity, found, must, quoted
from promptreg.scoring.checks.options import fields, number, text
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_DEFAULT: Final = 0.75


@dataclass(frozen=True, slots=True)
class Similar:
    """Cosine of the embeddings of content and text. Blind to numbers and negation, which `facts` and `contains` see."""

    to: str
    threshold: float
    similarity: Similarity | None

    @property
    def rules(self) -> Rules:
        """The cosine must reach the threshold, or stay below."""
        to = quoted(self.to)
        return must(
            f"be similar to {to} (cosine of at least {self.threshold:g})",
            f"与{to}意思相近（余弦相似度至少 {self.threshold:g}）",
        )

    def prepare(self, contents: Sequence[str]) -> None:
        """Embed the contents of many answers in one go."""
        if self.similarity is not None:
            self.similarity.prepare((content, self.to) for content in contents if content.strip())

    def find(self, answer: Answer) -> Finding:
        """The cosine."""
        if self.similarity is None:
            return found(None, "was not embedded: no embedder was given", "未计算向量：没有向量模型")
        if not answer.content.strip():
            return found(False, "is empty", "是空的")
        try:
            cosine = self.similarity.cosine(answer.content, self.to)
        except PromptregError as error:
            reason = preview(str(error), 120)
            return found(None, f"could not be embedded: {reason}", f"无法计算向量：{reason}")
        to = quoted(self.to)
        return found(
            cosine >= self.threshold - 1e-6,
            f"has a cosine of {cosine:.3f} to {to}",
            f"与{to}的余弦相似度为 {cosine:.3f}",
        )


def build(argument: Json, setting: Setting) -> Similar:
    """`similar: TEXT`, or `similar: {to: TEXT, threshold: 0.75}`."""
    if isinstance(argument, str):
        argument = {"to": argument}
    table = fields(argument, setting, ("to", "threshold"), "{to: 七天内可以退货。, threshold: 0.8}")
    threshold = number(table.get("threshold", _DEFAULT), setting, "threshold", -1, 1)
    return Similar(text(table.get("to"), setting, "to"), threshold, setting.services.similarity)

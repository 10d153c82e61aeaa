"""Checks `rouge`, `bleu`, `chrf` and `levenshtein`: how much the content overlaps with a given text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted, too_long
from promptreg.scoring.checks.options import fields, number, text
from promptreg.scoring.checks.reading import overlap
from promptreg.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 50_000
"""Characters of the content and of the given text; a longer answer is unscored. The slowest takes some 0.3 s then."""

_EXAMPLE: Final = "{to: 退货期限是七天。, threshold: 0.8}"


@dataclass(frozen=True, slots=True)
class Alike:
    """A score from 0 to 1 against a text must reach a threshold."""

    measure: str
    """As sentences name it."""
    score: Callable[[str, str], float]
    """Of candidate and reference."""
    to: str
    threshold: float

    @property
    def rules(self) -> Rules:
        """The score must reach the threshold, or stay below."""
        return threshold_rules(self.measure, f" {self.measure} ", self.threshold, quoted(self.to))

    def find(self, answer: Answer) -> Finding:
        """The score."""
        longer = too_long(answer.content, LONGEST)
        if longer is not None:
            return longer
        score = self.score(answer.content, self.to) if answer.content.strip() else 0.0
        shown = f"{score:.3f}"
        to = quoted(self.to)
        return found(
            score >= self.threshold - 1e-9,
            f"has a {self.measure} of {shown} to {to}",
            f"与{to}的 {self.measure} 为 {shown}",
        )


@dataclass(frozen=True, slots=True)
class FewEdits:
    """The content must be at most so many edits away from a text."""

    to: str
    most: int

    @property
    def rules(self) -> Rules:
        """The distance must not be larger, or must be."""
        to = quoted(self.to)
        return must(
            f"be within {counted(self.most, 'edit')} of {to}",
            f"在 {self.most} 处编辑之内与{to}一致",
        )

    def find(self, answer: Answer) -> Finding:
        """The distance."""
        longer = too_long(answer.content, LONGEST)
        if longer is not None:
            return longer
        count = overlap.edits(answer.content, self.to)
        to = quoted(self.to)
        return found(
            count <= self.most,
            f"is {counted(count, 'edit')} away from {to}",
            f"与{to}相差 {count} 处编辑",
        )


def build_rouge(argument: Json, setting: Setting) -> Alike:
    """`rouge: TEXT`, or `rouge: {to: TEXT, threshold: 0.75, variant: l}`; variants are l, 1 and 2."""
    table = _table(argument, setting, ("to", "threshold", "variant"))
    variant = str(table.get("variant", "l")).lower()
    if variant not in ("l", "1", "2"):
        raise BadArgument(f"`variant` of `{setting.name}` must be `l`, `1` or `2`, not {quoted(variant)}.")
    score = overlap.rouge_l if variant == "l" else partial(overlap.rouge_n, order=int(variant))
    return _alike(f"ROUGE-{variant.upper()}", score, table, setting, 0.75)


def build_bleu(argument: Json, setting: Setting) -> Alike:
    """`bleu: TEXT`, or `bleu: {to: TEXT, threshold: 0.5}`."""
    return _alike("BLEU", overlap.bleu, _table(argument, setting, ("to", "threshold")), setting, 0.5)


def build_chrf(argument: Json, setting: Setting) -> Alike:
    """`chrf: TEXT`, or `chrf: {to: TEXT, threshold: 0.5}`."""
    return _alike("chrF", overlap.chrf, _table(argument, setting, ("to", "threshold")), setting, 0.5)


def build_levenshtein(argument: Json, setting: Setting) -> Alike | FewEdits:
    """`levenshtein: TEXT`, `levenshtein: {to: TEXT, threshold: 0.8}` or `levenshtein: {to: TEXT, edits: 5}`."""
    table = _table(argument, setting, ("to", "threshold", "edits"))
    if "edits" not in table:
        return _alike("Levenshtein similarity", overlap.likeness, table, setting, 0.8)
    if "threshold" in table:
        raise BadArgument(f"`{setting.name}` takes either `threshold` (a share) or `edits` (a number), not both.")
    most = number(table["edits"], setting, "edits", 0)
    if not most.is_integer():
        raise BadArgument(f"`edits` of `{setting.name}` needs a whole number from 0.")
    return FewEdits(_to(table, setting), int(most))


def threshold_rules(measure_en: str, measure_zh: str, threshold: float, to: str) -> Rules:
    """The rules of a score against a text: at least so much, or less."""
    en, zh = f"have a {measure_en} of at least {threshold:g} to {to}", f"与{to}的{measure_zh}达到 {threshold:g}"
    return must(en, zh)


def _table(argument: Json, setting: Setting, allowed: tuple[str, ...]) -> dict[str, Json]:
    if isinstance(argument, str):
        argument = {"to": argument}
    return dict(fields(argument, setting, allowed, _EXAMPLE))


def _alike(
    measure: str, score: Callable[[str, str], float], table: dict[str, Json], setting: Setting, threshold: float
) -> Alike:
    reach = number(table.get("threshold", threshold), setting, "threshold", 0, 1)
    return Alike(measure, score, _to(table, setting), reach)


def _to(table: dict[str, Json], setting: Setting) -> str:
    to = text(table.get("to"), setting, "to")
    if len(to) > LONGEST:
        raise BadArgument(f"`to` of `{setting.name}` has {len(to)} characters; at most {LONGEST} are compared.")
    return to

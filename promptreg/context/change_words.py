"""The window-change report in words, the same in the terminal and on the page."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.change import fixed_tokens, grown
from promptreg.context.window import Part
from promptreg.text.counted import counted, part_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from promptreg.context.change import WindowReport

FATES: Final[Mapping[str, Sentence]] = MappingProxyType(
    {
        "fits": Sentence("only the margin is used up", "仅用掉余量"),
        "answer cut short": Sentence("the answer is cut short", "回答被截短"),
        "no room for an answer": Sentence("no room for an answer", "没有回答的空间"),
        "refused": Sentence("refused", "拒绝"),
        "cut": Sentence("cut silently", "悄悄截断"),
        "unknown": Sentence("not known", "未知"),
    }
)
"""What becomes of a prompt that does not fit."""


def headline(report: WindowReport) -> Sentence:
    """The report in one sentence."""
    total, affected = len(report.sessions), report.affected
    windows = f"{report.source.budget.window:,} → {report.target.budget.window:,}"
    if not total:
        return Sentence("No conversation could be looked at.", "没有可以查看的对话。")
    if not affected:
        all_fit = "the conversation fits" if total == 1 else f"all {total} conversations fit"
        return Sentence(
            f"{windows} tokens: {all_fit} in every turn.",
            f"{windows} token：{total} 段对话的每一轮都放得下。",
        )
    share = f"{len(affected) / total:.0%}"
    first = min(session.target_overflow.number for session in affected if session.target_overflow is not None)
    over = [session.source_overflow.number for session in report.sessions if session.source_overflow is not None]
    english = f"; on the source {len(over)}, from turn {min(over)}." if over else "; on the source all fit."
    chinese = f"；源部署上为 {len(over)} 段，最早在第 {min(over)} 轮。" if over else "；源部署上全部放得下。"
    part = part_of(len(affected), total, "conversation", "does not fit", "do not fit")
    return Sentence(
        f"{windows} tokens: {part} ({share}), from turn {first}{english}",
        f"{windows} token：{total} 段对话中有 {len(affected)} 段（{share}）放不下，最早在第 {first} 轮{chinese}",
    )


def hopeless(report: WindowReport) -> Sentence | None:
    """That some conversations can never fit; None where there are none."""
    if not report.hopeless:
        return None
    return Sentence(
        f"{report.hopeless} of {counted(len(report.sessions), 'conversation')} cannot fit: the fixed part alone is "
        "larger than the prompt may be, and no strategy shortens it.",
        f"{report.hopeless} 段对话无法放下：仅固定部分就超过提示词的上限，任何策略都无能为力。",
    )


def grew_most(report: WindowReport) -> Sentence | None:
    """Which parts grew most, in how many of the conversations that do not fit; None where all fit."""
    counts = grown(report.affected)
    if not counts:
        return None
    english = ", ".join(f"{part.label.en} in {counted(count, 'conversation')}" for part, count in counts.items())
    chinese = "、".join(f"{part.label.zh}（{count} 段对话）" for part, count in counts.items())
    return Sentence(f"What grew most: {english}.", f"增长最多的部分：{chinese}。")


def fixed_rows(report: WindowReport) -> tuple[tuple[str, Sentence, int], ...]:
    """The target's window taken apart before any history: a name, the words, the tokens. Empty for nothing."""
    session = report.heaviest
    if session is None:
        return ()
    budget = report.target.budget
    rows = [(part.value, part.label, tokens) for part, tokens in session.fixed.items()]
    return (
        *rows,
        ("reserve", Sentence("reserve for the answer", "为回答预留"), budget.reserve),
        ("margin", Sentence("margin", "余量"), budget.margin - session.fixed.get(Part.RESPONSE_FORMAT, 0)),
        ("left", Sentence("left for the conversation", "留给对话"), budget.tokens - fixed_tokens(session)),
    )


def loss_columns(report: WindowReport) -> tuple[Sentence, ...]:
    """Headings of the table of what each strategy would lose."""
    facts = [Sentence("facts kept", "保留的事实")] if _knows_facts(report) else []
    return (
        Sentence("strategy", "策略"),
        Sentence("messages lost", "丢失消息"),
        Sentence("tokens lost", "丢失 token"),
        Sentence("values kept", "保留的数值与名称"),
        *facts,
        Sentence("cannot fit", "无法放下"),
    )


def loss_rows(report: WindowReport) -> Iterator[tuple[str, ...]]:
    """Its cells, a row a strategy; the strategy's name is as given and must be made safe for where it is shown."""
    facts = _knows_facts(report)
    for loss in report.losses:
        share = loss.values_share
        yield (
            loss.strategy,
            f"{loss.messages_lost:,} / {loss.messages:,}",
            f"{loss.tokens_lost:,} / {loss.tokens:,}",
            "—" if share is None else f"{share:.0%}",
            *([f"{loss.facts_kept} / {loss.facts}"] if facts else []),
            f"{loss.cannot_fit:,}",
        )


def loss_notes(report: WindowReport) -> Iterator[Sentence]:
    """What the strategies had to tell beside the messages, a sentence each, with the first conversation's words."""
    for loss in report.losses:
        for note in loss.notes:
            named = loss.strategy in note.sentence.en
            name_en, name_zh = ("In", "") if named else (f"{loss.strategy}, in", f"{loss.strategy}，")
            such_en, such_zh = (", such as", "，例如") if note.sessions > 1 else ("", "")
            of = counted(loss.sessions, "conversation")
            yield Sentence(
                f"{name_en} {note.sessions} of {of}{such_en}: {note.sentence.en}",
                f"{name_zh}{loss.sessions} 段对话中的 {note.sessions} 段{such_zh}：{note.sentence.zh}",
            )


def _knows_facts(report: WindowReport) -> bool:
    return any(loss.facts for loss in report.losses)

"""The report of `promptreg context test`: what it holds, its JSON, and the sentences that read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.context.trial.grid_costs import cost_json, refused, summary_cost
from promptreg.context.trial.grid_rows import pareto
from promptreg.context.trial.invariants import Invariant
from promptreg.context.trial.prefix import Basis, reuse_possible
from promptreg.context.trial.retention import Fate
from promptreg.text.counted import counted, grouped
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json
    from promptreg.context.budget import Budget
    from promptreg.context.summarise.use import Use
    from promptreg.context.trial.grid_rows import Finding, Pooled
    from promptreg.context.trial.probe_report import ProbeReport
    from promptreg.context.trial.retention import Retained

SCHEMA: Final = "promptreg.context-test/1"
BREAKS: Final = Sentence(
    "Breaks: prompts that do not continue the one before; the causes add up to them. Re-anchors: the breaks at which "
    "the first message after the system messages is another one.",
    "断开：未能接续前一个的提示词，其各项原因之和即此数。重新锚定：其中系统消息之后的首条消息有变化的次数。",
)
"""What two columns count."""
FRONT: Final = Sentence(
    "none of its window is better in recall and cache hits together.",
    "在其窗口中，没有策略能在保留率与缓存命中上同时胜过它。",
)
"""What the mark of `ContextReport.front` says."""
FRONT_OF_VALID: Final = Sentence(
    "none of its window is better in recall and cache hits together; strategies that violate one of I1 to I6, or "
    "return what cannot be rendered, are left out of that, since their prompts should not be sent.",
    "在其窗口中，没有策略能在保留率与缓存命中上同时胜过它；违反 I1 至 I6 任一项或返回无法渲染的消息的策略不参与比较，"
    "因为其提示词不应发送。",
)
"""The same where a strategy violates an invariant that spoils its prompts."""


@dataclass(frozen=True, slots=True)
class Column:
    """One window of the grid."""

    budget: Budget
    granularity: int
    """Tokens of the smallest prefix that the server's cache reuses."""
    deployment: str | None = None
    """Whose window it is; None where only a number was given."""
    assumed: bool = False
    """Whether the granularity is a default."""

    @property
    def possible(self) -> bool:
        """Whether any prompt can hit the cache."""
        return reuse_possible(self.budget.tokens, self.granularity)

    @property
    def sentence(self) -> Sentence:
        """What prompts may have, and what the cache can do for them."""
        budget, unit = self.budget, self.granularity
        en = (
            f"Prompts may have {grouped(budget.tokens, 'token')}: {budget.reserve:,} are kept free for the answer, "
            f"{budget.margin:,} as a margin."
        )
        zh = f"提示词最多 {budget.tokens:,} token：为回答预留 {budget.reserve:,}，余量 {budget.margin:,}。"
        if not self.possible:
            en += (
                f" Cache hits: 0% possible, since the budget is below the granularity: the cache reuses prefixes in "
                f"multiples of {grouped(unit, 'token')}."
            )
            zh += f"缓存命中率只能是 0%：预算低于缓存粒度，前缀按 {unit:,} token 的整数倍复用。"
        else:
            why_en, why_zh = (", a default; set it with --granularity", "（默认值，可用 --granularity 设置）")
            en += (
                f" The cache reuses prefixes in multiples of {grouped(unit, 'token')}{why_en if self.assumed else ''}."
            )
            zh += f"缓存按 {unit:,} token 的整数倍复用前缀{why_zh if self.assumed else ''}。"
        return Sentence(en, zh)

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        return {
            "window": self.budget.window,
            "reserve": self.budget.reserve,
            "margin": self.budget.margin,
            "budget": self.budget.tokens,
            "granularity": self.granularity,
            "granularity_assumed": self.assumed,
            "hits_possible": self.possible,
            "deployment": self.deployment,
        }


@dataclass(frozen=True, slots=True)
class Left:
    """A conversation that cannot be tested."""

    conversation: str
    why: str


@dataclass(frozen=True, slots=True)
class Controls:
    """What must come out as known, or the measurement is wrong."""

    facts: int
    found: int
    """Of the facts those that the whole conversations have: must be all."""
    unsaid: int
    """How often facts that were never said were looked for."""
    unsaid_found: int
    """How often they were found: must be never."""
    compared: int
    """Runs whose recall follows from which messages are left."""
    differ: int
    """Of those the runs whose measured recall is another one: must be none."""

    @property
    def hold(self) -> bool:
        """Whether all came out as known."""
        return self.found == self.facts and not self.unsaid_found and not self.differ

    @property
    def sentence(self) -> Sentence:
        """What came out."""
        en = (
            f"Controls: whole conversations have {self.found} of {counted(self.facts, 'fact')}; facts never said were "
            f"found {counted(self.unsaid_found, 'time')}"
        )
        zh = f"对照：完整对话含 {self.facts} 个事实中的 {self.found} 个；从未说过的事实被找到 {self.unsaid_found} 次"
        if self.compared:
            en += f"; recall differs from arithmetic in {self.differ} of {counted(self.compared, 'run')}"
            zh += f"；{self.compared} 次运行中有 {self.differ} 次的保留率与推算不符"
        if self.hold:
            return Sentence(f"{en}.", f"{zh}。")
        return Sentence(
            f"{en}. Read the recall with care: facts that whole conversations lack count as lost.",
            f"{zh}。请谨慎看待保留率：完整对话中找不到的事实也计为丢失。",
        )

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        return {
            "facts": self.facts,
            "found_in_whole": self.found,
            "never_said": self.unsaid,
            "never_said_found": self.unsaid_found,
            "compared": self.compared,
            "differ": self.differ,
            "hold": self.hold,
        }


@dataclass(frozen=True, slots=True)
class Broken:
    """An invariant that a strategy violates, with its smallest example of all windows and conversations."""

    strategy: str
    finding: Finding
    calls: int
    windows: tuple[int, ...]

    @property
    def sentence(self) -> Sentence:
        """What is wrong, and how."""
        kind, finding = self.finding.invariant, self.finding
        size, budget = len(finding.example.messages), finding.example.budget
        smallest = ("Smallest example", "最小示例") if finding.shrunken else ("Where it happened first", "首次出现处")
        calls = counted(self.calls, "call")
        if kind is Invariant.RENDERED:
            what = Sentence(
                f"What {self.strategy} returned could not be rendered in {calls}.",
                f"{self.strategy} 在 {self.calls} 次调用中返回了无法渲染的消息。",
            )
        else:
            what = Sentence(
                f"{self.strategy} violates {kind} ({kind.sentence.en}) in {calls}.",
                f"{self.strategy} 在 {self.calls} 次调用中违反 {kind}（{kind.sentence.zh}）。",
            )
        return Sentence(
            f"{what.en} {_ended(finding.sentence.en, '.')} {smallest[0]}: {counted(size, 'message')}, "
            f"{grouped(budget, 'token')} allowed.",
            f"{what.zh}{_ended(finding.sentence.zh, '。')}{smallest[1]}：{size} 条消息，预算 {budget:,} token。",
        )

    def to_json(self) -> dict[str, Json]:
        """As in the JSON output."""
        finding = self.finding
        return {
            "strategy": self.strategy,
            "invariant": finding.invariant.value,
            "asks_for": finding.invariant.sentence.to_json(),
            "happened": finding.sentence.to_json(),
            "calls": self.calls,
            "windows": list(self.windows),
            "shrunken": finding.shrunken,
            "budget": finding.example.budget,
            "messages": [dict(message) for message in finding.example.messages],
        }


@dataclass(frozen=True, slots=True)
class ContextReport:
    """Conversations x strategies x windows."""

    counter: str
    columns: tuple[Column, ...]
    results: tuple[Pooled, ...]
    conversations: int
    messages: int
    facts: int
    planted: int
    """Of the facts those that were put into the conversations for this test."""
    planted_tokens: int
    """By how much that made them longer."""
    controls: Controls
    left: tuple[Left, ...]
    guessed: tuple[Sentence, ...]
    seed: int
    names: tuple[str, ...]
    """What was compared."""
    summariser: Use | None = None
    """The deployment that wrote summaries, and what that took; None where they are extracts."""
    probes: ProbeReport | None = None
    """What a deployment answered to questions about the facts; None where none was asked."""

    @property
    def summarised(self) -> Sentence | None:
        """What the deployment that wrote summaries was asked, and for what beside the prompts that are counted."""
        use = self.summariser
        if use is None:
            return None
        beside = use.calls - sum(summary_cost(one).asked for one in self.results)
        if beside <= 0:
            return use.sentence
        return Sentence(
            f"{use.sentence.en} At least {beside} of the calls were for no prompt above: invariants are checked by "
            "shortening again, also with larger budgets, and prompts with questions may need a summary of their own.",
            f"{use.sentence.zh}其中至少 {beside} 次不属于上面的提示词：检查不变量时会再次缩短，也会放大预算；"
            "带问题的提示词也可能需要另写摘要。",
        )

    def of(self, column: Column) -> tuple[Pooled, ...]:
        """The results of one window."""
        return tuple(one for one in self.results if one.window == column.budget.window)

    def front(self, column: Column) -> frozenset[str]:
        """Those that none beats in recall and cache hits together; empty where no prompt had to be shortened.

        Strategies whose prompts should not be sent (`Pooled.valid`) are no part of the comparison.
        """
        return frozenset(one.strategy for one in pareto(self.of(column), column.granularity))

    @property
    def basis(self) -> Basis:
        """What common prefixes were measured on."""
        return next((row.basis for one in self.results for row in one.rows), Basis.MESSAGES)

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Every invariant that a strategy violates, once, by strategy and invariant."""
        found: list[Broken] = []
        for name in self.names:
            results = [one for one in self.results if one.strategy == name]
            rows = [row for one in results for row in one.rows]
            findings = [finding for row in rows for finding in row.findings]
            violated = {finding.invariant for finding in findings}
            for kind in (kind for kind in Invariant if kind in violated):
                same = [finding for finding in findings if finding.invariant == kind]
                smallest = min(same, key=lambda one: (not one.shrunken, len(one.example.messages)))
                windows = dict.fromkeys(
                    row.window for row in rows if any(finding.invariant == kind for finding in row.findings)
                )
                found.append(Broken(name, smallest, sum(finding.times for finding in same), tuple(windows)))
        return tuple(found)

    @property
    def headline(self) -> Sentence:
        """What came out, in one sentence."""
        broken = [one for one in self.broken if one.finding.invariant is not Invariant.RENDERED]
        names = list(dict.fromkeys(one.strategy for one in broken))
        unrendered = [one.strategy for one in self.broken if one.finding.invariant is Invariant.RENDERED]
        counts = (
            (self.conversations, "conversation", "conversations"),
            (len(self.names), "strategy", "strategies"),
            (len(self.columns), "window", "windows"),
        )
        en = ", ".join(f"{count:,} {one if count == 1 else many}" for count, one, many in counts) + ": "
        zh = f"{self.conversations} 段对话、{len(self.names)} 种策略、{len(self.columns)} 个窗口："
        if not self.conversations:
            return Sentence(en + "nothing could be tested.", zh + "没有可以测试的对话。")
        if not names and not unrendered:
            return Sentence(en + "no invariant is violated.", zh + "没有违反任何不变量。")
        count = len(broken)
        told_en, told_zh = [], []
        if unrendered:
            told_en.append(f"what {', '.join(unrendered)} returned could not be rendered")
            told_zh.append(f"{'、'.join(unrendered)} 返回的消息无法渲染")
        if names:
            many = "invariant is" if count == 1 else "invariants are"
            told_en.append(f"{count} {many} violated, by {', '.join(names)}")
            told_zh.append(f"{'、'.join(names)} 违反了 {count} 项不变量")
        return Sentence(f"{en}{'; '.join(told_en)}.", f"{zh}{'；'.join(told_zh)}。")

    @property
    def counted(self) -> Sentence:
        """What counted, and what prefixes were compared by."""
        tokens = self.basis is Basis.TOKENS
        return Sentence(
            f"Counted by {self.counter}. Prefixes are compared by {'tokens' if tokens else 'whole messages'}.",
            f"计数器：{self.counter}。前缀按{' token ' if tokens else '整条消息'}比较。",
        )

    @property
    def known(self) -> Sentence:
        """Where the facts come from."""
        if not self.facts:
            return Sentence("No facts are looked for.", "未查找任何事实。")
        own = self.facts - self.planted
        looked = f"{counted(self.facts, 'fact')} {'is' if self.facts == 1 else 'are'} looked for"
        if not self.planted:
            return Sentence(f"{looked}, none of them planted.", f"查找 {self.facts} 个事实，由对话自带。")
        came_en = f", {own} that came with the conversations" if own else ""
        came_zh = f"，{own} 个为对话自带" if own else ""
        return Sentence(
            f"{looked}: {self.planted} planted (seed {self.seed}, {grouped(self.planted_tokens, 'token')} longer by "
            f"that){came_en}.",
            f"查找 {self.facts} 个事实：{self.planted} 个为植入（随机种子 {self.seed}，对话因此增加 "
            f"{self.planted_tokens:,} 个 token）{came_zh}。",
        )

    def to_json(self) -> dict[str, Json]:
        """The one object that `promptreg context test --json` prints."""
        return {
            "schema": SCHEMA,
            "counter": self.counter,
            "prefix_basis": self.basis.value,
            "seed": self.seed,
            "conversations": self.conversations,
            "messages": self.messages,
            "facts": self.facts,
            "planted": self.planted,
            "planted_tokens": self.planted_tokens,
            "controls": self.controls.to_json(),
            "windows": [
                {**column.to_json(), "strategies": [self._result(one, column) for one in self.of(column)]}
                for column in self.columns
            ],
            "summariser": None if self.summariser is None else self.summariser.to_json(),
            "asked": None if self.probes is None else self.probes.to_json(),
            "violations": [one.to_json() for one in self.broken],
            "skipped": [{"conversation": one.conversation, "why": one.why} for one in self.left],
            "remarks": [sentence.to_json() for sentence in self.guessed],
        }

    def _result(self, one: Pooled, column: Column) -> dict[str, Json]:
        steady = one.reused(column.granularity)
        depths: list[Json] = [{"depth": depth, **_fates(fates)} for depth, fates in one.by_depth.items()]
        return {
            "strategy": one.strategy,
            "recall": one.recall,
            "at_end": _fates(one.retained),
            "by_depth": depths,
            "by_kind": {kind.value: _fates(fates) for kind, fates in one.by_kind.items()},
            "by_role": {role: _fates(fates) for role, fates in one.by_role.items()},
            "calls": sum(len(row.calls) for row in one.rows),
            "calls_after_first_cut": steady.prompts,
            "prompt_tokens_of_all_calls": sum(row.prompt_tokens for row in one.rows),
            "prompt_tokens": steady.prompt_tokens,
            "prefill_tokens": steady.prefill_tokens,
            "hit_ratio": steady.hit_ratio,
            "breaks": steady.breaks,
            "reanchors": steady.reanchors,
            "causes": {cause.value: count for cause, count in steady.causes.items()},
            "refused": refused(one),
            "summaries": cost_json(one),
            "valid": one.valid,
            "on_front": one.strategy in self.front(column),
            "violated": [finding.invariant.value for finding in one.findings],
        }


def _ended(text: str, stop: str) -> str:
    """A sentence that may end in the words of an error."""
    return text if text.endswith((".", "。")) else text + stop


def _fates(fates: Retained) -> dict[str, Json]:
    return {**{fate.value: fates.counts[fate] for fate in Fate}, "recall": fates.recall}

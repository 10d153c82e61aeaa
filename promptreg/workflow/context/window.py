"""The window-change report: recorded conversations against the windows of two deployments."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.change import Ending, Loss, Reader, SideView, Skipped, WindowReport, loss_of
from promptreg.context.culprit import with_message
from promptreg.context.named import strategy_from
from promptreg.context.trial.misplaced import misplaced_facts
from promptreg.context.window import Limit, Session, look_at
from promptreg.deployment.profiles.load import load_profile
from promptreg.deployment.targets.served import Served, served
from promptreg.errors import ContextError, EncodingError
from promptreg.text.counted import grouped
from promptreg.text.sentence import Sentence
from promptreg.workflow.context.fit import given_by
from promptreg.workflow.context.sides import guesses, reserve_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from promptreg.config import Config
    from promptreg.context.conversations import Recording
    from promptreg.context.strategies.base import Strategy
    from promptreg.context.window import Turn
    from promptreg.deployment.targets.served import Fate
    from promptreg.deployment.targets.target import Target
    from promptreg.workflow.context.sides import Side

DEFAULT_STRATEGIES: Final = (
    "oldest-first",
    "sliding-window",
    "hysteresis",
    "first-and-last",
    "middle-out",
    "prune-results+sliding-window",
    "summary-on-cut",
    "summary-and-recent",
)
"""What is tried where no strategy is named: all that need nothing but the conversation."""

_WARNINGS: Final[Mapping[Fate, Sentence]] = MappingProxyType(
    {
        "cut": Sentence(
            "Status 200 with a silent cut is worse than an error: nothing tells the application that the model saw "
            "only a part of the prompt.",
            "状态码 200 却悄悄截断，比报错更糟：没有任何迹象告诉应用，模型只看到了提示词的一部分。",
        ),
        "answer cut short": Sentence(
            "max_tokens is clamped without an error: answers end early with finish_reason length. Lower max_tokens, "
            "and have the application look at finish_reason.",
            "max_tokens 会被悄悄压低而不报错：回答提前结束，finish_reason 为 length。请调低 max_tokens，"
            "并让应用检查 finish_reason。",
        ),
        "no room for an answer": Sentence(
            "The answer is empty and the status 200: the application sees no error.",
            "回答为空而状态码为 200：应用看不到任何错误。",
        ),
    }
)
_ENGINE_FAULT: Final = Sentence(
    "Status 424 is also this server's engine fault: a client that retries it, or knows only 400 as too long, takes "
    "this for an outage.",
    "该服务端的引擎故障同样返回 424：会重试它、或只把 400 当作超长的客户端，会误以为服务中断。",
)
_NOT_KNOWN: Final = Sentence("What the server does here is not known.", "无法判断服务端在此情况下的行为。")
_NAME_IT: Final = Sentence(
    "It may be an error or a silent cut. Name a deployment, whose `server` tells.",
    "可能报错，也可能悄悄截断。请指定部署，由其 `server` 判断。",
)
_SET_IT: Final = Sentence(
    "It is not known whether this server refuses a max_tokens that does not fit, or cuts the answer short. Try it "
    "once, and set `max_tokens` in the deployment's `context` table.",
    "不清楚该服务端会拒绝放不下的 max_tokens，还是截短回答。请试一次，并在部署的 `context` 表中设置 `max_tokens`。",
)
_ALIKE: Final = 400
"""The status by which most clients know a prompt that is too long."""


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """What a report is asked for."""

    strategies: tuple[str, ...] = DEFAULT_STRATEGIES
    pinned: tuple[int, ...] = ()


def window_report(
    recordings: Sequence[Recording],
    source: Side,
    target: Side,
    options: WindowOptions | None = None,
    *,
    config: Config | None = None,
) -> WindowReport:
    """Look at conversations against two windows.

    Args:
        recordings: the conversations.
        source: where they were recorded.
        target: where they are to go.
        options: strategies and pinned messages.
        config: the project, for its embedder.

    Raises:
        UsageError: a strategy that does not exist.
    """
    options = options or WindowOptions()
    given = given_by(config)
    strategies = [strategy_from(text, given) for text in options.strategies]
    here, there = (Limit(side.budget, side.chosen.counter) for side in (source, target))
    sessions: list[Session] = []
    skipped: list[Skipped] = []
    for recording in recordings:
        try:
            sessions.append(
                look_at(
                    recording.conversation_id,
                    recording.messages,
                    recording.tools,
                    here,
                    there,
                    options.pinned,
                    target.format_tokens,
                )
            )
        except (ContextError, EncodingError) as error:
            counters = (here.counter, there.counter)
            told = (with_message(recording.messages, counter, error, recording.tools) for counter in counters)
            why = next((said for said in told if said != str(error)), str(error))
            skipped.append(Skipped(recording.conversation_id, why))
    affected = [session for session in sessions if session.target_overflow is not None]
    reader = Reader()
    left = {each.conversation_id for each in skipped}
    looked_at = [recording for recording in recordings if recording.conversation_id not in left]
    return WindowReport(
        _view(source),
        _view(target),
        tuple(sessions),
        tuple(skipped),
        _losses(strategies, affected, there, recordings, reader),
        _endings(target, affected),
        (*_remarks(source, target, sessions), *misplaced_facts(looked_at, reader.facts)),
    )


def _losses(
    strategies: Sequence[Strategy],
    affected: Sequence[Session],
    target: Limit,
    recordings: Sequence[Recording],
    reader: Reader,
) -> tuple[Loss, ...]:
    if not affected:
        return ()
    facts = {recording.conversation_id: recording.facts for recording in recordings}
    return tuple(loss_of(strategy, affected, target, facts, reader) for strategy in strategies)


def _view(side: Side) -> SideView:
    title = "" if side.target is None else load_profile(side.target.server).title
    return SideView(side.name, title, side.budget, reserve_words(side), side.chosen.counter.name)


def _endings(target: Side, affected: Sequence[Session]) -> tuple[Ending, ...]:
    """What the server does with every counted prompt that does not fit, the most frequent first."""
    turns: dict[tuple[Fate, int | None], list[tuple[Session, Turn, Served]]] = {}
    for session in affected:
        for turn in session.turns:
            if turn.target > target.budget.tokens:
                end = _served(target.target, turn, target.budget.reserve)
                turns.setdefault((end.fate, end.status), []).append((session, turn, end))
    endings = []
    for (fate, status), met in turns.items():
        sessions = len({session.conversation_id for session, _, _ in met})
        sentence = min(met, key=lambda item: item[1].target)[2].sentence
        endings.append(Ending(fate, status, len(met), sessions, sentence, _warning(fate, status, target.target)))
    return tuple(sorted(endings, key=lambda ending: -ending.turns))


def _served(target: Target | None, turn: Turn, reserve: int) -> Served:
    if target is None:
        return Served(
            "unknown", Sentence("What the server does here is not known.", "无法判断服务端在此情况下的行为。")
        )
    return served(target, turn.target, reserve)


def _warning(fate: Fate, status: int | None, target: Target | None) -> Sentence | None:
    if fate == "unknown":
        return _NAME_IT if target is None else _SET_IT
    if fate == "refused" and status != _ALIKE:
        return _ENGINE_FAULT if status == 424 else None
    return _WARNINGS.get(fate)


def _remarks(source: Side, target: Side, sessions: Sequence[Session]) -> tuple[Sentence, ...]:
    remarks = list(guesses([source, target]))
    if source.chosen.counter.name != target.chosen.counter.name:
        remarks.append(
            Sentence(
                "The two sides count differently: the same prompt has another number of tokens on each.",
                "两个部署的计数方式不同，同一段提示词的 token 数可能不一样。",
            )
        )
    if target.format_tokens:
        remarks.append(_response_format(target))
    unit = None if target.target is None else target.target.cache_unit
    if unit is not None and target.budget.tokens < unit:
        remarks.append(
            Sentence(
                f"The target reuses prefixes in multiples of {grouped(unit, 'token')}, more than a prompt may have: "
                "its prefix cache can never be hit.",
                f"目标部署以 {unit:,} token 的整数倍复用前缀，超过提示词的上限：前缀缓存不可能命中。",
            )
        )
    if any(len(session.turns) < session.turn_count for session in sessions):
        remarks.append(
            Sentence(
                "Of long conversations not every turn is counted; the first that does not fit is found all the same.",
                "较长的对话并非每一轮都计数，但首个放不下的轮次不受影响。",
            )
        )
    return tuple(remarks)


def _response_format(target: Side) -> Sentence:
    """What the `response_format` of the requests may cost."""
    tokens = target.format_tokens
    return Sentence(
        f"The fixed part has {grouped(tokens, 'token')} for the response_format of the requests, as if the server "
        "wrote it into the prompt. Most enforce it by a grammar instead and have so much room more.",
        f"固定部分为请求的 response_format 计入 {tokens:,} 个 token，视同写进提示词。"
        "多数服务端改用语法约束实现，实际可多用这些空间。",
    )

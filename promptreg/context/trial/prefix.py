"""How much of each prompt a server's prefix cache still has from the prompt before.

Measured on the tokens of rendered prompts where the counter can give them, since templates change old messages in ways
that the messages do not show; else on whole messages, and the result says which. Only the prompt before is looked at:
what the model generated, and older prompts, are cached by some servers and not by others.
"""

from __future__ import annotations

import re
from collections import Counter as Tally
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from promptreg.context.count.counting import content_text
from promptreg.context.groups import is_system
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.canonical import JsonObject
    from promptreg.context.count.counting import Counter, Message

_CUE: Final = 2
"""Most tokens at the end of a prompt that only ask for the answer and stand differently once it is there."""
_NUMBER: Final = re.compile("[0-9]+")


@runtime_checkable
class GivesTokens(Protocol):
    """A counter that knows the tokens of a prompt."""

    def pieces(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> Sequence[Sequence[int]]:
        """Token ids of the rendered prompt, in pieces."""
        ...


class Basis(StrEnum):
    """What common prefixes were measured on."""

    TOKENS = "tokens"
    MESSAGES = "messages"
    """Whole messages that did not change; the template may still have rendered them differently."""


class Cause(StrEnum):
    """Why a prompt does not continue the prompt before."""

    TOOLS = "tools"
    DATE = "date"
    SYSTEM = "system"
    SUMMARY = "summary"
    WINDOW = "window"
    REWRITTEN = "rewritten"
    TEMPLATE = "template"

    @property
    def sentence(self) -> Sentence:
        """How reports say it."""
        return _SENTENCES[self]

    @property
    def word(self) -> Sentence:
        """The same in a table."""
        return _WORDS[self]


_WORDS: Final[Mapping[Cause, Sentence]] = MappingProxyType(
    {
        Cause.TOOLS: Sentence("tool list", "工具列表"),
        Cause.DATE: Sentence("date or number", "日期或数字"),
        Cause.SYSTEM: Sentence("system message", "系统消息"),
        Cause.SUMMARY: Sentence("summary", "摘要"),
        Cause.WINDOW: Sentence("window moved", "窗口移动"),
        Cause.REWRITTEN: Sentence("message shortened", "消息截短"),
        Cause.TEMPLATE: Sentence("template", "模板"),
    }
)

_SENTENCES: Final[Mapping[Cause, Sentence]] = MappingProxyType(
    {
        Cause.TOOLS: Sentence("the list of tools changed", "工具列表有变化"),
        Cause.DATE: Sentence("a number or date in the system message changed", "系统消息中的数字或日期有变化"),
        Cause.SYSTEM: Sentence("the system message changed", "系统消息有变化"),
        Cause.SUMMARY: Sentence("a summary was put in, written anew or left out", "加入、重写或去除了摘要"),
        Cause.WINDOW: Sentence("the window moved: old messages left", "窗口移动，旧消息被移除"),
        Cause.REWRITTEN: Sentence("an old message was cut or replaced", "旧消息被截短或替换"),
        Cause.TEMPLATE: Sentence(
            "the template renders old messages differently, such as without their reasoning",
            "模板对旧消息的渲染有变化，例如去掉其中的思考内容",
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Reuse:
    """One prompt, beside the prompt before. All sizes in tokens."""

    prompt: int
    common: int
    """Of the beginning that both prompts have in common; 0 for the first prompt."""
    cause: Cause | None
    """Why it is no continuation; None where it is one, and for the first prompt."""
    reanchored: bool
    """Whether it is none because the first message after the system messages is another one than before."""

    def reusable(self, granularity: int) -> int:
        """Tokens that the server need not compute again: see `reusable_tokens`."""
        return reusable_tokens(self.common, self.prompt, granularity)

    def prefill(self, granularity: int) -> int:
        """Tokens that the server has to compute."""
        return self.prompt - self.reusable(granularity)


@dataclass(frozen=True, slots=True)
class Reused:
    """Several prompts of a conversation together."""

    prompts: int
    prompt_tokens: int
    reusable_tokens: int
    granularity: int
    reanchors: int
    """Of the breaks those where the first message after the system messages is another one."""
    causes: Mapping[Cause, int]
    """Of the breaks."""

    @property
    def breaks(self) -> int:
        """Prompts that do not continue the one before."""
        return sum(self.causes.values())

    @property
    def hit_ratio(self) -> float | None:
        """Share of the prompt tokens that a cache has, 0 to 1; None without prompts."""
        return self.reusable_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def prefill_tokens(self) -> int:
        """Tokens that the server has to compute."""
        return self.prompt_tokens - self.reusable_tokens


def reusable_tokens(common: int, prompt: int, granularity: int) -> int:
    """Tokens of a prompt that a cache of full blocks can serve: floor(min(common, prompt - 1) / g) * g.

    The last token is always computed, since the first token of the answer comes from it (context.md 3.5 and 5.7).

    Args:
        common: Tokens that the prompt has in common with one that is cached.
        prompt: Tokens of the prompt.
        granularity: Tokens of the smallest reusable prefix, 1 or more.
    """
    return max(0, min(common, prompt - 1)) // granularity * granularity


def reuse_possible(budget: int, granularity: int) -> bool:
    """Whether any prompt within the budget can hit the cache at all; where not, 0 % is no strategy's fault."""
    return budget > granularity


def reused(turns: Iterable[Reuse], granularity: int) -> Reused:
    """The sums over prompts, such as those of the steady state."""
    turns = list(turns)
    causes = Tally(turn.cause for turn in turns if turn.cause is not None)
    return Reused(
        len(turns),
        sum(turn.prompt for turn in turns),
        sum(turn.reusable(granularity) for turn in turns),
        granularity,
        sum(turn.reanchored for turn in turns),
        MappingProxyType(dict(causes.most_common())),
    )


@dataclass(frozen=True, slots=True)
class _Prompt:
    messages: tuple[Message, ...]
    origins: tuple[int | None, ...] | None
    tools: tuple[JsonObject, ...]
    tokens: int
    pieces: Sequence[Sequence[int]] | None


class PrefixMeter:
    """Takes the prompts of one conversation one after the other."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._last: _Prompt | None = None
        self.basis = Basis.TOKENS if isinstance(counter, GivesTokens) else Basis.MESSAGES

    def add(
        self,
        messages: Sequence[Message],
        *,
        origins: Sequence[int | None] | None = None,
        tools: Sequence[JsonObject] = (),
    ) -> Reuse:
        """What of this prompt the prompt before already had.

        Args:
            messages: The prompt.
            origins: For each message its place in the conversation, None for one that was put in (`Fitted.origins`).
                Without it, messages that were put in are told by their text only.
            tools: The tools of the request.

        Raises:
            EncodingError: the counter's format has no place for these messages.
        """
        now = self._read(messages, origins, tools)
        last, self._last = self._last, now
        if last is None:
            return Reuse(now.tokens, 0, None, reanchored=False)
        same = _same_messages(last, now)
        common = self._common(last, now, same)
        anchored = same == len(last.messages) or _anchor(last) == _anchor(now)
        return Reuse(now.tokens, common, _cause(last, now, same, common), reanchored=not anchored)

    def _read(
        self, messages: Sequence[Message], origins: Sequence[int | None] | None, tools: Sequence[JsonObject]
    ) -> _Prompt:
        pieces = None
        if isinstance(self._counter, GivesTokens):
            pieces = self._counter.pieces(messages, tools=tools)
            tokens = sum(map(len, pieces))
        else:
            tokens = self._counter.prompt(messages, tools=tools)
        return _Prompt(tuple(messages), None if origins is None else tuple(origins), tuple(tools), tokens, pieces)

    def _common(self, last: _Prompt, now: _Prompt, same: int) -> int:
        if last.pieces is not None and now.pieces is not None:
            return common_tokens(last.pieces, now.pieces)
        if last.tools != now.tools:
            return 0
        size = self._counter.message
        # Tools and the beginning of the prompt stand before the messages: what is no message's own belongs to them.
        before = max(0, now.tokens - sum(map(size, now.messages)))
        return min(now.tokens, last.tokens, before + sum(map(size, now.messages[:same])))


def common_tokens(first: Sequence[Sequence[int]], second: Sequence[Sequence[int]]) -> int:
    """How many tokens two prompts begin with alike. Both must be cut into pieces by the same rule."""
    common = 0
    for one, other in zip(first, second, strict=False):
        if one is other or one == other:
            common += len(one)
            continue
        return common + _common_of(one, other)
    return common


def _common_of(one: Sequence[int], other: Sequence[int]) -> int:
    """Binary search over slices: comparing them is much faster than comparing tokens one by one."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_messages(last: _Prompt, now: _Prompt) -> int:
    count = 0
    for one, other in zip(last.messages, now.messages, strict=False):
        if one is not other and one != other:
            break
        count += 1
    return count


def _anchor(prompt: _Prompt) -> Message | None:
    return next((message for message in prompt.messages if not is_system(message)), None)


def _cause(last: _Prompt, now: _Prompt, same: int, common: int) -> Cause | None:
    if last.tools != now.tools:
        return Cause.TOOLS
    if same == len(last.messages):
        return None if common >= last.tokens - _CUE or last.pieces is None else Cause.TEMPLATE
    one = last.messages[same]
    other = now.messages[same] if same < len(now.messages) else None
    if other is not None and is_system(one) and is_system(other):
        texts = (_NUMBER.sub("", content_text(message.get("content"))) for message in (one, other))
        return Cause.DATE if len(set(texts)) == 1 else Cause.SYSTEM
    if last.origins is None or now.origins is None:
        return Cause.WINDOW
    places = [prompt.origins[same] for prompt in (last, now) if prompt.origins and same < len(prompt.origins)]
    if None in places:
        return Cause.SUMMARY
    return Cause.REWRITTEN if len(places) == 2 and places[0] == places[1] else Cause.WINDOW

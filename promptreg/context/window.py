"""What a change of windows does to a recorded conversation: which turn is the first that no longer fits, and why.

A turn is what stands between two user messages. Its prompt is the longest one it took: all messages before its last
answer. Messages that have no place in a prompt (results without a call, calls without results) are left out, as servers
would have refused them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.context.groups import is_result, is_system, read_conversation
from promptreg.context.preamble import opening_of
from promptreg.errors import EncodingError, OpenToolCallsError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.budget import Budget
    from promptreg.context.count.counting import Counter, Message

MOST_COUNTED: Final = 160
"""Turns of a conversation whose prompts are all counted; of longer ones every second, third, … is, and those around the
first that does not fit."""
_REASONING: Final = frozenset({"reasoning_content", "reasoning"})


class Part(StrEnum):
    """What a prompt is made of."""

    PREAMBLE = "preamble"
    """What the format puts before everything else: the mark of the beginning, V4's text for the effort."""
    SYSTEM = "system"
    TOOLS = "tools"
    RESPONSE_FORMAT = "response_format"
    """As if the server wrote it into the prompt. Only in the fixed part; the budget has it in its margin."""
    PINNED = "pinned"
    HISTORY = "history"
    """Earlier turns, without what stands in other parts, and the marks around their messages."""
    RESULTS = "results"
    REASONING = "reasoning"
    NEWEST = "newest"
    """The newest user message."""

    @property
    def label(self) -> Sentence:
        """How reports call it."""
        return _PARTS[self]


_PARTS: Final[Mapping[Part, Sentence]] = MappingProxyType(
    {
        Part.PREAMBLE: Sentence("preamble", "格式前导"),
        Part.SYSTEM: Sentence("system messages", "系统消息"),
        Part.TOOLS: Sentence("tools", "工具定义"),
        Part.RESPONSE_FORMAT: Sentence("response_format, if it is in the prompt", "response_format（若写入提示词）"),
        Part.PINNED: Sentence("pinned messages", "固定消息"),
        Part.HISTORY: Sentence("history", "历史轮次"),
        Part.RESULTS: Sentence("tool results", "工具结果"),
        Part.REASONING: Sentence("reasoning", "推理内容"),
        Part.NEWEST: Sentence("newest message", "最新消息"),
    }
)


@dataclass(frozen=True, slots=True)
class Limit:
    """A window as a number of tokens by a counter."""

    budget: Budget
    counter: Counter

    def holds(self, tokens: int) -> bool:
        """Whether a prompt leaves the reserve and the margin free."""
        return tokens <= self.budget.tokens


@dataclass(frozen=True, slots=True)
class Turn:
    """The prompt of one turn."""

    number: int
    """From 1."""
    end: int
    """Messages of the conversation before this place are in the prompt."""
    source: int
    """Tokens by the source's counter."""
    target: int
    """Tokens by the target's counter."""


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation against two windows."""

    conversation_id: str
    messages: tuple[Message, ...]
    """Those that have a place in a prompt."""
    tools: tuple[JsonObject, ...]
    turn_count: int
    turns: tuple[Turn, ...]
    """Ascending; all of them, or some where there are more than `MOST_COUNTED`."""
    source_overflow: Turn | None
    """The first that does not fit the source's window; None when all do."""
    target_overflow: Turn | None
    fixed: Mapping[Part, int]
    """Tokens of what every prompt has, by the target's counter."""
    first: Mapping[Part, int]
    """Tokens of the parts of the first turn's prompt, by the target's counter."""
    later: Mapping[Part, int]
    """The same of the first prompt that does not fit the target, or of the last where all do."""
    places: tuple[int, ...]
    """For each message its place in the recording."""
    pinned: tuple[int, ...] = ()
    """Places in `messages` of those that are pinned."""

    @property
    def is_worse(self) -> bool:
        """Whether it stops to fit the target earlier than the source, or only there."""
        if self.target_overflow is None:
            return False
        return self.source_overflow is None or self.target_overflow.number < self.source_overflow.number

    @property
    def longest(self) -> Turn:
        """The turn with the longest prompt on the target."""
        return max(self.turns, key=lambda turn: turn.target)

    @property
    def grew(self) -> Part | None:
        """The part that grew most between the first turn and the one that does not fit; None where none grew.

        Where that is the first turn itself, all of its prompt came at once: its largest part grew most.
        """
        before = {} if self.at_once else self.first
        part = max(Part, key=lambda part: self.later.get(part, 0) - before.get(part, 0))
        return part if self.later.get(part, 0) > before.get(part, 0) else None

    @property
    def at_once(self) -> bool:
        """Whether the prompt that is looked at, the first that does not fit or else the last, is the first turn's."""
        return self.turn_count == 1 or (self.target_overflow is not None and self.target_overflow.number == 1)

    def prompt(self, turn: Turn) -> tuple[Message, ...]:
        """The messages of a turn's prompt."""
        return self.messages[: turn.end]

    def to_json(self) -> dict[str, Json]:
        """The form in JSON output."""
        return {
            "conversation": self.conversation_id,
            "turns": self.turn_count,
            "source_overflow": _number(self.source_overflow),
            "target_overflow": _number(self.target_overflow),
            "longest_source": max(turn.source for turn in self.turns),
            "longest_target": self.longest.target,
            "grew": None if self.grew is None else self.grew.value,
            "first": {part.value: tokens for part, tokens in self.first.items()},
            "later": {part.value: tokens for part, tokens in self.later.items()},
            "prompts": [{"turn": turn.number, "source": turn.source, "target": turn.target} for turn in self.turns],
        }


def _number(turn: Turn | None) -> int | None:
    return None if turn is None else turn.number


def look_at(
    conversation_id: str,
    messages: Sequence[Message],
    tools: Sequence[JsonObject],
    source: Limit,
    target: Limit,
    pinned: Sequence[int] = (),
    response_format: int = 0,
) -> Session:
    """Count a conversation turn by turn against two windows.

    Args:
        conversation_id: Of the conversation.
        messages: All of it.
        tools: Of its requests.
        source: The window that it comes from.
        target: The window that it goes to.
        pinned: Places of messages that stay.
        response_format: Tokens of that of the target's requests, for which the target's margin has room.

    Raises:
        ContextError: there is nothing to send in it.
        EncodingError: a format has no place for its messages.
    """
    kept = _valid(messages)
    pins = {place + len(messages) if place < 0 else place for place in pinned}
    valid = tuple(messages[place] for place in kept)
    pinned_here = tuple(index for index, place in enumerate(kept) if place in pins)
    tools = tuple(tools)
    ends = _ends(valid)
    counts = _Counts(valid, tools, source.counter, target.counter)
    turns = {number: counts(number, ends[number - 1]) for number in _sampled(len(ends))}
    source_overflow = _first_over(turns, ends, counts, lambda turn: source.holds(turn.source))
    target_overflow = _first_over(turns, ends, counts, lambda turn: target.holds(turn.target))
    ordered = tuple(turns[number] for number in sorted(turns))
    later = target_overflow or ordered[-1]
    count = target.counter
    fixed = _fixed(valid, pinned_here, tools, count)
    if response_format:
        fixed[Part.RESPONSE_FORMAT] = response_format
    return Session(
        conversation_id,
        valid,
        tools,
        len(ends),
        ordered,
        source_overflow,
        target_overflow,
        MappingProxyType(fixed),
        MappingProxyType(_parts(valid[: ordered[0].end], pinned_here, tools, count)),
        MappingProxyType(_parts(valid[: later.end], pinned_here, tools, count)),
        kept,
        pinned_here,
    )


class _Counts:
    """Counts prompts; where both sides count alike, once."""

    def __init__(
        self, messages: Sequence[Message], tools: Sequence[JsonObject], source: Counter, target: Counter
    ) -> None:
        self._messages = messages
        self._tools = tools
        self._source = source
        self._target = target

    def __call__(self, number: int, end: int) -> Turn:
        prompt = self._messages[:end]
        target = self._target.prompt(prompt, tools=self._tools)
        same = self._source.name == self._target.name
        return Turn(number, end, target if same else self._source.prompt(prompt, tools=self._tools), target)


def _valid(messages: Sequence[Message]) -> tuple[int, ...]:
    """Places of the messages that have a place in a prompt."""
    try:
        conversation = read_conversation(messages)
    except OpenToolCallsError:
        # It was recorded while tools ran: what stands before the calls is a prompt.
        last = max(place for place, message in enumerate(messages) if not is_result(message))
        messages = messages[:last]
        conversation = read_conversation(messages)
    broken = {*conversation.orphans, *conversation.unanswered}
    return tuple(place for place in range(len(messages)) if place not in broken)


def _ends(messages: Sequence[Message]) -> list[int]:
    """Where the longest prompt of each turn ends."""
    begins = [place for place, message in enumerate(messages) if message.get("role") == "user"]
    begins = [0, *begins[1:]] if begins else [0]
    ends = []
    for begin, after in zip(begins, [*begins[1:], len(messages)], strict=True):
        answers = [place for place in range(begin, after) if messages[place].get("role") == "assistant"]
        last = answers[-1] if answers and answers[-1] == after - 1 else after
        ends.append(last or after)  # a conversation that begins with an answer has no prompt before it
    return ends


def _sampled(count: int) -> list[int]:
    """Numbers of the turns that are counted in any case: the first, the last, and evenly between."""
    step = -(-count // MOST_COUNTED)
    return sorted({*range(1, count + 1, step), count})


def _first_over(
    turns: dict[int, Turn], ends: Sequence[int], counts: _Counts, fits: Callable[[Turn], bool]
) -> Turn | None:
    """The first turn that does not fit; turns between the sampled ones are counted where it may be."""
    before = 0
    for number in sorted(turns):
        if fits(turns[number]):
            before = number
            continue
        for between in range(before + 1, number):
            turns.setdefault(between, counts(between, ends[between - 1]))
            if not fits(turns[between]):
                return turns[between]
        return turns[number]
    return None


def _fixed(
    messages: Sequence[Message], pinned: Sequence[int], tools: Sequence[JsonObject], counter: Counter
) -> dict[Part, int]:
    """What every prompt of a conversation has."""
    opening = opening_of(messages, tools, counter)
    kept = sum(counter.message(messages[index]) for index in pinned if not is_system(messages[index]))
    return {
        Part.PREAMBLE: opening.preamble,
        Part.SYSTEM: opening.system,
        Part.TOOLS: opening.tools,
        Part.PINNED: kept,
    }


def _parts(
    messages: Sequence[Message], pinned: Collection[int], tools: Sequence[JsonObject], counter: Counter
) -> dict[Part, int]:
    """A prompt taken apart; they add up to it. What tokenizers join across parts is history's."""
    total = counter.prompt(messages, tools=tools)
    silent = [message if place in pinned else _without_reasoning(message) for place, message in enumerate(messages)]
    try:
        without_reasoning = counter.prompt(silent, tools=tools)
    except EncodingError:  # a format that needs the reasoning of the turn that is being answered
        without_reasoning = total
    newest = max((place for place, message in enumerate(messages) if message.get("role") == "user"), default=-1)
    sizes = {
        **dict.fromkeys(Part, 0),
        **_fixed(messages, [place for place in pinned if place < len(messages)], tools, counter),
    }
    sizes[Part.REASONING] = max(0, total - without_reasoning)
    for place, message in enumerate(silent):
        if is_system(message) or place in pinned:
            continue
        if is_result(message):
            sizes[Part.RESULTS] += counter.message(message)
        elif place == newest:
            sizes[Part.NEWEST] += counter.message(message)
    rest = total - sum(sizes.values())
    sizes[Part.HISTORY] = max(0, rest)
    for part in (Part.NEWEST, Part.RESULTS, Part.PINNED, Part.REASONING, Part.TOOLS, Part.SYSTEM, Part.PREAMBLE):
        # By themselves messages may have more tokens than they add to a prompt, as with most chat templates.
        less = min(sizes[part], max(0, -rest))
        sizes[part], rest = sizes[part] - less, rest + less
    return sizes


def _without_reasoning(message: Message) -> Message:
    if not _REASONING & set(message):
        return message
    return {key: value for key, value in message.items() if key not in _REASONING}

"""What a counter is, and the simple ones: an estimate, words, messages, characters.

Two traps that every user of a counter has to live with:

* **Per-message counts do not add up to the prompt.** Templates glue messages together (system texts, merged tool
  results), and a tokenizer may find more tokens in a joined text than in its parts: `count(a + b)` can be above
  `count(a) + count(b)`. `Counter.message` is a guide for choosing what to drop; only `Counter.prompt` says what the
  server sees. Whatever was chosen is counted again as a whole, and stepped back where it does not fit.
* **Counts do not grow with the text.** A longer prefix can have fewer tokens, so a binary search for the longest prefix
  that fits may end on one that does not. The cut is counted again, and made shorter until it fits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from promptreg.canonical import Json
from promptreg.context.count.estimate import estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from promptreg.canonical import JsonObject

Message: TypeAlias = Mapping[str, Json]
"""A chat message of the OpenAI interface: `role`, `content` (text, list of parts or None), `tool_calls`,
`tool_call_id`, `reasoning_content`, `name`. Never changed by anything that receives it."""

IMAGE_TOKENS: Final = 85
"""What counters without a vision model charge for an image; the number is a convention, not a measurement."""


class Counter(Protocol):
    """Counts tokens of prompts. See the module's text for what the two counts may be used for."""

    @property
    def name(self) -> str:
        """What counts, as it stands in every output: counts of counters with different names are not comparable."""
        ...

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:
        """Tokens of the whole rendered prompt: markers, tools and the cue for the answer included.

        Raises:
            EncodingError: where the model's format has no place for these messages; the server would refuse them.
        """
        ...

    def message(self, message: Message) -> int:
        """Tokens that one message adds by itself, its markers included. A guide, not a part of a sum."""
        ...


class MessageMemory:
    """Counts of messages by their content, so that a message that stands in a hundred prompts is counted once."""

    def __init__(self, count: Callable[[Message], int], limit: int = 100_000) -> None:
        self._count = count
        self._limit = limit
        self._known: dict[object, int] = {}

    def __call__(self, message: Message) -> int:
        """The count of a message."""
        key = message_key(message)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= self._limit:
                self._known.clear()
            known = self._known[key] = self._count(message)
        return known


def message_key(message: Message) -> object:
    """A hashable value that is equal for equal messages; texts are referred to, not copied."""
    return tuple(
        (key, value if isinstance(value, str) else json.dumps(value, sort_keys=True))
        for key, value in sorted(message.items())
    )


def content_text(content: Json) -> str:
    """The text of a message's content: itself, or the text parts of a list, joined."""
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else _text_of_part(part) for part in _parts(content))


def images_in(content: Json) -> int:
    """How many parts of a content are no text: images, audio, files."""
    return sum(isinstance(part, Mapping) and not isinstance(part.get("text"), str) for part in _parts(content))


def _parts(content: Json) -> Sequence[Json]:
    return content if isinstance(content, (list, tuple)) else ()


def _text_of_part(part: Json) -> str:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


def reasoning_text(message: Message) -> str:
    """The reasoning that a message carries, under either of its two names."""
    reasoning = message.get("reasoning_content")
    if reasoning is None:
        reasoning = message.get("reasoning")
    return content_text(reasoning)


def calls_of(message: Message) -> tuple[JsonObject, ...]:
    """The `function` objects of the tool calls of a message, in order."""
    calls = message.get("tool_calls")
    if not isinstance(calls, (list, tuple)):
        return ()
    functions = (call.get("function") for call in calls if isinstance(call, Mapping))
    return tuple(function for function in functions if isinstance(function, Mapping))


def texts_of(message: Message) -> Iterator[str]:
    """Every text of a message that a template may render: reasoning, content, names and arguments of its calls."""
    yield reasoning_text(message)
    yield content_text(message.get("content"))
    for function in calls_of(message):
        for key in ("name", "arguments"):
            value = function.get(key)
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class SumCounter:
    """A counter that knows no template: so much for each message, each prompt and each tool.

    Args:
        name: what it is called in every output.
        text: tokens of a text.
        per_message: tokens for the markers of a message.
        per_prompt: tokens for the beginning and for the cue of the answer.
    """

    def __init__(self, name: str, text: Callable[[str], int], *, per_message: int = 0, per_prompt: int = 0) -> None:
        self.name = name
        self._text = text
        self._per_message = per_message
        self._per_prompt = per_prompt
        self._memory = MessageMemory(self._one)

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:
        """The sum over messages and tools. A tool counts as its JSON."""
        total = self._per_prompt + sum(map(self._memory, messages))
        return total + sum(self._text(json.dumps(tool, ensure_ascii=False)) for tool in tools)

    def message(self, message: Message) -> int:
        """Texts of the message, images at `IMAGE_TOKENS`, and what a message costs."""
        return self._memory(message)

    def _one(self, message: Message) -> int:
        images = IMAGE_TOKENS * images_in(message.get("content"))
        return self._per_message + images + sum(self._text(text) for text in texts_of(message) if text)


class EstimateCounter(SumCounter):
    """Knows scripts but no tokenizer: `estimated_tokens` and four tokens for each message."""

    def __init__(self) -> None:
        super().__init__("estimate by script", estimated_tokens, per_message=4, per_prompt=3)


class CharsCounter(SumCounter):
    """One token for four characters: 58 % too few for Chinese. Only for those who ask for it by name, to see that."""

    def __init__(self) -> None:
        super().__init__("characters / 4", lambda text: -(-len(text) // 4))


class WordCounter(SumCounter):
    """Words between spaces. With `per_message` it also charges for each message. For tests and examples."""

    def __init__(self, per_message: int = 0) -> None:
        super().__init__(
            f"words + {per_message} per message" if per_message else "words",
            lambda text: len(text.split()),
            per_message=per_message,
        )

    def _one(self, message: Message) -> int:
        return self._per_message + len(content_text(message.get("content")).split())


class MessageCounter:
    """Every message counts one. For tests and examples."""

    name: Final = "messages"

    def prompt(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> int:  # noqa: ARG002 - a counter's signature
        """How many messages there are."""
        return len(messages)

    def message(self, message: Message) -> int:  # noqa: ARG002 - a counter's signature
        """One."""
        return 1

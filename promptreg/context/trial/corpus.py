"""Conversations made from a seed: for tests of strategies where no recorded conversations are at hand.

The same seed gives the same conversations on every machine. All texts are our own.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.context.conversations import Recording
from promptreg.context.trial.corpus_texts import BY_SCRIPT
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message
    from promptreg.context.trial.corpus_texts import Script, Texts

Sort: TypeAlias = Literal["talk", "code", "tool"]
_SORTS: Final[tuple[Sort, ...]] = ("talk", "code", "tool")
_TOOL_NAMES: Final = ("find_orders", "stock_level", "route_status")


@dataclass(frozen=True, slots=True)
class Shape:
    """What a generated conversation is like."""

    turns: int = 80
    """User messages. The last one waits for its answer."""
    script: Script | Literal["mixed"] = "mixed"
    """`mixed` changes the language from turn to turn."""
    tools: bool = True
    """Whether a quarter of the turns call tools, up to three at once, some in two rounds."""
    reasoning: bool = True
    """Whether answers carry `reasoning_content`."""
    system_sentences: int = 24
    """Of the system message, besides its two first; 24 are some 400 English words. 0: there is no system message."""
    length: float = 1.0
    """Multiplies the lengths of answers and tool results, above 0. At 1 eighty turns have some 40 000 tokens."""

    def __post_init__(self) -> None:
        if self.turns < 1 or self.system_sentences < 0 or not self.length > 0:
            raise UsageError(
                "A generated conversation has at least 1 turn, a length above 0 and no negative sentences."
            )


def generate(count: int, seed: int, shape: Shape = Shape()) -> tuple[Recording, ...]:
    """Conversations of this shape; the nth of a seed does not depend on how many there are.

    Raises:
        UsageError: for a shape that no conversation can have.
    """
    return tuple(_Writer(random.Random(f"{seed}/{number}"), shape).recording(seed, number) for number in range(count))  # noqa: S311 - no secret


class _Writer:
    """Writes one conversation."""

    def __init__(self, source: random.Random, shape: Shape) -> None:
        self._random = source
        self._shape = shape
        self._calls = 0

    def recording(self, seed: int, number: int) -> Recording:
        shape = self._shape
        messages: list[Message] = []
        if shape.system_sentences:
            texts = self._texts(0)
            messages.append({"role": "system", "content": texts.rules + self._sentences(texts, shape.system_sentences)})
        for turn in range(shape.turns):
            messages += self._turn(self._texts(turn), is_last=turn == shape.turns - 1)
        tools = tuple(_tool(name) for name in _TOOL_NAMES) if shape.tools else ()
        return Recording(f"generated-{seed}-{number}", tuple(messages), tools)

    def _texts(self, turn: int) -> Texts:
        if self._shape.script == "mixed":
            return BY_SCRIPT[("en", "zh")[(turn // 3) % 2]]
        return BY_SCRIPT[self._shape.script]

    def _turn(self, texts: Texts, *, is_last: bool) -> list[Message]:
        choose = self._random.choice
        sort = self._random.choices(_SORTS, (60, 15, 25 if self._shape.tools else 0))[0]
        topic = choose(texts.topics)
        asked = {"talk": choose(texts.asks), "code": texts.asks_code, "tool": texts.asks_tool}[sort].format(topic)
        told = self._sentences(texts, self._size(0, 4)) if self._random.random() < 0.5 else ""
        messages: list[Message] = [{"role": "user", "content": f"{told} {asked}".strip()}]
        if is_last:
            return messages
        if sort == "tool":
            for _ in range(self._random.choice((1, 1, 1, 2))):
                messages += self._tool_round(texts, topic)
        lead = texts.after_tools if sort == "tool" else ""
        answer = lead + self._sentences(texts, self._size(3, 24))
        if sort == "code":
            answer += "\n\n" + self._code(texts) + "\n\n" + self._sentences(texts, self._size(1, 6))
        messages.append(self._spoken({"role": "assistant", "content": answer}, texts, topic))
        return messages

    def _tool_round(self, texts: Texts, topic: str) -> list[Message]:
        calls: list[Json] = []
        results: list[Message] = []
        for _ in range(self._random.choice((1, 1, 2, 3))):
            self._calls += 1
            name = f"call_{self._calls}"
            arguments = json.dumps({"about": topic, "limit": self._random.randint(2, 40)}, ensure_ascii=False)
            function = {"name": self._random.choice(_TOOL_NAMES), "arguments": arguments}
            calls.append({"id": name, "type": "function", "function": function})
            results.append({"role": "tool", "tool_call_id": name, "content": self._rows(texts)})
        return [self._spoken({"role": "assistant", "content": None, "tool_calls": calls}, texts, topic), *results]

    def _spoken(self, message: Message, texts: Texts, topic: str) -> Message:
        if not self._shape.reasoning:
            return message
        thought = self._random.choice(texts.thinks).format(topic) + self._sentences(texts, self._size(1, 6))
        return {**message, "reasoning_content": thought}

    def _rows(self, texts: Texts) -> str:
        rows = [
            {"id": f"R{self._number()}", "state": self._random.choice(texts.states), "pieces": self._number()}
            for _ in range(self._size(1, 30))
        ]
        return json.dumps({"rows": rows, "note": self._sentences(texts, 1)}, ensure_ascii=False)

    def _code(self, texts: Texts) -> str:
        name = self._random.choice(("remaining", "open_pieces", "free_slots"))
        lines = [f"def {name}(rows: list[dict], limit: int = {self._number()}) -> int:", f"    # {texts.comment}"]
        lines += [
            f'    count_{step} = sum(row["pieces"] for row in rows if row["pieces"] > {self._number()})'
            for step in range(self._size(1, 6))
        ]
        lines.append("    return min(limit, count_0)")
        return "```python\n" + "\n".join(lines) + "\n```"

    def _sentences(self, texts: Texts, count: int) -> str:
        choose = self._random.choice
        joint = " " if texts.first[0].isascii() else ""
        written = (choose(texts.first) + choose(texts.second) + choose(texts.third) for _ in range(count))
        return joint.join(sentence.format(a=self._number(50), b=self._number(99)) for sentence in written)

    def _number(self, most: int = 999) -> int:
        return self._random.randint(2, most)

    def _size(self, least: int, most: int) -> int:
        """A length; long ones are rare."""
        share = self._random.random() ** 2
        return max(least, round((least + share * (most - least)) * self._shape.length))


def _tool(name: str) -> JsonObject:
    properties: JsonObject = {
        "about": {"type": "string", "description": "What to look for, in the words of the user"},
        "limit": {"type": "integer", "description": "How many rows at most"},
    }
    parameters: JsonObject = {"type": "object", "properties": properties, "required": ["about"]}
    description = f"Looks into the books of the warehouse: {name.replace('_', ' ')}"
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}

"""What a deployment answered, in parts that are never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from promptreg.answer.think import CLOSING, OPENING

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject


THINK_TAG = "think_tag"
"""`Answer.reasoning_field` of reasoning that stood between think tags in the content."""

LOOP_STOPPED = "loop_stopped"
"""Flag of an answer that went on repeating itself until promptreg ended the call: the rest of it was never read."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One tool call. Its id is random by nature and no part of the answer; `arguments` is the text as sent."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A sample's normalised parts. Two samples gave the same answer when these are equal."""

    content: str = ""
    """What the user of the application sees."""
    reasoning: str = ""
    """What the model thought first; never mixed with the content."""
    reasoning_field: str | None = None
    """Where the reasoning came from: a field's name, "think_tag", "content_part", or None when there was none."""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    flags: tuple[str, ...] = ()
    """Sorted names of repairs made on the way in, such as "lone_surrogate", and `LOOP_STOPPED`."""
    sent: str | None = field(default=None, compare=False)
    """The content with the think tags that stood in it, where there were any and the response itself was read; no part
    of the answer, and kept in no baseline."""

    @property
    def as_received(self) -> Answer:
        """The answer as an application has it that knows nothing of think tags: they, and what they hold, are content.

        Of an answer that was read from a baseline the blanks around the tags are not known, and not whether there was
        an opening tag: there is one.
        """
        if self.reasoning_field != THINK_TAG:
            return self
        content = f"{OPENING}\n{self.reasoning}\n{CLOSING}\n\n{self.content}" if self.sent is None else self.sent
        return replace(self, content=content, reasoning="", reasoning_field=None, sent=None)

    def to_json(self) -> JsonObject:
        """The form written into baselines: parts that are empty are left out."""
        parts: dict[str, Json] = {"content": self.content}
        if self.reasoning:
            parts["reasoning"] = self.reasoning
        if self.reasoning_field is not None:
            parts["reasoning_field"] = self.reasoning_field
        if self.tool_calls:
            parts["tool_calls"] = [{"name": call.name, "arguments": call.arguments} for call in self.tool_calls]
        if self.finish_reason is not None:
            parts["finish_reason"] = self.finish_reason
        if self.flags:
            parts["flags"] = list(self.flags)
        return parts


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the server reports them; None where it reports nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None

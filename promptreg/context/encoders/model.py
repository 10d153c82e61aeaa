"""What a prompt encoder is, and what all of them share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias

from promptreg.context.count.counting import content_text, images_in
from promptreg.errors import EncodingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message

Effort: TypeAlias = Literal["low", "high", "max"]
"""How hard a V4 model is told to think. `low` adds nothing to the prompt."""

ROLES: Final = ("system", "developer", "user", "assistant", "tool")


class Encoder(Protocol):
    """Renders messages as the text that the model reads, special tokens by their names."""

    @property
    def name(self) -> str:
        """The format and its switches, as they stand in every output."""
        ...

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The whole prompt, with the cue for the answer where the format has one.

        Raises:
            EncodingError: the format has no place for these messages.
        """
        ...

    def alone(self, message: Message) -> str:
        """What one message adds in the middle of a conversation, marks included."""
        ...


def fixed_wording(tokens: int, *, ends: str) -> str:
    """A text of so many tokens that stands for wording that a format adds and that is not known here.

    It begins with an empty line and ends as the wording does, so that its neighbours are split as they are in the real
    prompt. Counts and common prefixes come out the same; the words themselves do not.

    Args:
        tokens: tokens of the text by DeepSeek's vocabulary, more than two.
        ends: the end of the text, one token long.
    """
    return "\n\n" + " words" * (tokens - 2) + ends


def text_of(message: Message, *, joint: str = "\n") -> str:
    """The text of a message; the parts of a list are joined by a line end, as vLLM does.

    Raises:
        EncodingError: for parts that are no text; these models take nothing else.
    """
    content = message.get("content")
    if images_in(content):
        raise EncodingError(
            f"A message of the role `{message.get('role')}` has a part that is no text; this model takes nothing else. "
            "Leave the part out, or describe it in words."
        )
    if isinstance(content, (list, tuple)):
        return joint.join(content_text([part]) for part in content)
    return content_text(content)


def role_of(message: Message) -> str:
    """The role of a message; a developer's counts as the system's.

    Raises:
        EncodingError: for a role that no format knows.
    """
    role = message.get("role")
    if role not in ROLES:
        raise EncodingError(f"There is no role {role!r} in this format. Roles are {', '.join(ROLES)}.")
    return "system" if role == "developer" else str(role)


def has_calls(message: Message) -> bool:
    """Whether a message of an assistant calls tools."""
    return message.get("role") == "assistant" and bool(message.get("tool_calls"))


def arguments_text(function: JsonObject) -> str:
    """The arguments of a call as JSON text, as they were written where they are a text."""
    arguments = function.get("arguments")
    return arguments if isinstance(arguments, str) else to_json({} if arguments is None else arguments)


def name_text(function: JsonObject) -> str:
    """The name of the called function."""
    return str(function.get("name", ""))


def schema_of(tool: JsonObject) -> Json:
    """The function of a tool, without the wrapping of the interface."""
    return tool.get("function", tool)


def to_json(value: Json) -> str:
    """JSON as templates write it: a space after commas and colons, Unicode as it is."""
    return json.dumps(value, ensure_ascii=False)

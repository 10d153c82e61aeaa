"""LangChain's `trim_messages` and `SummarizationMiddleware`. Imported only by who names them.

Messages become LangChain's own classes, each with an id by which it is known again, whatever it is copied to. What
these classes have no field for is in `additional_kwargs`, as LangChain's own clients put it.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)

from promptreg.context.adapters.base import Item, copied, prefix_of, returned
from promptreg.context.count.counting import calls_of
from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.source import Room as SummaryRoom
from promptreg.context.summarise.source import Source, passage_of
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.context.adapters.base import Room
    from promptreg.context.count.counting import Message

_ID: Final = "promptreg-"
_ROLES: Final = {"user": "human", "assistant": "ai", "developer": "system"}
_KINDS: Final = ("human", "ai", "system", "tool")
_OWN_FIELDS: Final = frozenset({"role", "content", "name", "id", "tool_calls", "tool_call_id"})


@dataclass(frozen=True, slots=True)
class TrimMessages:
    """`trim_messages` of langchain-core, with LangChain's own defaults. Each call gets the whole conversation."""

    strategy: str = "last"
    start_on: str | None = None
    """Roles that the result may start with, OpenAI's or LangChain's names, `|` between them."""
    end_on: str | None = None
    include_system: bool = False
    allow_partial: bool = False
    remembers: bool = False
    summarises: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in ("last", "first"):
            raise UsageError(f"`strategy` of langchain:trim_messages is first or last, got {self.strategy!r}.")
        if self.strategy == "first" and (self.start_on or self.include_system):
            raise UsageError("`start_on` and `include_system` of langchain:trim_messages need `strategy=last`.")
        for option in (self.start_on, self.end_on):
            _kinds(option)

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        book = Book(items)
        trimmed = trim_messages(
            book.messages,
            max_tokens=room.left(()),
            token_counter=book.counter(room),
            strategy=self.strategy,
            start_on=_kinds(self.start_on),
            end_on=_kinds(self.end_on),
            include_system=self.include_system,
            allow_partial=self.allow_partial,
        )
        return tuple(book.item(message) for message in trimmed)


@dataclass(frozen=True, slots=True)
class Summarization:
    """`SummarizationMiddleware` of langchain, with LangChain's own defaults, when the prompt would be too long.

    The system messages at the beginning stand outside of the history, as in LangChain's agents. The extractive
    summariser writes the summary, so that no model is needed and the same comes out each time.
    """

    keep: int = 20
    """Newest messages that stay."""
    share: float | None = None
    """Share of the room that the newest messages may fill, instead of `keep`; above 0, at most 1."""
    read: int = 4000
    """Most tokens that are handed to the summariser; LangChain leaves out the rest, the oldest first."""
    tokens: int = 400
    """Most tokens of the summary."""
    remembers: bool = True
    summarises: bool = True

    def __post_init__(self) -> None:
        for name in ("keep", "read", "tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"`{name}` of langchain:summarization must be at least 1, got {getattr(self, name)}.")
        if self.share is not None and not 0 < self.share <= 1:
            raise UsageError(f"`share` of langchain:summarization is above 0 and at most 1, got {self.share:g}.")

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        from langchain.agents.middleware.summarization import SummarizationMiddleware  # noqa: PLC0415 - takes a second
        from langchain_core.language_models.fake_chat_models import FakeListChatModel  # noqa: PLC0415 - as above
        from langsmith import tracing_context  # noqa: PLC0415 - as above

        prefix, rest = prefix_of(items)
        book = Book(rest)
        left = max(1, room.left([item.message for item in prefix]))

        def summarise(messages: list[BaseMessage]) -> str:
            passages = [passage_of(place, book.item(message).message) for place, message in enumerate(messages)]
            source = Source(tuple(passage for passage in passages if passage is not None))
            return Extractive().summarise(source, SummaryRoom(self.tokens, room.text)) if source.text else ""

        middleware = SummarizationMiddleware(
            model=FakeListChatModel(responses=[""]),  # asked for nothing: `summarizer` writes
            summarizer=summarise,
            trigger=("tokens", left + 1),  # LangChain's trigger fires at the number itself
            keep=("messages", self.keep) if self.share is None else ("tokens", max(1, int(left * self.share))),
            token_counter=book.counter(room),
            trim_tokens_to_summarize=self.read,
        )
        with tracing_context(enabled=False):  # whatever the environment says, nothing is sent anywhere
            update = middleware.before_model({"messages": book.messages}, None)
        if update is None:
            return tuple(items)
        return (*prefix, *(book.item(message) for message in update["messages"][1:]))  # the first removes all others


class Book:
    """A conversation in LangChain's classes, and which is which."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = tuple(items)
        self.messages = [to_langchain(item.message, f"{_ID}{place}") for place, item in enumerate(items)]
        self._contents = [copy.deepcopy(message.content) for message in self.messages]

    def item(self, message: BaseMessage) -> Item:
        """What a message of LangChain is: one that was handed in, a piece of one, or one that was put in."""
        written = (message.id or "").removeprefix(_ID)
        if message.id == written or not written.isdecimal() or int(written) >= len(self._items):
            return Item(from_langchain(message), None)
        place = int(written)
        if message.content == self._contents[place]:
            return self._items[place]
        return returned(self._items[place], message.content, self._contents[place])

    def counter(self, room: Room) -> Any:
        """The counter of the room, for lists of LangChain's messages."""

        def count(messages: Sequence[BaseMessage]) -> int:
            return room.count([self.item(message).message for message in messages])

        return count


def to_langchain(message: Message, message_id: str | None = None) -> BaseMessage:
    """A chat message in the class of its role. Nothing that it holds is shared with the message."""
    common: dict[str, Any] = {
        "content": _content(message.get("content")),
        "id": message_id,
        "additional_kwargs": {
            key: copied(value) for key, value in message.items() if key not in _OWN_FIELDS and value is not None
        },
    }
    if isinstance(name := copied(message.get("name")), str):
        common["name"] = name
    role = message.get("role")
    if role == "user":
        return HumanMessage(**common)
    if role in ("system", "developer"):
        if role == "developer":
            common["additional_kwargs"]["__openai_role__"] = "developer"
        return SystemMessage(**common)
    if role == "assistant":
        return AIMessage(**common, **_calls(message))
    if role == "tool":
        return ToolMessage(**common, tool_call_id=str(copied(message.get("tool_call_id")) or ""))
    if role == "function":
        return FunctionMessage(**{**common, "name": common.get("name", "")})
    return ChatMessage(**common, role=str(role))


def from_langchain(message: BaseMessage) -> dict[str, Any]:
    """A message of LangChain as one of the OpenAI interface."""
    roles = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function"}
    role = message.additional_kwargs.get("__openai_role__") or roles.get(message.type)
    made: dict[str, Any] = {
        "role": role or str(getattr(message, "role", message.type)),
        "content": copy.deepcopy(message.content),
    }
    if message.name:
        made["name"] = message.name
    for key, value in message.additional_kwargs.items():
        if key not in ("__openai_role__", "lc_source"):
            made[key] = copy.deepcopy(value)
    calls = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)},
        }
        for call in getattr(message, "tool_calls", ())
    ]
    calls += [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["args"]}}
        for call in getattr(message, "invalid_tool_calls", ())
    ]
    if calls:
        made["tool_calls"] = calls
    if message.type == "tool":
        made["tool_call_id"] = message.tool_call_id
    return made


def _content(content: Any) -> str | list[Any]:
    """Text, or parts that are texts or objects, which is all that LangChain takes."""
    if isinstance(content, (list, tuple)):
        return [part if isinstance(part, (str, dict)) else json.dumps(part) for part in copied(content)]
    return copied(content) if isinstance(content, str) else ""


def _calls(message: Message) -> dict[str, list[dict[str, Any]]]:
    """Tool calls as LangChain keeps them: arguments read, or, where they are no JSON object, as invalid calls."""
    written = message.get("tool_calls")
    valid: list[dict[str, Any]] = []
    invalid: list[dict[str, Any]] = []
    for call in copied(written) if isinstance(written, (list, tuple)) else ():
        if not isinstance(call, Mapping):
            continue
        function = next(iter(calls_of({"tool_calls": [call]})), {})
        name, arguments = str(function.get("name") or ""), function.get("arguments")
        call_id = call.get("id") if isinstance(call.get("id"), str) else None
        read = _object(arguments)
        if read is None:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            invalid.append({"type": "invalid_tool_call", "id": call_id, "name": name, "args": text, "error": None})
        else:
            valid.append({"type": "tool_call", "id": call_id, "name": name, "args": read})
    return {"tool_calls": valid, "invalid_tool_calls": invalid}


def _object(arguments: Any) -> dict[str, Any] | None:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    return dict(arguments) if isinstance(arguments, Mapping) else None


def _kinds(written: str | None) -> list[str] | None:
    """Roles of an option in LangChain's words.

    Raises:
        UsageError: for a role that LangChain does not know.
    """
    if not written:
        return None
    kinds = [_ROLES.get(name.strip(), name.strip()) for name in written.split("|")]
    for kind in kinds:
        if kind not in _KINDS:
            raise UsageError(
                f"`start_on` and `end_on` of langchain:trim_messages name roles, such as `user` or `user|tool`; "
                f"{kind!r} is none."
            )
    return kinds

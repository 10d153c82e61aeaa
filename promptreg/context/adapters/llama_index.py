"""LlamaIndex's chat memories. Imported only by who names them.

Each memory counts text with the counter that everything else is counted with. What LlamaIndex itself does not count,
such as tool calls, stays uncounted. Nothing is downloaded: its own tokenizer, which would be, is never asked for.
"""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ImageBlock,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms import CustomLLM
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer, Memory
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.storage.chat_store.base_db import AsyncDBChatStore, MessageStatus
from pydantic import PrivateAttr, ValidationError

from promptreg.context.adapters.base import Item, copied, prefix_of
from promptreg.context.count.counting import calls_of
from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.source import Passage, Source
from promptreg.context.summarise.source import Room as SummaryRoom
from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from promptreg.context.adapters.base import Room
    from promptreg.context.count.counting import Message

_OWN_FIELDS: Final = frozenset({"role", "content", "tool_calls", "images"})
"""What does not go into `additional_kwargs`. Under `images` LlamaIndex takes documents of its own, and nothing else."""
_SPEAKER: Final = re.compile(r"^(user|assistant|system|tool): ")


@dataclass(frozen=True, slots=True)
class BufferMemory:
    """`ChatMemoryBuffer`: the newest messages within a limit. It keeps all, and chooses anew at each call."""

    prefix: bool = True
    """Whether the system messages at the beginning stand before the memory, where chat engines have them; else they
    are messages of the memory."""
    remembers: bool = False
    summarises: bool = False

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        prefix, rest = prefix_of(items) if self.prefix else ((), tuple(items))
        book = Book(rest)
        memory = ChatMemoryBuffer(
            token_limit=max(1, room.budget),
            tokenizer_fn=_tokenizer_of_ends(room, [str(message.content) for message in book.messages]),
            chat_store=SimpleChatStore(store={"chat_history": list(book.messages)}),
            chat_store_key="chat_history",
        )
        chosen = memory.get(initial_token_count=room.total([item.message for item in prefix]))
        return (*prefix, *(book.item(message) for message in chosen))


@dataclass(frozen=True, slots=True)
class SummaryMemory:
    """`ChatSummaryMemoryBuffer`: the newest messages within a limit, and a summary of all before as a system message.

    The extractive summariser answers where LlamaIndex asks its model.
    """

    prefix: bool = True
    """As in `BufferMemory`."""
    tokens: int = 400
    """Most tokens of the summary."""
    remembers: bool = True
    summarises: bool = True

    def __post_init__(self) -> None:
        if self.tokens < 1:
            raise UsageError(f"`tokens` of a summary must be at least 1, got {self.tokens}.")

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        prefix, rest = prefix_of(items) if self.prefix else ((), tuple(items))
        book = Book(rest)
        memory = ChatSummaryMemoryBuffer(
            token_limit=max(1, room.budget),
            count_initial_tokens=True,
            llm=Summariser.of(SummaryRoom(self.tokens, room.text)),
            summarize_prompt="Summarise.",
            tokenizer_fn=_tokenizer(room),
            chat_store=SimpleChatStore(store={"chat_history": list(book.messages)}),
            chat_store_key="chat_history",
        )
        chosen = memory.get(initial_token_count=room.total([item.message for item in prefix]))
        return (*prefix, *(book.item(message) for message in chosen))


@dataclass(frozen=True, slots=True)
class QueueMemory:
    """`Memory`, a queue that gives up its oldest messages when it is full, without memory blocks."""

    prefix: bool = True
    """As in `BufferMemory`."""
    ratio: float = 0.7
    """Share of the limit that the queue may fill, LlamaIndex's `chat_history_token_ratio`; above 0, at most 1."""
    flush: int | None = None
    """Tokens that leave at once, LlamaIndex's `token_flush_size`; a tenth of the limit where none is given."""
    remembers: bool = True
    summarises: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.ratio <= 1:
            raise UsageError(f"`ratio` of llama-index:memory is above 0 and at most 1, got {self.ratio:g}.")
        if self.flush is not None and self.flush < 1:
            raise UsageError(f"`flush` of llama-index:memory must be at least 1, got {self.flush}.")

    def shorten(self, items: Sequence[Item], room: Room) -> tuple[Item, ...]:
        """See `Shortener`."""
        prefix, rest = prefix_of(items) if self.prefix else ((), tuple(items))
        book = Book(rest)
        limit = max(1, room.left([item.message for item in prefix]))
        memory = Memory(
            token_limit=limit,
            token_flush_size=self.flush or max(1, limit // 10),
            chat_history_token_ratio=self.ratio,
            tokenizer_fn=_tokenizer(room),
            sql_store=ListStore(),
            session_id="conversation",
        )

        async def ask() -> list[ChatMessage]:
            await memory.aput_messages(list(book.messages))
            return list(await memory.aget())

        # In a thread of its own: a caller may have a running loop, and LlamaIndex's own way leaves loops open.
        with ThreadPoolExecutor(1) as thread:
            chosen = thread.submit(asyncio.run, ask()).result()
        return (*prefix, *(book.item(message) for message in chosen))


class Book:
    """A conversation in LlamaIndex's class, and which is which: memories hand back the objects that they were given."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = tuple(items)
        self.messages = [to_llama_index(item.message) for item in items]
        self._places = {id(message): place for place, message in enumerate(self.messages)}

    def item(self, message: ChatMessage) -> Item:
        """What a message of LlamaIndex is: one that was handed in, or one that was put in."""
        place = self._places.get(id(message))
        return Item(from_llama_index(message), None) if place is None else self._items[place]


class Summariser(CustomLLM):  # type: ignore[misc]  # LlamaIndex's classes are not looked into: see pyproject.toml
    """A model of LlamaIndex that is none: it answers with the extractive summary of what it is told."""

    _room: Any = PrivateAttr(default=None)

    @classmethod
    def of(cls, room: SummaryRoom) -> Summariser:
        """One that writes within a room."""
        made = cls()
        made._room = room
        return made

    @property
    def metadata(self) -> LLMMetadata:
        """Nothing is known of it."""
        return LLMMetadata()

    def chat(self, messages: Sequence[ChatMessage], **_: Any) -> ChatResponse:
        """The summary of the transcript, which is the last message."""
        text = self._summary(str(messages[-1].content or ""))
        return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text))

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Not asked for by memories."""
        raise NotImplementedError("only `chat` is asked for by chat memories")

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        """Not asked for by memories."""
        raise NotImplementedError("only `chat` is asked for by chat memories")

    def _summary(self, transcript: str) -> str:
        passages: list[Passage] = []
        role = "user"
        for place, paragraph in enumerate(transcript.removeprefix('"Transcript so far: ').split("\n\n")):
            if speaker := _SPEAKER.match(paragraph):
                role = speaker[1]
            text = paragraph[speaker.end() :] if speaker else paragraph
            if text.strip(' \n"'):
                passages.append(Passage(place, role, text))
        source = Source(tuple(passages))
        return Extractive().summarise(source, self._room) if source.text else ""


class ListStore(AsyncDBChatStore):  # type: ignore[misc]  # as above
    """A store for `Memory` that keeps messages in a list instead of a database, so that they stay the same objects."""

    _active: list[ChatMessage] = PrivateAttr(default_factory=list)

    async def get_messages(
        self,
        key: str,  # noqa: ARG002 - LlamaIndex's signature: there is one conversation
        status: MessageStatus | None = MessageStatus.ACTIVE,  # noqa: ARG002 - as above
        limit: int | None = None,  # noqa: ARG002 - as above
        offset: int | None = None,  # noqa: ARG002 - as above
    ) -> list[ChatMessage]:
        """All that are active."""
        return list(self._active)

    async def count_messages(self, key: str, status: MessageStatus | None = MessageStatus.ACTIVE) -> int:  # noqa: ARG002 - as above
        """How many are active."""
        return len(self._active)

    async def add_message(self, key: str, message: ChatMessage, status: MessageStatus = MessageStatus.ACTIVE) -> None:  # noqa: ARG002 - as above
        """One more."""
        self._active.append(message)

    async def add_messages(
        self,
        key: str,  # noqa: ARG002 - as above
        messages: list[ChatMessage],
        status: MessageStatus = MessageStatus.ACTIVE,  # noqa: ARG002 - as above
    ) -> None:
        """Several more."""
        self._active += messages

    async def set_messages(
        self,
        key: str,  # noqa: ARG002 - as above
        messages: list[ChatMessage],
        status: MessageStatus = MessageStatus.ACTIVE,  # noqa: ARG002 - as above
    ) -> None:
        """These instead of all."""
        self._active = list(messages)

    async def delete_message(self, key: str, idx: int) -> ChatMessage | None:  # noqa: ARG002 - as above
        """Without one of them."""
        return self._active.pop(idx) if idx < len(self._active) else None

    async def delete_messages(self, key: str, status: MessageStatus | None = None) -> None:  # noqa: ARG002 - as above
        """Without all."""
        self._active = []

    async def delete_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:  # noqa: ARG002 - as above
        """Without the first ones."""
        gone, self._active = self._active[:n], self._active[n:]
        return gone

    async def archive_oldest_messages(self, key: str, n: int) -> list[ChatMessage]:
        """The same: the archive is not asked for."""
        return await self.delete_oldest_messages(key, n)

    async def get_keys(self) -> list[str]:
        """The one conversation."""
        return ["conversation"]


def to_llama_index(message: Message) -> ChatMessage:
    """A chat message in LlamaIndex's class. Nothing that it holds is shared with the message."""
    role = str(message.get("role"))
    known = {member.value for member in MessageRole}
    extra = {key: copied(value) for key, value in message.items() if key not in _OWN_FIELDS}
    if role not in known:
        extra["role"] = role
    blocks = [*_content_blocks(copied(message.get("content"))), *_call_blocks(copied(message.get("tool_calls")))]
    return ChatMessage(
        role=MessageRole(role) if role in known else MessageRole.USER, blocks=blocks, additional_kwargs=extra
    )


def from_llama_index(message: ChatMessage) -> dict[str, Any]:
    """A message of LlamaIndex as one of the OpenAI interface."""
    made: dict[str, Any] = {"role": message.role.value, "content": message.content}
    parts: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    for block in message.blocks:
        if isinstance(block, ToolCallBlock):
            arguments = block.tool_kwargs
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            calls.append(
                {
                    "id": block.tool_call_id,
                    "type": "function",
                    "function": {"name": block.tool_name, "arguments": text},
                }
            )
        elif isinstance(block, TextBlock):
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, ImageBlock):
            parts.append({"type": "image_url", "image_url": {"url": str(block.url or "")}})
    if len(parts) > 1 or any(part["type"] != "text" for part in parts):
        made["content"] = parts
    made.update(copy.deepcopy(message.additional_kwargs))
    if calls:
        made["tool_calls"] = calls
    return made


def _content_blocks(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [TextBlock(text=content)]
    blocks: list[Any] = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            blocks.append(TextBlock(text=part))
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            blocks.append(TextBlock(text=part["text"]))
        elif isinstance(part, Mapping):
            image = part.get("image_url")
            url = image.get("url") if isinstance(image, Mapping) else image
            blocks.append(_image(url))
    return blocks


def _image(url: Any) -> ImageBlock:
    """An image, without its address where LlamaIndex takes it for none."""
    try:
        return ImageBlock(url=url if isinstance(url, str) else None)
    except ValidationError:
        return ImageBlock()


def _call_blocks(written: Any) -> list[ToolCallBlock]:
    blocks: list[ToolCallBlock] = []
    for call in written if isinstance(written, list) else ():
        if isinstance(call, Mapping):
            function = next(iter(calls_of({"tool_calls": [call]})), {})
            arguments = function.get("arguments")
            blocks.append(
                ToolCallBlock(
                    tool_call_id=call.get("id") if isinstance(call.get("id"), str) else None,
                    tool_name=str(function.get("name") or ""),
                    tool_kwargs=arguments if isinstance(arguments, (str, dict)) else "",
                )
            )
    return blocks


def _tokenizer(room: Room) -> Callable[[str], Sequence[int]]:
    """What LlamaIndex asks for, a function from a text to its tokens: it only ever takes the length."""
    return lambda text: range(max(0, room.text(text)))


def _tokenizer_of_ends(room: Room, texts: Sequence[str]) -> Callable[[str], Sequence[int]]:
    """The same for a memory that counts all ends of a history, each as one text with blanks between the messages.

    Such a count is the sum of its messages, or a history of a hundred messages would be read a hundred times.
    """
    whole = " ".join(texts)
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    places = {len(whole) - start: place for place, start in enumerate(starts[:-1])}
    sizes = [room.text(" " + text) for text in texts]
    ends = list(accumulate(reversed(sizes), initial=0))[::-1]
    count = _tokenizer(room)

    def tokens(text: str) -> Sequence[int]:
        place = places.get(len(text))
        if place is None or not whole.endswith(text):
            return count(text)
        return range(len(count(texts[place])) + ends[place + 1])

    return tokens

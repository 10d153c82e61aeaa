"""Puts the deltas of one stream together into the message they stand for.

Only the choice with index 0 is read: promptreg never asks for more than one. Oddities become notes:

several_choices, message_in_stream, several_finish_reasons, choice_damaged, tool_call_damaged, tool_index_missing,
tool_index_reused (a new call under an index that was taken), tool_name_repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.answer.parts import sort_parts, text_of
from promptreg.answer.reader import REASONING_FIELDS

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject

_TEXT_FIELDS = ("content", *REASONING_FIELDS, "refusal")
_THOUGHTS = "content_part"  # reasoning among the parts of the content


class _Call:
    """A tool call that is being put together."""

    __slots__ = ("arguments", "identifier", "name", "pieces")

    def __init__(self, identifier: str) -> None:
        self.identifier = identifier
        self.name = ""
        self.pieces: list[str] = []
        self.arguments: Json = None  # an object sent instead of text

    def message(self) -> JsonObject:
        arguments = "".join(self.pieces) if self.pieces or self.arguments is None else self.arguments
        return {"id": self.identifier, "type": "function", "function": {"name": self.name, "arguments": arguments}}


class Assembly:
    """The message so far. `add_choices` takes the `choices` of each frame, in order."""

    def __init__(self, notes: set[str]) -> None:
        self.notes = notes
        self.finish_reason: Json = None
        self.any_choice = False
        self.first_token: float | None = None
        self._texts: dict[str, list[str]] = {field: [] for field in (*_TEXT_FIELDS, _THOUGHTS)}
        self._odd: dict[str, Json] = {}  # fields whose value is no text, the last one kept
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._function: _Call | None = None

    def add_choices(self, choices: list[Json], at: float) -> None:
        """Adds one frame's choices; `at` is kept as `first_token` of the first one with text."""
        for choice in choices:
            if not isinstance(choice, dict):
                self.notes.add("choice_damaged")
            elif choice.get("index"):
                self.notes.add("several_choices")
            else:
                self._add_choice(choice, at)

    def message(self) -> JsonObject:
        """The message of an assistant that the deltas add up to."""
        message: dict[str, Json] = {**self._odd}
        message.update({field: "".join(self._texts[field]) for field in _TEXT_FIELDS if self._texts[field]})
        if self._texts[_THOUGHTS]:
            thought = {"type": "thinking", "thinking": "".join(self._texts[_THOUGHTS])}
            message["content"] = [thought, {"type": "text", "text": message.get("content", "")}]
        if self._calls:
            message["tool_calls"] = [call.message() for call in self._calls]
        if self._function is not None:
            message["function_call"] = self._function.message()["function"]
        return message

    def _add_choice(self, choice: JsonObject, at: float) -> None:
        self.any_choice = True
        finish = choice.get("finish_reason")
        if finish is not None:
            if self.finish_reason is not None and finish != self.finish_reason:
                self.notes.add("several_finish_reasons")
            self.finish_reason = finish
        delta = choice.get("delta")
        if delta is None:
            delta = choice.get("message")
            if delta is None:
                return
            self.notes.add("message_in_stream")
            if any(self._texts.values()) or self._calls:  # a summary of what was streamed
                return
        if not isinstance(delta, dict):
            self.notes.add("choice_damaged")
            return
        self.add_delta(delta, at)

    def add_delta(self, delta: JsonObject, at: float) -> None:
        """Adds one delta of the choice that is read; `at` is kept as `first_token` of the first one with text."""
        self.any_choice = True
        if self._add_delta(delta) and self.first_token is None:
            self.first_token = at

    def _add_delta(self, delta: JsonObject) -> bool:
        """Adds one delta; returns whether it held anything of the answer."""
        any_text = False
        for field, piece in delta.items():
            if piece is None or piece == "":
                continue
            pieces = self._texts.get(field)
            if pieces is not None:
                any_text = self._add_text(field, pieces, piece) or any_text
            elif field == "tool_calls":
                for call in piece if isinstance(piece, list) else [piece]:
                    any_text = True
                    self._add_call(call)
            elif field == "function_call" and isinstance(piece, dict):
                any_text = True
                if self._function is None:
                    self._function = _Call("")
                self._add_function(self._function, piece)
        return any_text

    def _add_text(self, field: str, pieces: list[str], piece: Json) -> bool:
        if isinstance(piece, str):
            pieces.append(piece)
            return True
        if not isinstance(piece, list):
            self._odd[field] = piece
            return True
        if field != "content":
            # Parts of the reasoning are reasoning, whatever their type.
            text = text_of(piece)
            pieces += [text] if text else []
            return bool(text)
        parts = sort_parts(piece)
        if parts.others:
            self.notes.add("other_parts")
        pieces += [parts.text] if parts.text else []
        self._texts[_THOUGHTS] += [parts.reasoning] if parts.reasoning else []
        for call in parts.calls:
            arguments = call.get("arguments", call.get("input"))
            function = {"name": call.get("name"), "arguments": arguments}
            self._add_call({"id": call.get("id"), "index": call.get("index"), "function": function})
        return bool(parts.text or parts.reasoning or parts.calls)

    def _add_call(self, delta: Json) -> None:
        if not isinstance(delta, dict):
            self.notes.add("tool_call_damaged")
            return
        function = delta.get("function")
        if not isinstance(function, dict):
            function = {}
        identifier = delta.get("id")
        identifier = identifier if isinstance(identifier, str) else ""
        call = self._call_for(delta.get("index"), identifier, named=bool(function.get("name")))
        if identifier and not call.identifier:
            call.identifier = identifier
        self._add_function(call, function)

    def _call_for(self, index: Json, identifier: str, *, named: bool) -> _Call:
        """The call that a fragment belongs to.

        By its index where it has one. A fragment under a taken index with another id *and* a name begins a new call:
        some servers give every call the index 0, others a new id to every fragment. Without an index, by its id;
        without both, to the call before it.
        """
        if isinstance(index, int):
            call = self._by_index.get(index)
            if call is not None and named and identifier and call.identifier not in ("", identifier):
                self.notes.add("tool_index_reused")
                call = None
            if call is None:
                call = self._by_index[index] = self._new_call(identifier)
            return call
        self.notes.add("tool_index_missing")
        if identifier:
            for call in self._calls:
                if call.identifier == identifier:
                    return call
            return self._new_call(identifier)
        if self._calls and not (named and self._calls[-1].name):
            return self._calls[-1]
        return self._new_call("")

    def _new_call(self, identifier: str) -> _Call:
        call = _Call(identifier)
        self._calls.append(call)
        return call

    def _add_function(self, call: _Call, function: JsonObject) -> None:
        name = function.get("name")
        if isinstance(name, str) and name:
            if call.name == name:
                self.notes.add("tool_name_repeated")
            else:
                call.name += name
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.pieces.append(arguments)
        elif arguments is not None:
            call.arguments = arguments

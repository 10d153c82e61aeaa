"""A chat template in a file: what a model's own repository ships as `chat_template`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from promptreg.config.encoding import UnreadableTextError, decode, read_limited
from promptreg.config.hints import listing
from promptreg.context.encoders.model import role_of
from promptreg.context.encoders.template_process import TemplateProcess
from promptreg.errors import EncodingError, Place, UsageError
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message

MAX_TEMPLATE_BYTES: Final = 1_000_000
_OWN_FILE: Final = "Save the template in a file of its own, such as chat_template.jinja, and name that."
_PROBES: Final = ("promptreg", "问题")


class JinjaEncoder:
    """Renders with a chat template, in Jinja's sandbox and with the helpers that `transformers` gives templates.

    Args:
        source: text of the template.
        name: what it is called in outputs, usually the file's name.
        options: the template's own switches (`chat_template_kwargs` of a request), and `bos_token` and `eos_token`.
        place: names a line of the template, or the template where the line is None. None: by its name.

    Raises:
        UsageError: the text is no Jinja template.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str,
        options: Mapping[str, Json] | None = None,
        place: Callable[[int | None], str] | None = None,
    ) -> None:
        self.name = f"template {name}"
        self._options = {"bos_token": "", "eos_token": "", **(options or {})}
        self._process = TemplateProcess(source, place or (lambda line: str(Place(name, line))))
        self._process.compile()

    def render(self, messages: Sequence[Message], *, tools: Sequence[JsonObject] = ()) -> str:
        """The prompt, with the cue for the answer.

        Raises:
            EncodingError: the template refuses the messages, or fails on them.
            UsageError: the template was stopped at a limit of time, length or memory.
        """
        return self._rendered(messages, tools, cue=True)

    def alone(self, message: Message) -> str:
        """The message as the only one of a prompt without a cue; a template may put more around it.

        Raises:
            UsageError: the template was stopped at a limit of time, length or memory.
        """
        role_of(message)
        try:
            return self._rendered([message], (), cue=False)
        except EncodingError:  # many templates refuse a conversation of one answer or one result
            return json.dumps(message, ensure_ascii=False)

    def _rendered(self, messages: Sequence[Message], tools: Sequence[JsonObject], *, cue: bool) -> str:
        return self._process.render(
            {
                **self._options,
                "messages": list(messages),
                "tools": list(tools) or None,
                "add_generation_prompt": cue,
            }
        )


def read_template(
    path: Path, options: Mapping[str, Json] | None = None, *, shown: str | None = None, used: bool = True
) -> JinjaEncoder:
    """The encoder of a template's file; a `tokenizer_config.json` is read for its `chat_template` and its two marks.

    Args:
        path: of the file.
        options: the template's own switches.
        shown: the file as messages name it; None: by its path.
        used: whether anything is going to be rendered with it; else it is only compiled.

    Raises:
        UsageError: the file cannot be read, is too large, holds no template, or one that writes no messages.
    """
    name = str(path) if shown is None else shown
    try:
        data = read_limited(path)
        text = decode(data)
    except UnreadableTextError as problem:
        advice = " Save it as UTF-8." if problem.line is not None else " Check the path."
        raise UsageError(f"The chat template {Place(name, problem.line)} cannot be used. {problem}{advice}") from None
    if len(data) > MAX_TEMPLATE_BYTES:
        raise UsageError(f"The chat template {name} has more than {MAX_TEMPLATE_BYTES:,} bytes, which is no template.")
    if path.suffix.lower() != ".json":
        encoder = JinjaEncoder(text, name=path.name, options=options, place=lambda line: str(Place(name, line)))
    else:
        source, marks = _from_config(text, name)
        encoder = JinjaEncoder(
            source, name=path.name, options={**marks, **(options or {})}, place=lambda line: _in_config(name, line)
        )
    if used:
        _check_writes(encoder, name)
    return encoder


def _check_writes(encoder: JinjaEncoder, name: str) -> None:
    """A template that says nothing of the messages would count every conversation as the same few tokens.

    Raises:
        UsageError: it renders two conversations as the same text.
    """
    try:
        texts = [encoder.render([{"role": "user", "content": content}]) for content in _PROBES]
    except EncodingError:  # it wants other messages, and will say so of those it gets
        return
    if texts[0] == texts[1]:
        what = "writes nothing" if not texts[0].strip() else "writes the same whatever the messages say"
        raise UsageError(
            f"The chat template {name} {what}, so no conversation can be counted with it. A chat template writes each "
            "of `messages`; take the one of the model's own repository."
        )


def _in_config(name: str, line: int | None) -> str:
    return name if line is None else f"{name} (line {line} of its `chat_template`)"


def _from_config(text: str, name: str) -> tuple[str, dict[str, Json]]:
    try:
        config = json.loads(text)
    except json.JSONDecodeError as problem:
        raise UsageError(f"{Place(name, problem.lineno)} is no JSON: {problem.msg} (column {problem.colno}).") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{name} is no JSON: a number is too long, or it is nested too deeply.") from None
    source = config.get("chat_template") if isinstance(config, dict) else None
    if isinstance(source, list):  # several by name; the one called `default` is meant where none is chosen
        names = [str(item.get("name")) for item in source if isinstance(item, dict)]
        source = next((item.get("template") for item in source if _is_default(item)), None)
        if not isinstance(source, str):
            has = f"has {listing(names)}" if names else "is a list without names"
            raise UsageError(f"The `chat_template` of {name} {has}, and none called `default`. {_OWN_FILE}")
    if not isinstance(source, str):
        what = "is missing" if source is None else f"is {preview(json.dumps(source))}, not a text"
        raise UsageError(f"The `chat_template` of {name} {what}. {_OWN_FILE}")
    return source, {key: _mark(config.get(key)) for key in ("bos_token", "eos_token")}


def _is_default(item: Any) -> bool:
    return isinstance(item, dict) and item.get("name") == "default"


def _mark(value: Any) -> str:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""

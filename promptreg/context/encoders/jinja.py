"""A chat template in a file: what a model's own repository ships as `chat_template`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.encoders.model import role_of
from promptreg.context.encoders.template_process import TemplateProcess
from promptreg.errors import EncodingError, Place, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.context.count.counting import Message

MAX_TEMPLATE_BYTES: Final = 1_000_000


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


def read_template(path: Path, options: Mapping[str, Json] | None = None) -> JinjaEncoder:
    """The encoder of a template's file; a `tokenizer_config.json` is read for its `chat_template` and its two marks.

    Raises:
        UsageError: the file cannot be read, is too large, or holds no template.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"The chat template {path} cannot be read: {problem}") from problem
    if len(data) > MAX_TEMPLATE_BYTES:
        raise UsageError(f"The chat template {path} has more than {MAX_TEMPLATE_BYTES:,} bytes, which is no template.")
    if path.suffix != ".json":
        return JinjaEncoder(text, name=path.name, options=options)
    source, marks = _from_config(text, path)
    return JinjaEncoder(source, name=path.name, options={**marks, **(options or {})})


def _from_config(text: str, path: Path) -> tuple[str, dict[str, Json]]:
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{path} is no JSON: {problem}") from problem
    source = config.get("chat_template") if isinstance(config, dict) else None
    if isinstance(source, list):  # several by name; the one called `default` is meant where none is chosen
        source = next((item.get("template") for item in source if _is_default(item)), None)
    if not isinstance(source, str):
        raise UsageError(f"{path} has no `chat_template`. Name the file of the template itself.")
    return source, {key: _mark(config.get(key)) for key in ("bos_token", "eos_token")}


def _is_default(item: Any) -> bool:
    return isinstance(item, dict) and item.get("name") == "default"


def _mark(value: Any) -> str:
    text = value.get("content") if isinstance(value, dict) else value
    return text if isinstance(text, str) else ""

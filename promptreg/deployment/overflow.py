"""Reads from an error body that a request was too long for the window, and the numbers that the server gives.

Servers agree on neither status nor words: vLLM and SGLang answer 400, MindIE 424 with the type of an engine fault,
DeepSeek's code is `invalid_request_error`. The words decide, the status only rules out what cannot be.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from promptreg.deployment.envelope import error_message
from promptreg.deployment.json_text import parse_json
from promptreg.deployment.profiles.load import load_profile

if TYPE_CHECKING:
    from promptreg.canonical import Json

_NUMBER: Final = re.compile(r"<(window|prompt|answer|n)>")

What: TypeAlias = Literal["prompt", "prompt and answer", "answer", "characters", "unknown"]
"""What was too long: the prompt alone, with the answer asked for, that answer alone, the text before it was counted."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """A refusal for length. Numbers are in tokens and None where the server does not tell them."""

    what: What
    window: int | None = None
    """The limit that was passed; for `answer` the longest answer."""
    prompt: int | None = None
    prompt_is_least: bool = False
    """Whether the server stopped counting, so that the prompt has at least so many tokens."""
    answer: int | None = None
    """The `max_tokens` of the request."""
    said: str = ""
    """The server's own words."""


_OF_ANY_SERVER: Final = re.compile(
    r"context.{0,8}length|reduce the length|max(?:imum)?.?model.?len"
    r"|(?:prompt|input|messages?|request).{0,40}too (?:long|large)"
    r"|token length must|too many (?:input )?tokens|max_?input_?(?:token_?)?len(?:gth)?|max_?seq_?len"
    r"|maximum input ids length|exceeds?.{0,30}(?:context|window|token limit|max(?:imum)?.{0,12}length)"
    r"|上下文.{0,8}(?:长度|窗口)|(?:输入|提示词).{0,10}(?:过长|超长|超出|超过)",
    re.IGNORECASE,
)


def read_overflow(status: int | None, body: bytes | str, server: str | None = None) -> Overflow | None:
    """What a refusal says about length; None when it is about something else.

    Args:
        status: HTTP status; None when no response came.
        body: the body as it came, in any of the servers' shapes or as bare text.
        server: kind of the server where it is known.
    """
    if status is None or not 400 <= status < 500:
        return None
    data = body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass")
    try:
        document: Json = parse_json(data) if data.strip() else None
    except ValueError:
        document = None
    said = error_message(document) or data[:4096].decode("utf-8", "replace")
    for what, wording in _wordings():
        found = wording.search(said)
        if found is not None:
            numbers = found.groupdict()
            return Overflow(
                what,
                window=_number(numbers.get("window")),
                prompt=_number(numbers.get("prompt")),
                prompt_is_least=numbers.get("least") is not None,
                answer=_number(numbers.get("answer")),
                said=said,
            )
    if not is_overflow(status, said, server):
        return None
    window, prompt = _llama_numbers(document)
    return Overflow("prompt" if prompt is not None else "unknown", window, prompt, said=said)


def is_overflow(status: int, said: str, server: str | None = None) -> bool:
    """Whether the words of a refusal say that a request does not fit into the window.

    Args:
        status: HTTP status.
        said: the server's own words.
        server: kind of the server where it is known; else the words of all servers are looked for.
    """
    if server is not None and _profile_says(status, said, server):
        return True
    return _OF_ANY_SERVER.search(said) is not None


@cache
def _wordings() -> tuple[tuple[What, re.Pattern[str]], ...]:
    text = resources.files(__package__ or "").joinpath("overflow.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)["wording"]
    return tuple((row["what"], re.compile(_with_numbers(row["words"]), re.IGNORECASE | re.DOTALL)) for row in rows)


def _with_numbers(words: str) -> str:
    """The expression in which each name became a group of digits."""
    return _NUMBER.sub(lambda name: r"\d{1,12}" if name[1] == "n" else rf"(?P<{name[1]}>\d{{1,12}})", words)


def _profile_says(status: int, said: str, server: str) -> bool:
    try:
        return load_profile(server).is_overflow(status, said)
    except KeyError:
        return False


def _llama_numbers(document: Json) -> tuple[int | None, int | None]:
    """The window and the prompt that llama.cpp puts beside its words."""
    error = document.get("error") if isinstance(document, dict) else None
    if not isinstance(error, dict):
        return None, None
    values = [error.get(key) for key in ("n_ctx", "n_prompt_tokens")]
    window, prompt = (value if type(value) is int else None for value in values)
    return window, prompt


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)

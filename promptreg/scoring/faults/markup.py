"""Markup that only the server and the model should ever see: tool blocks and special tokens, in all their spellings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from promptreg.scoring.faults.model import Observation
    from promptreg.scoring.faults.views import Text

# Full-width bars stand in no prose; ASCII bars also stand in tables, so those need an angle bracket or a known word.
_TOOL: Final = re.compile(
    r"</?[｜|‖]{1,2}DSML(?:[｜|‖]{1,2}[A-Za-z_]{0,20})?"
    r"|[｜‖]{1,2}DSML[｜‖]{1,2}"
    r"|\|{1,2}DSML\|{1,2}(?=tool_calls|function_calls|invoke|parameter)"
    r"|<?[｜|‖]?tool▁(?:calls?|outputs?)▁(?:begin|end|sep)[｜|‖]?>?"
    r"|<?[｜|‖]?tool▁sep[｜|‖]?>?"
    r"|<[｜|]tool[_ ](?:calls?|outputs?)[_ ](?:section[_ ])?(?:argument[_ ])?(?:begin|end)[｜|]>"
    r"|<[｜|]tool[_ ]sep[｜|]>"
    r"|</?tool_calls?>"
    r"|<function=[\w.-]{1,64}>",
)
# A block that was still being written, or held back, when the answer ended.
_TOOL_BEGUN: Final = re.compile(
    r"(?:</?[｜‖]{1,2}(?:D(?:S(?:ML?)?)?|t(?:ool[▁_a-z]{0,20}|oo?)?)?"
    r"|</?\|{1,2}(?:DS(?:ML?)?|tool[▁_][▁_a-z]{0,20})"
    r"|</?tool_(?:calls?|cal?|c)?)\Z",
)
# A server that drops special tokens leaves the words between them.
_BARE_INVOKE: Final = re.compile(r'</?(?:tool_calls|function_calls|invoke|parameter)(?:>| name="[^"<>\n]{1,80}")')

_SPECIAL: Final = re.compile(
    r"<｜[^｜<>\n|]{1,40}[｜|]>"
    r"|<\|(?:im_(?:start|end|sep)|endoftext|end▁of▁sentence|begin▁of▁sentence|begin_of_(?:text|sentence)"
    r"|end_of_(?:text|sentence)|eot_id|eom_id|start_header_id|end_header_id|python_tag|EOT|BOS|EOS|PAD"
    r"|User|Assistant|System|user|assistant|system|fim_(?:prefix|middle|suffix)|fim▁(?:begin|hole|end)"
    r"|box_(?:start|end)|vision_(?:start|end)|return|channel|message|constrain)\|>"
    r"|<\|[A-Za-z]{2,20}▁[A-Za-z▁]{1,30}\|>"
    r"|\[(?:BOS|EOS|PAD|UNK)\](?=\s*(?:\[|\Z))",
)
_SPECIAL_BEGUN: Final = re.compile(r"<｜[A-Za-z▁_ ]{1,40}\Z")
_TOOL_WORDS: Final = ("DSML", "tool", "<function=")
"""Tool markup holds one of these; looking for them first is many times as fast in a text full of bars."""

_SPECIAL_BEGINS: Final = ("<｜", "<|", "[BOS]", "[EOS]", "[PAD]", "[UNK]")
"""A special token begins with one of these."""

_QUOTES: Final = "\"'“”‘’「」『』《》`（("


class Mark(NamedTuple):
    """A piece of markup that was found."""

    text: str
    offset: int
    whole: bool = True
    """False for the beginning of a mark at the end of a text."""


def tool_mark(text: str) -> Mark | None:
    """The first tool markup in a text, or the beginning of one at its end."""
    if "｜" in text or "|" in text or "<" in text or "▁" in text or "‖" in text:
        match = _TOOL.search(text) if any(word in text for word in _TOOL_WORDS) else None
        if match is not None:
            return Mark(match.group(), match.start())
        tail = max(0, len(text) - 48)
        match = _TOOL_BEGUN.search(text, tail)
        if match is not None and len(match.group()) > 1:
            return Mark(match.group(), match.start(), whole=False)
    return None


def bare_invoke(text: str) -> Mark | None:
    """Tool markup of which a server dropped the special tokens: `<invoke name="…">`."""
    match = _BARE_INVOKE.search(text) if "<" in text else None
    return None if match is None else Mark(match.group(), match.start())


def special_marks(text: str) -> list[Mark]:
    """The special tokens in a text that are no tool markup, at most 64 of them."""
    if not any(begin in text for begin in _SPECIAL_BEGINS):
        return []
    found: list[Mark] = []
    for match in _SPECIAL.finditer(text):
        if _TOOL.match(match.group()) is None:
            found.append(Mark(match.group(), match.start()))
            if len(found) == 64:
                return found
    begun = _SPECIAL_BEGUN.search(text, max(0, len(text) - 48))
    if begun is not None and _TOOL_BEGUN.search(text, max(0, len(text) - 48)) is None:
        found.append(Mark(begun.group(), begun.start(), whole=False))
    return found


def known(mark: Mark, call: Observation, recorded: tuple[Text, ...]) -> bool:
    """Whether a mark is part of the subject: the prompt has it, or a recorded answer of the source does.

    The source's own answers may leak as well; what it shows too is no fault of the migration.
    """
    core = _core(mark.text)
    return any(core in text.raw for text in (call.prompt, *recorded))


def talked_about(call: Observation) -> bool:
    """Whether the prompt asks about markup or tokens, so that an answer may name them."""
    return call.prompt.is_about_markup


def quoted(mark: Mark, text: str) -> bool:
    """Whether a mark stands between quotation marks."""
    before = text[mark.offset - 1 : mark.offset]
    after = text[mark.offset + len(mark.text) : mark.offset + len(mark.text) + 1]
    return bool(before) and bool(after) and before in _QUOTES and (after in _QUOTES or after in "）)")


def _core(mark: str) -> str:
    return mark.strip("</>｜|‖") or mark

"""Markup that only the server and the model should ever see: tool blocks and special tokens, in all their spellings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from promptreg.scoring.faults.model import Observation
    from promptreg.scoring.faults.reading.views import Text

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
    r"|<function=[\w.-]{1,64}>"
    r"|\[TOOL_CALLS\](?=\s{0,4}(?:\[?\s{0,4}\{|[\w.-]{1,64}(?:\[ARGS\]|\{)))",
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
# Tokens that look like tags of a page: only at the very beginning of a text, or glued to its very end.
_FIRST: Final = re.compile(r"\s{0,4}(<(?:s|pad|bos|unk)>)(?![ \t]?[a-z])")
_LAST: Final = re.compile(r"(?<=[^\s\"'`“‘「（(])(</s>|<(?:eos|pad|unk)>)\s{0,4}\Z")
_EDGES: Final = ("<s>", "</s>", "<pad>", "<bos>", "<eos>", "<unk>")
_SPECIAL_BEGUN: Final = re.compile(r"<｜[A-Za-z▁_ ]{1,40}\Z")
_TOOL_WORDS: Final = ("DSML", "tool", "<function=", "[TOOL_CALLS]")
"""Tool markup holds one of these; looking for them first is many times as fast in a text full of bars."""

_SPECIAL_BEGINS: Final = ("<｜", "<|", "[BOS]", "[EOS]", "[PAD]", "[UNK]")
"""A special token begins with one of these."""

# A text that speaks of markup says so; a leak comes in an answer about the weather.
_ABOUT: Final = re.compile(
    r"\b(?:tokens?|tags?|markup|markers?|templates?|pars(?:e[sdr]?|ers|ing)|leak\w{0,3}"
    r"|tool[- _]calls?|formats?|prompts?|llms?"
    r"|deepseek|qwen|hermes|chatml|reasoning|elements?|delimiters?)\b|模型|标记|标签|泄[漏露]|解析|模板|词元|推理|格式|正文|思考过程",
    re.IGNORECASE,
)
_SPEAKS_ON: Final = re.compile(
    r"[ \t](?:is|are|was|were|marks?|means?|opens?|closes?|begins?|starts?|ends?|tells?"
    r"|leaks?|leaked|appears?|shows?|stands?"
    r"|tokens?|tags?|blocks?)\b|[ \t]?(?:是|表示|泄[漏露]|出现|标记|标签|开头|结尾|用于|代表)"
)
# The beginning of a line, of an item of a list, of a heading or of a row of a table.
_LINE_BEGINS: Final = re.compile(r"[ \t]{0,8}(?:[-*+•·>|]|#{1,6}|\(?\d{1,3}[.)、])?[ \t]{0,4}(?:\*\*|__)?\Z")
# What a sentence goes on with that has markup as its subject. A call, arguments or an answer never begin so.
_SUBJECT_OF: Final = re.compile(
    r"(?:\*\*|__)?(?:[ \t](?:is|are|was|were|marks?|means?|opens?|closes?|begins?|starts?|ends?|tells?|leaks?|leaked"
    r"|appears?|shows?|stands?|must|should|may|might|can|cannot|will|never|always|has|contains?|holds?|wraps?"
    r"|encloses?|introduces?|separates?|denotes?|signals?|indicates?|precedes?|follows?|delimits?|surrounds?|names?"
    r"|sits?|belongs?|comes?|goes|tokens?|tags?|blocks?|markers?)\b"
    r"|[ \t]?(?:表示|标记|标签|用于|用来|代表|是[^\n]{0,20}[标符始束尾块])"
    r"|[ \t](?:是|泄[漏露]|出现|开头|结尾|必须|应|可|不|会|后|之[前后间])|[ \t]?(?:and\b|or\b|[和与及或、])[ \t]?[<`*])"
)
# “- <tool_call>: opens a call”, “| <tool_call> | opens a call |”
_EXPLAINED: Final = re.compile(
    r"(?:\*\*|__)?[ \t]?(?::|：|—{1,2}|–|-{1,2}[ \t]|\||=>|→)(?:\*\*|__)?[ \t]?(?:[a-z]|[A-Z][a-z]|[\u4e00-\u9fff])"
)
_REST_OF_TAG: Final = re.compile(r"(?:[ \t]name=(?:\"[^\"<>\n]{0,80}\"|[\w.-]{1,64}))?[｜|‖]{0,2}>?")
_EMPTY_PAIR: Final = re.compile(r"(?:…|\.\.\.)?[ \t]?</[^<>\n]{1,60}>")
_GOES_ON: Final = re.compile(r"[\"'”’」》`)）]?[ \t]?[,，;；:：、—–-]{0,2}[ \t]{0,2}[^\W\d_]|[.。!?！？](?:\s|\Z)")
_MARKED: Final = re.compile(r"<[^<>\n]{1,80}>")
_SENTENCE_ENDS: Final = tuple(".!?。！？…")
_CONTEXT: Final = 200
_COPIED: Final = 60
"""Characters after a mark that must stand in the prompt as well before it counts as copied from there."""

_QUOTES: Final = "\"'“”‘’「」『』《》`（("


class Mark(NamedTuple):
    """A piece of markup that was found."""

    text: str
    offset: int
    whole: bool = True
    """False for the beginning of a mark at the end of a text."""


def tool_mark(text: str, *, about: bool = False) -> Mark | None:
    """The first tool markup in a text, or the beginning of one at its end.

    Args:
        text: the text, in which code does not count as such.
        about: whether marks that a sentence only speaks of are passed over.
    """
    if "｜" in text or "|" in text or "<" in text or "▁" in text or "‖" in text or "[TOOL_CALLS]" in text:
        for found in _TOOL.finditer(text) if any(word in text for word in _TOOL_WORDS) else ():
            mark = Mark(found.group(), found.start())
            if not (about and spoken_of(mark, text)):
                return mark
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
    found = _edges(text)
    if not any(begin in text for begin in _SPECIAL_BEGINS):
        return found
    for match in _SPECIAL.finditer(text):
        if _TOOL.match(match.group()) is None:
            found.append(Mark(match.group(), match.start()))
            if len(found) == 64:
                return found
    begun = _SPECIAL_BEGUN.search(text, max(0, len(text) - 48))
    if begun is not None and _TOOL_BEGUN.search(text, max(0, len(text) - 48)) is None:
        found.append(Mark(begun.group(), begun.start(), whole=False))
    return found


def _edges(text: str) -> list[Mark]:
    """Tokens in the form of a tag at the beginning or the end of a text that does not use them as tags of a page."""
    if not any(edge in text[:12] or edge in text[-12:] for edge in _EDGES):
        return []
    matches = [match for match in (_FIRST.match(text), _LAST.search(text, max(0, len(text) - 16))) if match is not None]
    marks = [Mark(match[1], match.start(1)) for match in matches]
    struck = text.count("<s>") and text.count("</s>")  # text that is struck out on a page has both
    return [mark for mark in marks if not (struck and mark.text.strip("</>") == "s")]


def known(mark: Mark, call: Observation, recorded: tuple[Text, ...], *, in_prompt: bool = True) -> bool:
    """Whether a mark is part of the subject: the prompt has it, or a recorded answer of the source does.

    The source's own answers may leak as well; what it shows too is no fault of the migration.

    Args:
        mark: the mark.
        call: the call whose prompt may have it.
        recorded: the recorded texts that may have it.
        in_prompt: whether a prompt that has it counts.
    """
    return (in_prompt and names(mark, call.prompt.raw)) or any(names(mark, text.raw) for text in recorded)


def names(mark: Mark, text: str) -> bool:
    """Whether a text has a mark, with or without its brackets and bars."""
    return _core(mark.text) in text


def copied(mark: Mark, text: str, call: Observation) -> bool:
    """Whether the prompt has a mark with all that follows it on its line and the next: then it is a quotation."""
    rest = text[mark.offset : mark.offset + len(mark.text) + _COPIED].rstrip()
    return len(rest) > len(mark.text) and rest in call.prompt.raw


def talked_about(call: Observation) -> bool:
    """Whether the prompt asks about markup or tokens, so that an answer may name them."""
    return call.prompt.is_about_markup


def quoted(mark: Mark, text: str) -> bool:
    """Whether a mark stands between quotation marks."""
    before = text[mark.offset - 1 : mark.offset]
    after = text[mark.offset + len(mark.text) : mark.offset + len(mark.text) + 1]
    return bool(before) and bool(after) and before in _QUOTES and (after in _QUOTES or after in "）)")


def is_shown(mark: Mark, text: str) -> bool:
    """Whether a whole block stands inside a text that goes on after it: an example, since a leaked call ends an answer.

    Words lead to the block, it is closed, and words follow that are no markup.
    """
    if not mark.whole or mark.text.startswith("</") or not any(map(str.isalpha, text[: mark.offset])):
        return False
    end = text.rfind(f"</{_core(mark.text).partition('=')[0]}", mark.offset)
    if end < 0:
        end = max(text.rfind(sign, mark.offset) for sign in ("end｜>", "end|>"))
    if end < 0:
        return False
    rest = text[end:].partition(">")[2]
    return any(map(str.isalpha, _MARKED.sub(" ", rest)))


def is_about_markup(prompt: str, text: str) -> bool:
    """Whether a prompt, or an answer without its marks, is about formats or tokens, so that it may name marks."""
    return _ABOUT.search(prompt[:20_000]) is not None or _ABOUT.search(_MARKED.sub(" ", text[:20_000])) is not None


def spoken_of(mark: Mark, text: str) -> bool:
    """Whether a mark is named inside a sentence: words before it and after it on its line, set apart from both.

    A line, or an item of a list, may begin with it when it is the subject of what follows. A leak begins or ends a
    text, stands in a row with more markup, or is glued to the end of a sentence.
    """
    if not mark.whole:
        return False
    if quoted(mark, text):
        return True
    before = text[max(0, mark.offset - _CONTEXT) : mark.offset].rpartition("\n")[2]
    end = mark.offset + len(mark.text)
    after = text[end : end + _CONTEXT].partition("\n")[0]
    rest = _REST_OF_TAG.match(after)
    after = after[rest.end() :] if rest else after
    pair = _EMPTY_PAIR.match(after)
    if pair and not mark.text.startswith("</"):
        after = after[pair.end() :]
    elif mark.text.startswith("</") and _just_opened(before):
        before = before[: before.rindex("<")]
    said = before.rstrip()
    if not any(map(str.isalpha, said)):
        return _begins_line_as_subject(before, after)
    if _GOES_ON.match(after) is None:
        return False
    if said.endswith(_SENTENCE_ENDS):
        return before != said and _SPEAKS_ON.match(after) is not None
    return before != said or not said[-1].isascii()


def _begins_line_as_subject(before: str, after: str) -> bool:
    """Whether a mark is a heading, an item of a list that says what it is, or the subject of a sentence."""
    sign = before.strip()
    if sign and not sign.strip("#") and not after.strip():
        return True
    explained = bool(sign) and _EXPLAINED.match(after) is not None
    return _LINE_BEGINS.match(before) is not None and (explained or _SUBJECT_OF.match(after) is not None)


def _just_opened(before: str) -> bool:
    begin = before.rfind("<")
    return begin >= 0 and re.fullmatch(r"<[^<>\n]{1,60}>(?:…|\.\.\.)?[ \t]?", before[begin:]) is not None


def _core(mark: str) -> str:
    return mark.strip("</>｜|‖") or mark

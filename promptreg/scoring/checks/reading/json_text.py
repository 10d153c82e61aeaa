"""Reading an answer as JSON, with what is wrong said in a sentence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from promptreg.scoring.problems import reader_problem
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer

_FENCED: Final = re.compile(r"\s*(?:```|~~~)")


class Parsed(NamedTuple):
    """The value of a JSON text, or the sentence that says why there is none."""

    value: Any
    problem: Sentence | None


def parse_answer(answer: Answer) -> Parsed:
    """The content as one JSON value. Blanks around it are allowed; a code fence, a comment or a word are not.

    Nesting deeper than 1024 is refused, as are NaN and infinities.
    """
    content = answer.content.strip()
    if not content:
        return Parsed(None, Sentence("The answer is not JSON: it is empty.", "回答不是 JSON：内容为空。"))
    try:
        return Parsed(orjson.loads(content), None)
    except orjson.JSONDecodeError as error:
        if _FENCED.match(content):
            return Parsed(
                None,
                Sentence(
                    "The answer is not JSON: it begins with a code fence.",
                    "回答不是 JSON：开头是代码围栏（```）。",
                ),
            )
        reason = reader_problem(error)
        return Parsed(
            None,
            Sentence(
                f"The answer is not JSON (line {error.lineno}, column {error.colno}: {reason.en}).",
                f"回答不是 JSON（第 {error.lineno} 行第 {error.colno} 列：{reason.zh}）。",
            ),
        )

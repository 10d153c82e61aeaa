"""Check `language`: the content is written in a language."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, must
from promptreg.scoring.checks.reading.language_evidence import can_be_told
from promptreg.text.script import LANGUAGES, language_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_NAMES: Final = MappingProxyType(
    {
        "zh": Sentence("Chinese", "中文"),
        "en": Sentence("English", "英文"),
        "ja": Sentence("Japanese", "日文"),
        "ko": Sentence("Korean", "韩文"),
        "ru": Sentence("Russian", "俄文"),
        "uk": Sentence("Ukrainian", "乌克兰文"),
        "de": Sentence("German", "德文"),
        "fr": Sentence("French", "法文"),
        "es": Sentence("Spanish", "西班牙文"),
        "pt": Sentence("Portuguese", "葡萄牙文"),
        "it": Sentence("Italian", "意大利文"),
        "ar": Sentence("Arabic", "阿拉伯文"),
        "th": Sentence("Thai", "泰文"),
        "vi": Sentence("Vietnamese", "越南文"),
        "hi": Sentence("Hindi", "印地文"),
    },
)


def language_of_answer(answer: Answer) -> str | None:
    """The language of an answer's content; of a JSON answer, fenced or not, that of its values and not of its keys."""
    return _language_of_content(answer.content.strip())


# The check and the traits ask about the same answers, one case after the other.
@lru_cache(maxsize=64)
def _language_of_content(content: str) -> str | None:
    return language_of(_prose(content))


def _prose(content: str) -> str:
    """What of a content is to be judged."""
    if content[:1] in ("{", "[", "`"):
        values = _json_values(_without_fence(content))
        if values is not None:
            return "\n".join(values)
    return content


@dataclass(frozen=True, slots=True)
class InLanguage:
    """Most of the prose is in the language. Code, addresses and the keys of JSON do not count.

    Where the words of a short answer may be of several languages of one script, it is unscored.
    """

    language: str

    @property
    def rules(self) -> Rules:
        """The content must be in the language, or in another one."""
        name = language_name(self.language)
        return must(f"be in {name.en}", f"使用{name.zh}")

    def find(self, answer: Answer) -> Finding:
        """The language found, or that there is nothing to judge by."""
        found = language_of_answer(answer)
        if found is None:
            sentence = Sentence(
                "The answer has no words to tell its language by.",
                "回答中没有可用于判断语言的文字。",
            )
            return Finding(holds=None, sentence=sentence)
        if not can_be_told(_prose(answer.content.strip()), found, self.language):
            sentence = Sentence(
                "The answer is too short to tell its language from related ones.",
                "回答太短，无法与相近的语言区分。",
            )
            return Finding(holds=None, sentence=sentence)
        name = language_name(found)
        sentence = Sentence(f"The answer is in {name.en}.", f"回答使用的是{name.zh}。")
        return Finding(holds=found == self.language, sentence=sentence)


def build(argument: Json, setting: Setting) -> InLanguage:
    """`language: CODE`. Regions are allowed and ignored: zh-CN is zh."""
    code = argument.lower().replace("_", "-").partition("-")[0] if isinstance(argument, str) else ""
    if code not in LANGUAGES:
        raise BadArgument(
            f"`{setting.name}` needs a language code, such as `{setting.name}: zh`. "
            f"Known are {', '.join(sorted(LANGUAGES))}.",
        )
    return InLanguage(code)


def language_name(code: str) -> Sentence:
    """How sentences call the language of a code."""
    return _NAMES.get(code) or Sentence(f"the language “{code}”", f"语言“{code}”")


def _without_fence(content: str) -> str:
    lines = content.splitlines()
    if len(lines) > 2 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return content


def _json_values(content: str) -> list[str] | None:
    try:
        rest: list[Any] = [json.loads(content)]
    except (ValueError, RecursionError):
        return None
    values: list[str] = []
    while rest:
        part = rest.pop()
        if isinstance(part, str):
            values.append(part)
        elif isinstance(part, dict):
            rest += part.values()
        elif isinstance(part, list):
            rest += part
    return values

"""Names of groups of scripts in both languages, with how many letters of each there are."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

CHINESE_NAMES: Final = MappingProxyType(
    {
        "Han": "汉字",
        "kana": "假名",
        "Latin": "拉丁字母",
        "Hangul": "谚文字母",
        "Cyrillic": "西里尔字母",
        "Arabic": "阿拉伯字母",
        "Thai": "泰文字母",
        "Devanagari": "天城文字母",
        "Greek": "希腊字母",
        "Hebrew": "希伯来字母",
        "Bengali": "孟加拉文字母",
        "Tamil": "泰米尔文字母",
        "Georgian": "格鲁吉亚字母",
        "Armenian": "亚美尼亚字母",
        "Khmer": "高棉文字母",
        "Lao": "老挝文字母",
        "Myanmar": "缅甸文字母",
        "Ethiopic": "埃塞俄比亚字母",
    }
)
"""Of every group that `text.script` tells apart."""


def letters_in_words(letters: Mapping[str, int], seen: str) -> Sentence:
    """`Cyrillic 3, Thai 2: …` and `3 个西里尔字母、2 个泰文字母：…`.

    Args:
        letters: how many there are of each group.
        seen: the place in the text where they stand.
    """
    groups = sorted(letters.items())
    en = ", ".join(f"{group} {count}" for group, count in groups)
    zh = "、".join(f"{count} 个{CHINESE_NAMES[group]}" for group, count in groups)
    return Sentence(f"{en}: {seen}", f"{zh}：{seen}")

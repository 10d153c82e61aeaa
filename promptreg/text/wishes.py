"""Whether a prompt asks for a text that repeats itself, in English and Chinese."""

from __future__ import annotations

import re
from typing import Final

_REPETITION: Final = re.compile(
    r"\b(?:repeat(?:ed|edly|ing|s)?|repetitions?|copies|over and over|again and again|"
    r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty|hundred|thousand|many|several) "
    r"times(?! of\b| zones?\b| tables?\b| when\b)|"
    r"(?:rows?|lines?|string|series|sequence) of|in a row|alternat\w{1,5}|print|draw|refrain|chorus|mantra|chant|"
    r"banner|divider|separator|pad(?:ded|ding)?|filled with|exclamation|asterisks?|hyphens?|dashes|underscores?|stars|"
    r"dots|zeros|zeroes|emojis?|hearts|ascii|countdown|digits|decimals?|binary|hex|scream|laugh|"
    r"(?:\d{2,}|ten|twelve|twenty|fifty|hundred|thousand)\s(?:characters?|letters|lines|rows|words|symbols|marks))\b"
    r"|重复|反复|复读|打印|连续|分隔线|分割线|感叹号|叹号|星号|减号|横线|省略号|表情|一排|一行|一串|口号|副歌|图案|大笑|尖叫"
    r"|(?:[0-9]+|[两二三四五六七八九十百千几]{1,4})\s?(?:次|遍)"
    r"|(?:[0-9]{2,}|[二三四五六七八九]?[十百千万]{1,3})\s?(?:个|行|条|位|字)|小数|二进制|十六进制",
    re.IGNORECASE,
)
_SHAPED: Final = re.compile(
    r"\b(?:tables?|matri(?:x|ces)|grid|csv|tsv|list|array|vector|json|yaml|xml|html|css|svg|code|script|function|program|"
    r"sql|test data|mock|dummy|placeholder|lorem|template|form|schedule|calendar|log|poem|poetry|verse|lyrics|song|"
    r"rounds?|rap|rhyme|haiku|ballad|prayer|litany|hymn|music|tabs?|notes|dna|board|map|maze|art)\b"
    r"|表格|表|矩阵|数组|代码|脚本|程序|函数|数据|模板|日程|日历|日志|诗|词|歌|曲|祷|经文|谱|棋盘|迷宫|画",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(
    r"^\s*(?:why|how come|what does|what do|what is wrong|what causes|is it|are there)\b"
    r"|怎么办|为什么|为何|怎么回事|什么原因|怎么解决|如何解决|是什么意思|怎么修",
    re.IGNORECASE,
)


def is_question_about_marks(prompt: str) -> bool:
    """Whether a prompt asks why something is so, or what to do about it: “Why does the sign show an asterisk?”."""
    return _QUESTION.search(prompt) is not None


def asks_for_repetition(prompt: str) -> bool:
    """Whether a prompt asks for something that repeats: a row of stars, a word ten times, a long number."""
    return _REPETITION.search(prompt) is not None


def asks_for_shape(prompt: str) -> bool:
    """Whether a prompt asks for something that may repeat by nature: a table, code, a song."""
    return _SHAPED.search(prompt) is not None

"""Does a text refuse? Rules for Chinese and English, on what the answer itself says first."""

from __future__ import annotations

from typing import Final

import regex

from promptreg.text.script import without_code
from promptreg.text.segment import sentences

# A refusal stands at the beginning; later "I cannot" is about something else, or is quoted.
_SENTENCES_LOOKED_AT: Final = 3
_CHARACTERS_LOOKED_AT: Final = 1_000

_QUOTED: Final = regex.compile(
    r"“[^”\n]{0,500}+”|‘[^’\n]{0,500}+’|「[^」\n]{0,500}+」|『[^』\n]{0,500}+』|\"[^\"\n]{0,500}+\"|^\s*+>.*+$",
    regex.MULTILINE,
)

# One of these is part of every refusal; most answers have none, and are done in a few microseconds.
_TRIGGERS: Final = (
    *("n't", "n’t", "not ", "cannot", "unable", "declin", "refus", "against", "violat", "rather"),
    *("不能", "不可", "不会", "不便", "不予", "不得", "不方", "没有办", "没办", "没法", "难以", "无法", "无权", "无可"),
    *("拒绝", "谢绝", "爱莫", "恕", "违反", "违背", "不符", "话题"),
)

_EN_SUBJECT: Final = r"\bI(?:\s+am|'m)?"
_EN_ADVERB: Final = (
    r"(?:\s+(?:really|simply|just|currently|unfortunately|afraid|therefore|also|still|honestly|sorry|but|that|I)\b,?)*+"
)
_EN_CANNOT: Final = (
    r"(?:\s+(?:can't|cannot|can\s+not|couldn't|could\s+not|won't|will\s+not|won't\s+be\s+able\s+to"
    r"|will\s+not\s+be\s+able\s+to|may\s+not|am\s+unable\s+to|am\s+not\s+able\s+to|am\s+not\s+allowed\s+to"
    r"|am\s+not\s+permitted\s+to|unable\s+to|not\s+able\s+to|not\s+allowed\s+to|not\s+permitted\s+to|shouldn't|should\s+not))"
)
# What "we" decline is mostly a rule of the business ("we will not share your data"); only these are about the request.
_EN_WE: Final = r"\bwe(?:\s+are|'re)?"
_EN_REQUEST_VERB: Final = r"\s+(?:help|assist|comply|answer|fulfil+|accommodate|process)\b"
_EN_VERB: Final = (
    r"\s+(?:\w+ly\s+)?(?:help|assist|comply|provide|answer|respond|continue|engage|discuss|fulfil+|complete"
    r"|do\s+(?:that|this|so)"
    r"|generate|create|write|produce|offer|give|support|process\s+(?:that|this|your)\s+request|share|participate"
    r"|accommodate|proceed)\b"
)
_EN: Final = regex.compile(
    r"(?i)"
    rf"{_EN_SUBJECT}{_EN_ADVERB}{_EN_CANNOT}{_EN_ADVERB}{_EN_VERB}"
    r"(?!\s+(?:but\s+(?:notice|wonder|feel|think|admire|smile)|your\s+(?:data|details)|it\s+enough))"
    rf"|{_EN_WE}{_EN_ADVERB}{_EN_CANNOT}{_EN_REQUEST_VERB}"
    rf"|{_EN_SUBJECT}\s+(?:must|have\s+to|need\s+to|will\s+have\s+to)\s+(?:respectfully\s+|politely\s+)?"
    r"(?:decline|refuse)\b"
    rf"|{_EN_SUBJECT}\s+(?:respectfully\s+|politely\s+)?(?:decline|refuse)\s+to\b"
    r"|\bI(?:'d|\s+would)\s+(?:rather|prefer)\s+not\b(?!\s+to\s+worry)"
    r"|\bI(?:'m|\s+am)\s+not\s+(?:comfortable|willing|going\s+to\s+(?:help|assist|provide|answer))\b"
    r"|(?<!\bnot\s)\b(?:against|violates?)\s+(?:my|our)\s+(?:\w+\s+)?"
    r"(?:guidelines|polic(?:y|ies)|principles|programming)\b"
    r"|\bas\s+an?\s+(?:AI|artificial\s+intelligence|language\s+model)[^.!?\n]{0,80}?"
    r"\b(?:can't|cannot|can\s+not|unable\s+to|not\s+able\s+to|must\s+decline|won't|will\s+not)\b"
    r"|^\W*+(?:I(?:'m|\s+am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid)|sorry|apologies|unfortunately"
    r"|my\s+apologies)\b[^.!?\n]{0,60}?"
    r"\b(?:can't|cannot|can\s+not|unable\s+to)\s+(?:help|assist|comply|answer|do\s+that|fulfil+)\b"
    r"|\bnot\s+something\s+(?:that\s+)?I\s+(?:can|am\s+able\s+to)\s+(?:help|assist|do|answer|discuss|provide)\b"
    r"|\b(?:this|that|your)\s+request\s+(?:can(?:'t|not)|could\s+not)\s+be\s+(?:fulfilled|completed|answered)\b",
)

_ZH_ABLE: Final = (
    r"(?:无法|不能|不可以|没有?办法|没法|不便|不方便|无权|难以"
    r"|不会(?=提供|回答|帮|协助|透露|告诉|讨论|参与|生成))"
)
_ZH_VERB: Final = (
    r"(?:提供|协助|帮助|帮忙|帮您|帮你|回答|回复|解答|满足|处理(?:这|该|此|您|你)|完成(?:这|该|此|您|你)|生成|撰写|编写"
    r"|创作|讨论|执行|给出|给到|继续|参与|支持(?:这|该|此|您|你)|透露|告知|告诉|help|assist|provide|answer)"
)
_ZH: Final = regex.compile(
    r"(?i)"
    rf"(?:我(?!们)|本助手|本人)[^。！？\n，,]{{0,8}}?{_ZH_ABLE}[^。！？\n，,]{{0,14}}?{_ZH_VERB}"
    rf"|我们?{_ZH_ABLE}[^。！？\n，,]{{0,10}}?{_ZH_VERB}[^。！？\n]{{0,12}}?(?:请求|要求|问题|内容|话题|相关信息)"
    rf"|^\W*+(?:非常|很|十分|实在|真的)?(?:抱歉|对不起|不好意思|遗憾|sorry)[^。！？\n]{{0,12}}?(?<!您)(?<!你)(?<!如果)"
    rf"{_ZH_ABLE}[^。！？\n，,]{{0,14}}?{_ZH_VERB}(?!退|换|折)"
    r"|作为(?:一个|一名|一款)?(?:AI|人工智能|语言模型|大模型|智能助手)[^。！？\n]{0,40}?(?:无法|不能|不会|不可以|不便)"
    r"|恕(?:我)?(?:不能|无法|难|不便)|爱莫能助|无可奉告|我(?:必须|只能|不得不|需要)?(?:拒绝|谢绝)|不予(?:回答|回复|提供)"
    r"|(?:这个|该|此|您的|你的)(?:请求|问题|要求|话题)[^。！？\n]{0,12}?(?:无法|不能|不予|不便)(?:提供|回答|处理|满足|讨论|回应)"
    r"|(?:违反|不符合|违背)了?(?:我的|我们的|平台的?|相关)(?:\w{0,6})(?:准则|政策|规定|原则|规范)"
    r"|(?:换个|换一个|其他|别的)话题(?:吧|聊)",
)
# "If I cannot help …" speaks of a refusal that has not happened; "why I cannot" explains one.
_HYPOTHETICAL: Final = regex.compile(
    r"(?i)(?:\b(?:if|when|whenever|why|unless|whether|suppose|imagine|says?|said|reads?|means?|such\s+as|phrases?|examples?)\b"
    r"|如果|假如|倘若|当(?!然)|为什么|为何|万一|例如|比如|所谓|说法|例子|话术)[^.!?。！？\n]{0,30}$",
)


def refuses(text: str) -> bool:
    """True when the text begins by refusing what was asked.

    Quoted passages, block quotes and code are put aside first, so that an answer that quotes or explains a refusal is
    none. A statement about others ("you cannot log in", 如果您无法登录) is none either. Only the beginning is read, so
    the time does not grow with the text.
    """
    beginning = text[: 4 * _CHARACTERS_LOOKED_AT]
    lower = beginning.lower()
    if not any(trigger in lower for trigger in _TRIGGERS):
        return False
    beginning = _QUOTED.sub(" ", without_code(beginning))[:_CHARACTERS_LOOKED_AT].strip().replace("’", "'")
    for sentence in sentences(beginning)[:_SENTENCES_LOOKED_AT]:
        for expression in (_EN, _ZH):
            match = expression.search(sentence)
            if match is not None and not _HYPOTHETICAL.search(sentence[: match.start()]):
                return True
    return False

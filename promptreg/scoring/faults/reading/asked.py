"""What a prompt asks for, as far as it decides whether something odd in an answer was wanted."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final, NamedTuple

_THINK_TAGS: Final = re.compile(
    r"think(?:ing)?>|<think|\bthink(?:ing)?[- ](?:tags?|tokens?|blocks?)|思考标签|思维标签", re.IGNORECASE
)
_BARE_TAG: Final = re.compile(
    r"\A\s*<think(?:ing)?>(?!\s*(?:tag|是|和))|(?<=[\s。？?.!！])<think(?:ing)?>\s*\Z", re.IGNORECASE
)
_ELEMENTS: Final = re.compile(r"\b(?:xml|html|svg|ssml|tei|elements?|markup)\b|元素|标记语言", re.IGNORECASE)
_MARKUP: Final = re.compile(
    r"DSML|special token|chat[ _-]?template|chatml|tokeni[sz]er|\bBOS\b|\bEOS\b|end[ -]of[ -](?:sentence|text)"
    r"|prompt format|control token|tool[ _-]call (?:markup|format|syntax|block)|特殊(?:标记|符号|词元|token)|对话模板"
    r"|聊天模板|分词器|控制符|结束符|起始符|开始符|标记语言|工具调用(?:标记|格式|语法)",
    re.IGNORECASE,
)

_TOOL_CALLS: Final = re.compile(
    r"\b(?:tool|function)[- _]?call\w{0,3}\b|\bagent\w{0,3}\b[^\n]{0,40}\b(?:formats?|protocols?|outputs?|syntax)\b"
    r"|\b(?:formats?|protocols?|outputs?|syntax)\b[^\n]{0,40}\bagent|(?:工具|函数)调用",
    re.IGNORECASE,
)

_NAMES: Final = MappingProxyType(
    {
        "zh": "chinese|mandarin|cantonese|中文|汉语|国语|普通话|粤语|简体|繁体|华语",
        "en": "english|英文|英语",
        "ja": "japanese|kanji|hiragana|katakana|日文|日语|日本语",
        "ko": "korean|hangul|韩文|韩语|朝鲜语",
        "ru": "russian|cyrillic|俄文|俄语",
        "uk": "ukrainian|乌克兰语",
        "ar": "arabic|阿拉伯语|阿拉伯文|阿语",
        "fa": "persian|farsi|波斯语",
        "he": "hebrew|yiddish|希伯来语",
        "th": "thai|泰文|泰语",
        "hi": "hindi|sanskrit|marathi|nepali|devanagari|印地语|梵文|梵语",
        "bn": "bengali|bangla|孟加拉语",
        "ta": "tamil|泰米尔语",
        "el": "greek|希腊文|希腊语",
        "ka": "georgian|格鲁吉亚语",
        "hy": "armenian|亚美尼亚语",
        "km": "khmer|cambodian|高棉语|柬埔寨语",
        "lo": "lao|老挝语",
        "my": "burmese|缅甸语",
        "am": "amharic|阿姆哈拉语",
        "de": "german|deutsch|德文|德语",
        "fr": "french|français|法文|法语",
        "es": "spanish|español|西班牙文|西班牙语|西语",
        "pt": "portuguese|葡萄牙文|葡萄牙语|葡语",
        "it": "italian|意大利文|意大利语",
        "nl": "dutch|荷兰语",
        "vi": "vietnamese|越南语|越南文",
        "id": "indonesian|malay|bahasa|印尼语|马来语",
        "tr": "turkish|土耳其语",
    },
)
_CODE_OF: Final = MappingProxyType({name: code for code, names in _NAMES.items() for name in names.split("|")})
_ANY_NAME: Final = "|".join(_CODE_OF)
_MENTION: Final = re.compile(rf"(?<![a-z])(?:{_ANY_NAME})(?![a-z])", re.IGNORECASE)
_ANSWER_IN: Final = re.compile(
    # "Reply in English." but not "Write about tea in Chinese culture."
    rf"\b(?:answer|reply|respond|write|explain|speak|output|responses?|answers?|replies|summari[sz]e)\b[^.\n!?。]{{0,60}}?"
    rf"\b(?:in|using)\s(?:plain |simple |simplified |traditional |fluent |formal |only )?(?P<en>{_ANY_NAME})"
    rf"(?=\s?(?:$|[.,;:!?\n)\"'。，]|(?:only|please|and|but|using|with|in|to|for|within|about)\b))"
    rf"|\b(?:translat\w{{1,5}}|render)\b[^\n]{{0,200}}?\b(?:in)?to\s"
    rf"(?:simplified |traditional )?(?P<into>{_ANY_NAME})\b"
    rf"|(?:用|以)(?P<zh>{_ANY_NAME})[^。\n]{{0,12}}?(?:回答|回复|作答|答复|写|说明|解释|输出|总结|描述|介绍|表达)"
    rf"|(?:翻译|译|改写)(?:成|为|到)(?P<to>{_ANY_NAME})"
    r"|(?P<into_en>[中汉]译英)|(?P<into_zh>英译[中汉])",
    re.IGNORECASE,
)
_ONE_MORE: Final = re.compile(
    rf"\s?(?:[、,/，]|and\b|or\b|[和与及])[ ]?(?:into |to |then |and )?(?:{_ANY_NAME})", re.IGNORECASE
)
# "Do not answer in Chinese."
_NOT: Final = re.compile(
    r"(?:\b(?:not|n't|n’t|never|avoid|without|rather than)\b[^.!?\n]{0,24}|(?:不要|不得|不可|别|不用|勿|禁止)再?)\Z",
    re.IGNORECASE,
)
# A language's name counts as a wish for it after these words, or before these; “Chinese history” is a subject.
_WANTED_BEFORE: Final = re.compile(
    r"(?:\b(?:in|into|to|using|from|or|and)\s(?:\w{1,12}\s)?|[用以把成为的译讲写到作和与、及])\s?\Z", re.IGNORECASE
)
_WANTED_AFTER: Final = re.compile(
    r"\s?(?:\Z|[^\w\s]|\s[^\w\s]|\n)|(?:'s)?\s(?:words?|names?|versions?|characters?|phrases?|sentences?|couplets?|poems?|poetry"
    r"|lyrics|idioms?|proverbs?|sayings?|greetings?|texts?|translations?|letters?|spelling|scripts?|equivalents?|speak\w{0,3}"
    r"|original|lines?|verses?|anthem|titles?|quot\w{1,7}|terms?|alphabet|paragraph|e-?mail|vowels?|consonants?|numerals?"
    r"|numbers?|digits?|pronouns?|verbs?|nouns?|adjectives?|surnames?|dishes|cities|novels"
    r"|films|movies|songs|holidays|festivals|brands|months|weekdays|colou?rs|toast|tongue[- ]twisters?"
    r"|for|of|and|or|please|only|then)\b"
    r"|\s?(?:版|怎么|如何|里|中|的|单词|词|句|名|歌|诗|原文|字|翻译|表达|说|写|短语|谚语|问候|成语|对联|作文|邮件|口语|元音|辅音|数字|数词"
    r"|写法|拼写|拼法|读法|月份|星期|颜色|称呼|敬语|代词|动词|名词|姓|台词|绕口令|祝福|祝酒|广告|标语|菜单|菜名|和|与|及|或|、|是什么|叫)",
    re.IGNORECASE,
)
_SEVERAL_LANGUAGES: Final = re.compile(
    r"\b(?:different|various|several|many|all|world|other|both|multiple|two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\s"
    r"(?:\w{1,12}\s)?languages\b|(?:[0-9]{1,3}|[两二三四五六七八九十百几多各]{1,3})\s?(?:种|门|国|个)?(?:不同的?)?语言|各国|多语|不同语言",
    re.IGNORECASE,
)
_QUOTATION: Final = re.compile(
    r"\b(?:quot(?:e|es|ation)|original (?:words|text|language|wording)|in the original|anthem|lyrics|couplets?"
    r"|proverbs?|idioms?|haiku|mantra|mottos?|slogan|prayer|alphabet|kana|hiragana"
    r"|katakana|hangul|calligraphy|first line|opening line)\b"
    r"|国歌|歌词|原文|原话|原句|春联|对联|谚语|俳句|咒语|校训|座右铭|名言|字母|五十音|假名|第一句|首句",
    re.IGNORECASE,
)
_INSTRUCTION: Final = re.compile(
    r"\A\W*(?:please\s)?(?:summari[sz]e|explain|rewrite|classify|extract|describe|list|answer|give|write|what|how|why|who|which"
    r"|analy[sz]e|correct"
    r"|fix|proofread|paraphrase|shorten|tl;?dr|identify|find|review|compare|label|rate|count|continue|complete|tell|name|generate"
    r"|create|define|here (?:is|are)|the following|this (?:is|text)|consider|given|suggest|improve|edit|check"
    r"|evaluate|judge|determine"
    r"|decide|say|return|output|provide|show|read|respond|reply|do not|don't|never|translate|look at|question|context"
    r"|review|you are"
    r"|is|are|does|do|can|could)\b",
    re.IGNORECASE,
)
_MANY_LANGUAGES: Final = re.compile(
    r"\b(?:languages?|multilingual|polyglot|translat\w{0,8}|transliterat\w{0,8}|scripts|alphabets?|unicode|i18n|"
    r"locali[sz]\w{0,8}|etymolog\w{0,5}|loanwords?|native (?:names?|scripts?)|word for|pronounc\w{0,8}|"
    r"writing systems?|(?:en|de)cod\w{1,5}|codecs?|characters|greetings|linguist\w{0,4})\b"
    r"|语言|语种|多语|翻译|字母|文字|字符|编码|词源|外来语|本地化|国际化|各国|问候|发音",
    re.IGNORECASE,
)
_EAST_ASIA: Final = re.compile(
    r"\b(?:china|chinese|taiwan|hong kong|japan(?:ese)?|tokyo|beijing|shanghai|kanji|hanzi|pinyin|tea|tao(?:ism)?|"
    r"confuci\w{0,6}|buddh\w{0,4}|zen|kung fu|dynasty|idioms?|calligraphy|go board|sushi|anime|manga)\b",
    re.IGNORECASE,
)
# Things that are written in English by custom, whatever the language of those who ask for them.
_ENGLISH_BY_CUSTOM: Final = re.compile(
    r"\bcommit|\bpull request\b|\bchange ?log\b|\breadme\b|\bdocstrings?\b|\bmidjourney\b|stable ?diffusion"
    r"|\bdall[-·]?e\b|\bcomfyui\b|\bsora\b|\bflux\b|\bsuno\b|\bprompts?\b|\bseo\b|提交(?:信息|说明|消息|记录|日志)|提示词|文生图|变量名|函数名"
    r"|类名|文件名|分支名|用户名|域名",
    re.IGNORECASE,
)
# A question that wants a sentence in its own words, and no name, saying, title or word of somebody else.
_PLAIN_QUESTION: Final = re.compile(r"什么|怎么|怎样|如何|为何|为什么|多少|多久|哪|几|吗|能否|是否|可以.{0,20}[？?]")
_OTHERS_WORDS: Final = re.compile(
    r"[A-Za-z]|[句话词语言文名译歌诗题标号签码写念读拼说缩称谓原曲剧影片书报]|愿景|使命|宗旨|理念|口令|密码|协议|法语|英|美|外国|国外"
)
# The names of languages that are those of nothing else: “俄语” is no Russian culture, while “Chinese” may be anything.
_ONLY_LANGUAGE: Final = re.compile(r"[语文]\Z")
# What is to be done with the text in the language asked for: the rest of the answer is about it.
_AND_THEN: Final = re.compile(
    r"\b(?:translat\w{1,5}|explain|meaning|means?|gloss|transliterat\w{1,5}|pinyin|romaji|roman\w{2,6}|break it"
    r"|pronounc\w{1,5}|annotat\w{1,4}|analy[sz]e)\b"
    r"|翻译|译文|解释|说明|含义|意思|讲解|分析|拼音|注释|注音|赏析|中文|汉语|读音",
    re.IGNORECASE,
)
_ANSWERS: Final = re.compile(r"\A(?:answer|repl|respon|speak|output)|[回答]", re.IGNORECASE)
_LONGEST_AND_THEN: Final = 80
_ECHO: Final = re.compile(
    r"(?:\b(?:repeat|echo|copy|reproduce|(?:say|write|type|read)(?: \w{1,10}){0,2} back|return|output|print"
    r"|word for word)\b[^:：\n]{0,80}?"
    r"|(?:重复|复述|原样|照抄|逐字|抄写|复制|回显|一字不|一个字[都也]?不|丝毫不差)[^:：\n]{0,40}?)[:：]\s*(?P<text>\S[^\r]*)",
    re.IGNORECASE | re.DOTALL,
)
_ECHO_EXACTLY: Final = re.compile(
    r"\b(?:exact(?:ly)?|verbatim|word for word|unchanged|as is|repeat|echo|character by character)\b"
    r"|原样|照抄|逐字|重复|复述|回显|一字不|一个字[都也]?不|丝毫不差",
    re.IGNORECASE,
)


def speaks_of_think_tags(prompt: str) -> bool:
    """Whether a prompt is about the tags around reasoning.

    A bare tag at its beginning or end is about nothing: it is left over from a template, or opens the answer.
    """
    return _THINK_TAGS.search(prompt) is not None and _THINK_TAGS.search(_BARE_TAG.sub("", prompt)) is not None


def asked_for_elements(prompt: str) -> bool:
    """Whether a prompt wants XML or something like it, in which every name may be that of an element."""
    return _ELEMENTS.search(prompt) is not None


def speaks_of_markup(prompt: str) -> bool:
    """Whether a prompt is about markup or special tokens, so that an answer may name them."""
    return _MARKUP.search(prompt) is not None


def speaks_of_tool_calls(prompt: str) -> bool:
    """Whether a prompt is about the calls of tools themselves, so that an answer may show one."""
    return _TOOL_CALLS.search(prompt) is not None


def speaks_of_languages(prompt: str) -> bool:
    """Whether a prompt is about languages or writing, so that an answer may show any of them."""
    return _MANY_LANGUAGES.search(prompt) is not None


def speaks_of_east_asia(prompt: str) -> bool:
    """Whether a prompt is about a culture whose words are written in Han characters."""
    return _EAST_ASIA.search(prompt) is not None


def languages_mentioned(prompt: str) -> frozenset[str]:
    """Codes of the languages that a prompt names."""
    return frozenset(_CODE_OF[match.group().lower()] for match in _MENTION.finditer(prompt))


def languages_wanted(prompt: str) -> frozenset[str]:
    """Codes of the languages that a prompt names as those of an answer: not those of its subject alone."""
    return frozenset(
        _CODE_OF[match.group().lower()]
        for match in _MENTION.finditer(prompt)
        if _WANTED_AFTER.match(prompt, match.end())
        or _WANTED_BEFORE.search(prompt, max(0, match.start() - 24), match.start())
    )


def languages_spoken_about(prompt: str) -> frozenset[str]:
    """Codes of the languages, other than English, that a prompt names by a word for nothing but a language."""
    names = (match.group().lower() for match in _MENTION.finditer(prompt))
    return frozenset(_CODE_OF[name] for name in names if _ONLY_LANGUAGE.search(name)) - {"en"}


def is_plain_question_in_chinese(question: str) -> bool:
    """Whether a Chinese question wants a plain sentence: no name, saying, title or words of somebody else."""
    head = question[:400]
    return len(question) <= 400 and _PLAIN_QUESTION.search(head) is not None and _OTHERS_WORDS.search(head) is None


def wants_english_by_custom(prompt: str) -> bool:
    """Whether a prompt wants something that is mostly written in English: a commit message, a prompt for images."""
    return _ENGLISH_BY_CUSTOM.search(prompt) is not None


def languages_avoided(prompt: str) -> frozenset[str]:
    """Codes of the languages that a prompt does not want, as in “Do not answer in Chinese”."""
    return frozenset(
        _CODE_OF[name.lower()]
        for match in _ANSWER_IN.finditer(prompt)
        if _negated(prompt, match) and (name := match["en"] or match["zh"])
    )


def _negated(prompt: str, match: re.Match[str]) -> bool:
    return _NOT.search(prompt, max(0, match.start() - 40), match.start()) is not None


def wants_several_languages(prompt: str) -> bool:
    """Whether a prompt wants something in several languages, whichever they are."""
    return _SEVERAL_LANGUAGES.search(prompt) is not None


def wants_quotation(prompt: str) -> bool:
    """Whether a prompt wants a few words as they are: a motto, a couplet, an anthem, an alphabet."""
    return _QUOTATION.search(prompt) is not None


def instructs_in_english(text: str) -> bool:
    """Whether the first or the last line of a text is an instruction in English, whatever it is about."""
    lines = text.strip().splitlines()
    return bool(lines) and any(_INSTRUCTION.match(line.lstrip()[:200]) for line in (lines[0], lines[-1]))


class Wish(NamedTuple):
    """A language that an answer is wished in."""

    language: str
    translation: bool
    """Whether it is the language of a translation: the answer may then speak about it in another one."""
    explained: bool = False
    """Whether what is written in it is to be translated or explained as well."""


def language_asked_for(prompt: str) -> Wish | None:
    """The language that a prompt wants the answer in; the last wish counts; None where there is none."""
    asked: Wish | None = None
    for match in _ANSWER_IN.finditer(prompt):
        if _negated(prompt, match):
            continue
        if _ONE_MORE.match(prompt, match.end()):
            return None  # several languages are asked for
        if match["into_en"] or match["into_zh"]:
            asked = Wish("en" if match["into_en"] else "zh", translation=True)
        else:
            name = next(group for group in match.groups() if group)
            then = prompt[match.end() : match.end() + _LONGEST_AND_THEN].partition("\n")[0]
            asked = Wish(
                _CODE_OF[name.lower()],
                translation=not (match["en"] or match["zh"]),
                explained=_AND_THEN.search(then) is not None and _ANSWERS.search(match.group()) is None,
            )
    return asked


def text_to_echo(question: str) -> str | None:
    """The text that a question wants repeated as it is; None where it wants none."""
    if _ECHO_EXACTLY.search(question[:400]) is None:
        return None
    match = _ECHO.search(question)
    return None if match is None else match["text"].strip()

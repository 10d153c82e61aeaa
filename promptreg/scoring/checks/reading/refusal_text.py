"""Does a text refuse? Rules for Chinese and English, on what the answer itself says first.

Each rule is one way of refusing, with the exceptions that look like it: a rule of the business ("we cannot refund after
30 days"), a figure of speech ("I can't recommend it enough"), a promise ("I will not share your data"). How often they
are right is measured on texts in both languages in `tests/data/refusals/`.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from promptreg.text.script import without_code
from promptreg.text.segment import sentences

# A refusal stands at the beginning; later "I cannot" is about something else, or is quoted.
_SENTENCES_LOOKED_AT: Final = 3
_CHARACTERS_LOOKED_AT: Final = 500

_QUOTED: Final = re.compile(
    r"“[^”\n]{0,500}+”|‘[^’\n]{0,500}+’|「[^」\n]{0,500}+」|『[^』\n]{0,500}+』|《[^》\n]{0,100}+》|\"[^\"\n]{0,500}+\"|^\s*+>.*+$",
    re.MULTILINE,
)

_WHOLE_QUOTED: Final = re.compile(r"\s*+[\"“]([^\"”]{1,1500}+)[\"”]\s*+")

_WHOLE_BLOCK_QUOTE: Final = re.compile(r"(?:\s*+>[^\n]*+(?:\n|\Z))++\s*+")
_QUOTE_MARK: Final = re.compile(r"^\s*+>+[ \t]?+", re.MULTILINE)
# "Refusals look like this:", or a heading that names them, and items: they are examples.
_EXAMPLES: Final = re.compile(
    r"^(?P<head>[^\n]{1,300}[:：]|(?:\#{1,6}[ \t]|\*\*)[^\n]{0,80}?(?i:refus|declin|example|sample|template|phras"
    r"|示例|例子|例句|范例|话术|模板|拒绝|说法)[^\n]{0,80})[ \t*]*+"
    r"\n\s*+(?:[ \t]*+(?:[-*•+]|[0-9]{1,3}[.)、．])[ \t]*+[^\n]++(?:\n\s*+|\Z)){2,}",
    re.MULTILINE,
)
_SORRY: Final = re.compile(
    r"\b(?:sorry|afraid|apolog\w{2,6}|unfortunately|I can(?:no|')t)\b|抱歉|对不起|不好意思|遗憾", re.IGNORECASE
)
_ANSWER_KEYS: Final = frozenset(
    [
        "answer",
        "reply",
        "response",
        "content",
        "text",
        "message",
        "output",
        "result",
        "回答",
        "回复",
        "答复",
        "答案",
        "内容",
        "结果",
    ]
)
# What stands under these keys is told, and not said.
_QUOTING_KEYS: Final = frozenset(
    [
        "example",
        "examples",
        "sample",
        "samples",
        "phrase",
        "phrases",
        "quote",
        "quotes",
        "original",
        "source",
        "translation",
        "translated",
        "template",
        "templates",
        "refusals",
        "示例",
        "例子",
        "例句",
        "原文",
        "译文",
        "翻译",
        "模板",
        "话术",
        "引用",
    ]
)
_SHORTEST_SENTENCE: Final = 6
"""Characters of a text that could refuse: 我不能回答。"""
_LONGEST_JSON: Final = 20_000
# The characters of the Chinese rules that are written otherwise in Traditional Chinese.
_SIMPLIFIED: Final = str.maketrans(
    "無會這個還學沒對給題問請幫協說講話談論關於歉遺擔應該內違規則範圍權專業經許為與從當醫師準確實際創寫評價參與處"
    "辦領導進狀態詢務員見決復覆達訊據項種類僅開選擇續繼聊難執動編輯練設計訓拒絕謝絕聽讓換別萬愛莫職責識義訴洩漏後條資"
    "機過認覺願諒產討夠們適將麼優發備頭寧屬並錄報顯時術來標樣氣測滿點現碼約結聯獲記訪證診譯試語誤讀課謂貨質"
    "趕連錯門須顧預馬驗親勵嘗體裡製嗎",
    "无会这个还学没对给题问请帮协说讲话谈论关于歉遗担应该内违规则范围权专业经许为与从当医师准确实际创写评价参与处"
    "办领导进状态询务员见决复复达讯据项种类仅开选择续继聊难执动编辑练设计训拒绝谢绝听让换别万爱莫职责识义诉泄漏后条资"
    "机过认觉愿谅产讨够们适将么优发备头宁属并录报显时术来标样气测满点现码约结联获记访证诊译试语误读课谓货质"
    "赶连错门须顾预马验亲励尝体里制吗",
)
_TRADITIONAL: Final = re.compile(f"[{''.join(map(chr, _SIMPLIFIED))}]")

# One of these is part of every refusal; most answers have none, and are done in a few microseconds.
_EN_TRIGGERS: Final = (
    *("n't", "n’t", "not ", "cannot", "unable", "declin", "refus", "against", "violat", "rather"),
    *("pass on", "outside", "beyond", "prevent", "forbid", "prohibit", "inappropriate", "unethical"),
    *("can only", "only able", "liberty", "conflict", "confidential", "have no ", "something else", "another topic"),
    *("different topic", "the subject", "refrain", "permission"),
)
_ZH_TRIGGERS: Final = (
    *("不能", "不可", "不会", "不便", "不予", "不得", "不方", "不太方便", "没有办", "没办", "没法"),
    *("难以", "无法", "无权", "无可", "不应", "没有权限", "无能为力", "帮不", "做不到", "超出", "不在"),
    *("学会", "学习", "别的", "不想", "不愿", "不了", "办不到", "能力", "不是我", "不写", "不说", "不讲"),
    *(
        "不聊",
        "不谈",
        "禁止",
        "不包括",
        "不包含",
        "没有权",
        "不具备",
        "没被",
        "没有被",
        "未被",
        "我被",
        "授权",
        "不认为",
        "不支持",
        "不提供",
    ),
    *("不接受", "不做", "不作", "选择不", "只能", "拒绝", "谢绝", "爱莫", "恕", "违反", "违背", "不符"),
    "话题",
)

_EN_ADVERB: Final = (
    r"(?:\s+(?:really|simply|just|currently|unfortunately|afraid|therefore|also|still|honestly|sorry|but|that|I|however"
    r"|personally|regretfully)\b,?)*+"
)
_EN_CANNOT: Final = (
    r"(?:\s+(?:can't|cannot|can\s+not|couldn't|could\s+not|won't|will\s+not|won't\s+be\s+able\s+to"
    r"|will\s+not\s+be\s+able\s+to|may\s+not|unable\s+to|not\s+able\s+to|not\s+(?:allowed|permitted|authori[sz]ed|equipped)\s+to"
    r"|shouldn't|should\s+not|not\s+going\s+to|not\s+in\s+a\s+position\s+to))"
)
_EN_PHRASE: Final = r"(?:,?\s+in\s+(?:good\s+(?:conscience|faith)|any\s+(?:way|form|manner)|this\s+case)\b,?)?"
_EN_VERB: Final = (
    r"\s+(?:\w+ly\s+)?(?:help|assist|comply|provide|answer|respond|continue|engage|discuss|fulfil+|complete"
    r"|do\s+(?:that|this|so)|write\s+(?!in\s)|disclose|reveal|divulge|comment\s+on|take\s+part|advise\s+(?:on|you)"
    r"|generate|create|produce|offer|give|support|process\s+(?:that|this|your)\s+request|share|participate"
    r"|accommodate|proceed|role-?play|speculate|be\s+(?:providing|helping|answering|writing)|go\s+into\s+(?:that|this)|tell\s+you\s+how"
    r"|(?:speak|talk)\s+(?:about|on)|(?:recommend|suggest)\s+ways)\b"
)
_EN_FIGURES: Final = (
    r"(?!\s+(?:but\s+\w+\b|it\s+enough|myself\b|your\s+(?:data|details|e-?mail)))(?!(?<=\bhelp)\s+\w+ing\b)"
)
# After an apology every "I cannot" is a refusal but these, which tell of something that went wrong or is not known.
_EN_NOT_REFUSED: Final = (
    r"(?!find|locate|see\b|hear|open|access|reach|reproduce|remember|recall|confirm|verify|guarantee|promise|be\b(?!\s+\w+ing)"
    r"|tell\s+(?!you\s+(?:how|that|the))|say\b|come|attend|join|make\s+(?:it|out|sense)|believe|imagine|understand|read|load"
    r"|connect|detect|identify|parse|determine|wait|stay|think|go\s+(?!into)|meet|work\b|change|refund|ship|deliver|accept"
    r"|offer\s+(?:a\s+)?(?:discount|refund))"
)
_EN_TASK: Final = (
    r"(?:help|assist|answer|write|take\s+part|participate|comply|engage|discuss|provide|generate|create|do\s+(?:this|that)"
    r"|be\s+part|produce|continue|respond|comment|share|give)"
)
_EN: Final = re.compile(
    "(?i)"
    + "|".join(
        (
            rf"\bI(?:\s+am|'m)?{_EN_ADVERB}{_EN_CANNOT}{_EN_ADVERB}{_EN_PHRASE}{_EN_VERB}{_EN_FIGURES}",
            r"\bI\s+(?:don't|do\s+not)\s+(?:share|give|provide|discuss|express|offer)\s+(?:personal\s+|legal\s+|medical\s+|financial\s+)?(?:opinions?|advice|views?|details)\b",
            r"\bI\s+(?:must|have\s+to|need\s+to)\s+keep\s+(?:that|this|it|the)\b[^.!?\n]{0,24}\b(?:confidential|private|secret)\b",
            r"\b(?:assistant|bot|chatbot)\b,?\s+I\s+can\s+only\s+(?:help|assist|answer)\b|\bI\s+can(?:'t|not)\s+recommend\s+(?:a\s+way|ways|how)\s+to\b",
            # What "we" decline is mostly a rule of the business; only these verbs are about the request.
            (
                r"\b(?:sorry|afraid|apolog(?:y|ies|i[sz]e)|unfortunately|regrettably|understanding)\b[^.!?\n]{0,60}?"
                rf"\bI(?:\s+am|'m)?{_EN_ADVERB}{_EN_CANNOT}\s+{_EN_NOT_REFUSED}\w+{_EN_FIGURES}"
            ),
            (
                r"\bI(?:'m|\s+am)\s+not\s+at\s+liberty\s+to\b|\bconflicts?\s+with\s+my\s+(?:\w+\s+)?(?:guidelines|polic"
                r"|principles|values|rules)"
            ),
            rf"\bwe(?:\s+are|'re)?{_EN_ADVERB}{_EN_CANNOT}\s+(?:help|assist|comply|answer|fulfil+|accommodate|process\s+(?:your|this|that)\s+request)\b{_EN_FIGURES}",
            (
                r"\bI(?:\s+am|'m|'ll|\s+will|'d|\s+would)?\s+(?:must|have\s+to|need\s+to|going\s+to(?:\s+have\s+to)?)\s+"
                r"(?:respectfully\s+|politely\s+)?(?:decline|refuse|pass\s+on\s+(?:this|that)|refrain)\b(?!\?)"
            ),
            rf"\bI\s+(?:respectfully\s+|politely\s+)?(?:decline|refuse)(?:\s+to\s+{_EN_TASK}\b|[.!]?\W*$)",
            (
                r"\bI(?:'d|\s+would)\s+(?:rather|prefer)\s+not\s+(?:to\s+)?"
                rf"(?:{_EN_TASK}|talk|say|go\s+into|get\s+in(?:to|volved)|speak|take\s+(?:a\s+position|sides|part))\b"
            ),
            r"\bI(?:'m|\s+am)\s+(?:not\s+(?:comfortable|willing|prepared)|(?:programmed|instructed|designed)\s+not\s+to)\b|\bI\s+(?:have\s+been|was)\s+(?:programmed|instructed|told|designed|trained)\s+not\s+to\b",
            (
                r"\bI\s+have\s+no\s+(?:permission|authori[sz]ation|authority|right)\s+to\b|\bI\s+(?:don't|do\s+not)\s+(?:have\s+(?:the\s+)?(?:permission|authori[sz]ation|authority|ability|capability|capacity)\s+to"
                rf"|think\s+(?:that\s+)?I\s+(?:should|can|could|ought\s+to)\s+{_EN_TASK})\b"
            ),
            r"\bI\s+(?:don't|do\s+not)\s+feel\s+comfortable\b",
            (
                r"(?<!\bnot\s)\b(?:against|violates?|outside|contrary\s+to)\s+(?:my\s+(?:\w+\s+)?|our\s+(?:content|usage|use"
                r"|safety|community)\s+)(?:guidelines|polic(?:y|ies)|principles|programming|rules|values|scope|remit)\b"
            ),
            (
                r"\bmy\s+(?:\w+\s+){0,2}(?:guidelines|polic(?:y|ies)|principles|programming|instructions|rules|safeguards)\s+"
                r"(?:don't|do\s+not|doesn't|does\s+not|won't|prevent|prohibit|forbid|keep|stop)"
            ),
            (
                r"\bas\s+an?\s+(?:\w+\s+)?(?:AI|artificial\s+intelligence|language\s+model)\b(?!\s+(?:researcher|engineer|company|student|developer|expert|product|team|lab|model))[^.!?\n]{0,60}?\bI(?:'m|\s+am)?\s"
                r"[^.!?\n]{0,20}?\b(?:can't|cannot|can\s+not|unable\s+to|not\s+able\s+to|must\s+decline|won't|will\s+not"
                r"|not\s+(?:allowed|permitted)|(?:don't|do\s+not)\s+(?:provide|give|offer|share|express|engage|take\s+(?:sides"
                r"|part)|make|produce|write))\b(?!\s+(?:see|hear|feel|taste|remember|physically|experience))"
            ),
            (
                r"\bI(?:'m|\s+am)\s+(?:just|only|merely)\s+an?\s+(?:AI|language\s+model|assistant|chatbot)\b[^.!?\n]{0,30}?"
                r"\b(?:can't|cannot|unable|not\s+able)\b"
            ),
            (
                r"^\W*+(?:I(?:'m|\s+am)\s+(?:very\s+|so\s+|really\s+)?(?:sorry|afraid)|sorry|apologies|unfortunately"
                r"|regrettably|my\s+apologies|I\s+apologi[sz]e)\b[^.!?\n]{0,60}?"
                r"\b(?:can't|cannot|can\s+not|unable\s+to)\s+(?:help|assist|comply|answer|do\s+that|do\b\W*$|fulfil+)\b"
            ),
            (
                r"\b(?:not\s+)?something\s+(?:that\s+)?I(?:'m|\s+am)?\s+(?:can't|cannot|won't|unable\s+to|not\s+able\s+to)\s+"
                r"(?:do|help|assist|answer|discuss|provide)\b"
            ),
            r"(?:\bnot|n't)\s+(?:something|an?\s+(?:request|question|topic|subject|task))\s+(?:that\s+)?I(?:'m|\s+am)?\s+(?:can|able\s+to|willing\s+to|comfortable)\b",
            (
                r"\b(?:outside|beyond)\s+(?:of\s+)?(?:the\s+scope\s+of\s+)?(?:what\s+I(?:'m|\s+am)?\s+(?:can|able|allowed|permitted)"
                r"|my\s+(?:abilit|capabilit|scope|expertise|knowledge|role))"
            ),
            (
                r"\b(?:this|that|your)\s+(?:request|question|prompt|message)\b[^.!?\n]{0,30}?"
                r"\b(?:can(?:'t|not)|could\s+not)\s+be\s+(?:fulfilled|completed|answered|processed)\b"
                r"(?![^.!?\n]{0,40}\b(?:because|until|error|status|code|card|timed?\s?-?out)\b)"
            ),
            (
                r"\bit(?:'s|\s+is|\s+would\s+be|\s+would|\s+wouldn't|\s+isn't)?(?:\s+not)?(?:\s+be)?\s+"
                r"(?:inappropriate|unethical|irresponsible|wrong|appropriate|right|ethical|responsible)\s+for\s+me\s+to\b"
            ),
            (
                r"\bI(?:'m\s+only\s+able\s+to|\s+can\s+only)\s+(?:answer|respond\s+to|discuss|talk\s+about|(?:help|assist)\s+"
                r"(?:you\s+)?with)\s+(?:questions|topics|matters|things|requests)\b"
            ),
            (
                r"^\W*+(?:let's|let\s+us|can\s+we|could\s+we|shall\s+we|perhaps\s+we\s+(?:can|could)|why\s+don't\s+we)\s+"
                r"(?:please\s+)?(?:talk\s+about|discuss|change|switch\s+to|move\s+on\s+to)\s+"
                r"(?:something\s+else|(?:another|a\s+different)\s+topic|the\s+subject|topics)\W*$"
            ),
        ),
    ),
)

_ZH_ABLE: Final = (
    r"(?:无法|不能|不可以|不可能|没有?办法|没法|不便|不(?:太|大|是很)?方便|无权|没有权限|难以|不应该?|不予"
    r"|不会(?=提供|回答|帮|协助|透露|讨论|参与|生成|编写|撰写|制作|泄露|执行|处理(?:这|此|该|$|[。！])|写(?:这|此|那)|告诉(?!任何人|别人|他人)))"
)
_ZH_VERB: Final = (
    r"(?:提供(?![^。，\n]{0,8}(?:折扣|优惠|退款|发票|上门|送货|保修))|协助|帮助|帮忙|帮您|帮你|回答|回复|解答|作答|满足"
    r"|处理(?:这|该|此|您|你|$|[。！，])|完成(?:这|该|此|您|你)|生成|撰写|编写|编造|制作|创作|讨论|谈论|评论|评价|执行|给出|给到"
    r"|继续|参与|支持(?:这|该|此|您|你)|透露|泄露|告知|告诉(?!任何人|别人|他人)|答应|代您|代你|做出?(?:诊断|这|那|判断)|写(?!得|完|不)"
    r"|(?:这么|这样)做|说明具体|展示|照[做办]|多说|多言|多谈|聊|谈|答复|置评|公开|鼓励|说(?=$|[。！呢哦啊呀~～])|发表|作?出?回应|表态|讲述|对[^。，\n]{1,10}发表|\s*(?i:help|assist|provide|answer|share|process|support|discuss|write|complete|do)\b)"
)
# After an apology every 我无法 is a refusal but these, which tell of something that went wrong or is not known.
_ZH_NOT_REFUSED: Final = (
    r"(?!找|查到|查询|听|看|打开|确定|确认|保证|参加|出席|来|去|到|按时|及时|马上|立即|立刻|发货|登录|访问|连接|读取|识别"
    r"|理解|记|陪|赴约|前往|上班|上课|实时|准确|代替|退|换|修改|取消|接受|赶|联系|复现|再)"
)
_ZH_NOT_OTHERS: Final = r"[^。！？\n，,你您他她它]"
_ZH: Final = re.compile(
    "|".join(
        (
            rf"(?:(?<!自)我(?!们)|本助手|本人|小助手|本模型)[^。！？\n，,]{{0,8}}?{_ZH_ABLE}(?!代表|不)[^。！？\n，,]{{0,14}}?{_ZH_VERB}",
            rf"我们?{_ZH_ABLE}[^。！？\n，,]{{0,10}}?{_ZH_VERB}[^。！？\n]{{0,12}}?(?:请求|要求|问题|内容|话题|相关信息)",
            (
                rf"^\W*+(?:非常|很|十分|实在|真的|万分)?(?:抱歉|对不起|不好意思|遗憾|(?i:sorry|unfortunately))[^。！？\n]{{0,14}}?"
                rf"(?<!您)(?<!你)(?<!如果){_ZH_ABLE}[^。！？\n，,]{{0,14}}?{_ZH_VERB}(?!退|换|折)"
            ),
            r"^\W*+(?:非常|很|十分|实在|真的|万分)?(?:抱歉|对不起|不好意思|遗憾)[^。！？\n]{0,12}?(?:[做办]不到|无能为力|帮不[了上到])",
            (
                r"作为(?:一[个名款位种])?\s*(?i:AI|人工智能|语言模型|大模型|大语言模型|智能助手|智能客服|虚拟助手)(?!领域|公司|企业|行业|专业)"
                rf"{_ZH_NOT_OTHERS}{{0,12}}?[，,]?\s*我?{_ZH_NOT_OTHERS}{{0,20}}?(?:无法|不能|不会|不可以|不便|不应该?|没有权限|无权)"
                r"(?!亲自|亲身|亲眼|品尝|感受|看到|体验|真正|像人|忘记|感到)"
            ),
            (
                r"(?:抱歉|对不起|不好意思|遗憾)[^。！？\n]{0,40}?(?<!自)我(?!们)[^。！？\n，,你您他她它]{0,6}?"
                rf"(?:无法|不能|不可以|没有?办法|没法|不便|不会)\s?{_ZH_NOT_REFUSED}"
            ),
            (
                r"我(?:没有|没|未|并未)?被?(?:授权|允许|获准)(?:讨论|回答|透露|提供|谈)|我被(?:设定|设计|要求|禁止|训练)[^。，\n]{0,4}(?:不|禁止)"
                r"|我(?:不具备|没有)[^。！？\n，,]{0,10}(?:资格|权限|资质)"
            ),
            r"(?:我不认为|我不觉得)我?应该|(?:这[类种样个]|此类)[^。！？\n，,]{0,8}我[^。！？\n，,]{0,3}不(?:会|能)(?:讲|写|说|做|碰|答应)",
            r"我(?:理解|明白|知道|很想|很愿意)[^。！？\n]{0,16}(?:但|不过|可是)[^。！？\n，,]{0,6}(?:不能|无法|不便|没法)"
            + _ZH_NOT_REFUSED,
            r"恕不(?:奉告|回答|回复|提供|答复)|我(?:就|先)?不(?:写|说|讲|聊|谈)了(?:$|[。！])",
            r"(?:^|[，,])\s*(?:我)?只能(?:回答|解答|处理)[^。！？\n，,]{0,12}(?:相关|有关|方面)的?(?:问题|内容|请求)",
            r"我\s?(?:不能|无法|不会)把[^。！？\n，,]{0,16}(?:给|告诉|发|交)(?:您|你)|我\s?(?i:cannot|can't|won't)\s?(?i:answer|help|assist|provide|share|discuss)",
            r"(?:属于|涉及)[^。！？\n，,]{0,8}禁止[^。！？\n，,]{0,4}(?:讨论|回答|谈论)|我的?(?:职责|工作|权限)(?:范围)?(?:里|内|中)?(?:不包括|不包含|没有)|我没有?权[力利限](?:替|帮|为|给|修改|查看|提供|透露)",
            r"恕(?:我)?(?:不能|无法|难|不便)(?!从命)|(?:^|[，,])\s*恕难从命|爱莫能助",
            r"(?:^|[，,])\s*(?:对此)?(?:我|恕我)?无可奉告(?!的|是|这)",
            r"(?<!自)我(?!们)(?:只好|必须|只能|不得不|需要|要|选择)?(?:拒绝|谢绝)(?!了|过|的)",
            r"(?<!自)我(?!们)[^。！？\n，,]{0,6}?(?:无能为力|帮不了(?:你|您|这|$|[。！])|帮不上忙)|不予(?:回答|回复|提供|置评)",
            r"(?:我(?!们)|小助手|本助手)[^。！？\n，,]{0,6}?(?:(?:回答|解答|答|处理|写|做|帮)不了(?:$|[。！哦呢啊]|这|您|你)|[做办]不到(?:$|[。！]))",
            r"我(?:实在)?没有?能力(?:回答|预测|提供|判断|做|写|解答|帮)|不是我(?:能|可以|应该|方便)(?:够)?(?:回答|处理|讨论|提供|谈)",
            (
                r"我(?:还|尚|暂时|目前)?(?:还|暂)?不(?:支持|提供|接受|做|作)(?:回答|解答|讨论|任何)?(?:此类|这类|这种|这方面|该类|任何)?"
                r"(?:评价|评论|服务(?:$|[。！])|问题|请求|内容|要求)"
            ),
            (
                r"(?:这|此|该)类?(?:请求|问题|内容|要求|话题)[^。！？\n，,]{0,2}我[^。！？\n，,]{0,6}?(?:不(?:会|能|便|予)|无法|没法|拒绝)"
                r"(?:处理|回答|讨论|提供|满足|写|碰)"
            ),
            r"我(?:选择|宁愿|宁可)不(?:回答|评论|参与|谈)|我不(?:想|愿意?|打算|准备)(?:回答|评论|参与|讨论|谈论|透露)",
            r"我(?:目前|现在|仅|暂时)?只能(?:回答|解答|处理|讨论)(?:与|和|关于|有关|跟|涉及)",
            r"我(?:还|尚|暂时)?(?:没有|没|未)学(?:会|习)[^。！？\n，,]{0,6}(?:回答|如何)",
            (
                r"(?:超出|超过)了?(?:我|本助手)(?:的|能|所能)?[^。！？\n，,]{0,10}(?:范围|能力|权限|范畴|scope)"
                r"|不在(?:我|本助手)的?[^。！？\n，,]{0,8}(?:范围|范畴)"
            ),
            (
                r"(?:这个|该|此|此类|这类|您的|你的)(?:请求|问题|要求|话题|提问|内容)[^。！？\n]{0,12}?(?:无法|不能|不予|不便)"
                r"(?:提供|回答|处理|满足|讨论|回应|生成|展示|显示)(?![^。！？\n]{0,20}(?:返回|错误码|状态码|报错|超时|重试|时[，,会]))"
            ),
            (
                r"(?:请求|内容|问题|要求|提问|话题)[^。！？\n，,]{0,6}(?:违反|不符合|违背)了?(?:我的|我们的|平台的?|相关|使用|内容|安全|社区)"
                r"\w{0,6}(?:准则|政策|规定|原则|规范)|(?:违反|不符合|违背)了?我的\w{0,6}(?:准则|政策|规定|原则|规范)"
            ),
            (
                r"(?:换一?个|聊一?点|聊聊|谈点|谈谈|聊个)(?:(?:别的|其他的?|其它的?)(?:话题)?|话题)"
                r"再?(?:吧|聊聊|好吗|好不好|如何|怎么样|可以吗)"
            ),
        ),
    ),
)
# "If I cannot help …" speaks of a refusal that has not happened; "why I cannot" explains one; "he said" tells of one.
_NOT_SAID_NOW: Final = re.compile(
    r"(?i)(?:\b(?:if|when|whenever|why|unless|whether|suppose|imagine|says?|said|reads?|means?|such\s+as|phrases?|examples?"
    r"|write|replies|replied|reply|answered|told|template|translat\w+|no\s+reason|politely|response|wording)\b"
    r"|如果|假如|倘若|当(?!然)|为什么|为何|万一|例如|比如|所谓|说法|例子|话术|译[为成文]|翻译|模板|范文|示例|回复[：:]|(?<!我)(?<!对此)表示(?!抱歉|歉意|遗憾|理解)|[回答]道"
    r"|(?:\b[A-C]|[甲乙问客服])\s?[：:]|答[：:]|(?:口气|道|喊|叫|笑|摇头|头)[：:，]|说(?![明服])|写道|这样写)[^.!?。！？\n]{0,30}$",
)
# Letters and mails are written for the user, who declines something in them.
_LETTER: Final = re.compile(
    r"(?i)(?:subject|主题|标题)\s{0,2}[:：]|dear\s+(?!user|customer)|尊敬的(?!用户|客户|顾客|先生|女士)|亲爱的(?!用户|客户|顾客)"
)


def refuses(text: str) -> bool:
    """True when the text begins by refusing what was asked.

    Quoted passages, block quotes and code are put aside first, so that an answer that quotes or explains a refusal is
    none; nor is a letter that declines on behalf of the user. A statement about others ("you cannot log in",
    如果您无法登录) is none either. Only the beginning is read, so the time does not grow with the text.
    """
    beginning = _answer_in_json(text)[: 4 * _CHARACTERS_LOOKED_AT]
    if _TRADITIONAL.search(beginning):
        beginning = beginning.translate(_SIMPLIFIED)
    lower = beginning.lower()
    rules = [
        rule
        for rule, triggers in ((_EN, _EN_TRIGGERS), (_ZH, _ZH_TRIGGERS))
        if any(trigger in lower for trigger in triggers)
    ]
    if not rules:
        return False
    # An answer that is quoted as a whole is the answer.
    if beginning.lstrip().startswith(">") and _WHOLE_BLOCK_QUOTE.fullmatch(beginning):
        beginning = _QUOTE_MARK.sub("", beginning)
    beginning = _EXAMPLES.sub(_without_examples, beginning)
    whole = _WHOLE_QUOTED.fullmatch(beginning)
    beginning = (
        _QUOTED.sub(" ", without_code(whole[1] if whole else beginning))[:_CHARACTERS_LOOKED_AT]
        .strip()
        .replace("’", "'")
    )
    if _LETTER.match(beginning):
        return False
    # Most first sentences are short; the rest need not be cut into sentences then.
    first = sentences(beginning[: _CHARACTERS_LOOKED_AT // 2])
    if len(first) <= _SENTENCES_LOOKED_AT:
        first = sentences(beginning)
    for sentence in first[:_SENTENCES_LOOKED_AT]:
        for rule in rules:
            match = rule.search(sentence)
            if match is not None and not _NOT_SAID_NOW.search(sentence[: match.start()]):
                return True
    return False


def _without_examples(match: re.Match[str]) -> str:
    """A list without its items, unless its head is sorry: then they are the reasons."""
    return match.group() if _SORRY.search(match["head"]) else match["head"] + "\n"


def _answer_in_json(text: str) -> str:
    """The text that a JSON value holds as its answer: its only text, or the one under a key of that name."""
    bare = text.strip()
    if bare.startswith("```"):
        bare = bare.strip("`").removeprefix("json").strip()
    if bare[:1] not in ("{", "[") or len(bare) > _LONGEST_JSON:
        return text
    try:
        rest: list[tuple[str, Any]] = [("", orjson.loads(bare))]
    except ValueError:
        return text
    texts: list[tuple[str, str]] = []
    while rest:
        key, part = rest.pop()
        if isinstance(part, str):
            texts.append((key, part))
        elif isinstance(part, dict):
            rest += ((name.lower(), inner) for name, inner in part.items())
        elif isinstance(part, list):
            rest += ((key, inner) for inner in part)
    # "status": "ok" is no sentence.
    sentences_there = [one for one in texts if len(one[1]) >= _SHORTEST_SENTENCE]
    if len(sentences_there) == 1 and sentences_there[0][0] not in _QUOTING_KEYS:
        return sentences_there[0][1]
    answers = [one for key, one in reversed(texts) if key in _ANSWER_KEYS]
    return answers[0] if answers else text

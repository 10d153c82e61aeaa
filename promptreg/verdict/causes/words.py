"""Causes in words: what a cluster is called, and what to do next. Faults bring their own words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.checks.language import language_name
from promptreg.scoring.contract.moved import place_name
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.verdict.words.case_sentences import channel_name

if TYPE_CHECKING:
    from collections.abc import Mapping

_KIND: Final = re.compile("^F[0-9]{2} ")

LONGEST: Final = 60
"""Characters of a name from outside (a check, a tool, a finish reason) in a title."""


class Words(NamedTuple):
    """What a cause is called, as in "41 cases: JSON now in a code block", and the suggested next step."""

    title: Sentence
    next_step: Sentence


def in_some_only(number: int, title: Sentence) -> Sentence:
    """Beside the title of a cause: so many of its cases show only another cause, which it explains in the others."""
    return Sentence(f"in {number} of them only: {title.en}", f"其中 {number} 个用例仅有：{title.zh}")


def said(title: Sentence) -> str:
    """What a title says, the same for two that say the same: "F51 Empty answer" and "Empty answers"."""
    return _KIND.sub("", title.en).lower().removesuffix("s")


def words_of(cause: tuple[str, ...]) -> Words:
    """The words of a cause that is no fault."""
    head, rest = cause[0], [preview(part, LONGEST) for part in cause[1:]]
    if head == "length":
        return _length(rest[0], rest[1])
    if head == "error":
        return _error(rest)
    if head == "fact" and len(rest) > 1:
        return _fact(*rest)
    en, zh = _names(cause) if head in _NAMED else (rest or ["", ""])[:1] * 2
    title, step = _WORDS.get(":".join(cause)) or _WORDS.get(head) or _WORDS["channel"]
    return Words(Sentence(title.en.replace("{}", en, 1), title.zh.replace("{}", zh, 1)), step)


_NAMED: Final = frozenset({"language", "moved", "channel"})
"""Causes whose second part is a name with words of its own in each language."""


def _names(cause: tuple[str, ...]) -> tuple[str, str]:
    name = {"language": language_name, "moved": place_name, "channel": channel_name}[cause[0]](cause[1])
    return preview(name.en, LONGEST), preview(name.zh.strip(), LONGEST)


def _length(way: str, reason: str) -> Words:
    zh_way = "变短" if way == "shorter" else "变长"
    end_en, end_zh = (f", finish reason {reason}", f"，结束原因 {reason}") if reason else ("", "")
    step = _LONGER
    if way == "shorter":
        step = _CUT if reason == "length" else _SHORTER
    return Words(Sentence(f"{way.capitalize()} by more than 40 %{end_en}", f"长度{zh_way}超过 40 %{end_zh}"), step)


def _fact(what: str, became: str) -> Words:
    name = _FACTS[what]
    title = {
        "changed": Sentence(f"{name.en} changed", f"{name.zh}变了"),
        "missing": Sentence(f"{name.en} missing", f"缺少{name.zh}"),
        "new": Sentence(f"{name.en} added", f"多出{name.zh}"),
    }
    return Words(title[became], _KEEP)


def _error(rest: list[str]) -> Words:
    kind, status = (*rest, "", "")[:2]
    if kind == "status":
        step = _SERVER if status >= "500" else _REFUSED.get(status, _STATUS)
        return Words(Sentence(f"Could not be judged: HTTP {status}", f"无法判定：HTTP {status}"), step)
    return _ERRORS.get(kind, _UNJUDGED)


def _words(en: str, zh: str, next_en: str, next_zh: str) -> Words:
    return Words(Sentence(en, zh), Sentence(next_en, next_zh))


_CUT: Final = Sentence(
    "Raise max_tokens for the target, and look for a smaller limit of the server (MindIE maxIterTimes, the served "
    "window).",
    "提高目标部署的 max_tokens，并检查服务端是否有更小的上限（MindIE 的 maxIterTimes、上下文窗口）。",
)
_SHORTER: Final = Sentence(
    "Read the worst case side by side for what is left out, and compare the sampling settings of both deployments.",
    "对照阅读最严重的用例，看漏掉了什么，并比较两个部署的采样设置。",
)
_LONGER: Final = Sentence(
    "Read the worst case side by side for what was added, and state the wanted length in the prompt.",
    "对照阅读最严重的用例，看多出了什么，并在提示词中写明所需长度。",
)
_OVERLOAD: Final = Sentence(
    "Lower the target's concurrency and take the missing answers with --resume.",
    "降低目标部署的并发数，再用 --resume 补采缺失的回答。",
)
_KEY: Final = Sentence(
    "Check the key that api_key_env names, then take the missing answers with --resume.",
    "检查 api_key_env 所指的密钥，再用 --resume 补采缺失的回答。",
)
_NAME: Final = Sentence(
    "Check base_url and the model's name on the target; --resume goes on after another base_url, another model needs a "
    "new comparison.",
    "检查目标部署的 base_url 和模型名称；改正 base_url 后可用 --resume 继续，改换模型则需重新比较。",
)
_ENGINE: Final = Sentence(
    "This status means a prompt that is too long, or a fault of the engine: shorten the prompt and compare again, or "
    "read the server's log and take the missing answers with --resume.",
    "该状态码表示提示词超长或推理引擎故障：请缩短提示词后重新比较，或查看服务端日志后用 --resume 补采缺失的回答。",
)
_STATUS: Final = Sentence(
    "The same request would be refused again: correct it, or a limit of the deployment, and compare again.",
    "同样的请求会再次被拒绝：请修正请求或部署的限制，然后重新比较。",
)
_SERVER: Final = Sentence(
    "Read the server's log at the time of the calls, then take the missing answers with --resume.",
    "查看调用时刻的服务端日志，再用 --resume 补采缺失的回答。",
)

_REFUSED: Final[Mapping[str, Sentence]] = {
    "401": _KEY,
    "403": _KEY,
    "404": _NAME,
    "408": _SERVER,
    "424": _ENGINE,
    "429": _OVERLOAD,
}
"""Client errors that say nothing of the request, or not only."""

_UNJUDGED: Final = _words(
    "Could not be judged",
    "无法判定",
    "Take the missing answers again with --resume; missing source answers with `promptreg record --top-up`.",
    "用 --resume 补采缺失的回答；源部署缺失的回答用 `promptreg record --top-up` 补录。",
)
_ERRORS: Final[Mapping[str, Words]] = {
    "timeout": _words(
        "Could not be judged: time-out",
        "无法判定：超时",
        "Raise timeout_s or lower the concurrency, and take the missing answers with --resume.",
        "提高 timeout_s 或降低并发数，再用 --resume 补采缺失的回答。",
    ),
    "connection": _words(
        "Could not be judged: no connection",
        "无法判定：无法连接",
        "Check that the target runs and that base_url is right, then resume.",
        "检查目标部署是否在运行、base_url 是否正确，然后继续运行。",
    ),
    "tls": _words(
        "Could not be judged: no encrypted connection",
        "无法判定：无法建立加密连接",
        "Check ca_file, verify and the certificate of the target, then take the missing answers with --resume.",
        "检查 ca_file、verify 与目标部署的证书，再用 --resume 补采缺失的回答。",
    ),
    "too_large": _words(
        "Could not be judged: the response is too large",
        "无法判定：响应过大",
        "Lower max_tokens for the target, and look in the report at what it sends.",
        "减小目标部署的 max_tokens，并在报告中查看它发来的内容。",
    ),
    "call": _words(
        "Could not be judged: the function under `call` failed",
        "无法判定：`call` 所指的函数出错",
        "Correct the function, then take the missing answers with --resume.",
        "修正该函数，再用 --resume 补采缺失的回答。",
    ),
    "unreadable": _words(
        "Could not be judged: the response holds no answer",
        "无法判定：响应中没有回答",
        "Look in the report at what arrived; often a gateway answers in the server's place.",
        "在报告中查看收到的内容；常见原因是网关代替服务端作了响应。",
    ),
    "not_fitted": _words(
        "Not sent: the conversation cannot be shortened enough",
        "未发送：对话无法缩短到窗口之内",
        "Raise the target's window or lower the reserve, or shorten what must stay: system and pinned messages, tools, "
        "the newest question.",
        "提高目标部署的窗口或减少预留，或缩短必须保留的部分：系统消息、固定消息、工具和最新的提问。",
    ),
    "sent_otherwise": _words(
        "Not judged: other messages went out than the context returned",
        "未判定：发出的消息与上下文策略返回的不同",
        "Look for what changes requests on their way: a wrapper around the client, a hook, a patched transport.",
        "检查是什么在途中改动了请求：客户端的包装、钩子或修改过的传输层。",
    ),
    "stream": _words(
        "Could not be judged: the stream broke off",
        "无法判定：流式响应中断",
        "Look for time limits of the server or a gateway, then take the missing answers with --resume.",
        "检查服务端或网关的时间限制，再用 --resume 补采缺失的回答。",
    ),
}

_FORM_STEP: Final = (
    "State the wanted layout in the prompt, or make what reads the answer accept both.",
    "在提示词中写明所需的格式，或让读取回答的程序两种都接受。",
)
_TOOL_STEP: Final = (
    "Check the tool parser and the tool_choice of the target, then the tool's description in the prompt.",
    "检查目标部署的工具解析器和 tool_choice，再检查提示词中的工具说明。",
)
_VALUES_STEP: Final = (
    "Compare the calls side by side; for values that must stay, add a check `tool_call: {name: …, arguments: …}`.",
    "对照比较工具调用；对必须保留的参数值添加检查项 `tool_call: {name: …, arguments: …}`。",
)
_REASONING_STEP: Final = (
    "Set the thinking switch for the target by the key that its server obeys.",
    "用目标部署的服务端认可的键设置思考开关。",
)
_KEEP: Final = Sentence(
    "Compare the facts side by side; for those that must stay, add a check `facts: {must_keep: …}`.",
    "对照比较事实；对必须保留的事实添加检查项 `facts: {must_keep: …}`。",
)
_FACTS: Final[Mapping[str, Sentence]] = {
    "number": Sentence("Number", "数字"),
    "unit": Sentence("Unit", "单位"),
    "amount": Sentence("Amount", "金额"),
    "share": Sentence("Percentage", "百分比"),
    "date": Sentence("Date", "日期"),
    "time": Sentence("Time of day", "时刻"),
    "name": Sentence("Name", "名称"),
    "quote": Sentence("Quoted words", "引用的文字"),
    "address": Sentence("Address", "地址"),
    "identifier": Sentence("Identifier", "编号"),
    "value": Sentence("Value in the JSON", "JSON 中的值"),
}
"""What a fact is called in the title of a cause; see `claims`."""
_DENIAL_STEP: Final = (
    "Read both answers: one denies what the other affirms. Pin the right one with a check, such as `contains`.",
    "对照阅读两个回答：一个否定、一个肯定。用检查项（如 `contains`）固定正确的说法。",
)
_ADDED_STEP: Final = (
    "Read what was added: tell the model in the prompt to answer only what is asked, or accept it.",
    "阅读多出的内容：在提示词中要求只回答所问，或接受这一变化。",
)
_LEFT_OUT_STEP: Final = (
    "Read what is gone; for what must stay, add a check `contains` or `facts: {must_keep: …}`.",
    "阅读缺失的内容；对必须保留的内容添加检查项 `contains` 或 `facts: {must_keep: …}`。",
)
_READ: Final = (
    "Read the worst case side by side, then accept the change or fix the prompt.",
    "对照阅读最严重的用例，然后接受变化或修改提示词。",
)

_WORDS: Final[Mapping[str, Words]] = {
    "json:fenced": _words(
        "JSON now in a code block",
        "JSON 现在放在代码块中",
        "Ask for JSON through response_format on the target and check that guided decoding is on; until then strip "
        "what stands around the JSON before parsing.",
        "在目标部署上用 response_format 要求 JSON，并确认约束解码已启用；在此之前，"
        "解析前先去掉 JSON 外层的代码块或文字。",
    ),
    "json": _words(
        "No longer JSON",
        "不再是 JSON",
        "Ask for JSON through response_format on the target, and check its guided decoding.",
        "在目标部署上用 response_format 要求 JSON，并检查其约束解码。",
    ),
    "json_shape": _words(
        "JSON with other keys or types",
        "JSON 的键或类型变了",
        "Give the target a JSON schema through response_format, or list the keys in the prompt.",
        "用 response_format 给目标部署一个 JSON schema，或在提示词中列出各键。",
    ),
    "begins": _words(
        "Answers begin with “{}”",
        "回答以“{}”开头",
        "Find what puts it before the answers: the chat template, a gateway, a wrapper around the client.",
        "查找是什么把它加在回答前面：聊天模板、网关或客户端的包装。",
    ),
    "context": _words(
        "Conversation shortened for the target",
        "对话为目标部署缩短",
        "See in the report what was dropped; pin what is needed, take another strategy (`promptreg context test` "
        "compares them), or raise the target's window.",
        "在报告中查看移除了什么；固定所需的消息，换一种策略（用 `promptreg context test` 比较），"
        "或提高目标部署的窗口。",
    ),
    "empty": _words(
        "Empty answers",
        "回答为空",
        "Look whether the text stands in the reasoning, and check the reasoning parser and max_tokens.",
        "查看文字是否落在推理字段中，并检查推理解析器与 max_tokens。",
    ),
    "text": _words("Text where there was none", "原本没有文字，现在有", *_READ),
    "refusal": _words(
        "Refuses now",
        "现在拒绝回答",
        "Compare the system prompt and chat template that reach the model, and look for a moderation layer.",
        "比较实际送入模型的系统提示词与聊天模板，并查看是否有内容审核层。",
    ),
    "refusal:gone": _words("No longer refuses", "不再拒绝回答", *_READ),
    "language": _words(
        "Now in {}",
        "现在使用{}",
        "Compare the chat template and system prompt that reach the model, or name the language in the prompt.",
        "比较实际送入模型的聊天模板与系统提示词，或在提示词中写明语言。",
    ),
    "tool_call": _words("Tool {} no longer called", "不再调用工具 {}", *_TOOL_STEP),
    "tool_arguments": _words("Other arguments for tool {}", "工具 {} 的参数变了", *_TOOL_STEP),
    "tool_values": _words("Other values for tool {}", "工具 {} 的参数值变了", *_VALUES_STEP),
    "tool_count:fewer": _words("Fewer tool calls", "工具调用次数变少", *_VALUES_STEP),
    "tool_count:more": _words("More tool calls", "工具调用次数变多", *_VALUES_STEP),
    "no_tool_call": _words("A tool is called where none was", "原本不调用工具，现在调用", *_TOOL_STEP),
    "finish_reason": _words(
        "Finish reason now {}",
        "结束原因变为 {}",
        "Compare max_tokens, the stop sequences and the served window of both deployments.",
        "比较两个部署的 max_tokens、停止序列与上下文窗口。",
    ),
    "finish_reason:missing": _words(
        "Finish reason missing",
        "没有结束原因",
        "Look whether a gateway drops the last frame of the stream, or the server cut the answer.",
        "检查网关是否丢掉流式响应的最后一帧，或服务端截断了回答。",
    ),
    "fence": _words("No longer in a code block", "不再放在代码块中", *_FORM_STEP),
    "no_fence:whole": _words("Whole answer now in a code block", "整个回答现在放在代码块中", *_FORM_STEP),
    "no_fence": _words("Code block where there was none", "原本没有代码块，现在有", *_FORM_STEP),
    "table": _words("Table gone or with other columns", "表格没有了，或列变了", *_FORM_STEP),
    "no_table": _words("Table where there was none", "原本没有表格，现在有", *_FORM_STEP),
    "list": _words("List gone or of another kind", "列表没有了，或种类变了", *_FORM_STEP),
    "no_list": _words("List where there was none", "原本没有列表，现在有", *_FORM_STEP),
    "single_line": _words("Several lines instead of one", "由一行变为多行", *_FORM_STEP),
    "reasoning:absent": _words("Reasoning where there was none", "原本没有推理内容，现在有", *_REASONING_STEP),
    "reasoning": _words("Reasoning missing", "推理内容缺失", *_REASONING_STEP),
    "moved": _words(
        "Reasoning moved to {}",
        "推理内容移到{}",
        "Read both places in the application, or set the reasoning parser of the target's server.",
        "应用同时读取两处，或设置目标部署服务端的推理解析器。",
    ),
    "check": _words(
        "Check {} fails",
        "检查项 {} 未通过",
        "Read a failing answer of the worst case, then fix the prompt or the deployment before the switch.",
        "阅读最严重用例中未通过的回答，在切换前修改提示词或部署。",
    ),
    "fact:several": Words(Sentence("Several facts changed", "多处事实变了"), _KEEP),
    "negation:now": _words("Denied where it was affirmed", "由肯定变为否定", *_DENIAL_STEP),
    "negation:gone": _words("No longer denied", "不再否定", *_DENIAL_STEP),
    "added:before": _words("Text put before the answer", "回答前多出文字", *_ADDED_STEP),
    "added:after": _words("Text added at the end", "回答末尾多出文字", *_ADDED_STEP),
    "added:within": _words("Text added", "多出内容", *_ADDED_STEP),
    "left_out:end": _words("End left out", "末尾内容缺失", *_LEFT_OUT_STEP),
    "left_out:within": _words("Text left out", "遗漏内容", *_LEFT_OUT_STEP),
    "cut_off": Words(Sentence("Cut off in the middle of a sentence", "回答在句中中断"), _CUT),
    "order:facts": _words(
        "Same facts in another order",
        "数字、名称等的先后顺序变了",
        "Read both answers: values may have changed places, or only a list its order. Pin the right one with a check.",
        "对照阅读两个回答：可能是数值互换了位置，也可能只是列表换了顺序；用检查项固定正确的说法。",
    ),
    "order": _words("Same words in another order", "先后顺序变了", *_READ),
    "word": _words("A few characters replaced", "个别字词或值被替换", *_READ),
    "channel:numbers": _words(
        "Numbers differ",
        "数字不同",
        "Compare the numbers side by side; for those that must stay, add a check `facts: {must_keep: …}`.",
        "对照比较数字；对必须保留的数字添加检查项 `facts: {must_keep: …}`。",
    ),
    "channel:entities": _words(
        "Names differ",
        "实体不同",
        "Compare the names side by side; for those that must stay, add a check `facts: {must_keep: …}`.",
        "对照比较实体；对必须保留的实体添加检查项 `facts: {must_keep: …}`。",
    ),
    "channel:embedding": _words("Meaning differs", "语义不同", *_READ),
    "channel:edit": _words("Wording differs", "措辞不同", *_READ),
    "channel:stated": Words(
        Sentence("Facts that all source answers state differ", "源部署全部回答都有的事实变了"), _KEEP
    ),
    "channel": _words("Differs in {}", "{}不同", *_READ),
    "moved_on": _words("Differs beyond the source's own noise", "差异超出源部署自身的波动", *_READ),
}
"""By the whole cause, else by its first word; `{}` is the cause's second part."""

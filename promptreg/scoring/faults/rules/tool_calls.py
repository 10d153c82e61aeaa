"""Family C: tool calls that a client cannot run, of whole answers. Streams have more rules in `tool_deltas`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.deployment.json_text import parse_json
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Observation, Probe, Rule, Severity
from promptreg.scoring.faults.reading.asked import speaks_of_tool_calls
from promptreg.scoring.faults.reading.evidence import around
from promptreg.scoring.faults.reading.markup import (
    Mark,
    bare_invoke,
    copied,
    is_about_markup,
    is_shown,
    known,
    names,
    talked_about,
    tool_mark,
)
from promptreg.scoring.faults.reading.requests import forced_tool, json_asked, offered_names, tools_known
from promptreg.scoring.faults.reading.schemas import violations
from promptreg.scoring.faults.reading.strict import read_strictly
from promptreg.scoring.faults.rules import tool_deltas
from promptreg.scoring.problems import reader_problem
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Finding
    from promptreg.scoring.faults.reading.views import Text

_TOOL_FINISHES: Final = ("tool_calls", "function_call")
# What is left of DeepSeek's block when all special tokens were dropped: `functionget_weather`, a fence, the arguments.
_STRIPPED_BLOCK: Final = re.compile(r"\bfunction[ \n]{0,2}([\w.-]{1,64})[ ]{0,2}\n```(?:json)?[ ]{0,2}\n\{")
_LONGEST_TEXT_CALL: Final = 20_000
_INSTRUCTING: Final = ("system", "developer")
"""Roles whose messages say how to call tools, and are not what a call is about."""

_CAP_SLACK: Final = 2
"""Tokens that a server may count otherwise at the cap."""

_NOTHING_SENT: Final = ("F19 empty", "F21 null")
"""Keys of the problems that no arguments at all are."""

_CLOSING_TAG: Final = re.compile(r'</(?:parameter|invoke|tool_calls?|function_calls)>?(?="|\\n|\s|\Z)')


class _SentCall(NamedTuple):
    """A tool call as it was sent."""

    name: str
    arguments: Json
    """As sent: text in a good call."""
    text: str
    """The arguments as text."""
    where: str


def _sent_calls(call: Observation) -> list[_SentCall]:
    """The calls of an answer beside their raw form."""
    message = call.message or {}
    raw: Json = message.get("tool_calls")
    if isinstance(raw, dict):
        raw = [raw]
    entries: list[Json] = list(raw) if isinstance(raw, Sequence) and not isinstance(raw, str) else []
    path = "tool_calls"
    if not entries and call.tool_calls:
        entries, path = [{"function": message.get("function_call")}], "function_call"
    sent = []
    for number, (entry, read) in enumerate(zip(entries, call.tool_calls, strict=False)):
        function = entry.get("function") if isinstance(entry, dict) else None
        arguments: Json = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(entry, dict) and not isinstance(function, dict):
            custom = entry.get("custom")
            arguments = custom.get("input") if isinstance(custom, dict) else None
        where = path if path == "function_call" else f"{path}[{number}]"
        sent.append(_SentCall(read.name, arguments, read.arguments, where))
    return sent


def _markup(call: Observation) -> Iterator[Finding]:
    """F15: a tool block that was left in the text."""
    recorded = call.golden.content_texts + call.golden.reasoning_texts if call.golden is not None else ()
    for name, text in (("content", call.content), ("reasoning", call.reasoning)):
        mark = _mark_in(call, text)
        if mark is None or known(mark, call, recorded, in_prompt=not call.tools or _is_told(mark, text, call)):
            continue
        # A question about markup may be answered with whole blocks of it, unless there are tools to be called.
        if mark.whole and not call.tools and (_asked_about(call) or is_shown(mark, text.raw)):
            continue
        seen = around(text.raw, mark.offset, len(mark.text))
        what = Sentence(f"begins a tool block: {seen}", f"工具调用块的开头：{seen}")
        yield found("F15", f"{name}[{mark.offset}]", seen if mark.whole else what)
        return
    if call.tools and not call.tool_calls:
        yield from _call_as_text(call, recorded)


def _asked_about(call: Observation) -> bool:
    return talked_about(call) or speaks_of_tool_calls(call.last_question)


def _is_told(mark: Mark, text: Text, call: Observation) -> bool:
    """Whether a mark that the prompt has as well is spoken of, copied from there, or shown as code because of it.

    Where tools are offered, a prompt that only names the mark excuses no call that was left in the text.
    """
    leaked = tool_mark(text.prose, about=True)
    if leaked is not None:
        return copied(leaked, text.prose, call)
    return mark.text in text.prose or names(mark, call.last_question)


def _mark_in(call: Observation, text: Text) -> Mark | None:
    """Markup outside code; inside code as well when the tools of the request were not called at all."""
    if not text:
        return None
    mark = tool_mark(text.prose)
    if mark is not None and is_about_markup(call.prompt.raw, text.prose):
        mark = tool_mark(text.prose, about=True)
        if mark is None:
            return None
    if mark is None and call.tools and not call.tool_calls:
        mark = tool_mark(text.raw) or bare_invoke(text.raw)
    if mark is None or text.prose is text.raw:
        return mark
    return mark._replace(offset=max(0, text.raw.find(mark.text)))


def _call_as_text(call: Observation, recorded: Sequence[Text]) -> Iterator[Finding]:
    """A call written as text without any markup: its special tokens were dropped, or it was never more than JSON."""
    text = call.content.raw
    match = _STRIPPED_BLOCK.search(text)
    if match is not None and match.group(1) in call.tools:
        yield found("F15", f"content[{match.start()}]", around(text, match.start(), 20))
        return
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or len(stripped) > _LONGEST_TEXT_CALL or json_asked(call.request):
        return
    if any(one.raw.lstrip().startswith(stripped[0]) for one in recorded):
        return
    value = _parsed(stripped)
    entries = value if isinstance(value, list) else [value]
    named = [one for one in entries if isinstance(one, dict) and isinstance(one.get("name"), str)]
    if named and all(one["name"] in call.tools and ("arguments" in one or "parameters" in one) for one in named):
        yield found("F15", "content[0]", stripped)


def _markup_in_arguments(call: Observation) -> Iterator[Finding]:
    """F16: pieces of a tool block inside arguments."""
    for sent in _sent_calls(call):
        text = sent.text
        if "\\u" in text:  # bars may be written as escapes
            text = text.replace("\\uff5c", "｜").replace("\\uFF5C", "｜").replace("\\u2581", "▁")
        mark = _mark_in_arguments(text)
        if mark is None or any(names(mark, said) for role, said in call.prompt.messages if role not in _INSTRUCTING):
            continue
        recorded = call.golden.answers if call.golden is not None else ()
        if any(mark.text in one.arguments for answer in recorded for one in answer.tool_calls):
            continue
        yield found("F16", f"{sent.where}.arguments[{mark.offset}]", around(text, mark.offset, len(mark.text)))


def _mark_in_arguments(text: str) -> Mark | None:
    for begin in ("｜DSML", "|DSML", "‖DSML", "tool▁call", "tool▁sep", "tool▁output", "<｜"):
        offset = text.find(begin)
        if offset >= 0:
            return Mark(begin, offset)
    mark = tool_mark(text)
    if mark is not None:
        return mark
    if "</" in text:
        for match in _CLOSING_TAG.finditer(text):
            name = match.group().strip("</>")
            if f"<{name}" not in text:  # XML as an argument has both of its tags
                return Mark(match.group(), match.start())
    return None


def _finish(call: Observation) -> Iterator[Finding]:
    """F17 and F18: the finish reason and the calls do not fit."""
    finish = call.finish_reason
    if not call.answered or not call.succeeded or finish is None:
        return
    if finish in _TOOL_FINISHES and not call.tool_calls:
        yield found(
            "F17",
            "finish_reason",
            Sentence(
                f"finish_reason is {finish}, but there is no tool call", f"finish_reason 为 {finish}，却没有工具调用"
            ),
        )
    elif call.tool_calls and finish not in _TOOL_FINISHES and finish != "content_filter":
        if finish == "length" and not _ended_by_itself(call):
            return
        if forced_tool(call.request) is not None and finish == "stop":
            return  # OpenAI and vLLM say stop when the request names the tool
        if call.golden is not None and finish in (call.golden.finish_reasons or ()):
            return
        names = [one.name for one in call.tool_calls[:3]]
        what = Sentence(
            f"finish_reason is {finish} beside a call of {', '.join(names)}",
            f"有 {'、'.join(names)} 的调用，finish_reason 却为 {finish}",
        )
        yield found("F18", "finish_reason", what)


def _ended_by_itself(call: Observation) -> bool:
    """Whether all calls are whole and the cap that the client asked for was not reached."""
    tokens = call.usage.completion_tokens if call.usage is not None else None
    if call.token_cap is None or tokens is None or tokens >= call.token_cap - _CAP_SLACK:
        return False
    return all(isinstance(_parsed(one.arguments), dict) for one in call.tool_calls)


def _arguments(call: Observation) -> Iterator[Finding]:
    """F19, F20 and F21: arguments that cannot be read, or are not those of the tool."""
    allowed = _recorded_problems(call)
    cut = call.finish_reason == "length"
    calls = _sent_calls(call)
    for number, sent in enumerate(calls, 1):
        if call.broken_off and number == len(calls) and (not sent.text.strip() or _is_cut(sent.text)):
            return  # the stream ended within them
        function = call.tools.get(sent.name)
        for problem in _problems(sent.arguments, sent.text, _parameters(function)):
            if (sent.name, problem.key) in allowed:
                continue
            where = f"{sent.where}.{problem.where}"
            if problem.key in _NOTHING_SENT and function is not None and _takes_nothing(function):
                yield found(problem.kind, where, problem.evidence, Severity.INFO, ("tool_parser", "server_version"))
                continue
            severity = problem.severity
            if cut and problem.kind == "F19":
                if _cap_reached(call):
                    continue  # an honest end at the limit that the client asked for
                severity = Severity.WARNING
            yield found(problem.kind, where, problem.evidence, severity)


class _Problem(NamedTuple):
    kind: str
    key: str
    """What makes two problems the same: kind, place and rule of the schema."""
    where: str
    evidence: Sentence
    severity: Severity = Severity.ERROR


def _problems(arguments: Json, text: str, schema: JsonObject | None) -> Iterator[_Problem]:
    """What is wrong with the arguments of one call."""
    value = arguments
    if isinstance(arguments, str):
        if not arguments.strip():
            yield from _no_arguments(schema)
            return
        try:
            value = read_strictly(arguments)
        except ValueError as error:
            end = _end(arguments)
            reason = reader_problem(error)
            what = Sentence(f"not JSON ({reason.en}): {end}", f"不是 JSON（{reason.zh}）：{end}")
            if _is_cut(arguments):
                what = Sentence(f"cut off: {end}", f"被截断：{end}")
            yield _Problem("F19", "F19", f"arguments[{len(arguments)}]", what)
            return
    elif arguments is None and not (schema or {}).get("required"):
        yield _Problem(
            "F21",
            "F21 null",
            "arguments",
            Sentence("arguments are null instead of text", "参数为 null，而不是文本"),
            Severity.WARNING,
        )
        return
    elif arguments is not None:
        en, zh = ("an object", "对象") if isinstance(arguments, dict) else ("a value", "其他值")
        if isinstance(arguments, list):
            en, zh = "a list", "列表"
        what = Sentence(f"arguments are {en} instead of text: {text}", f"参数是{zh}，而不是文本：{text}")
        yield _Problem("F21", "F21 object", "arguments", what)
    if schema is not None:
        yield from _schema_problems({} if value is None else value, schema, text)
    elif not isinstance(value, dict) and value is not None:
        yield _Problem(
            "F21",
            "F21 $",
            "arguments",
            Sentence(f"arguments are JSON, but no object: {text}", f"参数是 JSON，但不是对象：{text}"),
        )


def _no_arguments(schema: JsonObject | None) -> Iterator[_Problem]:
    required = _required(schema)
    if required:
        what = Sentence(
            f"no arguments at all; required: {', '.join(required)}", f"完全没有参数；必填：{'、'.join(required)}"
        )
        yield _Problem("F20", "F20", "arguments", what)
    yield _Problem(
        "F19",
        "F19 empty",
        "arguments",
        Sentence("the arguments are an empty text, not {}", "参数是空文本，而不是 {}"),
        Severity.WARNING,
    )


def _schema_problems(value: Json, schema: JsonObject, text: str) -> Iterator[_Problem]:
    missing = [name for name in _required(schema) if name not in value] if isinstance(value, dict) else []
    if missing:
        what = Sentence(f"missing: {', '.join(missing)}; sent: {text}", f"缺少：{'、'.join(missing)}；实际发送：{text}")
        yield _Problem("F20", "F20", "arguments", what)
    for violation in violations(schema, value):
        if violation.rule == "required" and violation.path == "$":
            continue
        key = f"F21 {violation.path} {violation.rule}"
        yield _Problem("F21", key, f"arguments{violation.path[1:]}", violation.message)


def _recorded_problems(call: Observation) -> set[tuple[str, str]]:
    """What the source's own calls have wrong as well."""
    if call.golden is None:
        return set()
    return {
        (one.name, problem.key)
        for answer in call.golden.answers
        for one in answer.tool_calls
        for problem in _problems(one.arguments, one.arguments, _parameters(call.tools.get(one.name)))
    }


def _unknown_tool(call: Observation) -> Iterator[Finding]:
    """F23: a call of a tool that the request does not offer."""
    if not call.tool_calls or not tools_known(call.request):
        return
    offered = offered_names(call.request)
    forbidden = call.request.get("tool_choice") == "none"
    for sent in _sent_calls(call):
        if sent.name in offered and not forbidden:
            continue
        why = _offered(offered)
        if forbidden:
            why = Sentence("tool_choice is none", "而 tool_choice 为 none")
        what = Sentence(f"a tool without a name is called; {why.en}", f"调用了没有名称的工具；{why.zh}")
        if sent.name:
            what = Sentence(f"{sent.name} is called; {why.en}", f"调用了 {sent.name}；{why.zh}")
        yield found("F23", f"{sent.where}.name", what)


def _offered(names: Collection[str]) -> Sentence:
    if not names:
        return Sentence("offered: no tool at all", "请求没有提供任何工具")
    some = sorted(names)[:8]
    return Sentence(f"offered: {', '.join(some)}", f"请求提供的工具：{'、'.join(some)}")


def _parameters(function: JsonObject | None) -> JsonObject | None:
    parameters = function.get("parameters") if function is not None else None
    return parameters if isinstance(parameters, dict) and parameters else None


def _takes_nothing(function: JsonObject) -> bool:
    """Whether a tool has no parameters, so that a call of it has nothing to say."""
    parameters = function.get("parameters")
    return not parameters or (isinstance(parameters, dict) and not parameters.get("properties"))


def _required(schema: JsonObject | None) -> list[str]:
    names = schema.get("required") if schema is not None else None
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _cap_reached(call: Observation) -> bool:
    count = call.usage.completion_tokens if call.usage is not None else None
    return call.token_cap is not None and count is not None and count >= call.token_cap - 1


def _is_cut(text: str) -> bool:
    """Whether a text is the beginning of JSON: brackets or quotes are open at its end, and none closed too early."""
    depth: list[str] = []
    inside = escaped = False
    for character in text:
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth.append("}" if character == "{" else "]")
        elif character in "}]" and (not depth or depth.pop() != character):
            return False
    return text.lstrip()[:1] in ("{", "[") and (inside or bool(depth))


def _end(text: str) -> str:
    return text if len(text) <= 80 else f"…{text[-80:]}"


def _parsed(text: str) -> Json:
    try:
        return parse_json(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None


rules: Final = (
    Rule("F15", Probe.ONE, _markup),
    Rule("F16", Probe.ONE, _markup_in_arguments),
    Rule("F17", Probe.ONE, _finish),
    Rule("F19", Probe.ONE, _arguments),
    Rule("F22", Probe.ONE, tool_deltas.malformed),
    Rule("F23", Probe.ONE, _unknown_tool),
)

"""Family D: structured output that a client cannot parse, or that breaks its schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Observation, Probe, Rule, Severity
from promptreg.scoring.faults.reading.errors import Cause, error_of
from promptreg.scoring.faults.reading.requests import json_asked, json_schema
from promptreg.scoring.faults.reading.schemas import violations
from promptreg.scoring.faults.reading.strict import read_strictly
from promptreg.scoring.faults.reading.views import fenced_lines
from promptreg.scoring.problems import reader_problem_with_place
from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Finding

_MOST_BLANKS: Final = 40
"""Blank characters at the end of structured output above which they are a fault."""

_JSON_ONLY: Final = re.compile(
    r"\b(?:only|just|nothing but|raw|pure|bare)\b.{0,20}\bjson\b|\bjson\b.{0,12}\b(?:only|alone|and nothing else)\b"
    r"|(?:只|仅)[^。\n]{0,8}json|json[^。\n]{0,12}不要(?:[^。\n]{0,8}(?:代码块|围栏|解释|其他))",
    re.IGNORECASE,
)


class _Read(NamedTuple):
    """A text read as JSON."""

    ok: bool
    value: Json = None
    reason: Sentence | None = None
    """Why it is none."""


def _structure(call: Observation) -> Iterator[Finding]:
    """F24, F25 and F26 of an answer that was asked to be JSON, or that the source answered in JSON."""
    if not call.succeeded or not call.answered or call.tool_calls or "refusal_field" in call.answer.flags:
        return
    asked = json_asked(call.request)
    if not asked and not _recorded_json(call):
        yield from _only_wished(call)
        return
    text = call.content.raw
    if not text:
        if asked and call.finish_reason != "length" and not call.broken_off:
            yield from _in_reasoning(call)
        return
    read = _json(text)
    if _recorded_alike(call, text, is_json=read.ok):
        return
    blanks = len(text) - len(text.rstrip())
    if call.content.blank or blanks >= _MOST_BLANKS:
        last = text.rstrip()[-40:]
        en, zh = (
            ("nothing but blanks", "此外什么也没有") if call.content.blank else (f"after: {last}", f"前文为：{last}")
        )
        what = Sentence(f"{counted(blanks, 'blank character')} at the end, {en}", f"结尾有 {blanks} 个空白字符，{zh}")
        yield found("F26", f"content[{len(text) - blanks}]", what)
        return
    if read.ok:
        yield from _against_schema(call, read.value)
    elif read.reason is not None:
        yield from _no_json(call, text, read.reason, asked=asked)


def _no_json(call: Observation, text: str, reason: Sentence, *, asked: bool) -> Iterator[Finding]:
    """F24 where JSON is inside the text, F25 where it is not."""
    inner = _inner(text)
    begins = text.lstrip()[:1] in ("{", "[")
    if inner is not None:
        what = Sentence(f"{inner.how.en}: {text[:160]}", f"{inner.how.zh}：{text[:160]}")
        yield found("F24", f"content[{inner.offset}]", what)
    elif not call.broken_off and not (call.finish_reason == "length" and begins) and (asked or begins):
        # Cut JSON is the fault of a limit, or of the stream, which have rules of their own.
        what = Sentence(f"not JSON ({reason.en}): {text[:160]}", f"不是 JSON（{reason.zh}）：{text[:160]}")
        yield found("F25", "content", what)


def _only_wished(call: Observation) -> Iterator[Finding]:
    """F24 where only the prompt asks for bare JSON: the server promised nothing, so it is a warning."""
    text = call.content.raw
    if (
        "```" not in text
        or _JSON_ONLY.search(call.prompt.raw) is None
        or _recorded_alike(call, text, is_json=_json(text).ok)
    ):
        return
    inner = _inner(text)
    if inner is not None:
        what = Sentence(
            f"{inner.how.en}, the prompt asks for JSON alone: {text[:120]}",
            f"{inner.how.zh}，而提示词要求只输出 JSON：{text[:120]}",
        )
        yield found("F24", f"content[{inner.offset}]", what, Severity.WARNING)


class _Inner(NamedTuple):
    offset: int
    how: Sentence


def _inner(text: str) -> _Inner | None:
    """JSON inside a text that is none: in its one code fence, or between its outermost brackets."""
    inside = fenced_lines(text)
    if inside.lstrip()[:1] in ("{", "[") and _json(inside).ok:
        at = max(0, min(filter(None, (text.find("```") + 1, text.find("~~~") + 1))) - 1)
        return _Inner(at, Sentence("in a code fence", "放在代码块里"))
    for opening, closing in ("{}", "[]"):
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end and _json(text[start : end + 1]).ok and (start > 0 or text[end + 1 :].strip()):
            return _Inner(start, Sentence("between other text", "夹在其他文字中"))
    return None


def _in_reasoning(call: Observation) -> Iterator[Finding]:
    """F25 where the content is empty: the JSON went into the reasoning."""
    text = call.reasoning.raw.strip()
    if text[:1] not in ("{", "["):
        return
    if _json(text).ok or _inner(text) is not None:
        what = Sentence(
            f"the JSON is in the reasoning, the content is empty: {text[:120]}",
            f"JSON 写在推理过程里，正文为空：{text[:120]}",
        )
        yield found("F25", "reasoning", what)


def _against_schema(call: Observation, value: Json) -> Iterator[Finding]:
    schema = json_schema(call.request)
    if schema is None:
        if json_asked(call.request) and not isinstance(value, (dict, list)):
            begin = call.content.raw[:80]
            what = Sentence(f"JSON, but no object: {begin}", f"是 JSON，但不是对象：{begin}")
            yield found("F25", "content", what, Severity.WARNING)
        return
    broken = violations(schema, value)
    if not broken:
        return
    allowed = _recorded_violations(call, schema)
    for violation in broken:
        if (violation.path, violation.rule) not in allowed:
            yield found("F25", f"content {violation.path}", violation.message)


def _recorded_violations(call: Observation, schema: JsonObject) -> set[tuple[str, str]]:
    contents = call.golden.contents if call.golden is not None else ()
    return {
        (violation.path, violation.rule)
        for content in contents
        if (read := _json(content)).ok
        for violation in violations(schema, read.value)
    }


def _recorded_json(call: Observation) -> bool:
    """Whether every recorded answer is one JSON object or list."""
    return call.golden is not None and call.golden.all_json


def _recorded_alike(call: Observation, text: str, *, is_json: bool) -> bool:
    """Whether a recorded answer is wrapped, broken or padded like this one."""
    contents = call.golden.contents if call.golden is not None else ()
    if not contents or is_json:
        return text in contents
    fenced = text.lstrip().startswith(("```", "~~~"))
    return any(not _json(one).ok and one.lstrip().startswith(("```", "~~~")) == fenced for one in contents)


def _refused(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F27 in several calls: those with `response_format` fail, the others do not."""
    asking = [call for call in calls if json_asked(call.request)]
    others = [call for call in calls if not json_asked(call.request)]
    if not asking or not others or not all(call.succeeded for call in others):
        return
    for call in asking:
        if call.status is not None and call.status >= 400 and not _says_so(call):
            yield found(
                "F27",
                f"{call.label}: status",
                Sentence(
                    f"HTTP {call.status} with response_format, 200 without",
                    f"带 response_format 时为 HTTP {call.status}，不带时为 200",
                ),
            )


def _refused_once(call: Observation) -> Iterator[Finding]:
    """F27 in one call: the error names structured output."""
    if _says_so(call):
        yield found("F27", "status", f"HTTP {call.status}: {error_of(call).message}")


def _says_so(call: Observation) -> bool:
    if call.status is None or call.status < 400 or not json_asked(call.request):
        return False
    return error_of(call).cause is Cause.STRUCTURED


def _json(text: str) -> _Read:
    try:
        return _Read(ok=True, value=read_strictly(text.strip()))
    except ValueError as error:
        return _Read(ok=False, reason=reader_problem_with_place(error))


rules: Final = (
    Rule("F24", Probe.ONE, _structure),
    Rule("F27", Probe.PAIR, _refused_once, _refused),
)

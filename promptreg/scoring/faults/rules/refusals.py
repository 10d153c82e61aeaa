"""Family G, calls that are refused or never answered: F44 to F49, and parameters that are refused (F53)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.deployment.exchange import FailureKind
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.faults.reading.errors import (
    USUAL_STATUSES,
    Cause,
    Shape,
    error_of,
    read_error,
    senders,
    shapes_of,
)
from promptreg.scoring.faults.reading.observe import timed_out
from promptreg.scoring.faults.reading.requests import is_chat, json_asked
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from promptreg.scoring.faults.model import Finding, Observation

SLOWEST_S: Final = 120.0
"""Seconds to the first byte after which a call counts as hanging."""

_SLOWEST_TOKENS: Final = 2.0
_SLOWEST_PROMPT: Final = 100.0
"""Tokens per second that a slow server writes and reads."""

_NOT_LATE: Final = frozenset({None, FailureKind.CONNECT, FailureKind.CALL})
"""No failure, one of F49, and an error of the user's own function."""

_DEAD_AFTER: Final = 3
_RATE_SUSPECTS: Final = ("rate_limit", "overload")
_PLAIN_PARAMETERS: Final = frozenset({"messages", "model", "stream", "response_format", "tools", "user", "stop"})
_UNKNOWN_PARAMETER: Final = re.compile(
    r"extra (?:inputs|fields)|unrecognized|unexpected (?:keyword|field|argument)|unknown (?:field|parameter|argument)"
    r"|not (?:supported|permitted|allowed)|unsupported|cannot be used|不支持",
    re.IGNORECASE,
)
_NONSENSE_NAME: Final = re.compile(
    r"no[-_ ]?such|not?[-_ ]?exist|nonexist|does[-_]not|wrong|bogus|fake|invalid|unknown|不存在",
    re.IGNORECASE,
)


def refused(call: Observation) -> bool:
    """Whether a chat call got an error status."""
    return call.status is not None and call.status >= 400 and is_chat(call.label)


def status(call: Observation) -> Iterator[Finding]:
    """F44: another status than the source gave, or than the interface promises for this cause."""
    if call.status is None or not is_chat(call.label):
        return
    if refused(call) and (error := error_of(call)).cause is Cause.RATE:
        yield from _rate_limit(call, error.message)
        return
    recorded = call.golden.statuses if call.golden is not None else frozenset()
    if recorded:
        if call.status not in recorded and (refused(call) or min(recorded) >= 400):
            group = call.status // 100
            before = min(recorded, key=lambda one: (abs(one // 100 - group), one))
            severity = Severity.ERROR if group > before // 100 else Severity.WARNING
            yield found(
                "F44",
                "status",
                Sentence(f"HTTP {call.status}, on the source {before}", f"HTTP {call.status}，源部署为 {before}"),
                severity,
            )
        return
    if not refused(call):
        return
    error = error_of(call)
    usual = USUAL_STATUSES[error.cause]
    if call.status not in usual and call.status < 500:
        names = ", ".join(map(str, sorted(usual)))
        yield found(
            "F44",
            "status",
            Sentence(
                f"HTTP {call.status} where the OpenAI interface says {names}: {error.message}",
                f"HTTP {call.status}，而 OpenAI 接口此处为 {names}：{error.message}",
            ),
        )


def _rate_limit(call: Observation, said: str) -> Iterator[Finding]:
    """Too many calls in a time: nothing is broken, and the same call is answered later."""
    recorded = call.golden.statuses if call.golden is not None else frozenset()
    if call.status in recorded:
        return
    before, earlier = (f", on the source {min(recorded)}", f"，源部署为 {min(recorded)}") if recorded else ("", "")
    worse = call.status is not None and call.status >= 500 and bool(recorded) and 400 <= max(recorded) < 500
    severity = Severity.ERROR if worse else Severity.WARNING
    what = Sentence(f"rate limit, HTTP {call.status}{before}: {said}", f"限流，HTTP {call.status}{earlier}：{said}")
    yield found("F44", "status", what, severity, _RATE_SUSPECTS)


def body_shape(call: Observation) -> Iterator[Finding]:
    """F45: an error body of another shape than the source's, or than an OpenAI client reads."""
    if not refused(call):
        return
    error = error_of(call)
    told, begin = _told(error.shape), call.body[:120]
    recorded = call.golden.error_bodies if call.golden is not None else ()
    if recorded:
        shapes = {read_error(call.status, one).shape for one in recorded}
        if error.shape not in shapes:
            before = ", ".join(sorted(shape.value for shape in shapes))
            what = Sentence(f"{told.en}, on the source {before}: {begin}", f"{told.zh}，源部署为 {before}：{begin}")
            yield found("F45", "body", what)
    elif error.shape is not Shape.NESTED:
        what = Sentence(
            f"{told.en}, where an OpenAI client reads error.message: {begin}",
            f"{told.zh}，而 OpenAI 客户端读取 error.message：{begin}",
        )
        yield found("F45", "body", what)


def _told(shape: Shape) -> Sentence:
    names = senders(shape)
    en, zh = (f" ({', '.join(names)})", f"（{'、'.join(names)}）") if names else ("", "")
    return Sentence(f"shape “{shape.value}”{en}", f"形式“{shape.value}”{zh}")


def shapes_in_run(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F44 and F45 of the same bad request to several servers."""
    failed = [call for call in calls if refused(call)]
    if len(failed) < 2 or len(failed) < len(calls):
        return
    statuses = {call.status for call in failed}
    if len(statuses) > 1 and all(call.status is not None and call.status < 500 for call in failed):
        yield found("F44", "status", "; ".join(f"{call.label}: {call.status}" for call in failed[:6]))
    shapes = {error_of(call).shape for call in failed}
    if len(shapes) > 1:
        yield found("F45", "body", "; ".join(f"{call.label}: {error_of(call).shape.value}" for call in failed[:6]))


def server_shape(call: Observation) -> Iterator[Finding]:
    """F45: a server that is known by name sends a body that is not its own: something else answers."""
    if not refused(call) or call.server is None or call.server in ("openai", "local"):
        return
    try:
        known = shapes_of(call.server)
    except KeyError:
        return
    shape = error_of(call).shape
    if shape not in known and shape in (Shape.HTML, Shape.EMPTY, Shape.TEXT):
        begin = call.body[:120]
        what = Sentence(
            f"shape “{shape.value}”, which {call.server} does not send: {begin}",
            f"形式“{shape.value}”，{call.server} 不会发送这种形式：{begin}",
        )
        yield found("F45", "body", what)


def model_name(call: Observation) -> Iterator[Finding]:
    """F46: the model name is refused, or a name that cannot exist is accepted."""
    if refused(call):
        error = error_of(call)
        if error.cause is Cause.MODEL:
            yield found("F46", "model", f"HTTP {call.status}: {error.message}")
        return
    asked = call.request.get("model")
    if call.answered and call.succeeded and isinstance(asked, str) and _NONSENSE_NAME.search(asked):
        yield found("F46", "model", Sentence(f"the model name {asked} is accepted", f"模型名 {asked} 被接受"))


def model_listed(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F46: the model list of the run does not hold the name that the chat calls use."""
    listed: set[str] = set()
    for call in calls:
        data = call.document.get("data") if isinstance(call.document, dict) and not is_chat(call.label) else None
        for one in data if isinstance(data, list) else ():
            if isinstance(one, dict) and isinstance(one.get("id"), str):
                listed.add(one["id"])
    if not listed:
        return
    for call in calls:
        asked = call.request.get("model")
        if is_chat(call.label) and isinstance(asked, str) and asked not in listed:
            names = ", ".join(sorted(listed)[:5])
            yield found(
                "F46",
                f"{call.label}: model",
                Sentence(f"{asked} is not in the model list: {names}", f"{asked} 不在模型列表中：{names}"),
            )
            return


def overflow(call: Observation) -> Iterator[Finding]:
    """F47, refused: the request does not fit into the window."""
    if refused(call):
        error = error_of(call)
        if error.cause is Cause.OVERFLOW:
            yield found("F47", "status", f"HTTP {call.status}: {error.message}")


def hanging(call: Observation) -> Iterator[Finding]:
    """F48: no answer in time, or the server says that it is overloaded."""
    if not is_chat(call.label):
        return
    if call.status is None:
        if call.failure not in _NOT_LATE:
            yield found(
                "F48", "status", Sentence(f"no response: {call.failure_message}", f"没有响应：{call.failure_message}")
            )
        return
    if refused(call):
        error = error_of(call)
        if error.cause in (Cause.TIMEOUT, Cause.OVERLOAD):
            yield found("F48", "status", f"HTTP {call.status}: {error.message}")
        return
    if timed_out(call.failure) and not any(frame.value is not None for frame in call.frames) and not call.answered:
        yield found(
            "F48",
            "body",
            Sentence(
                f"HTTP {call.status}, then nothing: {call.failure_message}",
                f"HTTP {call.status}，之后什么也没有：{call.failure_message}",
            ),
        )
        return
    first = call.frames.at_s(0) if call.frames else None
    if first is not None and first > SLOWEST_S:
        yield found(
            "F48",
            "frames[0]",
            Sentence(f"the first event came after {first:.0f} s", f"第一个事件在 {first:.0f} 秒之后才到"),
        )
    elif not call.streamed and call.answered and (call.duration_s or 0) > _patience_s(call):
        yield found(
            "F48",
            "duration_s",
            Sentence(f"the answer came after {call.duration_s:.0f} s", f"回答在 {call.duration_s:.0f} 秒之后才到"),
        )


def _patience_s(call: Observation) -> float:
    """Seconds after which a body counts as late: it comes as a whole, so a long one may take longer."""
    usage = call.usage
    if usage is None or usage.completion_tokens is None:
        return 5 * SLOWEST_S
    return SLOWEST_S + usage.completion_tokens / _SLOWEST_TOKENS + (usage.prompt_tokens or 0) / _SLOWEST_PROMPT


def lying_health(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F48: the health page says fine while chat calls are not answered."""
    healthy = [call for call in calls if not is_chat(call.label) and call.succeeded and "health" in call.label.lower()]
    dead = [call for call in calls if is_chat(call.label) and call.status is None]
    if healthy and dead:
        yield found(
            "F48",
            f"{dead[0].label}: status",
            Sentence(
                f"{healthy[0].label} says {healthy[0].status}: health lies",
                f"{healthy[0].label} 返回 {healthy[0].status}：健康检查不可信",
            ),
        )


def server_error(call: Observation) -> Iterator[Finding]:
    """F49: an error of the engine."""
    if refused(call):
        error = error_of(call)
        if error.cause is Cause.ENGINE or (call.status == 500 and error.cause is Cause.STRUCTURED):
            yield found("F49", "status", f"HTTP {call.status}: {error.message}")
    elif call.failure is FailureKind.CONNECT and call.status is None and is_chat(call.label):
        yield found(
            "F49",
            "status",
            Sentence(
                f"nothing answers at the address: {call.failure_message}", f"该地址没有服务响应：{call.failure_message}"
            ),
        )
    elif call.failure is FailureKind.DISCONNECTED and not call.streamed and is_chat(call.label) and not call.answered:
        yield found(
            "F49",
            "body",
            Sentence(f"the connection broke: {call.failure_message}", f"连接中断：{call.failure_message}"),
        )


def engine_dead(calls: Sequence[Observation]) -> Iterator[Finding]:
    """F49: server errors in a row, with no answer after them."""
    row = 0
    for call in calls:
        if is_chat(call.label):
            row = row + 1 if call.status is not None and call.status >= 500 else 0
    if row >= _DEAD_AFTER:
        yield found(
            "F49",
            f"{calls[-1].label}: status",
            Sentence(f"{row} server errors in a row: the engine is dead", f"连续 {row} 次服务端错误：引擎已停止工作"),
        )


def parameter_refused(call: Observation) -> Iterator[Finding]:
    """F53: a call is refused because of a parameter that the source takes."""
    if not refused(call) or call.status is None or call.status >= 500:
        return
    error = error_of(call)
    recorded = call.golden.statuses if call.golden is not None else ()
    if error.cause is not Cause.BAD_VALUE or any(one >= 400 for one in recorded):
        return
    said = error.message
    for name in call.request:
        if name not in _PLAIN_PARAMETERS and _names(said, name):
            yield found("F53", f"request.{name}", f"HTTP {call.status}: {said}")
            return
    history = re.search(r"\b(role|developer|reasoning_content|content)\b|角色", said, re.IGNORECASE)
    if history is not None and "messages" in call.request:
        yield found("F53", "request.messages", f"HTTP {call.status}: {said}")
    elif _UNKNOWN_PARAMETER.search(said) and not json_asked(call.request):
        yield found("F53", "request", f"HTTP {call.status}: {said}")


def _names(said: str, name: str) -> bool:
    """Whether a message names a parameter as a word of its own."""
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", said) is not None

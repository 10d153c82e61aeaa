"""Family C, streams: deltas that a client puts together into nonsense, or may pass over (F22)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from promptreg.answer.reader import REASONING_FIELDS
from promptreg.deployment.json_text import parse_json
from promptreg.scoring.faults.catalogue import found
from promptreg.scoring.faults.model import Severity
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.canonical import Json, JsonObject
    from promptreg.scoring.faults.model import Finding, Observation

_LONG_ARGUMENTS: Final = 60
"""Characters of arguments above which a real stream takes at least two fragments."""

_CALLS: Final = ("tool_calls", "function_call")
_PAYLOAD: Final = (*_CALLS, "content", *REASONING_FIELDS, "refusal")


@dataclass
class _Open:
    """One index of one choice: what has come under it so far."""

    identifier: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    """Its arguments so far, without empty pieces."""
    name_said: bool = False
    """Whether its name was already reported."""

    def begin_again(self, identifier: str, name: str) -> None:
        """Another call has taken the place."""
        self.identifier, self.name, self.pieces = identifier, name, []

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are a JSON object."""
        try:
            return isinstance(parse_json("".join(self.pieces).encode("utf-8", "surrogatepass")), dict)
        except ValueError:
            return False


@dataclass
class _Ended:
    """The finish frame of a choice."""

    frame: int
    reason: Json


def malformed(call: Observation) -> Iterator[Finding]:
    """F22, for each choice and index: one id, one name, both before the arguments; one finish frame, and last."""
    if not call.streamed:
        return
    open_calls: dict[tuple[int, int], _Open] = {}
    holders: dict[str, tuple[int, int]] = {}
    ended: dict[int, _Ended] = {}
    reported: set[Sentence] = set()
    for number, frame in call.notable_frames:
        for choice in frame.choices:
            for finding in _choice(choice, number, open_calls, holders, ended):
                if finding.evidence not in reported:
                    reported.add(finding.evidence)
                    yield finding
    for (_, index), one in open_calls.items():
        if len(one.pieces) == 1 and len(one.pieces[0]) > _LONG_ARGUMENTS:
            count = len(one.pieces[0])
            what = Sentence(
                f"the {count} characters of the arguments came in one frame: no real stream",
                f"参数的 {count} 个字符在同一个数据帧中到达：并非真正的流式输出",
            )
            yield found("F22", f"tool_calls[{index}].arguments", what, Severity.INFO)


def _choice(
    choice: JsonObject,
    number: int,
    open_calls: dict[tuple[int, int], _Open],
    holders: dict[str, tuple[int, int]],
    ended: dict[int, _Ended],
) -> Iterator[Finding]:
    where = f"frames[{number}]"
    place = choice.get("index")
    place = place if isinstance(place, int) else 0
    delta = choice.get("delta")
    delta = delta if isinstance(delta, dict) else {}
    finish = choice.get("finish_reason")
    end = ended.get(place)
    if end is not None and finish is None and any(delta.get(name) for name in _PAYLOAD):
        what = Sentence(
            f"text or a tool call after the finish frame (frames[{end.frame}])",
            f"结束帧（frames[{end.frame}]）之后还有文本或工具调用",
        )
        yield found("F22", where, what)
    if finish is not None:
        if end is None:
            ended[place] = _Ended(number, finish)
        else:
            differs = end.reason != finish
            what = Sentence(
                f"a second finish frame: {end.reason}, then {finish}",
                f"有第二个结束帧：先是 {end.reason}，后是 {finish}",
            )
            yield found("F22", where, what, Severity.ERROR if differs else Severity.WARNING)
        held = [name for name in _PAYLOAD if delta.get(name)]
        if held:
            if held[0] in _CALLS:
                yield found(
                    "F22",
                    where,
                    Sentence("the finish frame holds a piece of a tool call", "结束帧中含有工具调用的片段"),
                    Severity.WARNING,
                )
            else:
                what = Sentence(
                    f"the finish frame holds a piece of the answer ({', '.join(held)})",
                    f"结束帧中含有回答的片段（{'、'.join(held)}）",
                )
                yield found("F22", where, what, Severity.WARNING, ("server_version", "gateway"))
    pieces = delta.get("tool_calls")
    if isinstance(pieces, dict):
        pieces = [pieces]
    for piece in pieces if isinstance(pieces, list) else ():
        if isinstance(piece, dict):
            yield from _piece(piece, place, where, open_calls, holders)
        else:
            yield found("F22", where, Sentence("an entry of tool_calls is no object", "tool_calls 中有一项不是对象"))


def _piece(
    piece: JsonObject,
    place: int,
    where: str,
    open_calls: dict[tuple[int, int], _Open],
    holders: dict[str, tuple[int, int]],
) -> Iterator[Finding]:
    index = piece.get("index")
    if not isinstance(index, int) or isinstance(index, bool):
        others = sum(1 for key in open_calls if key[0] == place)
        severity = Severity.ERROR if others > 1 else Severity.WARNING
        yield found(
            "F22", where, Sentence("a piece of a tool call has no index", "工具调用的一个片段没有 index"), severity
        )
        index = 0
    identifier, function = piece.get("id"), piece.get("function")
    identifier = identifier if isinstance(identifier, str) else ""
    function = function if isinstance(function, dict) else {}
    name, arguments = function.get("name"), function.get("arguments")
    name = name if isinstance(name, str) else ""
    key = (place, index)
    one = open_calls.get(key)
    if one is None:
        one = open_calls[key] = _Open(identifier, name)
        if not name:
            yield found(
                "F22",
                where,
                Sentence(f"index {index} begins without the name of a tool", f"index {index} 的开头没有工具名"),
            )
        if identifier and holders.setdefault(identifier, key) != key:
            yield found(
                "F22",
                where,
                Sentence(f"the id {identifier} stands under two indexes", f"id {identifier} 出现在两个 index 下"),
            )
    else:
        yield from _later_piece(one, identifier, name, index, where)
        holders.setdefault(identifier or one.identifier, key)
    if isinstance(arguments, str) and arguments:
        one.pieces.append(arguments)


def _later_piece(one: _Open, identifier: str, name: str, index: int, where: str) -> Iterator[Finding]:
    """A piece of a call that has begun: it should hold arguments and nothing else."""
    if identifier and one.identifier and identifier != one.identifier:
        if name:
            yield found(
                "F22",
                where,
                Sentence(
                    f"two calls share index {index}: ids {one.identifier} and {identifier}",
                    f"两个调用共用 index {index}：id 分别为 {one.identifier} 和 {identifier}",
                ),
            )
            one.begin_again(identifier, name)
            return
        what = Sentence(
            f"the id under index {index} changes from {one.identifier} to {identifier}",
            f"index {index} 下的 id 从 {one.identifier} 变成 {identifier}",
        )
        yield found("F22", where, what, Severity.WARNING)
        one.identifier = identifier
    if not name or one.name_said:
        return
    if not one.name:
        one.name = name  # it came late, which was said of the first piece
        return
    one.name_said = True
    if one.complete:
        yield found(
            "F22",
            where,
            Sentence(
                f"two calls share index {index}: {one.name}, then {name}",
                f"两个调用共用 index {index}：先是 {one.name}，后是 {name}",
            ),
        )
    elif name == one.name:
        yield found(
            "F22",
            where,
            Sentence(
                f"the name {name} comes twice under index {index}: clients double it",
                f"名称 {name} 在 index {index} 下出现两次：客户端会把它拼成两遍",
            ),
        )
    else:
        severity = Severity.ERROR if one.pieces else Severity.WARNING
        yield found(
            "F22",
            where,
            Sentence(
                f"the name under index {index} comes in pieces: {one.name}, {name}",
                f"index {index} 下的名称分段到达：{one.name}、{name}",
            ),
            severity,
        )

"""Check `call`: a Python function from the user's own project judges the answer."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.deployment.transports.function import load_function
from promptreg.errors import ConfigError
from promptreg.scoring.checks.base import BadArgument, Finding, Rules, Setting, found, must, quoted
from promptreg.scoring.checks.options import fields, text
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

_NAME: Final = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class UserFunction:
    """Called with the content and, where it takes a second positional parameter, with the `Answer`.

    It returns True or False, or either with a reason. Anything else that it returns or raises leaves the answer
    unscored. It runs in this process without a time limit.
    """

    name: str
    function: Callable[..., Any]
    takes_answer: bool
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def rules(self) -> Rules:
        """The function must say yes, or no."""
        return must(f"be accepted by {quoted(self.name)}", f"被{quoted(self.name)}接受")

    def find(self, answer: Answer) -> Finding:
        """What the function says."""
        arguments = (answer.content, answer) if self.takes_answer else (answer.content,)
        try:
            returned = self.function(*arguments, **self.options)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's function may raise anything
            what = preview(f"{type(error).__name__}: {error}".rstrip(": "), _LONGEST_REASON)
            name = quoted(self.name)
            return found(None, f"was not judged: {name} raised {what}", f"未被判定：{name} 抛出了 {what}")
        return self._read(returned)

    def _read(self, returned: object) -> Finding:
        name = quoted(self.name)
        verdict, reason = returned, ""
        if isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[1], str):
            verdict, reason = returned
        if not isinstance(verdict, bool):
            if inspect.iscoroutine(returned):
                returned.close()  # it will never be awaited
            kind = type(returned).__name__
            return found(
                None,
                f"was not judged: {name} returned {kind}, not True or False or either with a reason",
                f"未被判定：{name} 返回的是 {kind}，而不是 True、False 或带理由的二者之一",
            )
        why = f": {preview(reason, _LONGEST_REASON)}" if reason else ""
        verb_en, verb_zh = ("is accepted", "接受") if verdict else ("is refused", "拒绝")
        return found(verdict, f"{verb_en} by {name}{why.rstrip('.')}", f"被{name}{verb_zh}{why.replace(': ', '：', 1)}")


def build(argument: Json, setting: Setting) -> UserFunction:
    """`call: module:function`, or `call: {function: module:function, options: {NAME: VALUE}}`."""
    if isinstance(argument, str):
        argument = {"function": argument}
    table = fields(argument, setting, ("function", "options"), "{function: my_checks:polite, options: {level: 2}}")
    name = text(table.get("function"), setting, "function")
    if not _NAME.fullmatch(name):
        raise BadArgument(
            f"`{setting.name}` needs a function of your project, such as `{setting.name}: my_checks:polite`; "
            f"{quoted(name)} is none.",
        )
    options = table.get("options", {})
    if not isinstance(options, Mapping):
        raise BadArgument(f"`options` of `{setting.name}` needs names and values, such as `options: {{level: 2}}`.")
    try:
        function = load_function(name, setting.root)
    except ConfigError as error:
        reason = str(error).removeprefix(f'call = "{name}": ')
        raise BadArgument(f"`{setting.name}: {name}` cannot be used: {reason}.") from None
    accepted = [count for count in (2, 1) if _accepts(function, count, options)]
    if not accepted:
        given = ", ".join(["text", *map(str, options)])
        raise BadArgument(
            f"`{setting.name}: {name}` cannot be used: the function does not take ({given}). The answer's text comes "
            "first, the answer itself second where it is taken, and options by name.",
        )
    return UserFunction(name, function, accepted[0] == 2, MappingProxyType(dict(options)))


def _accepts(function: Callable[..., Any], count: int, options: Mapping[str, Any]) -> bool:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):  # a built-in without a signature
        return count == 1
    try:
        signature.bind(*([""] * count), **options)
    except TypeError:
        return False
    if count == 1:
        return True
    # A second parameter with a default is an option, not a place for the answer.
    positional = [each for each in signature.parameters.values() if each.kind in _POSITIONAL]
    return len(positional) >= 2 and positional[1].default is inspect.Parameter.empty


_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

"""The sandbox that templates are filled in: no way into Python, no other file, and a bound on time and memory.

Jinja2's own sandbox keeps templates away from Python and limits ranges. Here every loop, filter, call and operator is
counted (see `work`), and what makes a long text out of short ones says first how long it would be.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.filters import make_attrgetter
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptreg.suite import work as limits
from promptreg.suite.work import PromptTemplateError, Work, too_large, weight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_PADDING: Final = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})
_MAX_WRAPPED: Final = 100_000
_MAX_TOKENS: Final = 200_000
_LONG_SOURCE: Final = 100_000
_JOIN, _LOOP, _LITERAL = "~", "for ", "[ ]"
"""Filters that no template can name."""
_PASSED: Final = "jinja_pass_arg"
"""Mark of a filter that is given the environment, or its like, before the value."""
_READS_LITTLE: Final = frozenset({"count", "d", "default", "first", "length"})
"""Filters that take no longer for a large value and make nothing: what they are given is not weighed each time."""


def bound(tree: nodes.Template) -> None:
    """Rewrite a parsed template so that its loops count steps, and its `~`, lists and tables say what they make."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _LOOP, [], [], None, None, lineno=loop.lineno)
    for parent in [tree, *tree.find_all(nodes.Node)]:
        for name, value in parent.iter_fields():
            if isinstance(value, nodes.Node):
                setattr(parent, name, _counted_node(value))
            elif isinstance(value, list):
                value[:] = [_counted_node(item) if isinstance(item, nodes.Node) else item for item in value]


def _counted_node(node: nodes.Node) -> nodes.Node:
    if isinstance(node, nodes.Concat):
        first, *others = node.nodes
        return nodes.Filter(first, _JOIN, others, [], None, None, lineno=node.lineno)
    made = isinstance(node, (nodes.List, nodes.Dict)) or (isinstance(node, nodes.Tuple) and node.ctx == "load")
    if made and any(True for _ in node.find_all((nodes.Name, nodes.Filter, nodes.Call, nodes.BinExpr))):
        return nodes.Filter(node, _LITERAL, [], [], None, None, lineno=node.lineno)
    return node


class _Context(Context):
    """The variables of one template and case, and what filling it has cost."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.work = Work()

    def derived(self, locals: dict[str, Any] | None = None) -> Context:  # noqa: A002 - Jinja2's name
        """A context for a part of the same template."""
        context = super().derived(locals)
        if isinstance(context, _Context):
            context.work = self.work
        return context


def _work_of(context: Context) -> Work:
    return context.work if isinstance(context, _Context) else Work()


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox with limits on what a template can make."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    context_class = _Context

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """The text that a template's parts add up to."""
        taken: list[str] = []
        left = limits.MAX_TEXT
        for part in parts:
            left -= len(part)
            if left < 0:
                raise PromptTemplateError(
                    f"The template cannot be filled: it would have more than {limits.MAX_TEXT} characters."
                )
            taken.append(part)
        return "".join(taken)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator, unless it would fill the memory of the machine."""
        what = f"`{operator}`"
        if _made_by(operator, left, right) > (limits.MAX_TEXT if operator == "+" else limits.MAX_MADE):
            raise too_large(what)
        if operator == "%":
            weight(right, what)
        return _work_of(context).made(super().call_binop(context, operator, left, right), what)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, unless it is a method of a text that would make far too much of it."""
        work = _work_of(context)
        work.call()
        method = getattr(obj, "__wrapped__", obj)  # `format` comes wrapped by Jinja2
        text, name = getattr(method, "__self__", None), getattr(method, "__name__", "")
        what = f"`{name}`"
        if isinstance(text, str):
            values = [*args, *kwargs.values()]
            weight(values, what)
            if _made_by_method(name, text, values) > limits.MAX_MADE:
                raise too_large(what)
        return work.made(super().call(context, obj, *args, **kwargs), what)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The safe form of `"…".format`, unless a width in the text is too large, or an argument says how large."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        if _widest(value.__self__) > limits.MAX_MADE or re.search(r":[^{}]*\{", value.__self__):
            raise too_large("`format`")
        return wrapped


def _widest(text: str) -> int:
    return max((int(width) for width in re.findall(r"\d{1,18}", text)), default=0)


def _made_by(operator: str, left: Any, right: Any) -> float:
    """About how many characters, entries or digits the result of an operator has."""
    if operator == "%":
        if not isinstance(left, str):
            return 0
        values = right if isinstance(right, tuple) else (right,)
        starred = [value for value in values if isinstance(value, int)] if "*" in left else []
        return max([_widest(left), *starred])
    if operator == "**":
        whole = isinstance(left, int) and isinstance(right, int) and right > 0
        return abs(left).bit_length() * right / 3 if whole else 0
    if operator == "+":
        sized = (str, list, tuple)
        return len(left) + len(right) if isinstance(left, sized) and isinstance(right, sized) else 0
    for many, times in ((left, right), (right, left)):
        if isinstance(many, (str, bytes, list, tuple)) and isinstance(times, int):
            return len(many) * times
    return 0


def _made_by_method(name: str, text: str, values: list[Any]) -> int:
    """About how many characters the result of a text's method has."""
    if name in _PADDING:
        return max((value for value in values if isinstance(value, int)), default=0)
    if name == "replace" and len(values) > 1 and all(isinstance(value, str) for value in values[:2]):
        return text.count(values[0]) * len(values[1])
    if name == "join" and values and hasattr(values[0], "__len__"):
        return len(values[0]) * len(text)
    if name == "translate" and values and isinstance(values[0], dict):
        return len(text) * max((len(item) for item in values[0].values() if isinstance(item, str)), default=1)
    return 0


def _joined(first: Any, *others: Any) -> str:
    """What `~` makes."""
    parts = [str(part) for part in (first, *others)]
    if sum(map(len, parts)) > limits.MAX_TEXT:
        raise too_large("`~`")
    return "".join(parts)


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes through."""
    work = _work_of(context)
    for value in values:
        work.step()
        yield value


@pass_context
def _literal(context: Context, value: Any) -> Any:
    """A list or a table that a template writes: of two values that are in it twice each it makes four, and so on."""
    return _work_of(context).made(value, "A list")


def _limited(filter_function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A filter whose work is counted; it is called only where what it is said to make is not too large."""
    passed = getattr(filter_function, _PASSED, None)
    makes = _MAKES.get(name)
    what = f"`{name}`"

    @pass_context
    def limited(context: Context, *arguments: Any, **named: Any) -> Any:
        work = _work_of(context)
        work.call()
        if name not in _READS_LITTLE:
            weight([*arguments, *named.values()], what)
        try:
            made = makes(*arguments, **named) if makes is not None else 0
        except (TypeError, AttributeError):  # of a kind that the filter itself refuses, or makes nothing large of
            made = 0
        if made > limits.MAX_MADE:
            raise too_large(what)
        before = () if passed is None else (_GIVEN[passed.name](context),)
        result = filter_function(*before, *arguments, **named)
        return result if name in _READS_LITTLE else work.made(result, what)

    return limited


_GIVEN: Final[dict[str, Callable[[Context], Any]]] = {
    "context": lambda context: context,
    "eval_context": lambda context: context.eval_ctx,
    "environment": lambda context: context.environment,
}


@pass_context
def _join(context: Context, values: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    """Jinja2's `join`, of which no more is made than there may be."""
    wanted: Callable[[Any], Any] = make_attrgetter(context.environment, attribute)
    left = limits.MAX_TEXT
    parts: list[str] = []
    for value in values:
        part = str(value if attribute is None else wanted(value))
        left -= len(part) + (len(d) if parts else 0)
        if left < 0:
            raise too_large("`join`")
        parts.append(part)
    return str(d).join(parts)


def _wrapped_size(text: str, width: int = 79, break_long_words: bool = True, wrapstring: str = "\n", **_: Any) -> int:
    del break_long_words
    if len(text) > _MAX_WRAPPED:
        return limits.MAX_MADE + 1
    return len(text) // max(width, 1) * len(wrapstring or "\n")


def _indented_size(text: str, width: int | str = 4, *_: Any, **__: Any) -> int:
    return (text.count("\n") + 1) * (len(width) if isinstance(width, str) else width)


def _replaced_size(text: str, old: str, new: str, *_: Any, **__: Any) -> int:
    return str(text).count(old) * len(new)


_MAKES: Final[dict[str, Callable[..., float]]] = {
    "batch": lambda _, linecount, *__: linecount,
    "format": lambda text, *values, **named: _made_by("%", text, values or tuple(named.values())),
    "center": lambda _, width=80: width,
    "indent": _indented_size,
    "replace": _replaced_size,
    "slice": lambda _, slices, *__: slices,
    "wordwrap": _wrapped_size,
}
"""By filter, about how much it makes of its arguments."""


def make_sandbox(finalize: Callable[[Any], str], filters: Mapping[str, Callable[..., Any]]) -> Sandbox:
    """The environment of all templates.

    Args:
        finalize: how a value is written into a text.
        filters: in place of Jinja2's own of the same names.
    """
    environment = Sandbox(
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=finalize,
        cache_size=0,
    )
    # The same case must give the same request every time, and texts must stay texts.
    environment.filters.pop("random")
    environment.globals.pop("lipsum")
    environment.filters |= {_JOIN: _joined, "join": _join, **filters}
    environment.filters = {name: _limited(each, name) for name, each in environment.filters.items()}
    environment.filters |= {_LOOP: _counted, _LITERAL: _literal}
    return environment


def refuse_too_long(environment: Sandbox, source: str) -> None:
    """Refuse a template that would take too long to compile.

    Raises:
        PromptTemplateError: it has too many words between its marks.
    """
    if len(source) < _LONG_SOURCE:
        return
    tokens = sum(kind != "data" for _, kind, _ in islice(environment.lex(source), _MAX_TOKENS + 1))
    if tokens > _MAX_TOKENS:
        raise PromptTemplateError("The template has too much between its marks; it is no template that anybody wrote.")

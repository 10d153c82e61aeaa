"""The sandbox that templates are filled in: no way into Python, no other file, and a bound on time and memory.

Jinja2's own sandbox keeps templates away from Python and limits ranges. Here every loop and every call costs a step,
and what makes a long text out of short ones says first how long it would be.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from jinja2 import StrictUndefined, nodes, pass_context
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

MAX_MADE: Final = 1_000_000
"""Characters, entries or digits that one operator, filter or method of a template may make."""

MAX_TEXT: Final = 64 * 1024 * 1024
"""Characters of a filled template, as of a file that is read."""

MAX_STEPS: Final = 1_000_000
"""Turns of loops, and calls, of one template for one case."""

_CALL_STEPS: Final = 5
"""A call takes about as long as so many turns."""

_PADDING: Final = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})
_MAX_WRAPPED: Final = 100_000
_JOIN, _LOOP = "~", "for "
"""Filters that no template can name."""
_PASSED: Final = "jinja_pass_arg"
"""Mark of a filter that is given the environment, or its like, before the value."""


class PromptTemplateError(ValueError):
    """A template is wrong or cannot be filled. The message is a sentence; `line` counts from 1 inside the template."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


def too_large(what: str) -> PromptTemplateError:
    """The error for a value that would be too large."""
    return PromptTemplateError(f"The template cannot be filled: {what} would make too large a value.")


def bound(tree: nodes.Template) -> None:
    """Rewrite a parsed template so that its loops count steps and its `~` has a limit."""
    for loop in tree.find_all(nodes.For):
        loop.iter = nodes.Filter(loop.iter, _LOOP, [], [], None, None, lineno=loop.lineno)
    for parent in [tree, *tree.find_all(nodes.Node)]:
        for name, value in parent.iter_fields():
            if isinstance(value, nodes.Concat):
                setattr(parent, name, _joining(value))
            elif isinstance(value, list):
                value[:] = [_joining(item) if isinstance(item, nodes.Concat) else item for item in value]


def _joining(concat: nodes.Concat) -> nodes.Filter:
    first, *others = concat.nodes
    return nodes.Filter(first, _JOIN, others, [], None, None, lineno=concat.lineno)


class _Context(Context):
    """Counts what filling one template for one case has done."""

    steps = 0

    def step(self, steps: int = 1) -> None:
        """Count some.

        Raises:
            PromptTemplateError: they were too many.
        """
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise PromptTemplateError(f"The template cannot be filled: it takes more than {MAX_STEPS} steps.")


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox with limits on what a template can make."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    context_class = _Context

    @staticmethod
    def concat(parts: Iterable[str]) -> str:
        """The text that a template's parts add up to."""
        listed = list(parts)
        if sum(map(len, listed)) > MAX_TEXT:
            raise PromptTemplateError(f"The template cannot be filled: it would have more than {MAX_TEXT} characters.")
        return "".join(listed)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator, unless it would fill the memory of the machine."""
        if _made_by(operator, left, right) > (MAX_TEXT if operator == "+" else MAX_MADE):
            raise too_large(f"`{operator}`")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, unless it is a method of a text that would make far too much of it."""
        if isinstance(context, _Context):
            context.step(_CALL_STEPS)
        text, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        if isinstance(text, str) and _made_by_method(name, text, [*args, *kwargs.values()]) > MAX_MADE:
            raise too_large(f"`{name}`")
        return super().call(context, obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The safe form of `"…".format`, unless a width in the text is too large, or an argument says how large."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        if _widest(value.__self__) > MAX_MADE or re.search(r":[^{}]*\{", value.__self__):
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
    if sum(map(len, parts)) > MAX_TEXT:
        raise too_large("`~`")
    return "".join(parts)


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    """What a loop goes through."""
    for value in values:
        if isinstance(context, _Context):
            context.step()
        yield value


def _limited(filter_function: Callable[..., Any], makes: Callable[..., float], name: str) -> Callable[..., Any]:
    """A filter that is called only where what `makes` says of its arguments is not too large."""
    passed = getattr(filter_function, _PASSED, None)

    def limited(*arguments: Any, **named: Any) -> Any:
        try:
            made = makes(*arguments[passed is not None :], **named)
        except (TypeError, AttributeError):  # of a kind that the filter itself refuses, or makes nothing large of
            made = 0
        if made > MAX_MADE:
            raise too_large(f"`{name}`")
        return filter_function(*arguments, **named)

    if passed is not None:
        setattr(limited, _PASSED, passed)
    return limited


def _wrapped_size(text: str, width: int = 79, break_long_words: bool = True, wrapstring: str = "\n", **_: Any) -> int:
    del break_long_words
    if len(text) > _MAX_WRAPPED:
        return MAX_MADE + 1
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
    "join": lambda values, d="", *_, **__: len(values) * len(d),
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
    for name, makes in _MAKES.items():
        environment.filters[name] = _limited(environment.filters[name], makes, name)
    environment.filters |= {_JOIN: _joined, _LOOP: _counted, **filters}
    return environment

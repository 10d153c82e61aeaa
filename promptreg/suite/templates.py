"""Prompt templates: Jinja2 in its sandbox, strict about undefined names, exact to the byte.

Jinja2 turns every line end of a template into one kind. Here a carriage return is hidden from it behind a control
character that counts as white space, and put back into the parsed template; values are never touched at all.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from promptreg.config.hints import did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2.runtime import Context

_MARKS = ("{{", "{%", "{#")
_STAND_INS = ("\x1c", "\x1d", "\x1e", "\x1f")
"""White space to Jinja2's scanner, no line end to it, and hardly ever in a prompt."""
_OUTSIDE = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_UNDEFINED_NAME = re.compile(r"'(?P<name>[^']*)' is undefined")
_ATTRIBUTE = re.compile(r"has no (?:attribute|element) '?(?P<name>[^']*)'?$")


_MAX_MADE = 1_000_000
"""Characters, entries or digits that one operator or filter of a template may make."""


_PADDING = frozenset({"center", "expandtabs", "ljust", "rjust", "zfill"})


class PromptTemplateError(ValueError):
    """A template is wrong or cannot be filled. The message is a sentence; `line` counts from 1 inside the template."""

    def __init__(self, message: str, line: int = 1) -> None:
        super().__init__(message)
        self.line = line


class PromptTemplate:
    """One compiled text. Compile once, render for every case."""

    def __init__(self, source: str) -> None:
        """Compile `source`.

        Raises:
            PromptTemplateError: when it is not a template of Jinja2, or would read another file.
        """
        self._constant: str | None = None
        self._lines: dict[str, int] = {}
        if not any(mark in source for mark in _MARKS):
            self._constant = str(source)
            return
        self._template = self._compile(str(source))

    @property
    def constant(self) -> str | None:
        """The text, when it has nothing to fill in."""
        return self._constant

    @property
    def names(self) -> frozenset[str]:
        """Every name that the template mentions."""
        return frozenset(self._lines)

    def render(self, values: Mapping[str, Any]) -> str:
        """The text with `values` filled in; values are data and never read as templates.

        Raises:
            PromptTemplateError: naming an undefined variable and the variables there are, or what cannot be done.
        """
        if self._constant is not None:
            return self._constant
        try:
            return self._template.render(values)
        except SecurityError as error:
            raise PromptTemplateError(f"A template cannot reach into Python: {error}") from None
        except UndefinedError as error:
            raise self._undefined(str(error), values) from None
        except PromptTemplateError:
            raise
        except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            raise PromptTemplateError(f"The template cannot be filled: {str(error).rstrip('.')}.") from None
        except (RecursionError, MemoryError):
            raise PromptTemplateError("The template cannot be filled: it needs too much memory.") from None

    def _compile(self, source: str) -> Template:
        stand_in = next((char for char in _STAND_INS if char not in source), None)
        if stand_in is None:
            raise PromptTemplateError("The template contains the control characters U+001C to U+001F; remove them.")
        try:
            tree = _ENVIRONMENT.parse(source.replace("\r\n", stand_in + "\n").replace("\r", stand_in))
            for node in tree.find_all(_OUTSIDE):
                raise PromptTemplateError("A template cannot include or import another file.", node.lineno)
            for data in tree.find_all(nodes.TemplateData):
                data.data = data.data.replace(stand_in, "\r")
            for constant in tree.find_all(nodes.Const):
                if isinstance(constant.value, str):
                    constant.value = constant.value.replace(stand_in, "\r")
            for name in tree.find_all(nodes.Name):
                self._lines.setdefault(name.name, name.lineno)
            code = _ENVIRONMENT.compile(tree)
        except TemplateSyntaxError as error:
            raise PromptTemplateError(_syntax_sentence(error), error.lineno) from None
        except RecursionError:
            raise PromptTemplateError("The template is nested too deeply.") from None
        return Template.from_code(_ENVIRONMENT, code, dict(_ENVIRONMENT.globals))

    def _undefined(self, message: str, values: Mapping[str, Any]) -> PromptTemplateError:
        have = f"the case has {listing(values)}" if values else "the case has no variables"
        found = _UNDEFINED_NAME.search(message)
        if found:
            name = found["name"]
            sentence = f"The variable `{name}` is not defined; {have}.{did_you_mean(name, values)}"
            return PromptTemplateError(sentence, self._lines.get(name, 1))
        part = _ATTRIBUTE.search(message)
        what = f"a value has no part `{part['name']}`" if part else message.rstrip(".")
        return PromptTemplateError(f"Something in the template is not defined: {what}; {have}.")


def _syntax_sentence(error: TemplateSyntaxError) -> str:
    hint = " To write braces as they are, put them between {% raw %} and {% endraw %}."
    return f"This is not a valid template: {str(error.message).rstrip('.')}.{hint}"


def _written(value: Any) -> str:
    """How a value is written into a text. Only texts, numbers and truth values have one obvious way."""
    if isinstance(value, Undefined):
        return str(value)  # raises, with the name
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if value is None:
        raise PromptTemplateError(
            'A value is null, which has no text; write "" for an empty text, or test it with {% if %}.'
        )
    if isinstance(value, (list, tuple, dict)):
        raise PromptTemplateError("A value is a list or a table; write it with `| join(', ')` or `| tojson`.")
    raise PromptTemplateError("A value is a function of the template language, not a text; call it, or rename it.")


def _to_json(value: Any, indent: int | None = None) -> str:
    """JSON as people write it. Jinja2's own filter escapes <, >, & and ' for HTML."""
    if isinstance(value, Undefined):
        str(value)  # raises, with the name
    return json.dumps(value, ensure_ascii=False, indent=indent)


class _Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's sandbox, which limits ranges, with a limit on what one operator can make as well."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """The result of an operator, unless it would fill the memory of the machine."""
        if _made_by(operator, left, right) > _MAX_MADE:
            raise PromptTemplateError(f"The template cannot be filled: `{operator}` would make too large a value.")
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """The result of a call, unless it is a method of a text that would pad it beyond all use."""
        text, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
        widths = [value for value in (*args, *kwargs.values()) if isinstance(value, int)]
        if isinstance(text, str) and name in _PADDING and max(widths, default=0) > _MAX_MADE:
            raise PromptTemplateError(f"The template cannot be filled: `{name}` would make too large a value.")
        return super().call(context, obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """The safe form of `"…".format`, unless a width in the text is too large."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None and _made_by("%", value.__self__, ()) > _MAX_MADE:
            raise PromptTemplateError("The template cannot be filled: `format` would make too large a value.")
        return wrapped


def _made_by(operator: str, left: Any, right: Any) -> float:
    """About how many characters, entries or digits the result of an operator has."""
    if operator == "%":
        widths = [int(width) for width in re.findall(r"\d{1,18}", left)] if isinstance(left, str) else []
        return max(widths, default=0)
    if operator == "**":
        whole = isinstance(left, int) and isinstance(right, int) and right > 0
        return abs(left).bit_length() * right / 3 if whole else 0
    for many, times in ((left, right), (right, left)):
        if isinstance(many, (str, bytes, list, tuple)) and isinstance(times, int):
            return len(many) * times
    return 0


def _limited(filter_function: Callable[..., Any], position: int) -> Callable[..., Any]:
    """A filter that pads, with a limit on the width: its argument at `position` after the value."""

    def padded(value: Any, *arguments: Any, **named: Any) -> Any:
        widths = [*arguments[position : position + 1], named.get("width")]
        if any(isinstance(width, int) and width > _MAX_MADE for width in widths):
            raise PromptTemplateError("The template cannot be filled: a width is too large.")
        return filter_function(value, *arguments, **named)

    return padded


def _environment() -> ImmutableSandboxedEnvironment:
    environment = _Sandbox(
        autoescape=False,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        finalize=_written,
        cache_size=0,
    )
    # The same case must give the same request every time, and texts must stay texts.
    environment.filters.pop("random")
    environment.globals.pop("lipsum")
    environment.filters["tojson"] = _to_json
    environment.filters["safe"] = str
    for name, position in (("center", 0), ("indent", 0)):
        environment.filters[name] = _limited(environment.filters[name], position)
    return environment


_ENVIRONMENT = _environment()

"""Prompt templates: Jinja2 in its sandbox, strict about undefined names, exact to the byte.

Jinja2 turns every line end of a template into one kind. Here a carriage return is hidden from it behind a control
character that counts as white space, and put back into the parsed template; values are never touched at all.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from jinja2 import Template, TemplateSyntaxError, Undefined, UndefinedError, nodes
from jinja2.exceptions import SecurityError, TemplateError

from promptreg.config.hints import did_you_mean, listing
from promptreg.suite.sandbox import bound, make_sandbox, refuse_too_long
from promptreg.suite.work import PromptTemplateError, too_large

if TYPE_CHECKING:
    from collections.abc import Mapping

_MARKS = ("{{", "{%", "{#")
_STAND_INS = ("\x1c", "\x1d", "\x1e", "\x1f")
"""White space to Jinja2's scanner, no line end to it, and hardly ever in a prompt."""
_OUTSIDE = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
_UNDEFINED_NAME = re.compile(r"'(?P<name>[^']*)' is undefined")
_MAX_INDENT = 100
_ATTRIBUTE = re.compile(r"has no (?:attribute|element) '?(?P<name>[^']*)'?$")


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
        except (
            TemplateError,
            ArithmeticError,
            LookupError,
            TypeError,
            ValueError,
            AttributeError,
            AssertionError,
        ) as error:
            raise PromptTemplateError(f"The template cannot be filled: {str(error).rstrip('.')}.") from None
        except (RecursionError, MemoryError):
            raise PromptTemplateError("The template cannot be filled: it needs too much memory.") from None

    def _compile(self, source: str) -> Template:
        stand_in = next((char for char in _STAND_INS if char not in source), None)
        if stand_in is None:
            raise PromptTemplateError("The template contains the control characters U+001C to U+001F; remove them.")
        try:
            refuse_too_long(_ENVIRONMENT, source)
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
            bound(tree)
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
    if isinstance(indent, int) and indent > _MAX_INDENT:
        raise too_large("`tojson`")
    if isinstance(value, Undefined):
        str(value)  # raises, with the name
    return json.dumps(value, ensure_ascii=False, indent=indent)


_ENVIRONMENT = make_sandbox(_written, {"tojson": _to_json, "safe": str})

"""Check `python`: the content is Python code. It is compiled, never run."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.scoring.checks.base import Finding, Rules, Setting, found, must, too_long
from promptreg.scoring.checks.options import fields, truth
from promptreg.scoring.checks.reading.code_text import fenced_code
from promptreg.text.preview import preview

if TYPE_CHECKING:
    from promptreg.answer.model import Answer
    from promptreg.canonical import Json

LONGEST: Final = 100_000
"""Characters; a longer answer is unscored, so that the compiler's time and memory stay bounded."""

_LONGEST_WORDS: Final = 2_000
"""Characters up to which code is looked at as words."""
_WORDS: Final = (
    *(ast.Module, ast.Expr, ast.Name, ast.Constant, ast.Tuple, ast.expr_context),
    *(ast.BoolOp, ast.boolop, ast.UnaryOp, ast.unaryop),
)

_LANGUAGES: Final = frozenset({"python", "py", "python3"})


@dataclass(frozen=True, slots=True)
class IsPython:
    """The syntax of the Python that runs promptreg. A code fence around the code fails unless fences are asked for.

    Without a fence, what is nothing but names, numbers, texts and comments is no code, though Python takes it: `hello`,
    `yes, no`, `42`. In a fence marked as Python somebody said that it is code.
    """

    in_fence: bool

    @property
    def rules(self) -> Rules:
        """The content, or the code in its fences, must compile or must not."""
        if self.in_fence:
            return must("have Python code in a code fence", "在代码围栏中给出 Python 代码")
        return must("be Python code", "是 Python 代码")

    def find(self, answer: Answer) -> Finding:
        """Whether it compiles, and where it stops to."""
        content = answer.content.replace("\r\n", "\n").strip("\n")
        longer = too_long(content, LONGEST)
        if longer is not None:
            return longer
        if not content.strip():
            return found(False, "is no Python code: it is empty", "不是 Python 代码：内容为空")
        codes = fenced_code(content, _LANGUAGES) if self.in_fence else [content]
        if not any(code.strip() for code in codes):
            return found(False, "has no code fence with Python code", "没有包含 Python 代码的代码围栏")
        for code in codes:
            finding = _compiled(code)
            if finding is not None:
                return finding
        if not self.in_fence and _only_words(content):
            return found(False, "is no Python code: it is nothing but words", "不是 Python 代码：其中只有词语")
        return found(True, "is Python code", "是 Python 代码")


def build(argument: Json, setting: Setting) -> IsPython:
    """`python`, or `python: {in_fence: true}`."""
    return IsPython(in_fence=read_in_fence(argument, setting))


def read_in_fence(argument: Json, setting: Setting) -> bool:
    """The argument of a check on code that has the field `in_fence` only."""
    if argument is None or argument is True:
        return False
    table = fields(argument, setting, ("in_fence",), "{in_fence: true}")
    return truth(table["in_fence"], setting, "in_fence")


def _only_words(code: str) -> bool:
    """Whether code that compiles does nothing, and says nothing that a plain answer would not say."""
    if len(code) > _LONGEST_WORDS or any(mark in code for mark in "(=:"):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(code)
    return all(isinstance(node, _WORDS) for node in ast.walk(tree))


def _compiled(code: str) -> Finding | None:
    """What is wrong with the code, or why that cannot be found out; None when it compiles."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" and the like are code all the same
            compile(code, "answer", "exec", dont_inherit=True)
    except SyntaxError as error:
        reason = preview(error.msg, 80)
        if "too many" in error.msg:  # nested parentheses, indentation: limits of the compiler, not of the language
            return found(None, f"could not be compiled: {reason}", f"无法编译：{reason}")
        return found(
            False,
            f"is no Python code (line {error.lineno}: {reason})",
            f"不是 Python 代码（第 {error.lineno} 行：{reason}）",
        )
    except (ValueError, UnicodeError) as error:  # a null character, a lone surrogate, a number of too many digits
        reason = preview(str(error), 80)
        return found(False, f"is no Python code ({reason})", f"不是 Python 代码（{reason}）")
    except (RecursionError, MemoryError, OverflowError):
        return found(None, "is nested too deeply to be compiled", "嵌套过深，无法编译")
    return None

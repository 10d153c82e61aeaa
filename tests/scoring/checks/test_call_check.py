"""Check `call`: a function of the user's project."""

from __future__ import annotations

import uuid

import pytest

from promptreg.answer.model import Answer, ToolCall

CODE = """
import sys
from promptreg.answer.model import Answer

def yes(text): return True
def polite(text): return "您" in text, "没有敬语" if "您" not in text else ""
def raises(text): raise ValueError("坏了")
def exits(text): sys.exit(3)
def number(text): return 1
def text(text): return "yes"
def nothing(text): pass
def pair(text): return (1, "one")
def reason(text): return (True, 7)
async def later(text): return True
def whole(text, answer): return isinstance(answer, Answer) and answer.tool_calls[0].name == "f"
def options(text, level=1): return level == 3
def none(): return True
value = 3
class Holder:
    @staticmethod
    def inside(text): return len(text) > 2
"""


@pytest.fixture
def module(tmp_path):
    name = f"checks_{uuid.uuid4().hex}"
    (tmp_path / f"{name}.py").write_text(CODE, encoding="utf-8")
    return name


@pytest.mark.parametrize(
    ("function", "passed"),
    [
        ("yes", True),
        ("polite", False),
        ("raises", None),
        ("exits", None),
        ("number", None),
        ("text", None),
        ("nothing", None),
        ("pair", None),
        ("reason", None),
        ("later", None),
        ("Holder.inside", True),
    ],
)
def test_only_a_truth_value_is_a_verdict(judge, module, function, passed):
    result = judge("call", f"{module}:{function}", "你好呀")

    assert result.passed is passed


def test_the_reason_reaches_the_sentence(judge, module):
    assert judge("call", f"{module}:polite", "你好").sentence.en.endswith("polite”: 没有敬语.")
    assert "raised ValueError: 坏了" in judge("call", f"{module}:raises", "").sentence.en
    assert "returned int, not True or False" in judge("call", f"{module}:number", "").sentence.en
    assert "返回的是 NoneType" in judge("call", f"{module}:nothing", "").sentence.zh


def test_the_whole_answer_and_options_are_handed_over(judge, module):
    answer = Answer("", tool_calls=(ToolCall("f", "{}"),))

    assert judge("call", f"{module}:whole", answer).passed is True
    assert judge("call", {"function": f"{module}:options", "options": {"level": 3}}, "").passed is True
    assert judge("call", f"{module}:options", "").passed is False


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("no_such_module_at_all:f", "no module `no_such_module_at_all` is found"),
        ("{module}:missing", "has no function `missing`"),
        ("{module}:value", "has no function `value`"),
        ("{module}:none", "the function does not take (text)"),
        ("{module}", "needs a function of your project"),
        ("../evil:f", "needs a function of your project"),
        ({"function": "{module}:yes", "options": {"level": 3}}, "does not take (text, level)"),
        ({"function": "{module}:yes", "options": 3}, "needs names and values"),
        ({"fn": "{module}:yes"}, "Fields are `function`, `options`."),
        (None, "needs fields"),
    ],
)
def test_functions_that_cannot_be_used(refused, module, argument, message):
    if isinstance(argument, str):
        argument = argument.replace("{module}", module)
    elif isinstance(argument, dict) and "function" in argument:
        argument = {**argument, "function": argument["function"].replace("{module}", module)}

    assert message in refused("call", argument)

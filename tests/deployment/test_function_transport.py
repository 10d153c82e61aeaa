"""Functions of the user's own as deployments."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from promptreg.answer.model import Answer, ToolCall
from promptreg.config import Deployment
from promptreg.deployment.client import Client, Outcome
from promptreg.deployment.exchange import FailureKind
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BODY = {"model": "", "messages": [{"role": "user", "content": "几天？"}], "temperature": 0, "stream": True}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Writes a module; gives its name."""
    path, count = list(sys.path), 0

    def write(code: str) -> str:
        nonlocal count
        count += 1
        name = f"promptreg_test_app_{count}"
        sys.modules.pop(name, None)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        return name

    yield write
    sys.path[:] = path
    for name in [name for name in sys.modules if name.startswith("promptreg_test_app_")]:
        del sys.modules[name]


async def ask(call: str, root: Path, seconds: float = 5.0) -> Outcome:
    deployment = Deployment(name="app", call=call, timeout_s=seconds)
    async with Client(deployment, {}, root=root) as client:
        return await client.ask(BODY)


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("def reply(messages): return messages[0]['content'] + '七天'", Answer("几天？七天", finish_reason="stop")),
        ("async def reply(messages): return '七天'", Answer("七天", finish_reason="stop")),
        ("def reply(messages, params): return str(params)", Answer("{'temperature': 0}", finish_reason="stop")),
        ("def reply(messages, **rest): return str(rest)", Answer("{}", finish_reason="stop")),
        ("def reply(messages): return {'content': 'a', 'reasoning': 'b'}", Answer("a", "b", "reasoning", (), "stop")),
        (
            "def reply(messages): return {'tool_calls': [{'function': {'name': 'f', 'arguments': '{}'}}]}",
            Answer(tool_calls=(ToolCall("f", "{}"),), finish_reason="tool_calls"),
        ),
        (
            "def reply(messages): return {'choices': [{'message': {'content': 'a'}, 'finish_reason': 'length'}]}",
            Answer("a", finish_reason="length"),
        ),
        (
            """
            class Message:
                def model_dump(self, mode): return {'content': 'a'}
            def reply(messages): return Message()
            """,
            Answer("a", finish_reason="stop"),
        ),
        (
            """
            async def later(): return 'a'
            def reply(messages): return later()
            """,
            Answer("a", finish_reason="stop"),
        ),
        (
            """
            class App:
                @staticmethod
                def reply(messages): return ''
            app = App()
            reply = app.reply
            """,
            Answer("", finish_reason="stop"),
        ),
    ],
)
async def test_what_a_function_may_be_and_return(app: Any, tmp_path: Path, code: str, answer: Answer) -> None:
    outcome = await ask(f"{app(code)}:reply", tmp_path)

    assert outcome.reading.answer == answer
    assert outcome.attempts[0].status == 200


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("def reply(messages): raise ValueError('坏了')", "raised ValueError: 坏了 ({}.py:1)"),
        (
            "def inner(): raise KeyError('k')\ndef reply(messages):\n    return inner()",
            "raised KeyError: 'k' ({}.py:1)",
        ),
        ("import json\ndef reply(messages):\n    return json.loads('{')", " ({}.py:3)"),
        ("async def reply(messages): raise TimeoutError('db')", "raised TimeoutError: db"),
        ("def reply(messages): raise StopIteration", "raised StopIteration"),
        ("def reply(messages): raise SystemExit(3)", "raised SystemExit: 3"),
        ("def reply(messages): return 7", "returned int; it must return a text"),
        ("def reply(messages): return None", "returned NoneType"),
        ("def reply(messages): return {'text': 'a'}", "returned a mapping with text"),
        ("def reply(messages): return {'content': object()}", "returned something that is no JSON"),
        ("def reply(): return 'a'", "raised TypeError"),  # of the call itself: no line of the function
    ],
)
async def test_failures_are_told_once_and_not_repeated(app: Any, tmp_path: Path, code: str, words: str) -> None:
    name = app(code)
    outcome = await ask(f"{name}:reply", tmp_path)

    failure = outcome.attempts[0].failure
    assert failure is not None
    assert failure.kind is FailureKind.CALL
    assert words.replace("({}", f"({name}") in failure.message
    assert len(outcome.attempts) == 1
    assert outcome.reading.answer is None


@pytest.mark.parametrize(
    "code", ["import time\ndef reply(m): time.sleep(1)", "import asyncio\nasync def reply(m): await asyncio.sleep(9)"]
)
async def test_a_function_that_takes_too_long(app: Any, tmp_path: Path, code: str) -> None:
    outcome = await ask(f"{app(code)}:reply", tmp_path, seconds=0.1)

    failure = outcome.attempts[-1].failure
    assert failure is not None
    assert failure.kind is FailureKind.TOTAL_TIMEOUT
    assert "did not return within 0.1 s" in failure.message


@pytest.mark.parametrize(
    ("code", "function", "words"),
    [
        (None, "reply", "no module `promptreg_test_app_missing`"),
        ("import promptreg_no_such", "reply", "no module `promptreg_no_such`"),
        ("\n1 / 0", "reply", r"raised ZeroDivisionError: division by zero \(promptreg_test_app_\w+\.py:2\)"),
        ("x = (", "reply", r"raised SyntaxError: .* \(promptreg_test_app_\w+\.py:1\)"),
        ("reply = 7", "reply", "has no function `reply`"),
        ("", "reply.inner", "has no function `reply.inner`"),
    ],
)
def test_functions_that_cannot_be_loaded(app: Any, tmp_path: Path, code: str | None, function: str, words: str) -> None:
    name = "promptreg_test_app_missing" if code is None else app(code)

    with pytest.raises(ConfigError, match=words):
        Client(Deployment(name="app", call=f"{name}:{function}"), {}, root=tmp_path)
